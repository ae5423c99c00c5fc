"""Environments of Gymnasium, and the spaces and arguments that the environments of all libraries share."""

from collections.abc import Mapping
from operator import index
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.envs.registration import register, registry
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cardlab.core.messages import InvalidOption
from cardlab.core.options import check_choice
from cardlab.games.make_game import game_names, make_game
from cardlab.games.protocol import Bools, Floats, Game
from cardlab.integrations.parallel_games import Opponents, ParallelGames, StepResult

RENDER_MODES = ("ansi", "human")


def observation_space(game: Game) -> gymnasium.spaces.Box:
    """[F] numbers of order one; the rules guarantee no bounds."""
    return gymnasium.spaces.Box(-np.inf, np.inf, (game.spec.num_features,), np.float32)


def action_space(game: Game) -> gymnasium.spaces.Discrete[np.int64]:
    """[A] actions; the mask says which ones are legal."""
    return gymnasium.spaces.Discrete(game.spec.num_actions)


def resolve_game(game: Game | str, options: Mapping[str, Any]) -> Game:
    """The game itself, or the one with this name and these options."""
    if isinstance(game, str):
        return make_game(game, **options)
    if options:
        raise InvalidOption(f"game.{next(iter(options))}", next(iter(options.values())), "left out with a game object")
    return game


def check_render_mode(render_mode: str | None) -> str | None:
    """`render_mode`; raises InvalidOption for an unknown one."""
    check_choice("render_mode", render_mode, (*RENDER_MODES, None))
    return render_mode


def deck_option(options: Mapping[str, Any] | None, game: Game) -> NDArray[np.int8] | None:
    """[1, C] the order of the cards in `options["deck"]` of a reset, None without it; other options are ignored."""
    deck = (options or {}).get("deck")
    if deck is None:
        return None
    count = game.spec.num_cards
    if np.shape(deck) != (count,) or not count:
        allowed = f"the {count} cards in their order" if count else f"left out: {game.spec.name} has no deck"
        raise InvalidOption("options.deck", f"numbers of shape {np.shape(deck)}", allowed)
    return np.asarray(deck, dtype=np.int8)[None]


Observation = NDArray[Any]  # [F] float32


