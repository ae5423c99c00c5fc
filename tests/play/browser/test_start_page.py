"""The start page: table form, open games, daily deals, user name."""

import pytest

pytestmark = pytest.mark.slow


def test_choosing_a_game_options_and_opponents(new_user):
    user = new_user("phone")
    user.start()
    user.page.get_by_role("button", name="Thirty-One").first.tap()
    form = user.page.get_by_role("form", name="New table of Thirty-One")
    form.get_by_label("Players").select_option("5")
    form.get_by_label("A different agent at each seat").check()
    form.locator('select[data-seat="1"]').select_option("random")
    form.locator('select[data-seat="2"]').select_option("greedy")
    form.get_by_role("button", name="Deal the cards").tap()
    user.page.wait_for_selector(".felt")
    table = user.ask(f"/api/tables/{user.page.url.rpartition('/')[2]}")
    assert table["options"]["num_players"] == len(table["seats"]) == 5
    assert [seat["agent"] for seat in table["seats"][:3]] == [None, "random", "greedy"]
    assert user.page.locator(".seat").count() == 4


def test_levels_show_how_strong_they_are(new_user):
    user = new_user("phone")
    user.start()
    user.page.get_by_role("button", name="Big 2").first.tap()
    form = user.page.get_by_role("form", name="New table of Big 2")
    level = form.get_by_label("All opponents")
    titles = ["Beginner: Random", "Easy: Greedy", "Medium: Planner", "Champion", "Champion with search"]
    assert level.locator("option").all_inner_texts() == [*titles, "Choose an agent by name"]
    level.select_option("Medium: Planner")
    assert "The champion wins" in form.inner_text()
    form.get_by_text("Practice").tap()
    form.get_by_role("button", name="Deal the cards").tap()
    user.page.wait_for_selector(".felt")
    table = user.ask(f"/api/tables/{user.page.url.rpartition('/')[2]}")
    assert {seat["agent"] for seat in table["seats"][1:]} == {"planner"}
    assert table["deal"]["counts"] is False


def test_open_games_are_listed_on_the_start_page(new_user):
    user = new_user()
    table = user.open({"game": "poker_squares", "par": {"agent": "random"}})
    user.choose(user.choices()[3])
    user.choices()
    user.start()
    waiting = user.page.get_by_label("Open games").get_by_role("link")
    assert waiting.count() == 1
    waiting.click()
    user.page.wait_for_selector(".felt")
    assert user.page.url.endswith(table["id"])
    assert user.page.locator(".squares [data-card]").count() == 1


def test_the_daily_deal(new_user):
    user = new_user()
    user.start()
    user.page.get_by_role("button", name="Play today's deal of Open-face").click()
    user.page.wait_for_selector(".felt")
    table = user.ask(f"/api/tables/{user.page.url.rpartition('/')[2]}")
    assert (table["game"], table["deal"]["kind"], table["deal"]["counts"]) == ("open_face", "daily", True)
    user.start()
    again = user.page.get_by_label("Daily deals").get_by_role("link", name="Continue")
    assert again.get_attribute("href") == f"#/table/{table['id']}"


def test_a_name_for_the_leaderboard(new_user):
    user = new_user()
    user.start()
    user.page.get_by_label("Your name", exact=True).fill("Ann")
    user.page.get_by_role("button", name="Save").click()
    user.page.get_by_text("Saved.").wait_for()
    assert user.ask("/api/session")["name"] == "Ann"
