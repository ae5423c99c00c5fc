"""The table page: legal moves, event log, keyboard, reload."""

import pytest

from browser_user import TABLE_REQUESTS


@pytest.mark.parametrize("table_request", TABLE_REQUESTS.values(), ids=TABLE_REQUESTS)
def test_enabled_buttons_are_the_legal_actions(new_user, table_request):
    user = new_user("phone")
    table = user.open(table_request)
    enabled = user.choices()
    legal = table["legal"]
    if table["game"] == "big2":  # each enabled card is part of a legal play
        assert {key for key in enabled if key.startswith("card")} == {
            f"card {card}" for move in legal for card in move["cards"]
        }
        assert "play" not in enabled
    elif table["game"] == "thirty_one":  # piles and buttons offer the same actions
        assert set(enabled) == {"stock", "discard", "draw", "take", "call"}
    else:
        assert len(enabled) == len(legal)


def test_only_legal_combinations_can_be_played(new_user):
    user = new_user()
    table = user.open({**TABLE_REQUESTS["big2"], "seat": 2})
    plays = [set(move["cards"]) for move in table["legal"]]
    play = user.page.get_by_role("button", name="Play", exact=False)
    for key in [key for key in user.choices() if key.startswith("card")]:
        user.choose(key)
        chosen = {card["data"] for card in _pressed(user)}
        assert any(chosen <= legal for legal in plays)
        assert play.is_enabled() == (chosen in plays)
    user.page.keyboard.press("Escape")
    assert _pressed(user) == []


def test_every_card_of_a_hand_can_be_tapped_on_a_phone(new_user):
    user = new_user("phone")
    reply = user.page.request.post(f"{user.base}/api/tables", data=TABLE_REQUESTS["big2"])
    table = reply.json()
    house, flush = ["3d", "3c", "3h", "4d", "4s"], ["5c", "7c", "8c", "9c", "Qc"]  # as wide as a trick can be
    plays = [{"player": 1, "kind": "full house", "cards": house}, {"player": 2, "kind": "flush", "cards": flush}]
    hand = [f"{rank}{suit}" for rank in "6789TJQKA2" for suit in "hs"][:13]
    table["view"] |= {"hand": hand, "trick": plays, "to_beat": plays[1]}
    table["legal"] = [{"action": i, "text": card, "kind": "single", "cards": [card]} for i, card in enumerate(hand)]
    user.page.route(f"**/api/tables/{table['id']}", lambda route: route.fulfill(json=table))
    user.page.goto(f"{user.base}/#/table/{table['id']}")
    assert len([key for key in user.choices() if key.startswith("card")]) == 13
    width, held = user.page.evaluate("[innerWidth, document.documentElement.scrollWidth]")
    assert held <= width == user.page.viewport_size["width"]  # a browser shows a wider page smaller
    for card in hand:
        user.choose(f"card {card}")
        assert [chosen["data"] for chosen in _pressed(user)] == [card]


def test_a_player_who_is_out_sees_when_and_with_what_hand(new_user):
    user = new_user("phone")
    table = user.page.request.post(f"{user.base}/api/tables", data=TABLE_REQUESTS["thirty_one"]).json()
    seat = table["seat"]
    table |= {"status": "over", "legal": [], "events": []}
    table["view"]["turn"] = None
    table["view"]["players"][seat] |= {"out": True, "lives": 0, "hand": [], "score": None}
    end = {"number": 9, "player": None, "kind": "showdown", "round": 5, "caller": None, "text": "", "view": None}
    figures = {"hands": [["3h", "5h", "Qs"]] * 4, "scores": [20] * 4, "lost": [0] * 4, "lives": [1] * 4}
    figures["scores"][seat], figures["lost"][seat], figures["lives"][seat] = 12, 1, 0
    address = f"**/api/tables/{table['id']}"
    user.page.route(address, lambda route: route.fulfill(json=table))
    user.page.route(f"{address}/history", lambda route: route.fulfill(json={"events": [end | figures]}))
    user.page.goto(f"{user.base}/#/table/{table['id']}")
    assert user.page.locator(".felt .mine").inner_text() == "You went out in round 5 with 12 points."
    assert user.page.get_by_text("Order of play").count() == 0


def _pressed(user):
    return user.page.evaluate(
        """[...document.querySelectorAll('.felt button[aria-pressed="true"]')]
           .map((button) => ({data: button.dataset.key.split(' ')[1]}))"""
    )


def test_a_move_is_logged_and_survives_a_reload(new_user):
    user = new_user()
    table = user.open(TABLE_REQUESTS["five_o"])
    user.choose(user.choices()[0])
    user.choices()
    events = user.events()
    now = user.ask(f"/api/tables/{table['id']}")
    assert len(events) >= len(now["events"])
    assert events[0].startswith(f"{table['seats'][1]['title']}: ")
    cards = user.page.locator(".felt [data-card]").count()
    user.page.reload()
    user.choices()
    assert user.page.locator(".felt [data-card]").count() == cards
    assert user.events() == events


