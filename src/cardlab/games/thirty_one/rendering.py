"""Text of the table as its owner sees it, and of actions."""

import numpy as np

from cardlab.games.cards.deck import card_text, cards_text
from cardlab.games.thirty_one.record import (
    CALL,
    DRAW,
    KEEP_HAND,
    OVER,
    SWAP,
    SWAP_FIRST,
    TAKE,
    TURN,
    UNRESOLVED,
    Record,
)
from cardlab.games.thirty_one.showdown import score_of


def table_text(state: Record, num_players: int) -> str:
    """One line for the round, one for the piles and one for each player."""
    return "\n".join([_phase_text(state), _piles_text(state), *_players_text(state, num_players)])


def move_text(state: Record, action: int) -> str:
    """A short description of `action` of the player to move."""
    if action == DRAW:
        return "draw"
    if action == TAKE:
        return f"take {card_text(state['top'])}"
    if action == CALL:
        return "call"
    drawn = card_text(state["drawn"])
    if action == KEEP_HAND:
        return f"don't swap, discard {drawn}"
    return f"swap {card_text(state['hands'][state['player'], action - SWAP_FIRST])} for {drawn}"


def _phase_text(state: Record) -> str:
    text = f"Round {state['round']}, turn {state['turns'] + 1}"
    if state["caller"] >= 0:
        text += f", player {state['caller']} called"
    return (
        text
        + {
            TURN: f": player {state['player']} to draw, take or call",
            SWAP: f": player {state['player']} to swap",
            OVER: ": the match is over",
            UNRESOLVED: ": all show their hands",
        }[int(state["phase"])]
    )


def _piles_text(state: Record) -> str:
    pile = int(state["discards"]).bit_count()
    top = "" if state["taken"] else f" {card_text(state['top'])}"
    text = f"Discard{top} (of {pile}), stock of {state['stock_left']}"
    if state["reshuffles"]:
        text += f" (reshuffle {state['reshuffles']})"
    if state["phase"] == SWAP:
        text += f", {'taken' if state['taken'] else 'drawn'} {card_text(state['drawn'])}"
    return text


def _players_text(state: Record, num_players: int) -> list[str]:
    lines: list[str] = []
    for player in range(num_players):
        hand = state["hands"][player]
        lives = int(state["lives"][player])
        name = f"player {player}" + (" (you)" if player == state["owner"] else "")
        line = f"{name}: {lives} {'life' if lives == 1 else 'lives'}"
        if lives > 0 or state["phase"] == OVER:
            line += f", {cards_text(hand)}" + (f", scores {score_of(state, player)}" if (hand >= 0).all() else "")
        lines.append(line)
    if state["phase"] == OVER:
        paid = " ".join(f"{payoff:+.2f}" for payoff in np.asarray(state["paid"])[:num_players])
        lines.append(f"paid: {paid}")
    return lines
