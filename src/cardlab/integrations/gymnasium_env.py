"""One seat at one table as a Gymnasium environment; Poker Squares has no other seat."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Bools, Game
from cardlab.integrations.parallel_games import Tables, Turn
from cardlab.integrations.spaces import RENDER_MODES, actions_of, check_render_mode, deck_of, game_of, observation_box

Observation = NDArray[Any]  # [F] float32


class SeatEnv(gymnasium.Env[Observation, np.int64]):
    """The learner's seat; `opponents` play the others inside a step.

    Observations are [F], rewards what the seat was paid since its last decision. The mask of the legal actions is
    `info["action_mask"]` (int8, as `action_space.sample` takes it) and `action_masks()` (bool, as sb3-contrib asks);
    any other action raises IllegalAction. `reset(options={"deck": [52 cards]})` deals a given order.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  Gymnasium's own form

    def __init__(
        self,
        game: Game,
        opponents: Sequence[Agent | str] | Agent | str | None = None,
        *,
        seat: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.game = game
        self.render_mode = check_render_mode(render_mode)
        self.observation_space = observation_box(game)
        self.action_space = actions_of(game)
        self._tables = Tables(game, 1, opponents, seat=seat)
        self._turn: Turn | None = None
        self._table_text = ""

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new game; `options` may hold its deck."""
        super().reset(seed=seed)
        self._turn = self._tables.reset(self.np_random, deck_of(options))
        self._show()
        return self._turn.observations[0], self._info(self._turn.masks[0])

    def step(self, action: np.int64 | int) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play `action`, then everybody else's up to the next decision of this seat."""
        if self._turn is None or self._turn.ended.size:
            raise RuntimeError("the game is over, or none is dealt: reset() first")
        self._turn = turn = self._tables.step(np.array([action]))
        over = bool(turn.over[0])
        if over:
            nothing = np.zeros_like(turn.masks[0])
            self._table_text = f"over: {turn.returns[0]:g}"
            self._print()
            return turn.final_observations[0], float(turn.rewards[0]), True, False, self._info(nothing)
        self._show()
        return turn.observations[0], float(turn.rewards[0]), False, False, self._info(turn.masks[0])

    def action_masks(self) -> Bools:
        """[A] the legal actions; none when the game is over."""
        if self._turn is None:
            raise RuntimeError("no game is dealt: reset() first")
        return np.zeros_like(self._turn.masks[0]) if self._turn.ended.size else self._turn.masks[0]

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]  "human" prints as it goes
        """The table as this seat sees it, in a few lines of text; None without the render mode `ansi`."""
        return self._table_text if self.render_mode == "ansi" else None

    def _info(self, mask: Bools) -> dict[str, NDArray[np.int8]]:
        return {"action_mask": mask.view(np.int8)}

    def _show(self) -> None:
        if self.render_mode is not None:
            self._table_text = self.game.render(self._tables.known(0)[0])
            self._print()

    def _print(self) -> None:
        if self.render_mode == "human":
            print(self._table_text, end="\n\n")


def make_env(
    game: Game | str,
    opponents: Sequence[Agent | str] | Agent | str | None = None,
    *,
    seat: int | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> SeatEnv:
    """A seat of `game` (a name with its `options`, or made already) beside `opponents`; see SeatEnv."""
    return SeatEnv(game_of(game, options), opponents, seat=seat, render_mode=render_mode)
