"""Who sits where: the learner at one random seat, opponents at the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.games.protocol import Bools
from cardlab.learners.rollouts.opponents.protocol import Seats


def seat_by_weight(num_games: int, num_players: int, weights: NDArray[Any], rng: np.random.Generator) -> Seats:
    """[G, P] opponents 1, 2, … drawn for each seat by `weights`, which sum to 1."""
    seats = rng.choice(len(weights), size=(num_games, num_players), p=weights).astype(np.int8) + np.int8(1)
    seats[np.arange(num_games), rng.integers(num_players, size=num_games)] = 0
    return seats


def seat_distinct(num_games: int, num_players: int, weights: NDArray[Any], rng: np.random.Generator) -> Seats:
    """[G, P] opponents drawn by `weights` without replacement: none sits at a table twice.

    The P − 1 largest of u^(1/w), u uniform, are such a draw (Efraimidis and Spirakis 2006).
    """
    with np.errstate(divide="ignore"):
        keys = np.log(rng.random((num_games, len(weights)))) / weights
    drawn = np.argsort(-keys, axis=1)[:, : num_players - 1].astype(np.int8) + np.int8(1)
    seats = np.concatenate((np.zeros((num_games, 1), dtype=np.int8), drawn), axis=1)
    return rng.permuted(seats, axis=1)


def seat_alike(num_games: int, num_players: int, weights: NDArray[Any], rng: np.random.Generator) -> Seats:
    """[G, P] one opponent drawn for each game by `weights`, which sum to 1: it takes all seats but the learner's."""
    drawn = rng.choice(len(weights), size=num_games, p=weights).astype(np.int8) + np.int8(1)
    seats = np.repeat(drawn[:, None], num_players, axis=1)
    seats[np.arange(num_games), rng.integers(num_players, size=num_games)] = 0
    return seats


def bring_to_table(seats: Seats, seated: Bools, rng: np.random.Generator) -> None:
    """Let the learner change places in `seats` [G, P] with somebody who is `seated` [G, P], where it is not itself."""
    absent = np.flatnonzero(~((seats == 0) & seated).any(axis=1))
    places = rng.random((len(absent), seats.shape[1]))
    there = np.where(seated[absent], places, -1.0).argmax(axis=1)
    learner = (seats[absent] == 0).argmax(axis=1)
    seats[absent, learner] = seats[absent, there]
    seats[absent, there] = 0
