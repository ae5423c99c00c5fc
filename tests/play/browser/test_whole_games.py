"""Whole games of every kind through the page, on a wide screen and on a phone: only what is lit is ever chosen."""

import pytest

from browsing import ORDERS


@pytest.mark.slow
@pytest.mark.parametrize("screen", ["desktop", "phone"])
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_a_whole_game(person, order, screen):
    one = person(screen)
    table = one.open(order)
    one.play_out(seed=3)
    end = one.ask(f"/api/tables/{table['id']}")
    assert end["status"] == "over"
    assert one.page.locator(".outcome h2").inner_text() == end["result"]["text"]
    width, held = one.page.evaluate("[innerWidth, document.documentElement.scrollWidth]")
    assert held <= width  # nothing sticks out sideways


@pytest.mark.slow
def test_a_whole_game_against_one_that_looks_ahead(person):
    one = person("phone")
    rival = {"agent": "greedy_1", "search": "monte_carlo"}
    table = one.open({**ORDERS["five_o"], "opponents": [rival]})
    assert one.page.get_by_text("Greedy 1 with Monte Carlo").first.is_visible()
    one.choices()
    one.page.get_by_text("What would the agent do?").tap()
    panel = one.page.locator(".advice")
    panel.locator(".options").wait_for()
    asks_for_a_search = one.page.expect_response(lambda reply: "search=tree" in reply.url)
    with asks_for_a_search as answer:
        one.page.get_by_label("Search of the agent").select_option("tree")
    advice = answer.value.json()
    assert advice["agent"]["search"] == "tree"
    one.page.get_by_text("What would the agent do?").tap()
    one.play_out(seed=4)
    end = one.ask(f"/api/tables/{table['id']}")
    assert end["status"] == "over"
    assert end["seats"][1]["search"] == "monte_carlo"


@pytest.mark.slow
def test_looking_back_on_a_game(person):
    one = person()
    table = one.open(ORDERS["big2"])
    one.play_out(seed=5)
    one.page.get_by_role("link", name="Look back").click()
    one.page.wait_for_selector(".course")
    replay = one.ask(f"/api/tables/{table['id']}/replay")
    worst = one.page.locator(".worst button")
    assert worst.count() == len(replay["worst"])
    slider = one.page.get_by_role("slider")
    assert int(slider.get_attribute("max") or 0) == len(replay["frames"]) - 1
    worst.first.click()
    frame = replay["frames"][int(slider.input_value())]
    assert frame["number"] == replay["worst"][0]
    assert frame["judged"] is not None
    one.page.get_by_role("button", name="One move on").click()
    assert int(slider.input_value()) == replay["frames"].index(frame) + 1
    one.page.locator("body").click(position={"x": 2, "y": 2})
    one.page.keyboard.press("ArrowLeft")  # from anywhere
    one.page.keyboard.press("ArrowLeft")
    assert int(slider.input_value()) == replay["frames"].index(frame) - 1
