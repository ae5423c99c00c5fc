"""View of Open-face Chinese Poker: only the deck is hidden."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cardlab.games.cards.deck import NUM_CARDS, card_text
from cardlab.games.open_face.game import OpenFace
from cardlab.games.open_face.royalties import royalty
from cardlab.games.open_face.rules import FOUL, NUM_DEALT, NUM_ROWS, ROW_NAMES, num_turned, owner
from cardlab.games.protocol import InfoStates
from cardlab_play.views.protocol import GameView, Json, Revealed, card_texts, hand_name, placement, player_or_none


@dataclass(frozen=True)
class OpenFaceView(GameView):
    """Two boards of three rows."""

    game: OpenFace

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """Boards, the turned-up cards, and current royalties and fouls."""
        record = info_states[0]
        step = int(record["step"])
        over = step == NUM_DEALT
        turned = step if over else int(num_turned(step))
        return {
            "turn": player_or_none(record["mover"]),
            "cards": card_texts(record["deck"][step:turned]),
            "deck": NUM_CARDS - turned,
            "boards": _by_row(lambda player, row: _cards(record, player, row)),
            "hands": _by_row(lambda player, row: hand_name(record["keys"][player, row], record["sizes"][player, row])),
            "royalties": _by_row(lambda player, row: _royalty(record, player, row)),
            "fouled": [_fouled(record, player) for player in range(2)],
            "foul_costs": [_foul_cost(record, player) for player in range(2)],
            "winners": _winners(record) if over else None,
            "scores": [int(score) for score in record["scores"]] if over else None,
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """The row."""
        return {"row": ROW_NAMES[action]}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A placement."""
        step = int(before["step"][0])
        row = ROW_NAMES[int(after["rows"][0][step])]
        return placement(card_text(int(after["deck"][0][step])), f"the {row}", row=row)


def _by_row(figure: Callable[[int, int], Any]) -> list[dict[str, Any]]:
    """[players] `figure` of each row by name."""
    return [{name: figure(player, row) for row, name in enumerate(ROW_NAMES)} for player in range(2)]


def _cards(record: Any, player: int, row: int) -> list[str]:
    places = zip(record["deck"].tolist(), record["rows"].tolist(), strict=True)
    return [card_text(card) for i, (card, place) in enumerate(places) if place == row and owner(i) == player]


def _royalty(record: Any, player: int, row: int) -> int:
    return int(royalty(int(record["ranks"][player, row]), row))


def _foul_cost(record: Any, player: int) -> int:
    """Points that a foul of `player` costs with the boards as they are, beside the own royalties."""
    other = 1 - player
    return 0 if _fouled(record, other) else FOUL + sum(_royalty(record, other, row) for row in range(NUM_ROWS))


def _winners(record: Any) -> dict[str, int | None] | None:
    """The winner of each row, None for a tie; None if a board is a foul."""
    if any(_fouled(record, player) for player in range(2)):
        return None
    pairs = zip(ROW_NAMES, *record["ranks"].tolist(), strict=True)
    return {row: None if first == second else int(second > first) for row, first, second in pairs}


def _fouled(record: Any, player: int) -> bool:
    """Whether two complete rows are in the wrong order of strength. Incomplete rows have rank 0."""
    ranks = [rank for rank in record["ranks"][player].tolist() if rank]
    return ranks != sorted(ranks)
