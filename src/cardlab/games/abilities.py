"""Abilities of a game: modules that it names (playouts, endgame, outcomes), and rollouts in one kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cardlab.core.messages import InvalidOption
from cardlab.core.parts import find_place
from cardlab.games.protocol import Floats, Game, InfoStates, States


def find_ability(game: Game, name: str) -> ModuleType | None:
    """The module of `game` for `name`; None without one.

    `playouts` has `play_out(states, rng, options)`: fast playouts for Monte Carlo search. `endgame` has `solvable` and
    `action_values`. `outcomes` has `read(states)`, and ACTION_NAMES and ACTION_GROUPS where actions are counted too.
    `exploitability` has `check(game)` and `measure(game, agent)`, see `find_exploitability`.
    """
    places = cast(Mapping[str, str], getattr(cast(Any, game), "abilities", {}))
    return find_place(game, places[name]) if name in places else None


def find_exploitability(game: Game, key: str) -> Any:
    """The module of `game` that measures exploitability exactly; InvalidOption under `key` where it cannot.

    Its `measure(game, agent)` returns metrics by name; its `check(game)` raises InvalidOption for a game too large.
    """
    module = find_ability(game, "exploitability")
    if module is None:
        raise InvalidOption(key, True, f"false: {game.spec.name} has no exact exploitability")
    module.check(game)
    return module


@dataclass(frozen=True)
class OutcomeCounts:
    """Counts of the labels of one title, per game and player."""

    title: str
    labels: tuple[str, ...]  # [L]
    counts: NDArray[np.floating[Any]]  # [G, P, L]


def one_hot(values: NDArray[np.integer[Any]], size: int) -> NDArray[np.float32]:
    """[…, size] one-hot encoding of `values` […], each within 0 to size − 1."""
    return (np.clip(values, 0, size - 1)[..., None] == np.arange(size)).astype(np.float32)


class SparseLineValues(NamedTuple):
    """Parameters of a value: Σ over open lines of weights · relu(Σ over its codes of vectors), plus settled points."""

    vectors: Floats  # [codes, H] one vector per code of the game's vocabulary
    weights: Floats  # [H]


@runtime_checkable
class SupportsFusedRollouts(Protocol):
    """A game that evaluates actions by sparse line values in one kernel."""

    def sparse_action_values(self, info_states: InfoStates, values: SparseLineValues, reward_scale: float) -> Floats:
        """[N, A] reward plus afterstate value of each action, in units of `reward_scale`; -inf where illegal."""
        ...

    def sparse_play_out(self, states: States, values: SparseLineValues) -> Floats:
        """[G, P] payoffs of greedy play by action values; `states` are not changed."""
        ...
