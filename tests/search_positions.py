"""Positions to search: decisions of random play."""

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.record_arrays import join


def positions(game, num_decisions, *, seed=0, skip=0):
    """InfoStates and players of decisions of random play that have a choice, from several games."""
    rng = np.random.default_rng(seed)
    found = []
    states = game.deal(num_decisions, rng)
    for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng)):
        if step >= skip and moves.queried.any():
            row = int(np.flatnonzero(moves.queried)[len(found) % moves.queried.sum()])
            found.append((moves.info_states[row : row + 1].copy(), moves.players[row : row + 1]))
        if len(found) == num_decisions:
            break
    return join([info_state for info_state, _ in found]), np.concatenate([player for _, player in found])
