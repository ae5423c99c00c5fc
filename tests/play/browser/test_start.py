"""From the start page to a table, and back to games that wait."""


def test_choosing_a_game_its_options_and_who_plays(person):
    one = person("phone")
    one.start()
    one.page.get_by_role("button", name="Thirty-One").first.tap()
    form = one.page.get_by_role("form", name="New table of Thirty-One")
    form.get_by_label("Players").select_option("5")
    form.get_by_label("A different agent at each seat").check()
    form.locator('select[data-seat="1"]').select_option("random")
    form.locator('select[data-seat="2"]').select_option("greedy")
    form.get_by_role("button", name="Deal the cards").tap()
    one.page.wait_for_selector(".felt")
    table = one.ask(f"/api/tables/{one.page.url.rpartition('/')[2]}")
    assert table["options"]["num_players"] == len(table["seats"]) == 5
    assert [seat["agent"] for seat in table["seats"][:3]] == [None, "random", "greedy"]
    assert one.page.locator(".seat").count() == 4


def test_open_games_wait_on_the_start_page(person):
    one = person()
    table = one.open({"game": "poker_squares", "par": {"agent": "random"}})
    one.choose(one.choices()[3])
    one.choices()
    one.start()
    waiting = one.page.get_by_label("Open games").get_by_role("link")
    assert waiting.count() == 1
    waiting.click()
    one.page.wait_for_selector(".felt")
    assert one.page.url.endswith(table["id"])
    assert one.page.locator(".squares [data-card]").count() == 1


def test_the_daily_deal(person):
    one = person()
    one.start()
    one.page.get_by_role("button", name="Play today's deal of Open-face").click()
    one.page.wait_for_selector(".felt")
    table = one.ask(f"/api/tables/{one.page.url.rpartition('/')[2]}")
    assert (table["game"], table["deal"]["kind"], table["deal"]["counts"]) == ("open_face", "daily", True)
    one.start()
    again = one.page.get_by_label("Daily deals").get_by_role("link", name="Go on")
    assert again.get_attribute("href") == f"#/table/{table['id']}"


def test_a_name_for_the_leaderboard(person):
    one = person()
    one.start()
    one.page.get_by_label("Your name", exact=True).fill("Ann")
    one.page.get_by_role("button", name="Keep").click()
    one.page.get_by_text("Kept.").wait_for()
    assert one.ask("/api/session")["name"] == "Ann"
