"""What goes wrong is said in words, and mends itself where it can."""

from sqlalchemy.orm import Session

from browsing import ORDERS
from cardlab.games.catalogue import make_game
from cardlab_play.database import GameRow
from cardlab_play.players import Player


def test_a_lost_connection_is_told_and_tried_again(person):
    one = person()
    table = one.open(ORDERS["poker_squares"])
    one.page.route("**/api/tables/**", lambda route: route.abort())
    one.choose(one.choices()[0])
    banner = one.page.locator("#connection")
    banner.wait_for(state="visible")
    assert "cannot be reached" in banner.inner_text()
    one.page.unroute("**/api/tables/**")
    banner.wait_for(state="hidden")
    one.choices()
    assert one.ask(f"/api/tables/{table['id']}")["number"] == 1
    one.expect("net::ERR_FAILED")  # the ones made here


def test_a_move_whose_reply_was_lost_counts_once(person):
    one = person()
    table = one.open(ORDERS["poker_squares"])

    def lose(route):
        route.fetch()  # the server plays it …
        route.abort()  # … and nobody hears of it

    one.page.route("**/moves", lose, times=1)
    one.choose(one.choices()[0])
    one.wait_until("document.querySelectorAll('.squares [data-card]').length === 1")
    one.choices()
    assert one.ask(f"/api/tables/{table['id']}")["number"] == 1
    one.expect("net::ERR_FAILED", "409")


def test_a_refusal_is_shown_in_the_words_of_the_server(person):
    one = person()
    one.open(ORDERS["poker_squares"])
    words = "Too many requests."
    one.page.route("**/moves", lambda route: route.fulfill(status=429, json={"error": words, "key": None}))
    before = one.choices()
    one.choose(before[0])
    trouble = one.page.locator(".trouble")
    trouble.wait_for(state="visible")
    assert trouble.inner_text() == words
    assert one.choices() == before  # the table stands as it was
    one.expect("429")


def test_a_click_in_a_tab_that_is_behind_says_that_nothing_was_done(person):
    one = person()
    table = one.open(ORDERS["poker_squares"])
    before = one.choices()
    body = {"action": table["legal"][0]["action"], "number": 0}
    reply = one.page.request.post(f"{one.base}/api/tables/{table['id']}/moves", data=body)  # as another tab does
    assert reply.ok
    one.choose(before[-1])
    trouble = one.page.locator(".trouble")
    trouble.wait_for(state="visible")
    assert "not done" in trouble.inner_text()
    one.choose(one.choices()[-1])
    trouble.wait_for(state="hidden")
    assert one.ask(f"/api/tables/{table['id']}")["number"] == 2
    one.expect("409")


def test_an_agent_that_cannot_advise_is_asked_once(person):
    one = person()
    one.open(ORDERS["poker_squares"])
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.fulfill(status=422, json={"error": "flush cannot be loaded", "key": "query.agent"})

    one.page.route("**/advice**", refuse)
    one.page.get_by_text("What would the agent do?").click()
    alert = one.page.locator(".advice .trouble")
    alert.wait_for()
    one.choose(one.choices()[0])
    one.choices()
    assert alert.is_visible()
    assert len(asked) == 1
    with one.page.expect_response("**/advice**"):
        one.page.locator(".panel .field select").select_option("random")
    one.wait_until("document.querySelector('.advice .trouble')")
    assert len(asked) == 2
    one.expect("422")


def test_a_table_whose_agents_are_gone_can_be_given_up(person, server):
    one = person()
    table = one.open({"game": "five_o", "opponents": [{"agent": "reflex_3"}], "par": {"agent": "random"}})
    house = server.desk.house
    house.forget(house.find(_owner(house, table["id"]), table["id"]))
    house.players.leave_out(make_game("five_o"), Player("reflex_3"), "gone")
    one.page.reload()
    one.page.get_by_role("heading", name="This game cannot go on").wait_for()
    one.page.get_by_role("button", name="Give up").click()
    one.page.locator(".outcome").wait_for()
    end = one.ask(f"/api/tables/{table['id']}")
    assert end["status"] == "over"
    assert end["result"]["given_up"]
    one.expect("422")


def _owner(house, table_id):
    with Session(house.engine) as session:
        return session.get_one(GameRow, table_id).person_id


def test_addresses_that_are_none_lead_to_the_start(person):
    one = person()
    one.page.goto(f"{one.base}/foo")
    one.page.get_by_role("link", name="To the start").click()
    one.page.wait_for_selector(".tiles")
    assert not one.page.locator(".notice").is_visible()
    one.page.goto(f"{one.base}/#/toString")
    one.page.get_by_text("There is no such page").wait_for()
    assert one.page.locator(".tiles").is_visible()
    assert one.page.request.get(f"{one.base}/foo").json()["error"]
    one.expect("404")


def test_a_name_that_is_too_long_is_refused_in_words(person):
    one = person()
    one.start()
    one.page.get_by_label("Your name", exact=True).fill("A" * 25)
    one.page.get_by_role("button", name="Keep").click()
    one.page.get_by_text("must be 1 to 24 characters").wait_for()
    assert one.page.get_by_label("Your name", exact=True).input_value() == "A" * 25
    one.expect("422")


def test_a_table_that_is_not_there(person):
    one = person()
    one.page.goto(f"{one.base}/#/table/nowhere")
    alert = one.page.get_by_role("alert")
    alert.wait_for()
    assert "This cannot be shown" in alert.inner_text()
    alert.get_by_role("link", name="To the start").click()
    one.page.wait_for_selector(".tiles")
    one.expect("404")
