"""Agents that look ahead before they play, made from options or by name: monte_carlo, expectimax, tree, puct."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.random_agent import RandomAgent
from cardlab.agents.search.budgets import Recorded, Stopwatch
from cardlab.agents.search.builders import EndgameSolver, Resolve, build_search, find_endgame, load_searched, make_pupil
from cardlab.agents.search.decisions import LEAVES, Decision, Effort, Finding, make_decisions
from cardlab.agents.search.options import SEARCHES, NoSearch, SearchOptions
from cardlab.agents.search.protocol import Search
from cardlab.agents.specs import agent_text, split_name
from cardlab.core.options import InvalidOption, check_choice
from cardlab.games.loop import play
from cardlab.games.protocol import Actions, Floats, Game, InfoStates, Players, States

NOTHING = Effort(0, ())  # of a decision that needs no search
PASSED = 10_000  # phase of the streams of endgames: no search has so many
CALIBRATION_SECONDS = 0.004  # what one batch of a timed search may take: it is the grain of keeping time


@dataclass
class SearchAgent:
    """Plays what a search scores highest: a function of what the player knows, of the seed and of the budget alone.

    But with `learn` its policy learns from each search, so that a move also depends on those before. With `seconds`, it
    acts one decision at a time; `efforts` says what was done for each decision of the last `act`, and `think` does the
    same again.
    """

    game: Game
    options: SearchOptions
    resolve: Resolve  # makes the agents that the options name
    efforts: tuple[Effort, ...] = field(default=(), init=False)  # [N]
    searching: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        policy = load_searched(self.game, self.options, self.resolve)
        self._search: Search = build_search(self.game, self.options, policy, self.resolve)
        self._pupil = make_pupil(policy, self.options)
        self._endgame: EndgameSolver | None = None
        if self.options.endgame:
            self._endgame = find_endgame(self.game, self.options.belief)
        self._batch = self._search.smallest_batch
        if self.timed:
            self._prepare()

    @property
    def timed(self) -> bool:
        """Whether it thinks for a time."""
        return self.options.seconds is not None

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; nothing is drawn from `rng`."""
        findings = self.think(info_states, players)
        self.efforts = tuple(finding.effort for finding in findings)
        if self._pupil is not None:
            self._pupil.learn(info_states, players, findings)
        return np.array([finding.scores.argmax() for finding in findings], dtype=np.int16)

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """Expected payoff by each action [N, A], minus infinity where illegal or not looked at."""
        return np.array([finding.values for finding in self.think(info_states, players)], dtype=np.float32)

    def think_again(
        self, info_states: InfoStates, players: Players, size: int, batches: tuple[int, ...]
    ) -> tuple[int, Floats]:
        """The action, and the values of actions [A], that a search of one decision [1] with this effort comes to."""
        (finding,) = self.think(info_states, players, [Effort(size, tuple(batches))])
        return int(finding.scores.argmax()), finding.values.astype(np.float32)

    def think(
        self, info_states: InfoStates, players: Players, efforts: Sequence[Effort] | None = None
    ) -> list[Finding]:
        """[N] findings; with `efforts` [N] those of a search that did as much."""
        decisions = make_decisions(self.game, info_states, players, self.options.seed)
        if not self.timed and efforts is None:
            return self._counted(decisions)
        if efforts is None:
            return [self._timed(decision) for decision in decisions]
        return [self._again(decision, effort) for decision, effort in zip(decisions, efforts, strict=True)]

    def _counted(self, decisions: list[Decision]) -> list[Finding]:
        findings = [self._at_once(decision) for decision in decisions]
        open_ones = [row for row, finding in enumerate(findings) if finding is None]
        for row, finding in zip(open_ones, self._search.search([decisions[row] for row in open_ones]), strict=True):
            findings[row] = finding
        return cast(list[Finding], findings)

    def _timed(self, decision: Decision) -> Finding:
        meter = Stopwatch(cast(float, self.options.seconds))
        return self._at_once(decision) or self._search.metered(decision, meter, self._batch)

    def _again(self, decision: Decision, effort: Effort) -> Finding:
        return self._at_once(decision) or self._search.metered(decision, Recorded(effort), effort.size)

    def _at_once(self, decision: Decision) -> Finding | None:
        """What needs no search: a single legal action, or an endgame that is solved exactly."""
        num_actions = self.game.spec.num_actions
        if len(decision.legal) == 1:
            values = np.full(num_actions, -np.inf)
            values[decision.legal] = 0.0
            return Finding(values, np.full(num_actions, -np.inf), 0, NOTHING)
        if self._endgame is None:
            return None
        values = self._endgame(decision.info_state, decision.player, decision.stream(PASSED, 0, LEAVES))
        return None if values is None else Finding(values, values, 0, NOTHING)

    def _prepare(self) -> None:
        """Compile what the search runs, and find the largest batch that keeps to its time."""
        for number, (info_states, players) in enumerate(_some_positions(self.game)):
            (decision,) = make_decisions(self.game, info_states, players, self.options.seed)
            if self._at_once(decision) is None and (number == 0 or self._endgame is not None):
                self._search.metered(decision, Recorded(Effort(self._batch, (1,))), self._batch)
            if number == 0:
                self._batch = self._fitting_batch(decision)

    def _fitting_batch(self, decision: Decision) -> int:
        size = self._search.smallest_batch
        while 2 * size <= self._search.largest_batch:
            watch = Stopwatch(CALIBRATION_SECONDS)
            self._search.metered(decision, Recorded(Effort(2 * size, (1,))), 2 * size)
            if watch.expired():
                break
            size *= 2
        return size


def _some_positions(game: Game) -> list[tuple[InfoStates, NDArray[np.int8]]]:
    """The decisions of one game of random play that have a choice."""
    rng = np.random.default_rng(0)
    states: States = game.deal(1, rng)
    return [
        (moves.info_states, moves.players) for moves in play(game, states, [RandomAgent(game)], rng) if moves.asked[0]
    ]


def make_search(name: str, game: Game, *, resolve: Resolve, **given: Any) -> SearchAgent:
    """The search agent `name` with the options `given`; InvalidOption in one line for one that it does not have."""
    options_class = cast(type[SearchOptions], SEARCHES[name])
    known = [entry.name for entry in fields(options_class)]
    for key, value in given.items():
        if key not in known:
            raise InvalidOption(f"search.{key}", value, f"left out: {name} takes {', '.join(known)}")
    return SearchAgent(game, options_class(**given), resolve)


make_monte_carlo = partial(make_search, "monte_carlo")
make_expectimax = partial(make_search, "expectimax")
make_tree = partial(make_search, "tree")
make_puct = partial(make_search, "puct")


def search_text(search: str | SearchOptions | NoSearch, policy: str) -> str:
    """The text of the agent that searches around `policy`, which is `policy` itself for the search `none`."""
    if isinstance(search, str):
        name, given = split_name(search)
        check_choice("search", name, list(SEARCHES))
    else:
        name, given = search.name, _changed(search)
    if name == NoSearch.name:
        return policy
    return agent_text(name, {**given, "policy": policy})


def _changed(options: SearchOptions | NoSearch) -> Mapping[str, Any]:
    """The options that are not at their defaults."""
    defaults = {entry.name: entry.default for entry in fields(options)}
    return {key: value for key, value in asdict(options).items() if value != defaults[key]}
