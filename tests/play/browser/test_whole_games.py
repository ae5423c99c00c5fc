"""Whole games through the page on desktop and phone screens."""

import pytest

from browser_user import TABLE_REQUESTS, with_signs


@pytest.mark.slow
@pytest.mark.parametrize("way", ["desktop", "phone", "keyboard"])
@pytest.mark.parametrize("table_request", TABLE_REQUESTS.values(), ids=TABLE_REQUESTS)
def test_a_whole_game(new_user, table_request, way):
    user = new_user("desktop" if way == "keyboard" else way)
    user.by_keyboard = way == "keyboard"
    table = user.open(table_request)
    user.play_out(seed=3)
    end = user.ask(f"/api/tables/{table['id']}")
    assert end["status"] == "over"
    assert user.page.locator(".outcome h2").inner_text() == end["result"]["text"]
    width, held = user.page.evaluate("[innerWidth, document.documentElement.scrollWidth]")
    assert held <= width  # no horizontal scrolling


@pytest.mark.slow
def test_a_whole_game_against_a_search(new_user):
    user = new_user("phone")
    rival = {"agent": "greedy_1", "search": "monte_carlo"}
    table = user.open({**TABLE_REQUESTS["five_o"], "opponents": [rival], "practice": True})
    assert user.page.get_by_text("Greedy 1 with Monte Carlo").first.is_visible()
    user.choices()
    user.page.get_by_text("Compare your moves").tap()
    panel = user.page.locator(".advice")
    panel.locator(".options").wait_for()
    asks_for_a_search = user.page.expect_response(lambda reply: "search=tree" in reply.url)
    with asks_for_a_search as answer:
        user.page.get_by_label("Thinking ahead").select_option("tree")
    advice = answer.value.json()
    assert advice["agent"]["search"] == "tree"
    user.page.get_by_text("Compare your moves").tap()
    user.play_out(seed=4)
    end = user.ask(f"/api/tables/{table['id']}")
    assert end["status"] == "over"
    assert end["seats"][1]["search"] == "monte_carlo"


@pytest.mark.slow
def test_replay_of_a_game(new_user):
    user = new_user()
    table = user.open(TABLE_REQUESTS["poker_squares"])
    user.play_out(seed=5)
    user.page.get_by_role("link", name="Replay").click()
    user.page.wait_for_selector(".value-chart")
    replay = user.ask(f"/api/tables/{table['id']}/replay")
    costly = user.page.locator(".costly-moves button")
    assert costly.count() == len(replay["costly_moves"]) > 0
    slider = user.page.get_by_role("slider")
    assert int(slider.get_attribute("max") or 0) == len(replay["frames"]) - 1
    costly.first.click()
    at = int(slider.input_value())
    before, frame = replay["frames"][at : at + 2]
    assert frame["number"] == replay["costly_moves"][0]
    assert frame["review"] is not None
    assert _grid(user) == before["view"]["grid"]  # the table before the move that is reviewed
    assert user.page.locator(".prompt").first.inner_text() == f"You: {with_signs(frame['text'])}"
    assert user.page.locator(".in-hand [data-card]").get_attribute("data-card") == before["view"]["card"]
    marked = user.page.locator(".felt button")
    assert marked.get_attribute("data-key") == f"cell {frame['move']['cell']}"
    assert marked.is_disabled()
    assert user.page.locator(".options .chosen .what").inner_text().endswith("your move")
    user.page.get_by_role("button", name="Next move").click()
    assert int(slider.input_value()) == at + 1
    assert _grid(user) == frame["view"]["grid"]
    user.page.locator("body").click(position={"x": 2, "y": 2})
    user.page.keyboard.press("ArrowLeft")  # without focus on the slider
    user.page.keyboard.press("ArrowLeft")
    assert int(slider.input_value()) == at - 1


def _grid(user):
    """Cards of the 25 cells, null for an empty one."""
    cells = "(all) => all.map((cell) => cell.querySelector('[data-card]')?.dataset.card ?? null)"
    return user.page.locator(".squares .slot").evaluate_all(cells)
