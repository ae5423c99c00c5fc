"""The verbs of `cardlab`: the program, its help, its completion and docs/cli.md all read this table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, cast

from cardlab.core.exit_status import RESUME_HINT
from cardlab.core.messages import left_out


class ComposedConfig(dict[str, Any]):
    """A composed configuration. A missing key, which `~key` has removed, raises InvalidOption."""

    def __missing__(self, key: str) -> Any:
        raise left_out(key)


@dataclass(frozen=True)
class Request:
    """The arguments of a verb: the composed configuration, the overrides that it was composed from, flags, its name."""

    config: Mapping[str, Any]
    overrides: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    verb: str = ""

    def typed_text(self, key: str) -> str | None:
        """The value of `key` as it was typed: Hydra takes the id 12345678 for a number, as it does 12e45678."""
        if self.config.get(key) is None:
            return None
        typed = [text.removeprefix(f"{key}=").strip("'\"") for text in self.overrides if text.startswith(f"{key}=")]
        return typed[-1] if typed else str(self.config[key])


@dataclass(frozen=True)
class Outcome:
    """What a verb made, which its function in Python returns, and its exit status."""

    result: Any
    status: int = 0


MULTIRUN = "--multirun"
"""Flag of `cardlab train`, as of Hydra's programs."""

PLUGINS = "cardlab_verbs"
"""Group of entry points for verbs that other packages implement, by the first word of the verb."""


class MissingPlugin(RuntimeError):
    """The package that implements a verb is not installed; the message is one line that says what to install."""


@dataclass(frozen=True)
class Verb:
    """A verb: its name, help, configuration and flags."""

    name: str
    summary: str
    examples: tuple[str, ...]
    config: str = ""  # conf/CONFIG.yaml; empty: named like the verb
    flags: Mapping[str, str] = field(default_factory=dict[str, str])  # --flag, or --key NAME for a key → help
    on_stop: str = ""  # what to do after an interruption
    trains: bool = False  # accepts all keys of an experiment, which `cardlab train --help` lists
    default_from_group: Mapping[str, str] = field(default_factory=dict[str, str])
    """Group → the group whose `name` chooses its option, if none is given; `standard` where it has no such option."""
    positional_key: str = ""  # key, a list, that takes the arguments without `=`
    recipes: tuple[str, ...] = ()  # without experiment=: the first of experiment=GAME/NAME that the game has
    plugin: bool = False  # implemented by another package, by an entry point of the group PLUGINS

    @property
    def config_name(self) -> str:
        """The name of the file in conf/, without .yaml."""
        return self.config or self.name.replace(" ", "_")

    @property
    def module(self) -> str:
        """The name of the module in this package: `sweep worker` is in sweep."""
        return self.name.partition(" ")[0]

    def load(self) -> Callable[[Request], int | Outcome]:
        """Import the function that runs the verb and returns its outcome or exit status. Raises MissingPlugin."""
        if not self.plugin:
            return import_module(f"cardlab.cli.{self.module}").run
        found = entry_points(group=PLUGINS, name=self.module)
        if not found:
            raise MissingPlugin(f"{self.module}: not installed; run pip install 'cardlab[{self.module}]'")
        return cast(Callable[[Request], int], next(iter(found)).load())


