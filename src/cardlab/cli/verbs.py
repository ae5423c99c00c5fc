"""The verbs of `cardlab`: the program, its help, its completion and docs/cli.md all read this table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from itertools import takewhile
from typing import Any, cast

from cardlab.core.exit_status import RESUME_HINT
from cardlab.core.messages import left_out
from cardlab.core.parts import shipped_folder


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
    """A verb: its name, configuration and flags; its summary and examples are the head of its file in conf/."""

    name: str
    config: str = ""  # conf/CONFIG.yaml; empty: named like the verb
    flags: Mapping[str, str] = field(default_factory=dict[str, str])  # --flag, or --key NAME for a key → help
    on_stop: str = ""  # what to do after an interruption
    trains: bool = False  # accepts all keys of an experiment, which `cardlab train --help` lists
    default_from_group: Mapping[str, str] = field(default_factory=dict[str, str])
    """Group → the group whose `name` chooses its option, if none is given; `standard` where it has no such option."""
    positional_key: str = ""  # key, a list, that takes the arguments without `=`
    takes_one: bool = False  # `positional_key` is no list
    recipes: tuple[str, ...] = ()  # without experiment=: the first of experiment=GAME/NAME that the game has
    plugin: bool = False  # implemented by another package, by an entry point of the group PLUGINS

    @property
    def config_name(self) -> str:
        """The name of the file in conf/, without .yaml."""
        return self.config or self.name.replace(" ", "_")

    @property
    def summary(self) -> str:
        """What it does: the first line of its file is `# cardlab NAME: SUMMARY`."""
        return self._head[0].partition(": ")[2]

    @property
    def examples(self) -> list[str]:
        """The commands that are indented below the summary."""
        return [line.strip() for line in self._head if line.startswith("  ")]

    @cached_property
    def _head(self) -> list[str]:
        lines = (shipped_folder() / f"{self.config_name}.yaml").read_text(encoding="utf-8").splitlines()
        return [line[2:] for line in takewhile(lambda line: line.startswith("# "), lines)]

    def load(self) -> Callable[[Request], int | Outcome]:
        """Import the function that runs the verb and returns its outcome or exit status. Raises MissingPlugin."""
        module = self.name.partition(" ")[0]  # `sweep worker` is in sweep
        if not self.plugin:
            return import_module(f"cardlab.cli.{module}").run
        found = entry_points(group=PLUGINS, name=module)
        if not found:
            raise MissingPlugin(f"{module}: not installed; run pip install 'cardlab[{module}]'")
        return cast(Callable[[Request], int], next(iter(found)).load())


_VERBS = (
    Verb(
        "init",
        flags={"--example NAME": "kuhn: begin with a small game and a learner; none: empty folders"},
        positional_key="folders",
    ),
    Verb(
        "train",
        flags={MULTIRUN: "or -m: train every combination of the values in KEY=A,B in parallel, and compare them"},
        on_stop=RESUME_HINT,
    ),
    Verb("evaluate", on_stop=RESUME_HINT),
    Verb("sweep", on_stop=RESUME_HINT, trains=True, default_from_group={"sweep": "agent"}),
    Verb("sweep worker", on_stop=RESUME_HINT),
    Verb(
        "compare",
        flags={"--json": "print all figures as JSON"},
        positional_key="methods",
        on_stop=RESUME_HINT,
    ),
    Verb("tournament", on_stop=RESUME_HINT),
    Verb("promote", on_stop=RESUME_HINT),
    Verb("exploit", on_stop=RESUME_HINT, trains=True, recipes=("exploit", "ppo", "td", "dqn")),
    Verb("replay"),
    Verb(
        "runs",
        flags={"--json": "print all fields of the runs as a JSON list"},
        positional_key="run",
        takes_one=True,
    ),
    Verb("runs diff", flags={"--json": "print the differences as JSON"}, positional_key="runs"),
    Verb(
        "reproduce",
        flags={"--check": "train nothing; check what is recorded"},
        positional_key="policies",
        on_stop=RESUME_HINT,
    ),
    Verb("belief"),
    Verb("play", plugin=True),
    Verb("play record", flags={"--json": "print all fields as a JSON list"}, plugin=True),
    Verb("ui"),
    Verb("clean", flags={"--yes": "delete without asking"}),
    Verb(
        "compose",
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
