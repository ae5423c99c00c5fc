"""Test positions: random games stopped at a turn, and hand-written InfoStates."""

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.cards.deck import parse_card
from cardlab.games.cards.hands import CARD_KEYS, keys_of
from cardlab.games.five_o import rules
from cardlab.games.five_o.game import FiveO
from cardlab.games.loop import play
from cardlab.games.protocol import InfoStates, Players, States


def stopped_at(game: FiveO, turn: int, tables: int, seed: int) -> States:
    """[tables] games of random play after `turn` placements."""
    rng = np.random.default_rng(seed)
    states = game.deal(tables, rng)
    if turn:
        for step, _ in enumerate(play(game, states, [RandomAgent(game)], rng, ask_forced=True), start=1):
            if step == turn:
                break
    return states


def to_move(game: FiveO, states: States) -> tuple[InfoStates, Players]:
    """InfoStates of the movers, and the movers."""
    players = game.current_player(states)
    return game.information(states, players), players


def written(own: str, opposite: str, card: str, hidden: int = 0) -> InfoStates:
    """InfoState of player 0, who is to place `card`; five columns per player, such as `Ah Kh|2c|…`.

    The first `hidden` columns of the opponent hold an additional unknown card.
    """
    states = np.zeros(1, dtype=rules.STATE)
    state = states[0]
    state["columns"], state["deck"] = -1, -1
    placed = -10
    for player, text in enumerate((own, opposite)):
        for column, words in enumerate(text.split("|")):
            cards = [parse_card(word) for word in words.split()]
            state["columns"][player, column, : len(cards)] = cards
            state["keys"][player, column] = CARD_KEYS[cards].sum()
            state["sizes"][player, column] = len(cards) + (player == 1 and column < hidden)
            placed += int(state["sizes"][player, column])
    assert placed % 2 == 0
    state["turn"] = placed
    state["deck"][placed] = parse_card(card)
    return InfoStates(states)


def counts_of(cards: list[int]) -> np.ndarray:
    """`unseen` [18] for these unseen cards."""
    ranks = np.bincount([card // 4 for card in cards], minlength=13)
    return np.concatenate([ranks, np.bincount([card % 4 for card in cards], minlength=4), [len(cards)]])


def key_mask(cards: list[int]) -> tuple[int, int]:
    """Key of a hand, and its ranks as bits."""
    return int(keys_of(np.array(cards))), sum(1 << rank for rank in {card // 4 for card in cards})
