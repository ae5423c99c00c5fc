"""Max^n by the plain definition, through the rules of the game: what the solver is compared with."""

import numpy as np

from cardlab.games.array_checks import unchecked
from cardlab.games.big2.actions import ACTION_SIZES
from cardlab.games.big2.rules import PLAYED
from cardlab.games.protocol import States


def best_payoffs(game, state, memory):
    """Payoffs [4] of best play from one record [1]: each move the one that pays its player most.

    Of equal moves the longest, then the first. `memory` keeps what has been worked out.
    """
    if game.is_over(state)[0]:
        return game.payoffs(state)[0]
    player = int(game.current_player(state)[0])
    place = np.minimum(state["place"][0], PLAYED)
    key = (place.tobytes(), player, int(state["kind"][0]), int(state["key"][0]), int(state["passes"][0]))
    if key not in memory:
        worths = [payoffs_after(game, state, action, memory) for action in in_greedy_order(game, state)]
        memory[key] = max(worths, key=lambda payoffs: payoffs[player])  # the first of equals
    return memory[key]


def payoffs_after(game, state, action, memory):
    """Payoffs [4] of `action` and best play after it."""
    game, after = unchecked(game), States(state.copy())
    game.apply(after, np.array([action], dtype=np.int16))
    return best_payoffs(game, after, memory)


def in_greedy_order(game, state):
    """The legal actions of one record, the longest first, then by number."""
    legal = np.flatnonzero(game.legal_actions(state)[0])
    return sorted(legal.tolist(), key=lambda action: (-ACTION_SIZES[action], action))
