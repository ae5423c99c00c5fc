"""Random seats: the learner has one random seat of each game, opponents have the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.games.protocol import Bools
from cardlab.learners.rollouts.opponents.protocol import Seats


def draw_seats(
    num_games: int,
    num_players: int,
    probabilities: NDArray[Any],
    rng: np.random.Generator,
    *,
    same_agent: bool = False,
) -> Seats:
    """[G, P] opponents 1, 2, … drawn by `probabilities` for each seat, or with `same_agent` for each game."""
    size = (num_games, 1 if same_agent else num_players)
    drawn = rng.choice(len(probabilities), size=size, p=probabilities).astype(np.int8) + np.int8(1)
    seats = np.broadcast_to(drawn, (num_games, num_players)).copy()
    seats[np.arange(num_games), rng.integers(num_players, size=num_games)] = 0
    return seats


def draw_distinct_seats(num_games: int, num_players: int, weights: NDArray[Any], rng: np.random.Generator) -> Seats:
    """[G, P] opponents drawn by `weights` without replacement, so that none has two seats of a game.

    The P − 1 largest of u^(1/w), u uniform, are such a sample (Efraimidis and Spirakis 2006).
    """
    with np.errstate(divide="ignore"):
        keys = np.log(rng.random((num_games, len(weights)))) / weights
    drawn = np.argsort(-keys, axis=1)[:, : num_players - 1].astype(np.int8) + np.int8(1)
    seats = np.concatenate((np.zeros((num_games, 1), dtype=np.int8), drawn), axis=1)
    return rng.permuted(seats, axis=1)


def move_learner_to_occupied_seat(seats: Seats, occupied: Bools, rng: np.random.Generator) -> None:
    """Swap the learner into a random occupied seat in games where it has none, in place.

    `seats` and `occupied` have shape [G, P].
    """
    absent = np.flatnonzero(~((seats == 0) & occupied).any(axis=1))
    draws = rng.random((len(absent), seats.shape[1]))
    target = np.where(occupied[absent], draws, -1.0).argmax(axis=1)
    learner = (seats[absent] == 0).argmax(axis=1)
    seats[absent, learner] = seats[absent, target]
    seats[absent, target] = 0
