"""What `cardlab` can do: one entry per verb. The program, its help, completion and docs/cli.md all read this table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol, cast

from cardlab.core.options import InvalidOption


class Given(dict[str, Any]):
    """A composed configuration: what `~key` took out of it is refused where it is asked for."""

    def __missing__(self, key: str) -> Any:
        raise InvalidOption(key, "(left out)", "given")


@dataclass(frozen=True)
class Request:
    """What was asked for: the composed configuration as plain data, the overrides it came from, and flags."""

    config: Mapping[str, Any]
    overrides: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()


class VerbFunction(Protocol):
    """The body of a verb."""

    def __call__(self, request: Request) -> int:
        """Do it; the exit status."""
        ...


PLUGINS = "cardlab_verbs"
"""Group of entry points: verbs whose bodies are in other packages."""


class MissingPlugin(RuntimeError):
    """The package of a verb is not installed; the message is one line that says what to do."""


@dataclass(frozen=True)
class Verb:
    """A verb, the configuration in conf/ that it composes, and how it is called."""

    name: str
    summary: str
    examples: tuple[str, ...]
    config: str = ""  # conf/CONFIG.yaml; as the verb when empty
    flags: Mapping[str, str] = field(default_factory=dict[str, str])  # --flag → what it does
    long_keys: Mapping[str, str] = field(default_factory=dict[str, str])  # --key VALUE, the same as key=VALUE
    plugin: bool = False  # another package has its body, as an entry point of the group PLUGINS

    @property
    def config_name(self) -> str:
        """Name of the file in conf/, without .yaml."""
        return self.config or self.module

    @property
    def module(self) -> str:
        """Name of its module here: `sweep worker` stands in sweep_worker."""
        return self.name.replace(" ", "_")

    def load(self) -> VerbFunction:
        """The body, imported now with all that it needs. Raises MissingPlugin for a package that is not installed."""
        if self.plugin:
            found = entry_points(group=PLUGINS, name=self.name)
            if not found:
                raise MissingPlugin(
                    f"{self.name}: not installed; reinstall cardlab with pip install 'cardlab[{self.name}]'"
                )
            return cast(VerbFunction, next(iter(found)).load())
        return cast(VerbFunction, import_module(f"cardlab.cli.{self.module}").run)


_ALL = (
    Verb(
        "train",
        "train one experiment",
        (
            "cardlab train experiment=poker_squares/td",
            "cardlab train game=thirty_one agent=dqn trainer=quick agent.epsilon=0.05",
            "cardlab train experiment=thirty_one/dqn agent=ppo network.widths=[128,128] seed=3",
            "cardlab train resume=3f2a9c1e",
        ),
    ),
    Verb(
        "evaluate",
        "play an agent against reference opponents",
        (
            "cardlab evaluate policy=runs/poker_squares_td/latest/policy arena.deals=40000",
            "cardlab evaluate policy=threshold:level:30 game=thirty_one arena.references=[greedy,random]",
        ),
    ),
    Verb(
        "sweep",
        "search the best hyperparameters of an experiment",
        (
            "cardlab sweep game=thirty_one agent=dqn sweep=dqn sweep.trials=20",
            "cardlab sweep agent=ppo 'sweep.space.agent.clip_range={low: 0.05, high: 0.4}'",
            "cardlab sweep game=thirty_one agent=dqn sweep=dqn sweep.apply=thirty_one/tuned",
            "cardlab sweep experiment=thirty_one/dqn sweep=thirty_one/dqn sweep.workers=2 sweep.pruner=hyperband",
        ),
    ),
    Verb(
        "sweep worker",
        "join the workers of a sweep, on this machine or another",
        (
            "cardlab sweep worker sweep.study=thirty_one_dqn_1a2b3c4d",
            "cardlab sweep worker sweep.study=big2 sweep.storage=postgresql+psycopg://me@server/cards sweep.workers=8",
        ),
    ),
    Verb(
        "tournament",
        "play every agent against every other",
        ("cardlab tournament game=thirty_one 'agents=[random,greedy,threshold:level:30]' arena.deals=2000",),
    ),
    Verb(
        "promote",
        "let a policy challenge the champion of its game",
        (
            "cardlab promote policy=models/thirty_one_ppo",
            "cardlab promote policy=models/poker_squares_td arena.deals=10000 sequential=true",
        ),
    ),
    Verb(
        "replay",
        "show one game move by move",
        ("cardlab replay game=thirty_one 'agents=[models/thirty_one_dqn,greedy]' deal=3",),
    ),
    Verb(
        "runs",
        "list the recorded runs",
        (
            "cardlab runs",
            "cardlab runs game=thirty_one limit=5",
            "cardlab runs policy=models/thirty_one_dqn",
            "cardlab runs --policy champions/thirty_one",
            "cardlab runs --run 4de34c2b",
        ),
        long_keys={
            "--policy": "FOLDER: the runs that made or measured this policy; as policy=FOLDER",
            "--run": "ID: all that is known of one run, and where its policy is; as run=ID",
        },
    ),
    Verb(
        "belief",
        "learn who holds the cards that a player cannot see",
        (
            "cardlab belief",
            "cardlab belief agents=[models/big2_ppo] output=models/big2_belief training.iterations=100",
        ),
    ),
    Verb(
        "play",
        "serve a page on which a person plays against agents",
        (
            "cardlab play",
            "cardlab play play.port=8080",
            "cardlab play play.database=postgresql+psycopg://me@server/play",
        ),
        plugin=True,
    ),
    Verb("ui", "serve the MLflow UI on this project's runs", ("cardlab ui", "cardlab ui port=8080")),
    Verb(
        "remote",
        "say where clones share what is too large for git",
        ("cardlab remote url=/mnt/cardlab", "cardlab remote url=s3://bucket/cardlab", "cardlab remote"),
    ),
    Verb(
        "compose",
        "write the benchmark's params.yaml from conf/",
        (
            "cardlab compose",
            "cardlab compose --check",
            "cardlab compose benchmark=full",
            "cardlab compose agent@experiments.thirty_one_dqn.agent=ppo",
        ),
        config="config",
        flags={"--check": "write nothing; fail when params.yaml is not what conf/ gives"},
    ),
)

VERBS: Mapping[str, Verb] = {verb.name: verb for verb in _ALL}
