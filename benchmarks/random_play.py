"""Random play through the public loop, by which the benchmarks time the games."""

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.protocol import Floats, Game
from cardlab.games.record_arrays import put, take

NUM_TABLES = 1024


def play_and_redeal(game: Game, num_steps: int) -> Floats:
    """Play `num_steps` moves at each table, with a new deal after each game; returns the games' payoffs [N, P]."""
    rng = np.random.default_rng(0)
    states = game.deal(NUM_TABLES, rng)
    agents = [RandomAgent(game)]
    paid, steps = list[Floats](), 0
    while steps < num_steps:
        for moves in play(game, states, agents, rng):
            steps += 1
            done = np.flatnonzero(moves.over)
            if done.size:
                paid.append(game.payoffs(take(states, done)))
                put(states, done, game.deal(done.size, rng))
            if steps == num_steps:
                break
    return np.concatenate(paid)
