"""A thousand tables a call as a VecEnv of Stable-Baselines3, with the masks that sb3-contrib's MaskablePPO asks for."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from cardlab.games.protocol import Bools, Floats, Game
from cardlab.integrations.parallel_games import Tables, Turn
from cardlab.integrations.spaces import actions_of, game_of, observation_box

Indices = None | int | Iterable[int]


class SeatVecEnv(VecEnv):
    """A learner's seat at each of `num_envs` tables; the others' moves happen inside a step.

    Observations and masks are handed over as the engine made them: nothing is copied, and nothing is written again.
    `infos` have `episode` (as Monitor writes it) and `terminal_observation` where a game has ended. `seed` takes effect
    at the next reset.
    """

    def __init__(self, tables: Tables, seed: int | None = None) -> None:
        self.tables = tables
        self._rng = np.random.default_rng(seed)
        self._actions: NDArray[Any] | None = None
        self._turn: Turn | None = None
        self.render_mode = None
        super().__init__(tables.num_tables, observation_box(tables.game), actions_of(tables.game))

    def reset(self) -> Floats:
        """Deal all tables anew; [G, F]."""
        if self._seeds[0] is not None:
            self._rng = np.random.default_rng(self._seeds[0])
        self._reset_seeds()
        self._turn = self.tables.reset(self._rng)
        return self._turn.observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep `actions` [G] for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Floats, Floats, Bools, list[dict[str, Any]]]:
        """Play the actions; IllegalAction names the first that the rules forbid."""
        if self._actions is None:
            raise RuntimeError("step_async() comes before step_wait()")
        self._turn = turn = self.tables.step(self._actions)
        self._actions = None
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for place, row in enumerate(turn.ended.tolist()):
            episode = {"r": float(turn.returns[place]), "l": int(turn.lengths[place])}
            infos[row] = {"terminal_observation": turn.final_observations[place], "episode": episode}
        return turn.observations, turn.rewards, turn.over, infos

    def action_masks(self) -> Bools:
        """[G, A] the legal actions of all tables at once."""
        if self._turn is None:
            raise RuntimeError("reset() comes before action_masks()")
        return self._turn.masks

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The attribute of the environment itself, once for each table: tables are rows, not objects."""
        return [getattr(self, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Refused: what holds for one row holds for all."""
        raise NotImplementedError(f"{attr_name}: the tables are rows of one array and have no attributes of their own")

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """`action_masks`, row by row: views into one array; nothing else is known."""
        if method_name != "action_masks":
            raise NotImplementedError(f"{method_name}: the only method of a table is action_masks")
        masks = self.action_masks()
        return list(masks) if indices is None else [masks[row] for row in self._rows(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Rows are not wrapped; but episodes are counted here, so SB3 needs no Monitor."""
        return [wrapper_class.__name__ == "Monitor"] * len(self._rows(indices))

    def _rows(self, indices: Indices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)


def make_sb3(
    game: Game | str,
    num_envs: int,
    opponents: Any = None,
    *,
    seat: int | None = None,
    seed: int | None = None,
    **options: Any,
) -> SeatVecEnv:
    """`num_envs` tables of `game` (a name with its `options`, or made already); `opponents` as Tables takes them.

    `ask_forced=False` among the options plays single legal actions for the learner.
    """
    ask_forced = bool(options.pop("ask_forced", True))
    tables = Tables(game_of(game, options), num_envs, opponents, seat=seat, ask_forced=ask_forced)
    return SeatVecEnv(tables, seed)
