"""Errors on the page: messages, retries and recovery."""

import pytest
from sqlalchemy.orm import Session

from browser_user import TABLE_REQUESTS
from cardlab.games.make_game import make_game
from cardlab_play.agent_catalog import AgentChoice
from cardlab_play.database import GameRow

pytestmark = pytest.mark.slow


def test_a_lost_connection_is_shown_and_retried(new_user):
    user = new_user()
    table = user.open(TABLE_REQUESTS["poker_squares"])
    user.page.route("**/api/tables/**", lambda route: route.abort())
    user.choose(user.choices()[0])
    banner = user.page.locator("#connection")
    banner.wait_for(state="visible")
    assert "not reachable" in banner.inner_text()
    user.page.unroute("**/api/tables/**")
    banner.wait_for(state="hidden")
    user.choices()
    assert user.ask(f"/api/tables/{table['id']}")["number"] == 1
    user.expect("net::ERR_FAILED")  # caused by this test


def test_a_move_whose_response_is_lost_counts_once(new_user):
    user = new_user()
    table = user.open(TABLE_REQUESTS["poker_squares"])

    def lose(route):
        route.fetch()  # the server plays the move
        route.abort()  # the response is lost

    user.page.route("**/moves", lose, times=1)
    user.choose(user.choices()[0])
    user.wait_until("document.querySelectorAll('.squares [data-card]').length === 1")
    user.choices()
    assert user.ask(f"/api/tables/{table['id']}")["number"] == 1
    user.expect("net::ERR_FAILED", "409")


def test_an_error_of_the_server_is_shown(new_user):
    user = new_user()
    user.open(TABLE_REQUESTS["poker_squares"])
    words = "Too many requests."
    user.page.route("**/moves", lambda route: route.fulfill(status=429, json={"error": words, "key": None}))
    before = user.choices()
    user.choose(before[0])
    trouble = user.page.locator(".error")
    trouble.wait_for(state="visible")
    assert trouble.inner_text() == words
    assert user.choices() == before  # the table is unchanged
    user.expect("429")


def test_a_click_in_an_outdated_tab_is_not_played(new_user):
    user = new_user()
    table = user.open(TABLE_REQUESTS["poker_squares"])
    before = user.choices()
    body = {"action": table["legal"][0]["action"], "number": 0}
    reply = user.page.request.post(f"{user.base}/api/tables/{table['id']}/moves", data=body)  # like another tab
    assert reply.ok
    user.choose(before[-1])
    trouble = user.page.locator(".error")
    trouble.wait_for(state="visible")
    assert "not played" in trouble.inner_text()
    with user.page.expect_response("**/moves") as answer:
        user.choose(user.choices()[-1])
    assert answer.value.ok
    trouble.wait_for(state="hidden")
    assert user.ask(f"/api/tables/{table['id']}")["number"] == 2
    user.expect("409")


def test_a_failing_advisor_is_requested_once(new_user):
    user = new_user()
    user.open({**TABLE_REQUESTS["poker_squares"], "practice": True})
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.fulfill(status=422, json={"error": "flush cannot be loaded", "key": "query.agent"})

    user.page.route("**/advice**", refuse)
    user.page.get_by_text("Compare your moves").click()
    alert = user.page.locator(".advice .error")
    alert.wait_for()
    user.choose(user.choices()[0])
    user.choices()
    assert alert.is_visible()
    assert len(asked) == 1
    with user.page.expect_response("**/advice**"):
        user.page.locator(".panel .field select").select_option("random")
    user.wait_until("document.querySelector('.advice .error')")
    assert len(asked) == 2
    user.expect("422")


def test_a_table_with_missing_agents_can_be_resigned(new_user, server):
    user = new_user()
    table = user.open({"game": "five_o", "opponents": [{"agent": "reflex_3"}], "par": {"agent": "random"}})
    store = server.dispatcher.store
    store.evict(store.find(_owner(store, table["id"]), table["id"]))
    store.agents.exclude(make_game("five_o"), AgentChoice("reflex_3"), "gone")
    user.page.reload()
    user.page.get_by_role("heading", name="This game cannot continue").wait_for()
    user.page.get_by_role("button", name="Resign").click()
    user.page.locator(".outcome").wait_for()
    end = user.ask(f"/api/tables/{table['id']}")
    assert end["status"] == "over"
    assert end["result"]["resigned"]
    user.expect("422")


def _owner(store, table_id):
    with Session(store.engine) as session:
        return session.get_one(GameRow, table_id).user_id


def test_unknown_addresses_link_to_the_start_page(new_user):
    user = new_user()
    user.page.goto(f"{user.base}/foo")
    user.page.get_by_role("link", name="Back to the start page").click()
    user.page.wait_for_selector(".tiles")
    assert not user.page.locator(".notice").is_visible()
    user.page.goto(f"{user.base}/#/toString")
    user.page.get_by_text("Page not found").wait_for()
    assert user.page.locator(".tiles").is_visible()
    assert user.page.request.get(f"{user.base}/foo").json()["error"]
    user.expect("404")


def test_a_name_that_is_too_long_is_rejected(new_user):
    user = new_user()
    user.start()
    user.page.get_by_label("Your name", exact=True).fill("A" * 25)
    user.page.get_by_role("button", name="Save").click()
    user.page.get_by_text("must have 1 to 24 printable characters").wait_for()
    assert user.page.get_by_label("Your name", exact=True).input_value() == "A" * 25
    user.expect("422")


def test_a_missing_table(new_user):
    user = new_user()
    user.page.goto(f"{user.base}/#/table/nowhere")
    alert = user.page.get_by_role("alert")
    alert.wait_for()
    assert "The page failed to load" in alert.inner_text()
    alert.get_by_role("link", name="Back to the start page").click()
    user.page.wait_for_selector(".tiles")
    user.expect("404")
