"""Methods compared over their seeds: which is better, by how much, how sure, and what differs in configuration.

A method is a group of policies, one for each seed. All policies play the same deals against the same references. The
best method, by its mean score against the strongest reference, is compared with each other one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path

import numpy as np

from cardlab.agents.policy_descriptions import policy_digest, policy_game, read_description
from cardlab.agents.specs import CHAMPION, metric_name
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.intervals import SELF, Estimate, PerDeal, estimate
from cardlab.evaluation.match import paired
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.scores import ScoreTable, from_part, play_scores
from cardlab.evaluation.seed_statistics import (
    MAX_SEEDS,
    Band,
    Curve,
    common_range,
    difference,
    mean_over_seeds,
    probability_of_improvement,
    score_at,
    seeds_to_decide,
    shared_deals,
)
from cardlab.experiments.config.build_parts import check_agents
from cardlab.experiments.config.values import Rows, compare_parameters
from cardlab.experiments.learning_curves import EXACT, TrainingCurve, read_training_curve
from cardlab.experiments.policy_groups import PolicyGroup, find_group, own_references, policies_by_seed
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking.connection import project_root

_KEY = "methods"


@dataclass(frozen=True)
class Method:
    """One method: its policies and what they scored."""

    name: str
    group: PolicyGroup
    scores: Mapping[str, Sequence[PerDeal]]  # reference → points per game on each deal, of each policy
    curves: Sequence[TrainingCurve | None]  # of each policy; None where it is unknown

    @property
    def seeds(self) -> int:
        """Number of policies."""
        return len(self.group.policies)

    @property
    def cpu_minutes(self) -> float | None:
        """CPU minutes of a training, evaluations included: the mean over seeds; None if one is unknown."""
        spent = [float(curve.cpu_minutes[-1]) for curve in self.curves if curve and curve.cpu_minutes is not None]
        return sum(spent) / self.seeds if len(spent) == self.seeds else None

    @property
    def digests(self) -> list[str]:
        """Digest of each policy."""
        return [policy_digest(policy) for policy in self.group.policies]


@dataclass(frozen=True)
class MethodPair:
    """The best method of a comparison and another one."""

    best: str
    other: str
    seeds: tuple[int, int]
    points: Estimate  # best minus other, over seeds and deals
    improvement: Estimate  # probability that a training of the best scores higher than one of the other
    more_seeds: int | None  # see `seeds_to_decide`
    policies: Estimate | None  # the difference of two single policies over deals alone
    is_equal: bool  # both have the same mean score on every deal

    @property
    def is_decided(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return self.points.low > 0 or self.points.high < 0

    @property
    def verdict(self) -> str:
        """One sentence: which is better by how much, or what would decide it."""
        shown = f"{self.points.mean:+.3f} points per game"
        if isfinite(self.points.half_width):
            shown += f", 95 % interval {self.points.low:+.3f} to {self.points.high:+.3f}"
        if self.is_decided:
            return f"{self.best} is better than {self.other}: {shown}"
        return f"not decided between {self.best} and {self.other}: {shown}; {self._advice()}"

    def _advice(self) -> str:
        if self.policies is not None:
            low, high = self.policies.low, self.policies.high
            return f"each has one seed (these two policies: {low:+.3f} to {high:+.3f}); train at least 3 seeds of each"
        if 1 in self.seeds:
            one = self.best if self.seeds[0] == 1 else self.other
            return f"{one} has one seed; train at least 3 of it, or compare the policies by cardlab tournament"
        if self.is_equal:
            return "both win the same on every deal"
        if self.more_seeds == 0:  # the difference lies within what rare deals could add
            return "more deals would decide"
        if self.more_seeds is None:
            return f"{MAX_SEEDS:,} more seeds of each would not decide it, more deals may"
        plural = "s" if self.more_seeds > 1 else ""
        return f"about {self.more_seeds:,} more seed{plural} of each would decide"


@dataclass(frozen=True)
class EqualBudget:
    """Scores of the methods after the same number of decisions or CPU minutes, on the deals of the learning curves."""

    place: float
    scores: Mapping[str, Estimate]  # method → mean over seeds, with the interval over seeds alone


@dataclass(frozen=True)
class MethodComparison:
    """What `cardlab.compare` returns."""

    game: Game
    arena: ArenaOptions
    methods: Sequence[Method]
    against: str  # the strongest reference; "self" for one player

    @cached_property
    def ranked(self) -> list[Method]:
        """The methods, best first."""
        return sorted(self.methods, key=lambda method: -self.score(method).mean)

    @property
    def is_alone(self) -> bool:
        """Whether the game has one player."""
        return self.against == SELF

    @cached_property
    def pairs(self) -> list[MethodPair]:
        """The best method with each other one."""
        return [self._pair(method) for method in self.ranked[1:]]

    @property
    def verdicts(self) -> list[str]:
        """A sentence for each pair."""
        return [pair.verdict for pair in self.pairs]

    @property
    def differing(self) -> Rows | None:
        """Keys of the trainings that differ, with the value of each method; None if a configuration is unknown."""
        groups = [method.group.config.items() for method in self.methods]
        configs = [{key: value for key, value in each if key not in ("seed", "seeds", "arena")} for each in groups]
        return compare_parameters(configs)[0] if all(configs) else None

    @property
    def differing_keys(self) -> tuple[Rows, Rows]:
        """`differing`, apart: keys that all methods have, and those that only some have."""
        rows = self.differing or []
        return [row for row in rows if "" not in row[1]], [row for row in rows if "" in row[1]]

    @property
    def deals(self) -> int:
        """Deals that were played; with `arena.until` fewer than `arena.deals`."""
        return max(self.score(method).deals for method in self.methods)

    def score(self, method: Method, reference: str | None = None) -> Estimate:
        """Points per game over seeds and deals, against the strongest reference or `reference`."""
        return mean_over_seeds(method.scores[reference or self.against], self.game.spec.payoff_range)

    def curves(self, *, over_cpu: bool = False) -> Mapping[str, Sequence[Curve]]:
        """Method → its learning curves against the strongest reference; empty unless all policies have one."""
        return self._curves(f"score/{metric_name(self.against)}", over_cpu)

    @cached_property
    def exact(self) -> tuple[str, Mapping[str, Sequence[Curve]]] | None:
        """`exploitability` or `nash_conv`, and method → its curves over decisions; None unless all have measured it."""
        measures = ((name, self._curves(name)) for name in EXACT)
        return next(((name, curves) for name, curves in measures if curves), None)

    def exact_scores(self) -> Mapping[str, Estimate]:
        """Method → `exact` at the end of its trainings: the mean over seeds, with the interval over seeds."""
        _, curves = self.exact or ("", {})
        ends = {name: [(np.zeros(1), scores[-1:]) for _, scores in each] for name, each in curves.items()}
        return {name: _estimate(score_at(each, 0.0)) for name, each in ends.items()}

    def _curves(self, column: str, over_cpu: bool = False) -> dict[str, Sequence[Curve]]:
        found: dict[str, list[Curve]] = {}
        for method in self.methods:
            for curve in method.curves:
                if curve is None or column not in curve.columns:
                    return {}
                drawn = curve.over_cpu(column) if over_cpu else curve.over_decisions(column)
                if drawn is None:
                    return {}
                found.setdefault(method.name, []).append(drawn)
        return {**found}

    def equal_budget(self, *, over_cpu: bool = False) -> EqualBudget | None:
        """The scores at the last place that the learning curves of all methods reach; None without curves."""
        curves = self.curves(over_cpu=over_cpu)
        if not curves:
            return None
        first, last = common_range([curve for each in curves.values() for curve in each])
        if first > last:
            return None
        return EqualBudget(last, {name: _estimate(score_at(each, last)) for name, each in curves.items()})

    def _pair(self, other: Method) -> MethodPair:
        best = self.ranked[0]
        mine, its = best.scores[self.against], other.scores[self.against]
        single = len(mine) == len(its) == 1
        low, high = self.game.spec.payoff_range
        bounds = low - high, high - low
        return MethodPair(
            best.name,
            other.name,
            (len(mine), len(its)),
            difference(mine, its, bounds),
            probability_of_improvement(mine, its),
            seeds_to_decide(mine, its),
            estimate(paired(mine[0], its[0]), bounds) if single else None,
            np.array_equal(shared_deals(mine).mean(axis=0), shared_deals(its).mean(axis=0)),
        )


def compare_groups(
    groups: Mapping[str, PolicyGroup],
    game: Game | None,
    options: ArenaOptions,
    *,
    progress: ProgressCallback = no_progress,
    played: Path | None = None,
) -> MethodComparison:
    """The comparison of groups of policies by the names of their methods.

    Ctrl-C raises Interrupted with a comparison of the deals so far, which are kept in `played`.
    """
    game = without_training_options(game or policy_game(next(iter(groups.values())).policies[0]))
    check_agents(game, _KEY, [str(policy) for group in groups.values() for policy in group.policies])
    references: tuple[str, ...] = ()
    if game.spec.num_players > 1:
        own = [reference for group in groups.values() for reference in own_references(group.config)]
        references = tuple(dict.fromkeys(options.references or own or DEFAULT_REFERENCES))
        check_agents(game, "arena.references", references)
    agents = {
        (name, seed): str(policy)
        for name, group in groups.items()
        for seed, policy in policies_by_seed(group.policies).items()
    }

    def compare(table: ScoreTable[tuple[str, int]]) -> MethodComparison:
        methods = [_method(name, group, table) for name, group in groups.items()]
        means = {
            reference: sum(mean_over_seeds(method.scores[reference]).mean for method in methods)
            for reference in table.references
        }
        return MethodComparison(game, options, methods, min(means, key=lambda reference: means[reference]))

    return from_part(lambda: play_scores(game, agents, references, options, progress=progress, played=played), compare)


def _method(name: str, group: PolicyGroup, table: ScoreTable[tuple[str, int]]) -> Method:
    rows = [table.points(agent) for agent in table.agents if agent[0] == name]
    scores = {reference: [row[reference] for row in rows] for reference in table.references}
    return Method(name, group, scores, [read_training_curve(each) for each in group.policies])


def _estimate(band: Band) -> Estimate:
    """A band of one place as an estimate; the number of deals is unknown."""
    return Estimate(float(band.mean[0]), float(band.low[0]), float(band.high[0]), 0, band.seeds)


def find_groups(methods: Sequence[str], game: str) -> dict[str, PolicyGroup]:
    """Name → group of each of `methods`, in their order. Raises InvalidOption for fewer than two, or an unknown one."""
    if isinstance(methods, str) or len(methods) < 2 or len(set(methods)) < len(methods):
        given = methods if isinstance(methods, str) else f"[{', '.join(methods)}]"
        raise InvalidOption(_KEY, given, "two or more methods, each once; cardlab evaluate policy=NAME scores one")
    root = project_root()
    found: dict[str, PolicyGroup] = {}
    for text in sorted(methods, key=CHAMPION.__eq__):  # the game of a champion is that of the others
        group = find_group(text, root, game=game, key=_KEY)
        other = read_description(group.policies[0]).game
        if game and other != game:
            raise InvalidOption(_KEY, text, f"a method for {game}, as the others: it is one for {other}")
        found[text], game = group, other
    names = [group.name for group in found.values()]
    return {found[text].name if names.count(found[text].name) == 1 else text: found[text] for text in methods}
