"""Every view of a table accounts for all 52 cards."""

from collections.abc import Iterator
from typing import Any

import pytest

from cardlab.agents.exploration import RandomAgent
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


def test_the_end_of_five_o_names_the_cards_that_lay_face_down() -> None:
    game, _ = make_offered_game("five_o", {})
    table = Table(game, Deal(bytes(48)), 0, [RandomAgent(game)])
    while True:
        hidden = [event for event in table.history(100) if event["kind"] == "place" and event["card"] is None]
        assert all("a hidden card" in event["text"] for event in hidden)
        if len(hidden) >= 3:
            break
        table.play_action(table.legal_actions()[0])
        table.play_agents()
    table.finish(RandomAgent(game))
    named = {event["number"]: event for event in table.history(100)}
    columns = table.view()["columns"]
    for event in hidden:
        card = columns[event["player"]][event["column"]][-1]
        assert named[event["number"]]["card"] == card
        assert named[event["number"]]["text"] == f"{card} face down to column {event['column'] + 1}"


def test_words_of_a_swap_are_those_of_the_move() -> None:
    game, _ = make_offered_game("thirty_one", {})
    kinds: set[str] = set()
    for seed in range(20):
        table = Table(game, Deal(bytes([seed]) * 48), 0, [RandomAgent(game)])
        table.finish(RandomAgent(game))
        for step in (step for step in table.steps if step.player == table.seat):
            move = table.move_message(step.before, step.action)
            assert table.events(step)[0]["text"] == move["text"]
            kinds.add(move["kind"])
    assert kinds == {"draw", "take", "call", "swap", "keep"}


def test_rows_and_royalties_of_open_face_add_up_to_the_points() -> None:
    game, _ = make_offered_game("open_face", {})
    for seed in range(30):
        table = Table(game, Deal(bytes([seed]) * 48), 0, [RandomAgent(game)])
        table.finish(RandomAgent(game))
        view = table.view()
        if any(view["fouled"]):
            assert view["winners"] is None
            continue
        won = sum((winner == 0) - (winner == 1) for winner in view["winners"].values())
        sums = [sum(royalties.values()) for royalties in view["royalties"]]
        assert view["scores"][0] == won * (2 if abs(won) == 3 else 1) + sums[0] - sums[1]
        return
    raise AssertionError("every board of random agents is a foul")


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
