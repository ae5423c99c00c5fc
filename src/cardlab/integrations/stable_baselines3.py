"""One seat of parallel games as a VecEnv of Stable-Baselines3, with action masks for sb3-contrib's MaskablePPO."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from cardlab.games.protocol import Bools, Floats, Game
from cardlab.integrations.gymnasium_envs import action_space, observation_space, resolve_game
from cardlab.integrations.parallel_games import Opponents, ParallelGames, StepResult

Indices = None | int | Iterable[int]


class SeatVecEnv(VecEnv):
    """The learner's seat of `num_envs` games; the opponents play the other seats within a step.

    Arrays are not copied; those of earlier steps are never written again. `infos` have `episode` (as from SB3's
    Monitor) and `terminal_observation` where a game has ended. `seed` takes effect at the next reset.
    """

    def __init__(self, games: ParallelGames, seed: int | None = None) -> None:
        self.games = games
        self._rng = np.random.default_rng(seed)
        self._actions: NDArray[Any] | None = None
        self._last: StepResult | None = None
        self.render_mode = None
        super().__init__(games.num_envs, observation_space(games.game), action_space(games.game))

    def reset(self) -> Floats:
        """Deal all games; [G, F]."""
        if self._seeds[0] is not None:
            self._rng = np.random.default_rng(self._seeds[0])
        self._reset_seeds()
        self._last = self.games.reset(self._rng)
        return self._last.observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep `actions` [G] for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Floats, Floats, Bools, list[dict[str, Any]]]:
        """Play the actions; IllegalAction names the first illegal one."""
        if self._actions is None:
            raise RuntimeError("step_wait() needs actions: call step_async() first")
        self._last = last = self.games.step(self._actions)
        self._actions = None
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for place, row in enumerate(last.ended.tolist()):
            episode = {"r": float(last.returns[place]), "l": int(last.lengths[place])}
            infos[row] = {"terminal_observation": last.final_observations[place], "episode": episode}
        return last.observations, last.rewards, last.over, infos

    def action_masks(self) -> Bools:
        """[G, A] the legal actions."""
        if self._last is None:
            raise RuntimeError("action_masks() needs a dealt game: call reset() first")
        return self._last.masks

    def close(self) -> None:
        """No-op: nothing is open."""

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The attribute of this environment, repeated for each game: games are rows, not objects."""
        return [getattr(self, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Not supported."""
        raise NotImplementedError(f"{attr_name}: the games are rows of one array and have no attributes of their own")

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """The masks of the games, which are views; only the method `action_masks` is supported."""
        if method_name != "action_masks":
            raise NotImplementedError(f"{method_name}: the only method of a game is action_masks")
        masks = self.action_masks()
        return [masks[row] for row in self._rows(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """True for SB3's Monitor only, since this class counts episodes itself."""
        return [wrapper_class.__name__ == "Monitor"] * len(self._rows(indices))

    def _rows(self, indices: Indices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)


def make_sb3(
    game: Game | str,
    num_envs: int,
    opponents: Opponents = None,
    *,
    seat: int | None = None,
    seed: int | None = None,
    ask_forced: bool = True,
    **options: Any,
) -> SeatVecEnv:
    """One seat of `num_envs` games of `game`, which is a game or a name with its `options`; see ParallelGames."""
    games = ParallelGames(resolve_game(game, options), num_envs, opponents, seat=seat, ask_forced=ask_forced)
    return SeatVecEnv(games, seed)
