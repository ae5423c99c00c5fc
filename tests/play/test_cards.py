"""Every view of a table accounts for all 52 cards."""

from collections.abc import Iterator
from typing import Any

import pytest

from cardlab.agents.random_agent import RandomAgent
from cardlab.games.cards.deck import NUM_CARDS
from cardlab_play.deals import Deal
from cardlab_play.offered_games import OFFERED_GAMES, make_offered_game
from cardlab_play.table import Table

OPTIONS: dict[str, list[dict[str, Any]]] = {"thirty_one": [{"num_players": 2}, {"num_players": 9, "lives": 1}]}


@pytest.mark.parametrize("name", OFFERED_GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_every_view_of_a_random_game_has_all_cards(name: str, seed: int) -> None:
    for options in OPTIONS.get(name, [{}]):
        game, _ = make_offered_game(name, options)
        agent = RandomAgent(game)
        table = Table(game, Deal(bytes([seed]) * 48), 0, [agent] * (game.spec.num_players - 1))
        table.finish(agent)
        views = [event["view"] for step in table.steps for event in table.events(step)]
        assert None not in views
        for view in views:
            known, hidden = _cards(name, view)
            assert len(known) == len(set(known))
            assert len(known) + hidden == NUM_CARDS


def test_the_end_of_a_round_shows_the_last_discard() -> None:
    game, _ = make_offered_game("thirty_one", {})
    table = Table(game, Deal(bytes(48)), 0, [RandomAgent(game)])
    table.finish(RandomAgent(game))
    ends = [events for events in map(table.events, table.steps) if len(events) == 2 and events[0]["kind"] == "discard"]
    assert ends
    for discard, showdown in ends:
        assert discard["view"]["top"] == discard["card"]
        assert [player["hand"] for player in discard["view"]["players"]] == showdown["hands"]


def _cards(name: str, view: Any) -> tuple[list[str], int]:
    """The known cards of a view, and the number of hidden ones."""
    if name == "big2":
        if view["hands"]:
            return [*view["played"], *_flat(view["hands"])], 0
        return [*view["played"], *view["hand"]], sum(view["counts"]) - len(view["hand"])
    if name == "thirty_one":
        hands = [card for player in view["players"] for card in player["hand"] if not player["out"]]
        drawn = [view["drawn"]] if view["drawn_by"] is not None else []
        return _split([*view["pile"], *hands, *drawn], view["stock"])
    shown = {"five_o": "columns", "open_face": "boards", "poker_squares": "grid"}[name]
    placed = list(_flat(view[shown]))
    if name == "poker_squares":
        placed = [card for card in placed if card]  # null: an empty cell
    turned = view["cards"] if name == "open_face" else [view["card"]] * (view["turn"] is not None)
    if name == "poker_squares" and view["card"] is None:
        turned = []
    return _split([*placed, *turned], view["deck"])


def _split(cards: list[str | None], hidden: int) -> tuple[list[str], int]:
    known = [card for card in cards if card]
    return known, hidden + len(cards) - len(known)


def _flat(held: Any) -> Iterator[Any]:
    for part in held.values() if isinstance(held, dict) else held:
        if isinstance(part, list | dict):
            yield from _flat(part)
        else:
            yield part
