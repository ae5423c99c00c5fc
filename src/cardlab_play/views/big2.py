"""View of Big 2: the own hand, card counts of the others, and the played cards."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, DECK_CARD, KINDS, PASS, classify
from cardlab.games.big2.game import Big2
from cardlab.games.big2.rules import NUM_PLAYERS, PLAYED, PLAYING, current_player, loser_payment
from cardlab.games.cards.deck import card_text
from cardlab.games.protocol import InfoStates
from cardlab_play.views.game_view import GameView, Json, Revealed, player_or_none


@dataclass(frozen=True)
class Big2View(GameView):
    """Four players. Cards are always in Big 2's order of strength."""

    game: Big2

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """Hand, counts, the current trick and the played cards."""
        record = info_states[0]
        place = np.asarray(record["place"])
        trick = _trick(record)
        playing = int(record["phase"]) == PLAYING
        return {
            "turn": player_or_none(current_player(info_states)[0]),
            "hand": _texts(np.flatnonzero(place < NUM_PLAYERS)),  # of the owner only: the record is an InfoState
            "counts": [int(count) for count in record["counts"]],
            "penalties": [int(loser_payment(int(count), self.game.penalty == "doubled")) for count in record["counts"]],
            "moves": int(record["moves"]),
            "passes": int(record["passes"]),
            "to_beat": next((move for move in reversed(trick) if move["cards"]), None) if playing else None,
            "trick": trick,
            "played": _texts(np.flatnonzero(place >= PLAYED)),
            "hands": self.hands(revealed),
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """Kind and cards."""
        if action == PASS:
            return {"kind": "pass", "cards": []}
        place = np.asarray(info_states[0]["place"])
        player = int(current_player(info_states)[0])
        cards = np.flatnonzero(place == player).astype(np.int8)[ACTION_POSITIONS[action, : ACTION_SIZES[action]]]
        return {"kind": _kind(cards), "cards": _texts(cards)}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A combination or a pass."""
        move = _move(after[0], int(after["moves"][0]) - 1)
        cards = move["cards"]
        if not cards:
            return {"kind": "pass", "text": "pass", "cards": []}
        return {"kind": "play", "text": f"{move['kind']} {' '.join(cards)}", "cards": cards, "hand": move["kind"]}

    def opening(self, info_states: InfoStates) -> Json:
        """The forced 3 of diamonds, if `opening` plays it."""
        trick = _trick(info_states[0])
        return {"forced": {"player": trick[0]["player"], "cards": trick[0]["cards"]}} if trick else {}

    def hands(self, revealed: Revealed) -> list[list[str]] | None:
        """[4] the hand of each player."""
        if not revealed:
            return None
        return [_texts(np.flatnonzero(own[0]["place"] == player)) for player, own in enumerate(revealed)]


def _texts(cards: NDArray[Any]) -> list[str]:
    return [card_text(int(DECK_CARD[card])) for card in cards]


def _kind(cards: NDArray[np.int8]) -> str:
    return KINDS[int(classify(cards, cards.size)[0])]


def _move(record: Any, number: int) -> Json:
    """Player, kind and cards of move `number`, counted from 0."""
    cards = np.flatnonzero(record["place"] == PLAYED + number).astype(np.int8)
    player = (int(record["opener"]) + number) % NUM_PLAYERS
    return {"player": player, "kind": _kind(cards) if cards.size else "pass", "cards": _texts(cards)}


def _trick(record: Any) -> list[Json]:
    """The moves since the last control: back to three passes in a row."""
    moves: list[Json] = []
    passes = 0
    if int(record["phase"]) == PLAYING and int(record["kind"]) < 0:
        return moves
    for number in range(int(record["moves"]) - 1, -1, -1):
        moves.append(_move(record, number))
        passes = 0 if moves[-1]["cards"] else passes + 1
        if passes == NUM_PLAYERS - 1:
            return moves[:-passes][::-1]
    return moves[::-1]
