"""Parallel games with one seat for a learner, for the vectorised environments.

A step is a few calls on arrays of all games; the loop of `cardlab.games` plays the other seats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import load_agent
from cardlab.core.messages import InvalidOption
from cardlab.core.options import check_whole
from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.legality import forced_moves
from cardlab.games.loop import IllegalAction, play
from cardlab.games.protocol import Bools, Floats, Game, InfoStates, Players, States
from cardlab.games.record_arrays import copied, put, take

Opponents = Sequence[Agent | str | PathLike[str]] | Agent | str | PathLike[str] | None
"""Agents, or names for `load_agent`: one for each other seat in playing order, or one for all. None is `random`."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """All games at the learner's next decision. The arrays are new in each step and never written again."""

    observations: Floats  # [G, F]
    masks: Bools  # [G, A] legal actions
    rewards: Floats  # [G] since the learner's last decision
    over: Bools  # [G] whether the game of that decision has ended; observations and masks are those of the next game
    ended: NDArray[np.intp]  # [E] rows where `over`, ascending
    final_observations: Floats  # [E, F] the learner's view of the end of its game
    returns: Floats  # [E] sums of the rewards of a game
    lengths: NDArray[np.int64]  # [E] numbers of the learner's decisions in a game


class ParallelGames:
    """`num_envs` games in which `opponents` play all seats but the learner's.

    The learner's seat is `seat`, or random in each game. A game that ends is replaced by a new one in the same step.
    With `ask_forced` the learner is asked even if one action is legal, as in other libraries; without, forced moves are
    played for it. A game without a decision of the learner is not reported.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        opponents: Opponents = None,
        *,
        seat: int | None = None,
        ask_forced: bool = True,
    ) -> None:
        check_whole("num_envs", num_envs, 1)
        if seat is not None:
            check_whole("seat", seat, 0, game.spec.num_players - 1)
        self.game = game
        self.num_envs = num_envs
        self.seat = seat
        self.ask_forced = ask_forced
        self._agents, self._orders = _seatings(load_opponents(game, opponents))
        self._all = np.arange(num_envs)
        self._masks: Bools | None = None

    def reset(self, rng: np.random.Generator, decks: NDArray[np.int8] | None = None) -> StepResult:
        """Deal all games, from `decks` [G, C] if given; `rng` is the source of all chance from now on."""
        self.rng = rng
        self.states = self.game.deal(self.num_envs, rng, decks)
        self.seats: Players = np.zeros(self.num_envs, dtype=np.int8)
        self._agent_at = np.zeros((self.num_envs, self.game.spec.num_players), dtype=np.int8)  # index into _agents
        self._draw_seats(self._all)
        self._paid: Floats = np.zeros(self.num_envs, dtype=np.float32)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._final_states = copied(self.states)  # of the games that ended in this step, with their seats and lengths
        self._final_seats = self.seats.copy()
        self._final_lengths = self._lengths.copy()
        self._over: Bools = np.zeros(self.num_envs, dtype=np.bool_)
        return self._finish_step()

    def step(self, actions: NDArray[np.integer], held: Bools | None = None) -> StepResult:
        """Play the learner's `actions` [G], but none in `held` games [G]; IllegalAction names the first illegal one."""
        if self._masks is None:
            raise RuntimeError("step() needs a dealt game: call reset() first")
        if held is not None and np.shape(actions) == held.shape:
            actions = np.where(held, self._masks.argmax(axis=1), actions)
        chosen = check_actions(self._masks, actions, self.game.spec.name)
        self._over = np.zeros(self.num_envs, dtype=np.bool_)
        if held is None or not held.any():
            unchecked(self.game).apply(self.states, chosen)
            self._lengths += 1
        else:
            moving = np.flatnonzero(~held)
            states = take(self.states, moving)
            unchecked(self.game).apply(states, chosen[moving])
            put(self.states, moving, states)
            self._lengths[moving] += 1
        return self._finish_step()

    def info_state(self, row: int) -> InfoStates:
        """[1] the learner's information in game `row`."""
        return self.game.information(take(self.states, np.array([row])), self.seats[[row]])

    def _finish_step(self) -> StepResult:
        info_states, masks = self._reach_decisions() if self.ask_forced else self._reach_choices()
        observations = self.game.observe(info_states, self.seats)
        self._masks = masks
        paid = self._payoffs(self.states, self.seats)
        first = self._lengths == 0
        paid[first] = 0  # payoffs before the first decision belong to its reward
        rewards = np.where(first, np.float32(0), paid - self._paid)
        ended = np.flatnonzero(self._over)
        finals, returns = np.zeros((0, observations.shape[1]), dtype=np.float32), np.zeros(0, dtype=np.float32)
        if ended.size:
            states, seats = take(self._final_states, ended), self._final_seats[ended]
            finals = self.game.observe(self.game.information(states, seats), seats)
            returns = self._payoffs(states, seats)
            rewards[ended] = returns - self._paid[ended]
        self._paid = paid
        lengths = self._final_lengths[ended]
        return StepResult(observations, masks, rewards, self._over, ended, finals, returns, lengths)

    def _reach_decisions(self) -> tuple[InfoStates, Bools]:
        """Play until the learner is to move in all games; its InfoStates [G] and masks [G, A]."""
        while True:
            waiting = np.flatnonzero(self._movers(self._all) != self.seats)
            if waiting.size == 0:
                info_states = self.game.information(self.states, self.seats)
                return info_states, self.game.legal_actions(info_states)
            self._move(waiting)

    def _reach_choices(self) -> tuple[InfoStates, Bools]:
        """Play until the learner has at least two legal actions in all games; its InfoStates [G] and masks [G, A]."""
        info_states = InfoStates(np.empty(self.num_envs, dtype=self.game.state_dtype))
        masks = np.empty((self.num_envs, self.game.spec.num_actions), dtype=np.bool_)
        waiting = self._all
        while waiting.size:
            own = self._movers(waiting) == self.seats[waiting]
            rows = waiting[own]
            here = self.game.information(take(self.states, rows), self.seats[rows])
            legal = self.game.legal_actions(here)
            put(info_states, rows, here)
            masks[rows] = legal
            moving = ~own
            moving[own] = forced_moves(legal) >= 0
            waiting = waiting[moving]
            self._move(waiting)
        return info_states, masks

    def _movers(self, rows: NDArray[np.intp]) -> Players:
        """[N] players to move at `rows`; games that are over are replaced first."""
        everywhere = rows.size == self.num_envs
        players = self.game.current_player(self.states if everywhere else take(self.states, rows))
        ended = np.flatnonzero(players < 0)
        if ended.size:
            self._replace(rows[ended])
            players[ended] = self.game.current_player(take(self.states, rows[ended]))
        return players

    def _move(self, rows: NDArray[np.intp]) -> None:
        """Play one step of the loop at `rows`; the loop plays forced moves of the learner itself."""
        if rows.size:
            here = take(self.states, rows)
            next(play(self.game, here, self._agents, self.rng, seats=self._agent_at[rows]))
            put(self.states, rows, here)

    def _replace(self, rows: NDArray[np.intp]) -> None:
        """Keep the ends of the games at `rows` and deal new ones."""
        ended = rows[(self._lengths[rows] > 0) & ~self._over[rows]]
        put(self._final_states, ended, take(self.states, ended))
        self._final_seats[ended], self._final_lengths[ended] = self.seats[ended], self._lengths[ended]
        self._over[ended] = True
        put(self.states, rows, self.game.deal(rows.size, self.rng))
        self._draw_seats(rows)
        self._lengths[rows] = 0

    def _draw_seats(self, rows: NDArray[np.intp]) -> None:
        players = self.game.spec.num_players
        drawn = self.rng.integers(players, size=rows.size, dtype=np.int8) if self.seat is None else np.int8(self.seat)
        self.seats[rows] = drawn
        self._agent_at[rows] = self._orders[self.seats[rows]]

    def _payoffs(self, states: States, seats: Players) -> Floats:
        return self.game.payoffs(states)[np.arange(len(states)), seats]


