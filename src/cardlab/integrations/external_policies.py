"""Policies of other libraries as agents, so that the arena measures them as it does its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.integrations.parallel_games import check_actions

PolicyFunction = Callable[[Mapping[str, Any]], Any]
"""{"observation": [F], "action_mask": [A] int8} → action, as in PettingZoo; [N, F] and [N, A] → [N] when `batched`."""


@dataclass(frozen=True)
class FunctionAgent:
    """Asks `function` once for each decision, or once for all of them when `batched`.

    In a match with several processes the function travels there by pickle: it stands at the top of a module.
    """

    game: Game
    function: PolicyFunction
    batched: bool = False

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; IllegalAction where the function gives one that the rules forbid."""
        legal = self.game.legal_actions(info_states)
        masks, seen = legal.view(np.int8), self.game.observe(info_states, players)
        if self.batched:
            chosen = np.asarray(self.function({"observation": seen, "action_mask": masks}))
        else:
            pairs = zip(seen, masks, strict=True)
            chosen = np.array([int(self.function({"observation": row, "action_mask": mask})) for row, mask in pairs])
        return check_actions(legal, chosen, self.game.spec.name)


class MaskedModel(Protocol):
    """A trained model of sb3-contrib: MaskablePPO, or what predicts as it does."""

    def predict(self, observation: NDArray[Any], *, deterministic: bool, action_masks: NDArray[Any]) -> tuple[Any, Any]:
        """Actions [N] for observations [N, F] and masks [N, A]."""
        ...


@dataclass(frozen=True)
class ModelAgent:
    """Plays a model of sb3-contrib, all decisions in one call."""

    game: Game
    model: MaskedModel
    deterministic: bool = True

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        legal = self.game.legal_actions(info_states)
        seen = self.game.observe(info_states, players)
        chosen, _ = self.model.predict(seen, deterministic=self.deterministic, action_masks=legal)
        return check_actions(legal, np.asarray(chosen), self.game.spec.name)


def as_agent(game: Game, function: PolicyFunction, *, batched: bool = False) -> Agent:
    """An agent that plays `game` by a PettingZoo-style policy function: observation → action.

    The function sees `game` as its options say (`features`, …); the arena's other agents may see it differently.
    """
    return FunctionAgent(game, function, batched)


def sb3_agent(game: Game, model: MaskedModel, *, deterministic: bool = True) -> Agent:
    """An agent that plays `game` by a trained model of sb3-contrib."""
    return ModelAgent(game, model, deterministic)
