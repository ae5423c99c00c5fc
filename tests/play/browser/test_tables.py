"""At a table: only legal moves can be made, others' are told, keys suffice, a reload goes on where it was."""

import pytest

from browsing import ORDERS, SCREENS


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_what_is_lit_is_what_is_legal(person, order):
    one = person("phone")
    table = one.open(order)
    lit = one.choices()
    legal = table["legal"]
    if table["game"] == "big2":  # cards are put together; each one that is lit stands in some legal play
        assert {key for key in lit if key.startswith("card")} == {
            f"card {card}" for move in legal for card in move["cards"]
        }
        assert "play" not in lit
    elif table["game"] == "thirty_one":  # the piles and the buttons below say the same
        assert set(lit) == {"stock", "discard", "draw", "take", "call"}
    else:
        assert len(lit) == len(legal)


def test_cards_that_make_no_legal_play_cannot_be_played(person):
    one = person()
    table = one.open({**ORDERS["big2"], "seat": 2})
    plays = [set(move["cards"]) for move in table["legal"]]
    play = one.page.get_by_role("button", name="Play", exact=False)
    for key in [key for key in one.choices() if key.startswith("card")]:
        one.choose(key)
        chosen = {card["data"] for card in _pressed(one)}
        assert any(chosen <= legal for legal in plays)
        assert play.is_enabled() == (chosen in plays)
    one.page.keyboard.press("Escape")
    assert _pressed(one) == []


def _pressed(one):
    return one.page.evaluate(
        """[...document.querySelectorAll('.felt button[aria-pressed="true"]')]
           .map((button) => ({data: button.dataset.key.split(' ')[1]}))"""
    )


def test_a_move_is_told_and_a_reload_goes_on(person):
    one = person()
    table = one.open(ORDERS["five_o"])
    one.choose(one.choices()[0])
    one.choices()
    told = one.told()
    now = one.ask(f"/api/tables/{table['id']}")
    assert len(told) >= len(now["events"])
    assert told[0].startswith(f"{table['seats'][1]['title']}: ")
    cards = one.page.locator(".felt [data-card]").count()
    one.page.reload()
    one.choices()
    assert one.page.locator(".felt [data-card]").count() == cards
    assert one.told() == told


def test_what_happened_is_told_in_whole_lines(person):
    one = person("phone")
    one.open(ORDERS["five_o"])
    for _ in range(5):
        one.choose(one.choices()[0])
    one.choices()
    cut = one.page.evaluate(
        """() => {
          const list = document.querySelector('.told');
          const {top, bottom} = list.getBoundingClientRect();
          const lines = [...list.children].map((line) => line.getBoundingClientRect());
          return lines.filter((line) => line.top < bottom - 2 && line.bottom > bottom + 2).length;
        }"""
    )
    assert cut == 0
    assert one.page.locator(".told-of.more").count() == 1
    one.page.evaluate("document.querySelector('.told').scrollTop = 10000")
    one.wait_until("!document.querySelector('.told-of.more')")


def test_big_2_tells_what_the_rules_played(person):
    one = person()
    seats = set()
    for _ in range(12):
        table = one.open(ORDERS["big2"])
        forced = table["events"][0]["forced"]
        one.choices()
        seats.add(forced["player"] == table["seat"])
        words = "Your 3♦ was played for you" if forced["player"] == table["seat"] else "The 3♦ of Greedy"
        assert words in one.told()[-1]
    assert seats


@pytest.mark.parametrize(
    ("screen", "order", "most"),
    [
        ("desktop", ORDERS["five_o"], 800),
        ("phone", {"game": "thirty_one", "options": {"num_players": 9}, "opponents": [{"agent": "greedy"}]}, 1100),
    ],
)
def test_a_table_fits_its_screen(person, screen, order, most):
    one = person(
        screen, viewport={"width": 1280, "height": 800} if screen == "desktop" else SCREENS[screen]["viewport"]
    )
    one.open({**order, "par": {"agent": "random"}})
    one.choices()
    assert one.page.evaluate("document.documentElement.scrollHeight") <= most
    bottom = one.page.evaluate("document.querySelector('.felt').getBoundingClientRect().bottom")
    assert bottom <= one.page.viewport_size["height"]  # all that is played with is in sight at once


def test_a_whole_game_by_keys_alone(person):
    one = person()
    one.open(ORDERS["five_o"])
    keyboard = one.page.keyboard
    one.choices()
    while one.page.evaluate("!document.activeElement?.dataset.key"):
        keyboard.press("Tab")
    for _ in range(20):
        lit = one.choices()
        focused = one.page.evaluate("document.activeElement.dataset.key")
        assert focused in lit  # the focus never gets lost between moves
        keyboard.press("ArrowRight")
        moved = one.page.evaluate("document.activeElement.dataset.key")
        assert moved in lit
        assert moved != focused or lit.index(moved) == len(lit) - 1
        assert one.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        keyboard.press("Enter")
        one.wait_until("document.querySelector('.felt').getAttribute('aria-busy') !== 'true'")
    assert one.choices() == []


@pytest.mark.parametrize(("motion", "glides"), [("no-preference", True), ("reduce", False)])
def test_cards_glide_unless_less_motion_is_wanted(person, motion, glides):
    one = person(reduced_motion=motion)
    one.page.add_init_script(
        """const animate = Element.prototype.animate;
        window.glides = 0;
        Element.prototype.animate = function (...how) { window.glides += 1; return animate.apply(this, how); };"""
    )
    one.open(ORDERS["poker_squares"])
    one.choose(one.choices()[-1])
    one.wait_until("document.querySelector('.squares [data-card]')")
    assert (one.page.evaluate("window.glides") > 0) == glides
