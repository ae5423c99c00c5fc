"""The pages of the rules, the record and the network's input, and the rules of axe-core on every page."""

import pytest

from browser_user import TABLE_REQUESTS
from cardlab_play.offered_games import OFFERED_GAMES

pytestmark = pytest.mark.slow


def test_rules_are_one_click_from_the_table(new_user):
    user = new_user("phone")
    user.open(TABLE_REQUESTS["open_face"])
    user.page.get_by_role("button", name="Rules").tap()
    dialog = user.page.get_by_role("dialog", name="Rules and scoring")
    dialog.get_by_role("cell", name="royal flush").wait_for()
    assert dialog.get_by_text("Example").count() == 1
    user.page.keyboard.press("Escape")
    assert user.page.get_by_role("dialog").count() == 0
    assert user.choices()


def test_rules_from_the_start_page(new_user):
    user = new_user()
    user.start()
    user.page.get_by_role("link", name="Rules and scoring").click()
    user.page.get_by_role("heading", name="Rules of Big 2").wait_for()
    assert user.page.get_by_role("row", name="13 13 39").count() == 1


def test_the_record_after_a_game(new_user):
    user = new_user()
    user.start()
    user.page.get_by_role("link", name="Your record").click()
    user.page.get_by_text("No finished games that count yet.").wait_for()
    user.open(TABLE_REQUESTS["poker_squares"])
    user.play_out(0)
    user.page.goto(f"{user.base}/#/record")
    row = user.page.get_by_role("region", name="Results at Poker Squares").get_by_role("row").nth(1)
    row.wait_for()
    assert row.locator("td").first.inner_text() == "Random"
    assert "95 %" in user.page.locator(".record").inner_text()


def test_the_game_links_to_what_the_network_sees(new_user):
    user = new_user()
    table = user.open({**TABLE_REQUESTS["poker_squares"], "practice": True})
    user.page.get_by_role("link", name="What the network sees").click()
    user.page.locator(".network .observation svg").first.wait_for()
    blocks = user.ask(f"/api/tables/{table['id']}/advice")["observation"]
    assert user.page.locator(".observation dt").count() == user.page.locator(".observation svg").count() == len(blocks)
    assert user.page.locator(".observation rect").count() == sum(len(block["values"]) for block in blocks)
    assert "green is above 0 and red is below 0" in user.page.locator(".network").inner_text()
    user.page.get_by_role("link", name="Back to the game").click()
    assert user.choices()
    user.open(TABLE_REQUESTS["poker_squares"])
    user.page.get_by_role("link", name="What the network sees").click()
    user.page.get_by_text("In a practice game this page shows").wait_for()


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_axe_finds_no_violation(new_user, screen):
    sync_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")
    user, found = new_user(screen), []

    def check(name):
        result = sync_playwright.Axe().run(user.page).response
        found.extend((name, rule["id"], rule["nodes"][0]["html"][:120]) for rule in result["violations"])

    user.start()
    check("start")
    rules = {f"rules/{game}": f"Rules of {offered.title}" for game, offered in OFFERED_GAMES.items()}
    for path, heading in {"record": "Your record", **rules}.items():
        user.page.goto(f"{user.base}/#/{path}")
        user.page.get_by_role("heading", name=heading).wait_for()
        check(path)
    for name, table_request in TABLE_REQUESTS.items():
        user.open(table_request)
        user.choices()
        check(name)
    user.page.get_by_role("button", name="Rules").click()
    user.page.locator(".rules-dialog table").first.wait_for()
    check("dialog")
    table = user.open({**TABLE_REQUESTS["five_o"], "practice": True})
    user.page.get_by_text("Compare your moves").click()
    user.page.locator(".options").wait_for()
    for part in user.page.locator(".advice summary").all():
        part.click()
    check("advice")
    user.page.goto(f"{user.base}/#/network/{table['id']}")
    user.page.locator(".network").wait_for()
    check("network")
    table = user.open(TABLE_REQUESTS["five_o"])
    user.play_out(0)
    check("end")
    user.page.goto(f"{user.base}/#/replay/{table['id']}")
    user.page.locator(".value-chart").wait_for()
    check("replay")
    user.page.goto(f"{user.base}/#/deal/{table['deal']['id']}")
    user.page.get_by_role("button", name="Play this deal").wait_for()
    check("deal")
    assert found == []
