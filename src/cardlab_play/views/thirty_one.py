"""View of Thirty-One, with the showdown at the end of each round."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.cards.deck import NUM_CARDS, card_text
from cardlab.games.protocol import InfoStates
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.record import CALL, DRAW, KEEP_HAND, OVER, SWAP, SWAP_FIRST, TAKE
from cardlab.games.thirty_one.showdown import score_of
from cardlab_play.views.game_view import GameView, Json, Revealed, card_or_none, card_texts, player_or_none

_KINDS = {DRAW: "draw", TAKE: "take", CALL: "call", KEEP_HAND: "keep"}


@dataclass(frozen=True)
class ThirtyOneView(GameView):
    """A match of several rounds."""

    game: ThirtyOne

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """The round, the piles and the players."""
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

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """Kind, and for a swap the card that is given away."""
        if action in _KINDS:
            return {"kind": _KINDS[action]}
        record = info_states[0]
        position = action - SWAP_FIRST
        return {"kind": "swap", "position": position, "card": card_or_none(record["hands"][record["player"], position])}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A draw, a take, a call or a discard."""
        old, new = before[0], after[0]
        if int(old["phase"]) == SWAP:
            return _discard(old, revealed[player][0] if revealed else new)  # `new` may belong to the next round
        if int(new["phase"]) == SWAP and int(new["player"]) == player and not _round_ended(old, new):
            if new["taken"]:
                card = card_text(int(new["drawn"]))
                return {"kind": "take", "text": f"take {card}", "card": card}
            return {"kind": "draw", "text": "draw"}
        return {"kind": "call", "text": "call"}

    def reveals_hands(self, before: InfoStates, after: InfoStates) -> bool:
        """At the end of each round."""
        return _round_ended(before[0], after[0])

    def hands_shown(self, mover: int, revealed: Revealed) -> Json:
        """The table at the end of the round, before the next deal. Only the stock stays hidden."""
        record = InfoStates(revealed[mover].copy())
        for player, own in enumerate(revealed):
            record["hands"][0][player] = own[0]["hands"][player]
        return self.table(record)

    def showdown(self, before: InfoStates, after: InfoStates, revealed: Revealed) -> Json:
        """All hands of the round, and the lives that were lost."""
        old, new = before[0], after[0]
        players = range(self.game.num_players)
        held = [bool(old["lives"][player] > 0) for player in players]
        lost = [int(old["lives"][player]) - int(new["lives"][player]) for player in players]
        caller = max(int(own[0]["caller"]) for own in revealed)
        losers = ", ".join(f"player {player} loses {count}" for player, count in enumerate(lost) if count)
        return {
            "kind": "showdown",
            "player": None,
            "round": int(old["round"]),
            "hands": [_hand(revealed[player][0], player) if held[player] else None for player in players],
            "scores": [int(score_of(revealed[player][0], player)) if held[player] else None for player in players],
            "lost": lost,
            "lives": [int(new["lives"][player]) for player in players],
            "caller": player_or_none(caller),
            "text": f"round {int(old['round'])} ends: {losers or 'no player loses a life'}",
        }

    def hands(self, revealed: Revealed) -> list[list[str]] | None:
        """[P] the hand of each player."""
        return [card_texts(own[0]["hands"][player]) for player, own in enumerate(revealed)] if revealed else None


def _round_ended(old: Any, new: Any) -> bool:
    return int(new["phase"]) == OVER or int(new["round"]) != int(old["round"])


def _discard(old: Any, new: Any) -> Json:
    """The discarded card, and what the owner knows of the swap: the words of `action_text`."""
    card, drawn = card_text(int(new["top"])), card_or_none(old["drawn"])
    kept = "don't swap, " if drawn == card else ""
    text = f"swap {card} for {drawn}" if drawn and not kept else f"{kept}discard {card}"
    return {"kind": "discard", "text": text, "card": card}


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
