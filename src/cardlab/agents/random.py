"""The agent that plays any legal action, each as likely as the others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.games.protocol import Actions, Bools, Game, InfoStates, Players
from cardlab.kernels import kernel


@kernel
def choose_uniformly(legal: Bools, uniforms: NDArray[np.float32]) -> Actions:
    """[N] one True column of each row of `legal` [N, A], picked by `uniforms` [N] in [0, 1)."""
    num_rows, num_actions = legal.shape
    actions = np.zeros(num_rows, dtype=np.int16)
    for row in range(num_rows):
        count = 0
        for action in range(num_actions):
            count += legal[row, action]
        left = min(np.int64(uniforms[row] * count), count - 1)
        for action in range(num_actions):
            if legal[row, action]:
                if left == 0:
                    actions[row] = action
                    break
                left -= 1
    return actions


@dataclass(frozen=True)
class RandomAgent:
    """Uniform over the legal actions."""

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        legal = self.game.legal_actions(info_states)
        return choose_uniformly(legal, rng.random(len(legal), dtype=np.float32))
