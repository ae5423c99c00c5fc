"""A thousand tables a call as a Gymnasium vector environment."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cardlab.games.protocol import Bools, Floats, Game
from cardlab.integrations.parallel_games import Tables, Turn
from cardlab.integrations.spaces import actions_of, deck_of, game_of, observation_box

Step = tuple[Floats, Floats, Bools, Bools, dict[str, Any]]


class SeatVectorEnv(gymnasium.vector.VectorEnv[Floats, NDArray[np.int64], NDArray[Any]]):
    """A learner's seat at each of `num_envs` tables; the others' moves happen inside a step.

    A finished game is dealt anew in the same step (AutoresetMode.SAME_STEP): `infos["final_obs"]` has its last
    observations, `infos["final_info"]["episode"]` its return `r` and length `l`. `infos["action_mask"]` [G, A] is
    int8. Observations are handed over as the engine made them, and never written again.
    """

    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}  # noqa: RUF012  Gymnasium's own form

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.num_envs = tables.num_tables
        self.single_observation_space = observation_box(tables.game)
        self.single_action_space = actions_of(tables.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._everywhere = np.ones(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Deal all tables anew; `options["deck"]` puts one order of 52 cards on all of them."""
        super().reset(seed=seed)
        deck = deck_of(options)
        decks = None if deck is None else np.repeat(deck, self.num_envs, axis=0)
        turn = self.tables.reset(self.np_random, decks)
        return turn.observations, self._infos(turn)

    def step(self, actions: NDArray[np.integer]) -> Step:
        """Play `actions` [G]; IllegalAction names the first that the rules forbid."""
        turn = self.tables.step(actions)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        return turn.observations, turn.rewards, turn.over, truncated, self._infos(turn)

    def _infos(self, turn: Turn) -> dict[str, Any]:
        infos: dict[str, Any] = {"action_mask": turn.masks.view(np.int8), "_action_mask": self._everywhere}
        if turn.ended.size:
            finals = np.full(self.num_envs, None, dtype=object)
            finals[turn.ended] = list(turn.final_observations)
            returns = np.zeros(self.num_envs, dtype=np.float32)
            lengths = np.zeros(self.num_envs, dtype=np.int64)
            returns[turn.ended], lengths[turn.ended] = turn.returns, turn.lengths
            episode = {"r": returns, "_r": turn.over, "l": lengths, "_l": turn.over}
            infos |= {"final_obs": finals, "_final_obs": turn.over}
            infos |= {"final_info": {"episode": episode, "_episode": turn.over}, "_final_info": turn.over}
        return infos


def make_vector(
    game: Game | str, num_envs: int, opponents: Any = None, *, seat: int | None = None, **options: Any
) -> SeatVectorEnv:
    """`num_envs` tables of `game` (a name with its `options`, or made already); `opponents` as Tables takes them.

    `ask_forced=False` among the options plays single legal actions for the learner.
    """
    ask_forced = bool(options.pop("ask_forced", True))
    return SeatVectorEnv(Tables(game_of(game, options), num_envs, opponents, seat=seat, ask_forced=ask_forced))