def load_opponents(game: Game, opponents: Opponents) -> list[Agent]:
    """[P − 1] agents for the other seats; equal names become one agent."""
    count = game.spec.num_players - 1
    if opponents is None or isinstance(opponents, str) or not isinstance(opponents, Sequence):
        opponents = [opponents or "random"] * count
    if len(opponents) != count:
        raise InvalidOption("opponents", len(opponents), f"{count} for {game.spec.name}, one for each other seat")
    texts = [fspath(entry) if isinstance(entry, PathLike) else entry for entry in opponents]
    loaded = {text: load_agent(game, text) for text in texts if isinstance(text, str)}
    return [loaded[entry] if isinstance(entry, str) else entry for entry in texts]


def check_actions(masks: Bools, actions: Any, name: str) -> NDArray[np.int16]:
    """[N] `actions` with the engine's dtype; IllegalAction names the first that `masks` [N, A] forbid."""
    try:
        chosen = np.asarray(actions)
    except (TypeError, ValueError) as error:  # e.g. arrays of several lengths
        raise IllegalAction(f"{name}: actions: must be {len(masks)} whole numbers, one per game") from error
    if chosen.dtype.kind not in "iu":
        raise IllegalAction(f"{name}: actions: must be whole numbers; got {chosen.dtype}")
    if chosen.shape != masks.shape[:1]:
        raise IllegalAction(f"{name}: actions: must be {len(masks)} numbers, one per game; got shape {chosen.shape}")
    within = (chosen >= 0) & (chosen < masks.shape[1])
    fits = within & masks[np.arange(len(masks)), np.where(within, chosen, 0)]
    if not fits.all():
        row = int(np.flatnonzero(~fits)[0])
        allowed = np.flatnonzero(masks[row]).tolist()
        raise IllegalAction(f"{name}: action {chosen[row]} is not legal in game {row}; choose one of {allowed}")
    return chosen.astype(np.int16)


def _seatings(opponents: Sequence[Agent]) -> tuple[list[Agent], NDArray[np.int8]]:
    """The distinct agents, and [P, P] the index of the agent at each seat by the learner's seat.

    The opponents have the seats after the learner's, in their order. The index at the learner's own seat is not used.
    """
    agents = list({id(agent): agent for agent in opponents}.values())
    order = [next(index for index, known in enumerate(agents) if known is agent) for agent in opponents]
    return agents, np.array([np.roll([0, *order], seat) for seat in range(len(order) + 1)], dtype=np.int8)
