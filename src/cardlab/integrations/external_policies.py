"""Policies of other libraries as agents, e.g. for the arena."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent, check_callable
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.integrations.parallel_games import check_actions

PolicyFunction = Callable[[Mapping[str, Any]], Any]
"""{"observation": [F], "action_mask": [A] int8} → action, as in PettingZoo; [N, F] and [N, A] → [N] when `batched`."""


@dataclass(frozen=True)
class FunctionAgent:
    """Calls `function` once per decision, or once for all decisions when `batched`.

    A match with several processes pickles the function, so it must be defined at the top level of a module.
    """

    game: Game
    function: PolicyFunction
    batched: bool = False

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; raises IllegalAction for an illegal one."""
        legal = self.game.legal_actions(info_states)
        masks, observations = legal.view(np.int8), self.game.observe(info_states, players)
        if self.batched:
            chosen = self.function({"observation": observations, "action_mask": masks})
        else:
            pairs = zip(observations, masks, strict=True)
            chosen = [self.function({"observation": row, "action_mask": mask}) for row, mask in pairs]
        return check_actions(legal, chosen, self.game.spec.name)


class MaskedModel(Protocol):
    """A model of sb3-contrib such as MaskablePPO."""

    def predict(self, observation: NDArray[Any], *, deterministic: bool, action_masks: NDArray[Any]) -> tuple[Any, Any]:
        """Actions [N] for observations [N, F] and masks [N, A], and the model's state."""
        ...


def as_agent(game: Game | str, function: PolicyFunction, *, batched: bool = False) -> Agent:
    """An agent that plays `game` by a policy function in PettingZoo's form.

    The options of `game`, e.g. `features`, define the function's observations; other agents may use other features.
    Raises InvalidOption for what is no function of one argument.
    """
    check_callable("function", function, ("observation",))
    return FunctionAgent(_as_game(game), function, batched)


def sb3_agent(game: Game | str, model: MaskedModel, *, deterministic: bool = True) -> Agent:
    """An agent that plays `game` by a trained model of sb3-contrib. Raises InvalidOption for a model without masks."""
    name = f"{type(model).__name__}.predict"
    check_callable(name, getattr(model, "predict", None), ("observation",), deterministic=True, action_masks=None)
    return FunctionAgent(_as_game(game), partial(_predict, model, deterministic), batched=True)


def _as_game(game: Game | str) -> Game:
    return make_game(game) if isinstance(game, str) else game


def _predict(model: MaskedModel, deterministic: bool, inputs: Mapping[str, Any]) -> Any:
    masks = inputs["action_mask"].view(np.bool_)
    return model.predict(inputs["observation"], deterministic=deterministic, action_masks=masks)[0]
