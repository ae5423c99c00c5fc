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
