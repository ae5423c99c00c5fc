"""Agents that search before they act (monte_carlo, expectimax, tree, puct), and the agent that solves endgames."""

import logging
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.search.builders import (
    ENDGAME_SAMPLES,
    EndgameSolver,
    build_search,
    load_searched_policy,
    make_endgame_solver,
    make_online_learner,
)
from cardlab.agents.search.options import MonteCarloOptions, Resolve, SearchOptions
from cardlab.agents.search.search_io import DEALS, LEAVES, Search, SearchDecision, SearchResult, make_search_decisions
from cardlab.agents.specs import no_agent
from cardlab.core.messages import InvalidOption
from cardlab.core.options import check_whole
from cardlab.games.agent_protocol import ActionValues, Agent
from cardlab.games.budgets import Pace, RecordedBudget, SearchEffort, TimeBudget
from cardlab.games.loop import play
from cardlab.games.protocol import Actions, Floats, Game, InfoStates, Players, States

NO_EFFORT: SearchEffort = ()  # of a decision without a search
ENDGAME_PHASE = 10_000  # phase number of the endgame streams: above that of any search
_logger = logging.getLogger(__name__)

FEW = 10  # simulations of each move
MEASURED = 0.02  # a batch that takes this share of the time of a search, or more, shows its pace


@dataclass
class SearchAgent:
    """Plays the action that a search scores highest; depends on InfoState, seed and budget only.

    With `learn` the policy learns from each search, so that a move also depends on earlier ones. With `seconds` it
    searches one decision at a time. `efforts` holds the work done for each decision of the last `act`; `search` repeats
    it.
    """

    game: Game
    options: SearchOptions
    resolve: Resolve  # makes the agents that the options name
    efforts: tuple[SearchEffort, ...] = field(default=(), init=False)  # [N]
    searching: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        self._policy = load_searched_policy(self.game, self.options, self.resolve)
        self._search: Search = build_search(self.game, self.options, self._policy, self.resolve)
        self._online_learner = make_online_learner(self.game, self._policy, self.options)
        self._endgame: EndgameSolver | None = None
        if self.options.endgame:
            self._endgame = make_endgame_solver(self.game, self.options.belief)
        self._pace = self._measure_pace() if self.timed else Pace()

    @property
    def timed(self) -> bool:
        """Whether the budget is a time."""
        return self.options.seconds is not None

    @property
    def learning(self) -> bool:
        """Whether the policy learns from each search."""
        return self._online_learner is not None

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; nothing is drawn from `rng`."""
        results = self.search(info_states, players)
        self.efforts = tuple(result.effort for result in results)
        if self._online_learner is not None:
            self._online_learner.learn(info_states, players, results)
        return np.array([result.scores.argmax() for result in results], dtype=np.int16)

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """Expected payoff by each action [N, A], minus infinity where illegal or not tried."""
        return np.array([result.values for result in self.search(info_states, players)], dtype=np.float32)

    def repeat_search(self, info_states: InfoStates, players: Players, effort: SearchEffort) -> tuple[int, Floats]:
        """Action and action values [A] of a search of one decision [1] with this effort."""
        (result,) = self.search(info_states, players, [effort])
        return int(result.scores.argmax()), result.values.astype(np.float32)

    def search(
        self, info_states: InfoStates, players: Players, efforts: Sequence[SearchEffort] | None = None
    ) -> list[SearchResult]:
        """[N] results; with `efforts` [N] those of a search that does the same work."""
        decisions = make_search_decisions(self.game, info_states, players, self.options.seed)
        results = [self._without_search(decision) for decision in decisions]
        rows = [row for row, result in enumerate(results) if result is None]
        if self.options.seconds is None and efforts is None:
            found = self._search.search([decisions[row] for row in rows])
        else:
            found = [self._search_within(decisions[row], efforts[row] if efforts else None) for row in rows]
        for row, result in zip(rows, found, strict=True):
            results[row] = result
        return cast(list[SearchResult], results)

    def _search_within(self, decision: SearchDecision, effort: SearchEffort | None) -> SearchResult:
        """A search within the time, or with the `effort` of an earlier one."""
        if effort is not None:
            return self._search.search_within(decision, RecordedBudget(effort))
        budget = TimeBudget(self._seconds(decision), self._search.batch_sizes, self._pace)
        return self._search.search_within(decision, budget)

    def _seconds(self, decision: SearchDecision) -> float:
        """The time for `decision`."""
        seconds = cast(float, self.options.seconds)
        per_action = isinstance(self.options, MonteCarloOptions) and self.options.per_action
        return seconds * len(decision.legal) if per_action else seconds

    def _without_search(self, decision: SearchDecision) -> SearchResult | None:
        """The result for a forced move or a solved endgame; None where a search is needed."""
        num_actions = self.game.spec.num_actions
        if len(decision.legal) == 1:
            values = np.full(num_actions, -np.inf)
            values[decision.legal] = 0.0
            return SearchResult(values, np.full(num_actions, -np.inf), 0, NO_EFFORT)
        if self._endgame is None:
            return None
        values = self._endgame(decision.info_state, decision.player, decision.stream(ENDGAME_PHASE, 0, LEAVES))
        return None if values is None else SearchResult(values, values, 0, NO_EFFORT)

    def _measure_pace(self) -> Pace:
        """Compile the kernels of the search and measure its batches at the start of a game."""
        pace = Pace()
        for number, (info_states, players) in enumerate(_sample_positions(self.game)):
            (decision,) = make_search_decisions(self.game, info_states, players, self.options.seed)
            if self._without_search(decision) is None and (number == 0 or self._endgame is not None):
                self._timed_batch(decision, self._search.batch_sizes[0])
            if number == 0:
                pace = self._pace_at(decision)
        return pace

    def _pace_at(self, decision: SearchDecision) -> Pace:
        size, largest = self._search.batch_sizes
        leaves, seconds = first_leaves, first_seconds = self._timed_batch(decision, size)
        enough = max(2 * first_seconds, MEASURED * self._seconds(decision))
        while 2 * size <= largest and seconds < enough:
            size *= 2
            leaves, seconds = self._timed_batch(decision, size)
        if leaves == first_leaves:
            return Pace(first_seconds)
        per_leaf = max(seconds - first_seconds, 0.0) / (leaves - first_leaves)
        pace = Pace(max(first_seconds - per_leaf * first_leaves, 0.0), per_leaf)
        self._warn_of_too_little_time(decision, pace)
        return pace

    def _warn_of_too_little_time(self, decision: SearchDecision, pace: Pace) -> None:
        needed = pace.seconds(FEW * len(decision.legal))
        if needed > self._seconds(decision) and multiprocessing.parent_process() is None:
            text = "search.seconds=%g: too short at the start of a game, less than %d simulations of each move%s"
            may_help = isinstance(self.options, MonteCarloOptions) and not self.options.raw_playouts
            advice = "; with search.raw_playouts=20 the policy decides then"
            advice = advice if may_help and isinstance(self._policy, ActionValues) else ""
            _logger.warning(text, self.options.seconds, FEW, advice)

    def _timed_batch(self, decision: SearchDecision, size: int) -> tuple[int, float]:
        """Leaves and seconds of a search of one batch."""
        start = time.perf_counter()
        result = self._search.search_within(decision, RecordedBudget(((size,),)))
        return result.simulations, time.perf_counter() - start


def _sample_positions(game: Game) -> list[tuple[InfoStates, NDArray[np.int8]]]:
    """The decisions of one random game that have more than one legal action."""
    rng = np.random.default_rng(0)
    states: States = game.deal(1, rng)
    return [
        (moves.info_states, moves.players) for moves in play(game, states, [RandomAgent(game)], rng) if moves.queried[0]
    ]


@dataclass(frozen=True)
class EndgameAgent:
    """Plays like `policy`, but by the endgame solver where it applies; there play depends on position and seed only."""

    game: Game
    policy: Agent
    solve: EndgameSolver
    seed: int = 0

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; only `policy` draws from `rng`, for every decision."""
        actions = self.policy.act(info_states, players, rng).copy()
        for row, decision in enumerate(make_search_decisions(self.game, info_states, players, self.seed)):
            values = self.solve(decision.info_state, decision.player, decision.stream(0, 0, DEALS))
            if values is not None:
                actions[row] = values.argmax()
        return actions


def make_endgame(
    game: Game,
    policy: str | None = None,
    samples: int = ENDGAME_SAMPLES,
    belief: str | None = None,
    seed: int = 0,
    *,
    resolve: Resolve,
) -> EndgameAgent:
    """The agent `endgame`; InvalidOption for a game without an endgame solver."""
    check_whole("endgame.samples", samples, 1)
    check_whole("endgame.seed", seed, 0)
    if policy is None:
        raise InvalidOption(
            "endgame.policy", policy, "an agent for the moves before the endgame, as in endgame:policy:random"
        )
    solve = make_endgame_solver(game, belief, samples)
    if solve is None:
        raise no_agent("endgame", f"another: {game.spec.name} has no endgames")
    return EndgameAgent(game, resolve(game, str(policy)), solve, seed)