class SeatEnv(gymnasium.Env[Observation, np.int64]):
    """The learner's seat of one game; `opponents` play the other seats within a step.

    Observations are [F]; a reward is what the seat was paid since its last decision. The mask of legal actions is
    `info["action_mask"]` (int8, for `action_space.sample`) and `action_masks()` (bool, for sb3-contrib). Other actions
    raise IllegalAction; with `replace_illegal` a legal one is played in place of any other whole number, for learners
    and checks that know no masks.
    `reset(options={"deck": [cards]})` deals a given order.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  Gymnasium's own form

    def __init__(
        self,
        game: Game,
        opponents: Opponents = None,
        *,
        seat: int | None = None,
        render_mode: str | None = None,
        replace_illegal: bool = False,
    ) -> None:
        self.game = game
        self.replace_illegal = replace_illegal
        self.render_mode = check_render_mode(render_mode)
        self.observation_space = observation_space(game)
        self.action_space = action_space(game)
        self._games = ParallelGames(game, 1, opponents, seat=seat)
        self._last: StepResult | None = None
        self._text = ""

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new game; `options` may contain its deck."""
        super().reset(seed=seed)
        self._last = self._games.reset(self.np_random, deck_option(options, self._games.game))
        self._render_step()
        return self._last.observations[0], self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play `action` and the moves of the opponents up to the next decision of this seat."""
        if self._last is None or self._last.ended.size:
            raise RuntimeError("the game is over or not dealt: call reset() first")
        if self.replace_illegal and hasattr(action, "__index__"):
            legal, number = np.flatnonzero(self._last.masks[0]), index(action)
            action = number if number in legal else int(legal[number % len(legal)])
        self._last = last = self._games.step(np.array([action]))
        self._render_step()
        over = bool(last.over[0])
        observation = last.final_observations[0] if over else last.observations[0]
        return observation, float(last.rewards[0]), over, False, self._info()

    def action_masks(self) -> Bools:
        """[A] the legal actions; none when the game is over."""
        if self._last is None:
            raise RuntimeError("the game is not dealt: call reset() first")
        return np.zeros_like(self._last.masks[0]) if self._last.ended.size else self._last.masks[0]

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]  "human" prints in each step
        """The game from the view of this seat, as text; None unless the render mode is `ansi`."""
        return self._text if self.render_mode == "ansi" else None

    def _info(self) -> dict[str, NDArray[np.int8]]:
        return {"action_mask": self.action_masks().view(np.int8)}

    def _render_step(self) -> None:
        if self.render_mode is None or self._last is None:
            return
        over = self._last.ended.size
        self._text = f"over: {self._last.returns[0]:g}" if over else self.game.render(self._games.info_state(0)[0])
        if self.render_mode == "human":
            print(self._text, end="\n\n")


class SeatVectorEnv(gymnasium.vector.VectorEnv[Floats, NDArray[np.int64], NDArray[Any]]):
    """The learner's seat of `num_envs` games; `opponents` play the other seats within a step.

    With AutoresetMode.SAME_STEP a game that ends is replaced in the same step: `infos["final_obs"]` has its last
    observation, `infos["final_info"]["episode"]` its return `r` and length `l`. With NEXT_STEP, which Gymnasium's
    wrappers of observations need, it is replaced in the next step, whose action for it is not played.
    `infos["action_mask"]` is [G, A] int8. Arrays are not copied; those of earlier steps are never written again.
    """

    def __init__(self, games: ParallelGames, autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP) -> None:
        check_choice("autoreset_mode", autoreset_mode, (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP))
        self.games = games
        self.metadata = {"autoreset_mode": autoreset_mode}
        self._next_step = autoreset_mode is AutoresetMode.NEXT_STEP
        self._ended = np.zeros(games.num_envs, dtype=np.bool_)  # in the last step
        self.num_envs = games.num_envs
        self.single_observation_space = observation_space(games.game)
        self.single_action_space = action_space(games.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Deal all games; `options["deck"]` is one order of the cards for all of them."""
        super().reset(seed=seed)
        deck = deck_option(options, self.games.game)
        decks = None if deck is None else np.repeat(deck, self.num_envs, axis=0)
        result = self.games.reset(self.np_random, decks)
        self._ended = result.over
        return result.observations, self._infos(result)

    def step(self, actions: NDArray[np.integer]) -> tuple[Floats, Floats, Bools, Bools, dict[str, Any]]:
        """Play `actions` [G]; IllegalAction names the first illegal one."""
        result = self.games.step(actions, self._ended if self._next_step else None)
        self._ended = result.over
        if self._next_step:
            result.observations[result.ended] = result.final_observations
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        return result.observations, result.rewards, result.over, truncated, self._infos(result)

    def _infos(self, result: StepResult) -> dict[str, Any]:
        present = np.ones(self.num_envs, dtype=np.bool_)
        infos: dict[str, Any] = {"action_mask": result.masks.view(np.int8), "_action_mask": present}
        if result.ended.size and not self._next_step:
            finals = np.full(self.num_envs, None, dtype=object)
            finals[result.ended] = list(result.final_observations)
            returns = np.zeros(self.num_envs, dtype=np.float32)
            lengths = np.zeros(self.num_envs, dtype=np.int64)
            returns[result.ended], lengths[result.ended] = result.returns, result.lengths
            episode = {"r": returns, "_r": result.over, "l": lengths, "_l": result.over}
            infos |= {"final_obs": finals, "_final_obs": result.over}
            infos |= {"final_info": {"episode": episode, "_episode": result.over}, "_final_info": result.over}
        return infos


def make_env(
    game: Game | str,
    opponents: Opponents = None,
    *,
    seat: int | None = None,
    render_mode: str | None = None,
    replace_illegal: bool = False,
    **options: Any,
) -> SeatEnv:
    """One seat of `game`, which is a game or a name with its `options`; see SeatEnv."""
    made = resolve_game(game, options)
    return SeatEnv(made, opponents, seat=seat, render_mode=render_mode, replace_illegal=replace_illegal)


def make_vector(
    game: Game | str,
    num_envs: int,
    opponents: Opponents = None,
    *,
    seat: int | None = None,
    ask_forced: bool = True,
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
    **options: Any,
) -> SeatVectorEnv:
    """One seat of `num_envs` games of `game`, which is a game or a name with its `options`; see SeatVectorEnv."""
    games = ParallelGames(resolve_game(game, options), num_envs, opponents, seat=seat, ask_forced=ask_forced)
    return SeatVectorEnv(games, autoreset_mode)


def environment_id(game: str) -> str:
    """`poker_squares` → `cardlab/PokerSquares-v0`."""
    return f"cardlab/{''.join(word.capitalize() for word in game.split('_'))}-v0"


def register_games() -> None:
    """Register all games for `gymnasium.make("cardlab/Big2-v0")` and `make_vec`; no-op if they are registered."""
    for game in game_names():
        if environment_id(game) not in registry:
            register(
                id=environment_id(game),
                entry_point=f"{__name__}:{make_env.__name__}",
                vector_entry_point=f"{__name__}:{make_vector.__name__}",
                kwargs={"game": game},
            )