_VERBS = (
    Verb(
        "init",
        "make a project of your own, with a game, an agent, a learner and a network to start from",
        ("cardlab init my_cards", "cardlab init my_cards --example none"),
        flags={"--example NAME": "kuhn: begin with a small game and a learner; none: empty folders"},
        positional_key="folders",
    ),
    Verb(
        "train",
        "train one experiment",
        (
            "cardlab train experiment=poker_squares/td",
            "cardlab train experiment=thirty_one/dqn agent=ppo network.widths=[128,128] seeds=3",
            "cardlab train -m experiment=thirty_one/dqn,thirty_one/ppo agent.gamma=0.9,1.0 seeds=3",
            "cardlab train resume=3f2a9c1e",
        ),
        flags={MULTIRUN: "or -m: train every combination of the values in KEY=A,B in parallel, and compare them"},
        on_stop=RESUME_HINT,
    ),
    Verb(
        "evaluate",
        "evaluate an agent against reference opponents",
        (
            "cardlab evaluate policy=runs/poker_squares_td/latest/policy arena.deals=40000",
            "cardlab evaluate policy=threshold:level:30 game=thirty_one arena.references=[greedy,random]",
        ),
        on_stop=RESUME_HINT,
    ),
    Verb(
        "sweep",
        "search the best hyperparameters of an experiment",
        (
            "cardlab sweep game=thirty_one agent=dqn sweep.trials=20",
            "cardlab sweep agent=ppo 'sweep.space.agent.clip_range={low: 0.05, high: 0.4}'",
            "cardlab sweep game=thirty_one agent=dqn sweep.apply=thirty_one/tuned",
            "cardlab sweep experiment=thirty_one/dqn sweep=thirty_one/dqn sweep.workers=2 sweep.pruner=hyperband",
        ),
        on_stop=RESUME_HINT,
        trains=True,
        default_from_group={"sweep": "agent"},
    ),
    Verb(
        "sweep worker",
        "run trials of a sweep, on this machine or another",
        (
            "cardlab sweep worker sweep.study=thirty_one_dqn_1a2b3c4d",
            "cardlab sweep worker sweep.study=big2 sweep.storage=postgresql+psycopg://me@server/cards sweep.workers=8",
        ),
        on_stop=RESUME_HINT,
    ),
    Verb(
        "compare",
        "say which of several methods is better, over their seeds",
        (
            "cardlab compare thirty_one_dqn thirty_one_ppo",
            "cardlab compare runs/gamma_0.8 runs/gamma_1.0 models/thirty_one_dqn arena.deals=10000",
            "cardlab compare big2_ppo champion --json",
        ),
        flags={"--json": "print all figures as JSON"},
        positional_key="methods",
        on_stop=RESUME_HINT,
    ),
    Verb(
        "tournament",
        "play every agent against every other",
        ("cardlab tournament game=thirty_one 'agents=[random,greedy,threshold:level:30]' arena.deals=2000",),
        on_stop=RESUME_HINT,
    ),
    Verb(
        "promote",
        "let a policy challenge the champion of its game",
        (
            "cardlab promote policy=thirty_one_ppo",
            "cardlab promote policy=models/poker_squares_td arena.deals=10000 sequential=true",
        ),
        on_stop=RESUME_HINT,
    ),
    Verb(
        "exploit",
        "measure what a fresh learner can win from a frozen policy",
        (
            "cardlab exploit policy=champion game=thirty_one",
            "cardlab exploit policy=models/five_o_td/seed_7 agent=ppo trainer.decisions=500_000 seeds=3",
        ),
        on_stop=RESUME_HINT,
        trains=True,
        recipes=("exploit", "ppo", "td", "dqn"),
    ),
    Verb(
        "replay",
        "show one game move by move",
        ("cardlab replay game=thirty_one 'agents=[champion,greedy]' deal=3",),
    ),
    Verb(
        "runs",
        "compare the runs in MLflow",
        (
            "cardlab runs",
            "cardlab runs game=thirty_one sort=score limit=5",
            "cardlab runs kind=trial state=finished --json",
            "cardlab runs policy=champions/thirty_one",
            "cardlab runs run=4de34c2b",
        ),
        flags={"--json": "print all fields of the runs as a JSON list"},
    ),
    Verb(
        "runs diff",
        "show what two trainings differ in",
        ("cardlab runs diff 4de34c2b 9a01bc3d", "cardlab runs diff runs/duel/latest/policy champion --json"),
        flags={"--json": "print the differences as JSON"},
        positional_key="runs",
    ),
    Verb(
        "reproduce",
        "train a policy again from its record, and compare the bytes",
        (
            "cardlab reproduce runs/poker_squares_td/latest/policy",
            "cardlab reproduce five_o_td seed=7",
            "cardlab reproduce 4de34c2b --check",
        ),
        flags={"--check": "train nothing; check what is recorded"},
        positional_key="policies",
        on_stop=RESUME_HINT,
    ),
    Verb(
        "belief",
        "train a network that estimates who holds the hidden cards",
        (
            "cardlab belief",
            "cardlab belief agents=[models/big2_ppo/seed_7] output=models/big2_belief training.iterations=100",
        ),
    ),
    Verb(
        "play",
        "serve a web page for playing against agents",
        (
            "cardlab play",
            "cardlab play play.port=8080",
            "cardlab play play.database=postgresql+psycopg://me@server/play",
        ),
        plugin=True,
    ),
    Verb(
        "play record",
        "print the results of each player against each agent",
        ("cardlab play record", "cardlab play record game=big2 player=Ann --json"),
        flags={"--json": "print all fields as a JSON list"},
        plugin=True,
    ),
    Verb("ui", "serve the MLflow UI with the project's runs", ("cardlab ui", "cardlab ui port=8080")),
    Verb(
        "clean",
        "list what local files take, and delete what is no longer needed",
        ("cardlab clean", "cardlab clean --yes", "cardlab clean kinds=[earlier,checkpoints] ask=false"),
        flags={"--yes": "delete without asking"},
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
        flags={
            "--check": "write nothing; exit with 2 if params.yaml differs from the composed one",
            "--options": "write the options that your parts leave out into their files in conf/, with their help",
        },
    ),
)

VERBS: Mapping[str, Verb] = {verb.name: verb for verb in _VERBS}

FLAGS = {
    "--quiet, -q": "show no progress",
    "--cfg job, --info": "print the configuration or its sources; --resolve fills in ${…}, --package KEY: one part",
    "--config-dir DIR": "search DIR for options and experiments before conf/ of the working directory and the package",
}
"""The flags of all verbs, and their help."""
