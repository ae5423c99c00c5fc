"""Agents for Open-face that need no training: the seed's greedy start, Monte Carlo with random or hindsight fills."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.random_agent import choose_uniformly
from cardlab.core.kernels import kernel
from cardlab.core.options import check_range
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS
from cardlab.games.open_face.random_fills import choose_rows
from cardlab.games.open_face.rules import (
    BACK,
    FRONT,
    MIDDLE,
    NUM_OPENING,
    owner,
)
from cardlab.games.protocol import Actions, Game, InfoStates, Players

EIGHT = 6  # rank from which a card left over goes to the middle
_FRONT_ROOM = 3
_NOTHING, _OF_A_RANK, _OF_A_SUIT, _IN_SEQUENCE = range(4)
LISTED = np.array(
    [
        (_OF_A_RANK, 4),
        (_OF_A_RANK, 2),  # the full house: all of its cards
        (_OF_A_SUIT, 5),
        (_IN_SEQUENCE, 5),
        (_OF_A_SUIT, 4),
        (_OF_A_RANK, 2),  # two pair
        (_OF_A_RANK, 3),
        (_IN_SEQUENCE, 4),
        (_OF_A_SUIT, 3),
        (_IN_SEQUENCE, 3),
    ]
)
"""[10, 2] the hands for the back, best first: what their cards have in common, and how many of them at least."""


@dataclass(frozen=True)
class GreedyStart:
    """Opens by the list of Tan and Xiao (2018), section 5.1, then plays uniformly at random.

    The first of these that the five cards hold goes to the back: four of a kind, full house, flush, straight, four of a
    suit, two pair, three of a kind, four in sequence, three of a suit, three in sequence (an ace may be low). Of the
    others 8 and above go to the middle, below to the front; the paper does not say what happens to a fourth low card:
    here it goes to the middle.
    """

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        legal = self.game.legal_actions(info_states)
        actions = choose_uniformly(legal, rng.random(len(legal), dtype=np.float32))
        listed = opening_rows(info_states)
        fits = (listed >= 0) & legal[np.arange(len(legal)), listed]  # a search may have filled that row before
        return np.where(fits, listed, actions)


@kernel
def opening_rows(info_states: InfoStates) -> Actions:
    """[N] the row that the list gives to the card to place; -1 after the opening."""
    actions = np.full(info_states.shape[0], -1, dtype=np.int16)
    cards = np.empty(NUM_OPENING, dtype=np.int64)
    rows = np.empty(NUM_OPENING, dtype=np.int64)
    for n in range(actions.size):
        step = int(info_states[n]["step"])
        if step < 2 * NUM_OPENING:
            first = NUM_OPENING * owner(step)
            for place in range(NUM_OPENING):
                cards[place] = info_states[n]["deck"][first + place]
            arrange(cards, rows)
            actions[n] = rows[step - first]
    return actions


@kernel
def arrange(cards: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Fill `rows` [5] with the rows of the opening `cards` [5]."""
    ranks = np.zeros(NUM_RANKS, dtype=np.int64)
    suits = np.zeros(NUM_SUITS, dtype=np.int64)
    for card in cards:
        ranks[card >> 2] += 1
        suits[card & 3] += 1
    _choose_back(cards, rows, ranks, suits)
    in_front = 0
    for place in range(NUM_OPENING):
        if rows[place] != BACK:
            low = cards[place] >> 2 < EIGHT and in_front < _FRONT_ROOM
            rows[place] = FRONT if low else MIDDLE
            in_front += low


@kernel
def _choose_back(
    cards: NDArray[np.int64], rows: NDArray[np.int64], ranks: NDArray[np.int64], suits: NDArray[np.int64]
) -> None:
    """Set rows[i] to BACK where card i belongs to the first listed hand, elsewhere to MIDDLE."""
    length, top = longest_run(ranks)
    listed = first_listed(ranks.max(), (ranks >= 2).sum(), suits.max(), length)
    kind, least = (LISTED[listed, 0], LISTED[listed, 1]) if listed >= 0 else (_NOTHING, 0)
    taken = np.zeros(NUM_RANKS, dtype=np.bool_)
    for place in range(NUM_OPENING):
        rank, suit = cards[place] >> 2, cards[place] & 3
        if kind == _OF_A_RANK:
            chosen = ranks[rank] >= least
        elif kind == _OF_A_SUIT:
            chosen = suits[suit] >= least
        elif kind == _IN_SEQUENCE:
            # of two cards of one rank the first goes to the back
            chosen = _is_in_run(rank, length, top) and not taken[rank]
            taken[rank] = True
        else:
            chosen = False
        rows[place] = BACK if chosen else MIDDLE


@kernel
def first_listed(most: int, pairs: int, suited: int, length: int) -> int:
    """Index into LISTED of the first hand that the opening holds, -1 without one.

    Given are the most cards of one rank, the ranks held at least twice, the most cards of one suit, the longest run.
    """
    holds = (
        most == 4,
        most == 3 and pairs == 2,
        suited == 5,
        length == 5,
        suited == 4,
        pairs == 2,
        most == 3,
        length == 4,
        suited == 3,
        length == 3,
    )
    for index in range(len(holds)):
        if holds[index]:
            return index
    return -1


@kernel
def longest_run(ranks: NDArray[np.int64]) -> tuple[int, int]:
    """Length and highest rank of the longest sequence of ranks held (the higher of two); the ace is low as well."""
    length = best = top = 0
    for place in range(-1, NUM_RANKS):
        length = length + 1 if ranks[place] > 0 else 0  # place -1 is the ace
        if length >= best:
            best, top = length, place
    return best, top


@kernel
def _is_in_run(rank: int, length: int, top: int) -> bool:
    lowest = top - length + 1
    return lowest <= rank <= top or (lowest == -1 and rank == NUM_RANKS - 1)


@dataclass(frozen=True)
class RandomFills:
    """Plays what gains most on average when both boards are filled up with random cards in random order.

    All plans of one decision are tried on the same random cards. A plan places every card in sight: up to 232 ways in
    the opening, which is thought over again after each of its cards, later one row for the one card.
    """

    game: Game
    openings: int = 100  # simulations of each plan in the opening
    simulations: int = 500  # of each row for a later card

    def __post_init__(self) -> None:
        check_range("agent.openings", self.openings, 1, whole=True)
        check_range("agent.simulations", self.simulations, 1, whole=True)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return choose_rows(info_states, rng, openings=self.openings, simulations=self.simulations, tries=1)


@dataclass(frozen=True)
class HindsightFills:
    """As RandomFills, but the cards of a simulation are laid out in `tries` random orders, of which the best counts.

    So a plan is worth what one could make of it had one known the cards to come; the opponent's board is filled in its
    best order, too.
    """

    game: Game
    openings: int = 100
    simulations: int = 500
    tries: int = 16

    def __post_init__(self) -> None:
        check_range("agent.openings", self.openings, 1, whole=True)
        check_range("agent.simulations", self.simulations, 1, whole=True)
        check_range("agent.tries", self.tries, 1, whole=True)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return choose_rows(info_states, rng, openings=self.openings, simulations=self.simulations, tries=self.tries)
