"""The agent that plays uniformly random legal actions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cardlab.games.array_checks import unchecked
from cardlab.games.choices import choose_from_each, choose_uniformly
from cardlab.games.protocol import Actions, Game, InfoStates, Players, lists_legal_actions


@dataclass(frozen=True)
class RandomAgent:
    """Uniform over the legal actions."""

    game: Game

    @cached_property
    def _game(self) -> Game:
        return unchecked(self.game)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        uniforms = rng.random(len(info_states), dtype=np.float32)
        if lists_legal_actions(self._game):
            return choose_from_each(*self._game.list_legal_actions(info_states), uniforms)
        return choose_uniformly(self._game.legal_actions(info_states), uniforms)
