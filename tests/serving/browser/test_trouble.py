"""What goes wrong is said in words, and mends itself where it can."""

from browsing import ORDERS


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
    one.faults = [fault for fault in one.faults if "net::ERR_FAILED" not in fault]  # the ones made here


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
    one.faults = [fault for fault in one.faults if "net::ERR_FAILED" not in fault and "409" not in fault]


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
    one.faults = [fault for fault in one.faults if "429" not in fault]


def test_a_table_that_is_not_there(person):
    one = person()
    one.page.goto(f"{one.base}/#/table/nowhere")
    alert = one.page.get_by_role("alert")
    alert.wait_for()
    assert "This cannot be shown" in alert.inner_text()
    alert.get_by_role("link", name="To the start").click()
    one.page.wait_for_selector(".tiles")
    one.faults = [fault for fault in one.faults if "404" not in fault]
