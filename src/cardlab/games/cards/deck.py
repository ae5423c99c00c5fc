"""Numbers and text of cards, and shuffles.

card = 4·rank + suit; ranks 2 … A are 0 … 12; suits clubs, diamonds, hearts, spades are 0 … 3; text `As`, `Td`, `2c`.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel

NUM_CARDS = 52
NUM_RANKS = 13
NUM_SUITS = 4
RANKS = "23456789TJQKA"
SUITS = "cdhs"
UNKNOWN = -1  # in records: the card is hidden, or there is none

Cards = NDArray[np.int8]


def card_text(card: int) -> str:
    """Text of one card, `As`; `??` for UNKNOWN."""
    return "??" if card < 0 else RANKS[card // NUM_SUITS] + SUITS[card % NUM_SUITS]


def cards_text(cards: Iterable[int]) -> str:
    """Texts of the cards, in the order given, separated by spaces."""
    return " ".join(card_text(int(card)) for card in cards)


def parse_card(text: str) -> int:
    """The number of the card written as `As`; ValueError for other text."""
    if len(text) != 2 or text[0] not in RANKS or text[1] not in SUITS:
        raise ValueError(f"card {text!r}: must be a rank of {RANKS} and a suit of {SUITS}, as in 'As'")
    return NUM_SUITS * RANKS.index(text[0]) + SUITS.index(text[1])


def parse_cards(text: str) -> Cards:
    """The numbers of the cards in a text like `As Td 2c`, [number of cards] int8."""
    return np.array([parse_card(word) for word in text.split()], dtype=np.int8)


@kernel
def hash_seed(seed: np.uint64, salt: np.uint64) -> np.uint64:
    """A well-mixed 64-bit hash of (seed, salt): the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    z = np.uint64(seed) + (np.uint64(salt) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def draw_below(count: int, seed: np.uint64, salt: int) -> int:
    """A uniform number from 0 to count - 1, as a function of (seed, salt); bias below count / 2^32."""
    draw = hash_seed(seed, np.uint64(salt)) >> np.uint64(32)
    return int(np.int64((draw * np.uint64(count)) >> np.uint64(32)))


def cards_once(*cards: NDArray[Any]) -> NDArray[np.bool_]:
    """[G] whether each row of all `cards` [G, …] together has only cards and UNKNOWN, and no card twice."""
    ordered = np.sort(np.concatenate([each.reshape(len(each), -1) for each in cards], axis=1), axis=1)
    once = (ordered[:, 1:] > ordered[:, :-1]) | (ordered[:, 1:] == UNKNOWN)
    return once.all(axis=1) & (ordered >= UNKNOWN).all(axis=1) & (ordered < NUM_CARDS).all(axis=1)


@kernel
def shuffle(cards: Cards, count: int, seed: np.uint64) -> None:
    """Shuffle cards[0:count] in place, as a function of `seed` alone (Fisher-Yates; bias below 52 / 2^32)."""
    for last in range(count - 1, 0, -1):
        draw = hash_seed(seed, np.uint64(last)) >> np.uint64(32)
        position = np.int64((draw * np.uint64(last + 1)) >> np.uint64(32))
        swapped = cards[last]
        cards[last] = cards[position]
        cards[position] = swapped


@kernel
def list_unseen(unseen: Cards, *seen_cards: Cards) -> int:
    """Fill `unseen` [52] with the cards in none of `seen_cards`, in ascending order; return their number."""
    seen = np.zeros(NUM_CARDS, dtype=np.bool_)
    for cards in seen_cards:
        for card in cards:
            if card >= 0:
                seen[card] = True
    count = 0
    for card in range(NUM_CARDS):
        if not seen[card]:
            unseen[count] = card
            count += 1
    return count


@kernel
def _fill_decks(decks: Cards, seeds: NDArray[np.uint64]) -> None:
    for g in range(decks.shape[0]):
        for card in range(52):
            decks[g, card] = card
        shuffle(decks[g], 52, seeds[g])


def draw_seeds(num_games: int, rng: np.random.Generator) -> NDArray[np.uint64]:
    """[G] uint64 seeds, one for each deal."""
    return rng.integers(0, 2**64, size=num_games, dtype=np.uint64)


def shuffled_decks(num_games: int, rng: np.random.Generator) -> Cards:
    """[G, 52] int8 decks, each in a random order."""
    decks = np.empty((num_games, NUM_CARDS), dtype=np.int8)
    _fill_decks(decks, draw_seeds(num_games, rng))
    return decks