def test_the_event_log_shows_whole_lines(new_user):
    user = new_user("phone")
    user.open(TABLE_REQUESTS["five_o"])
    for _ in range(5):
        user.choose(user.choices()[0])
    user.choices()
    cut = user.page.evaluate(
        """() => {
          const list = document.querySelector('.event-log');
          const {top, bottom} = list.getBoundingClientRect();
          const lines = [...list.children].map((line) => line.getBoundingClientRect());
          return lines.filter((line) => line.top < bottom - 2 && line.bottom > bottom + 2).length;
        }"""
    )
    assert cut == 0
    user.wait_until("document.querySelectorAll('.event-log-frame.more').length === 1")
    user.page.evaluate("document.querySelector('.event-log').scrollTop = 10000")
    user.wait_until("!document.querySelector('.event-log-frame.more')")


def test_big_2_reports_the_forced_opening(new_user):
    user = new_user()
    seats = set()
    for _ in range(12):
        table = user.open(TABLE_REQUESTS["big2"])
        forced = table["events"][0]["forced"]
        user.choices()
        seats.add(forced["player"] == table["seat"])
        words = "Your 3♦ was played" if forced["player"] == table["seat"] else "The 3♦ of Greedy"
        assert words in user.events()[-1]
    assert seats


@pytest.mark.parametrize(
    ("screen", "table_request", "most"),
    [
        ({"width": 1280, "height": 800}, TABLE_REQUESTS["five_o"], 800),
        (
            {"width": 390, "height": 844},
            {"game": "thirty_one", "options": {"num_players": 9}, "opponents": [{"agent": "greedy"}]},
            1100,
        ),
    ],
    ids=["five_o", "nine players"],
)
def test_a_table_fits_its_screen(new_user, screen, table_request, most):
    user = new_user("desktop" if screen["width"] > 1000 else "phone", viewport=screen)
    user.open({**table_request, "par": {"agent": "random"}})
    user.choices()
    assert user.page.evaluate("document.documentElement.scrollHeight") <= most
    assert _bottom(user, ".felt") <= screen["height"]  # the whole board is visible


@pytest.mark.slow
@pytest.mark.parametrize(
    "screen", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}], ids=["desktop", "phone"]
)
@pytest.mark.parametrize("table_request", TABLE_REQUESTS.values(), ids=TABLE_REQUESTS)
def test_board_and_buttons_are_on_the_first_screen(new_user, table_request, screen):
    user = new_user("desktop" if screen["width"] > 1000 else "phone", viewport=screen)
    user.open({**table_request, "practice": True})
    user.choices()
    assert _bottom(user, ".felt") <= screen["height"]
    assert _bottom(user, ".head button:last-child") <= screen["height"]
    user.page.once("dialog", lambda dialog: dialog.accept())
    user.page.get_by_role("button", name="Resign").click()
    while user.choices():
        user.choose("continue")
    assert _bottom(user, ".outcome") <= screen["height"]


def _bottom(user, selector):
    """Lower end of an element on the page, px."""
    return user.page.evaluate(
        "(chosen) => document.querySelector(chosen).getBoundingClientRect().bottom + scrollY", selector
    )


def test_a_whole_game_with_the_keyboard(new_user):
    user = new_user()
    user.open(TABLE_REQUESTS["five_o"])
    keyboard = user.page.keyboard
    user.choices()
    while user.page.evaluate("!document.activeElement?.dataset.key"):
        keyboard.press("Tab")
    for _ in range(20):
        enabled = user.choices()
        focused = user.page.evaluate("document.activeElement.dataset.key")
        assert focused in enabled  # the focus stays on a button between moves
        keyboard.press("ArrowRight")
        moved = user.page.evaluate("document.activeElement.dataset.key")
        assert moved in enabled
        assert moved != focused or enabled.index(moved) == len(enabled) - 1
        assert user.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        keyboard.press("Enter")
        user.wait_until("document.querySelector('.felt').getAttribute('aria-busy') !== 'true'")
    assert user.choices() == []


@pytest.mark.parametrize(("motion", "glides"), [("no-preference", True), ("reduce", False)])
def test_card_animations_respect_reduced_motion(new_user, motion, glides):
    user = new_user(reduced_motion=motion)
    user.page.add_init_script(
        """const animate = Element.prototype.animate;
        window.glides = 0;
        Element.prototype.animate = function (...how) { window.glides += 1; return animate.apply(this, how); };"""
    )
    user.open(TABLE_REQUESTS["poker_squares"])
    user.choose(user.choices()[-1])
    user.wait_until("document.querySelector('.squares [data-card]')")
    if glides:  # perhaps in the next frame
        user.wait_until("window.glides > 0")
    assert (user.page.evaluate("window.glides") > 0) == glides
