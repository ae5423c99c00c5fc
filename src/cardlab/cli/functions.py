"""The commands as functions, for scripts and notebooks: the same tracking, resume and files, with results as objects.

    trained = cardlab.train("thirty_one/dqn", seeds=3, agent={"gamma": 0.9})
    trained.score, trained.curve, trained.policy
    cardlab.compare("thirty_one_dqn", trained.policy, deals=2000).verdicts

Keyword arguments are keys of the command's configuration: `agent="ppo"` chooses an option of a group, `agent={"gamma":
0.9}` sets keys of it, `{"agent": "ppo", "agent.gamma": 0.9}` both.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.cli.program import run_verb
from cardlab.cli.verbs import VERBS
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.intervals import Estimate, Evaluation, main_score
from cardlab.evaluation.tournament import Tournament
from cardlab.experiments.comparison.compare import MethodComparison
from cardlab.experiments.seeds import SeedTraining
from cardlab.tracking import Store
from cardlab.tracking.lineage import CONFIG, PARENT
from cardlab.tracking.policy_lookup import find_origin

if TYPE_CHECKING:
    import pandas

    from cardlab.experiments.sweep.summary import SweepResult

_PLAIN = re.compile(r"[A-Za-z_][\w./-]*")


@dataclass(frozen=True)
class Score:
    """The result of `evaluate`."""

    evaluation: Evaluation

    @property
    def score(self) -> Estimate:
        """Points per game against the strongest reference, with its 95 % interval over seeds and deals."""
        return main_score(self.evaluation)[1]

    @property
    def by_reference(self) -> dict[str, Estimate]:
        """Points per game against each reference; a single player's under "self"."""
        rows = self.evaluation["references"]
        return {name: Estimate(row["mean"], row["low"], row["high"], row["deals"]) for name, row in rows.items()}


@dataclass(frozen=True)
class Training:
    """The result of `train`: one training, or one for each seed."""

    trainings: tuple[SeedTraining, ...]
    evaluation: Evaluation | None  # of several seeds together

    @property
    def policies(self) -> list[str]:
        """Folders of the policies, by seed."""
        return [str(training.policy) for training in self.trainings]

    @property
    def policy(self) -> str:
        """Folder of the policy, of several seeds that of the first."""
        return self.policies[0]

    @property
    def run_id(self) -> str:
        """The run in MLflow; of several seeds the one that has their mean. Raises TrackingUnavailable."""
        store = Store()
        origin = find_origin(store, policy_digest(self.trainings[0].policy))
        if origin is None:
            raise LookupError(f"{store.address} has no run of {self.policy}")
        with store.wrap_errors():
            tags = store.client.get_run(origin.run_id).data.tags
        return origin.run_id if self.evaluation is None else tags[PARENT]

    @property
    def score(self) -> Estimate:
        """Points per game against the strongest reference: of all seeds, or the last point of the learning curve."""
        if self.evaluation is not None:
            return main_score(self.evaluation)[1]
        names = [name.removeprefix("score/") for name in self.curve if str(name).startswith("score/")]
        if not names:
            raise LookupError(f"{self.policy} has no learning curve; measure it by cardlab.evaluate")
        last = self.curve.iloc[-1]
        name = min(names, key=lambda each: last[f"score/{each}"])
        low, high = (float(last[f"interval/score/{name}_{end}"]) for end in ("low", "high"))
        deals = json.loads((self.trainings[0].folder / CONFIG).read_text())["trainer"]["evaluation_deals"]
        return Estimate(float(last[f"score/{name}"]), low, high, deals)

    @property
    def curve(self) -> "pandas.DataFrame":
        """The learning curves: a row for each seed and point."""
        import pandas  # noqa: PLC0415  takes a second

        curves = [pandas.read_csv(each.curve).assign(seed=each.seed) for each in self.trainings]
        return pandas.concat(curves, ignore_index=True)


def train(experiment: str | None = None, *, seeds: int | Sequence[int] | None = None, **options: Any) -> Training:
    """`cardlab train experiment=EXPERIMENT seeds=SEEDS`: train, or resume what was interrupted.

    Raises InvalidOption for a wrong option, before anything is written.
    """
    trainings, evaluation = _run("train", options, experiment=experiment, seeds=seeds)
    return Training(tuple(trainings), evaluation)


def evaluate(
    policy: str | Path, *, references: Sequence[str] | None = None, deals: int | None = None, **options: Any
) -> Score:
    """`cardlab evaluate policy=POLICY`: the score of a policy, an experiment's seeds or a scripted agent."""
    return Score(_run("evaluate", options, policy=str(policy), **_arena(references, deals)))


def compare(
    *methods: str | Path, references: Sequence[str] | None = None, deals: int | None = None, **options: Any
) -> MethodComparison:
    """`cardlab compare METHODS`: which of two or more methods is better, by how much and how sure."""
    words = [str(method) if isinstance(method, Path) else method for method in methods]
    return cast(MethodComparison, _run("compare", options, words, **_arena(references, deals)))


def tournament(
    agents: Sequence[str], *, game: str | None = None, deals: int | None = None, **options: Any
) -> Tournament:
    """`cardlab tournament agents=AGENTS`: every agent against every other."""
    return cast(Tournament, _run("tournament", options, game=game, agents=agents, **_arena(None, deals)))


def sweep(
    experiment: str | None = None,
    *,
    space: Mapping[str, Mapping[str, Any]] | None = None,
    trials: int | None = None,
    **options: Any,
) -> "SweepResult":
    """`cardlab sweep experiment=EXPERIMENT`: the best hyperparameters of an experiment.

    `space`: key → its range, as in `{"agent.gamma": {"low": 0.8, "high": 1.0}}`.
    """
    entries = {f"sweep.space.{key}": _Entry(value) for key, value in (space or {}).items()}
    return cast("SweepResult", _run("sweep", options, experiment=experiment, **{"sweep.trials": trials}, **entries))


class _Entry(dict[str, Any]):
    """A mapping that is one value, not keys of a group."""


def _arena(references: Sequence[str] | None, deals: int | None) -> dict[str, Any]:
    return {"arena.references": references, "arena.deals": deals}


def _run(verb: str, options: Mapping[str, Any], words: Sequence[str] = (), /, **named: Any) -> Any:
    """The result of a verb. `named`: arguments that were not given are None; in `options` None is a value."""
    given = {key: value for key, value in named.items() if value is not None} | {**options}
    outcome = run_verb(VERBS[verb], tuple(_overrides(given)), words)
    if outcome.status:
        raise KeyboardInterrupt
    return outcome.result


def _overrides(options: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """KEY=VALUE for each option, as Hydra reads it."""
    for key, value in options.items():
        if isinstance(value, Mapping) and not isinstance(value, _Entry):
            yield from _overrides(cast(Mapping[str, Any], value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}={_text(f'{prefix}{key}', value)}"


def _text(key: str, value: Any) -> str:
    """A value in Hydra's grammar. Raises InvalidOption for what no configuration can hold."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str | Path):
        text = str(value)
        return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
    if isinstance(value, Mapping):
        entries = cast(Mapping[str, Any], value).items()
        return "{" + ", ".join(f"{name}: {_text(key, entry)}" for name, entry in entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(key, entry) for entry in cast(Sequence[Any], value)) + "]"
    if isinstance(value, Real):  # numpy's numbers too
        return str(int(value)) if isinstance(value, Integral) else repr(float(value))
    raise InvalidOption(key, type(value).__name__, "a number, text, a list or a mapping")
