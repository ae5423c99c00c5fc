"""Thirty-One as a player sees it, with the showdown that ends each round."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.cards.deck import NUM_CARDS, card_text
from cardlab.games.protocol import InfoStates
from cardlab.games.thirty_one.actions import CALL, DRAW, KEEP_HAND, SWAP_FIRST, TAKE
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.record import OVER, SWAP
from cardlab.games.thirty_one.showdown import score_of
from cardlab_play.views.protocol import GameView, Json, Shown, card_or_none, known_texts, player_or_none

_KINDS = {DRAW: "draw", TAKE: "take", CALL: "call", KEEP_HAND: "keep"}


@dataclass(frozen=True)
class ThirtyOneView(GameView):
    """A match of rounds."""

    game: ThirtyOne

    def table(self, info_states: InfoStates, shown: Shown = ()) -> Json:
        """The round, the piles and every player."""
        record = info_states[0]
        phase = int(record["phase"])
        pending = phase == SWAP
        return {
            "round": int(record["round"]),
            "turn": player_or_none(record["player"]),
            "phase": "over" if phase == OVER else "swap" if pending else "turn",
            "starter": int(record["starter"]),
            "turns": int(record["turns"]),
            "caller": player_or_none(record["caller"]),
            "top": card_or_none(record["top"]),
            "discards": int(record["discards"]).bit_count(),
            "pile": _texts_of_set(int(record["discards"])),
            "stock": int(record["stock_left"]),
            "reshuffles": int(record["reshuffles"]),
            "drawn": card_or_none(record["drawn"]),
            "drawn_by": player_or_none(record["player"]) if pending else None,
            "taken": bool(record["taken"]),
            "players": [_player(record, player) for player in range(self.game.num_players)],
        }

    def choice(self, info_states: InfoStates, action: int) -> Json:
        """Its kind; of a swap also the card that goes."""
        if action in _KINDS:
            return {"kind": _KINDS[action]}
        record = info_states[0]
        position = action - SWAP_FIRST
        return {"kind": "swap", "position": position, "card": card_or_none(record["hands"][record["player"], position])}

    def event(self, before: InfoStates, after: InfoStates, player: int, shown: Shown = ()) -> Json:
        """A draw, a take, a call, or what was discarded."""
        old, new = before[0], after[0]
        if int(old["phase"]) == SWAP:
            return _discard(shown[player][0] if shown else new)  # the next round may be dealt already
        if int(new["phase"]) == SWAP and int(new["player"]) == player and not _round_ended(old, new):
            if new["taken"]:
                card = card_text(int(new["drawn"]))
                return {"kind": "take", "text": f"take {card}", "card": card}
            return {"kind": "draw", "text": "draw"}
        return {"kind": "call", "text": "call"}

    def shows_hands(self, before: InfoStates, after: InfoStates) -> bool:
        """At the end of each round."""
        return _round_ended(before[0], after[0])

    def showdown(self, before: InfoStates, after: InfoStates, shown: Shown) -> Json | None:
        """All hands of the round, and what it cost whom."""
        old, new = before[0], after[0]
        players = range(self.game.num_players)
        held = [bool(old["lives"][player] > 0) for player in players]
        lost = [int(old["lives"][player]) - int(new["lives"][player]) for player in players]
        caller = max(int(own[0]["caller"]) for own in shown)
        losers = ", ".join(f"player {player} loses {count}" for player, count in enumerate(lost) if count)
        return {
            "kind": "showdown",
            "player": None,
            "round": int(old["round"]),
            "hands": [_hand(shown[player][0], player) if held[player] else None for player in players],
            "scores": [int(score_of(shown[player][0], player)) if held[player] else None for player in players],
            "lost": lost,
            "lives": [int(new["lives"][player]) for player in players],
            "caller": player_or_none(caller),
            "text": f"round {int(old['round'])} is shown: {losers or 'nobody loses a life'}",
        }

    def hands(self, shown: Shown) -> list[list[str]] | None:
        """[P] what each holds."""
        return [known_texts(own[0]["hands"][player]) for player, own in enumerate(shown)] if shown else None


def _round_ended(old: Any, new: Any) -> bool:
    return int(new["phase"]) == OVER or int(new["round"]) != int(old["round"])


def _discard(record: Any) -> Json:
    card = card_text(int(record["top"]))
    return {"kind": "discard", "text": f"discard {card}", "card": card}


def _player(record: Any, player: int) -> Json:
    in_round = bool(record["lives"][player] > 0) or int(record["phase"]) == OVER
    hand = record["hands"][player]
    known = in_round and bool((np.asarray(hand) >= 0).all())
    return {
        "lives": int(record["lives"][player]),
        "out": not in_round or bool(int(record["phase"]) == OVER and (np.asarray(hand) < 0).all()),
        "hand": _hand(record, player) if in_round else [],
        "score": int(score_of(record, player)) if known else None,
    }


def _hand(record: Any, player: int) -> list[str | None]:
    return [card_or_none(card) for card in record["hands"][player]]


def _texts_of_set(cards: int) -> list[str]:
    return [card_text(card) for card in range(NUM_CARDS) if cards >> card & 1]
