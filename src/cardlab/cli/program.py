"""The program `cardlab`: parses the command line, composes the configuration of the verb, and runs it."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

from omegaconf import DictConfig, OmegaConf

from cardlab.cli.help_texts import REQUESTS, complete, overview, verb_help
from cardlab.cli.verbs import MULTIRUN, VERBS, ComposedConfig, Outcome, Request, Verb
from cardlab.core.exit_status import USAGE_ERROR, run_program
from cardlab.core.messages import ConfigurationError, InvalidConfiguration, collected, combined
from cardlab.core.options import check_that
from cardlab.evaluation.progress import QUIET
from cardlab.experiments.config.composition import (
    compose_config,
    compose_tree,
    initialised_hydra,
    plain,
    run_hydra,
    split_multirun,
    tree_text,
    use_config_dir,
)
from cardlab.experiments.config.error_lines import group_options, key_of
from cardlab.experiments.config.seed_options import LIKE, OWN_KEYS

_INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")  # Hydra's values of --info


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidConfiguration(f"{message}; run `cardlab --help`")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The flags, and all other arguments as `words`; raises InvalidConfiguration for unknown flags."""
    parser = _Parser(prog="cardlab", add_help=False, allow_abbrev=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--quiet", "-q", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--shell-completion", "-sc", choices=REQUESTS)
    parser.add_argument("--cfg", "-c", choices=("job", "hydra", "all"))
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("--package", "-p")
    parser.add_argument("--info", "-i", nargs="?", const="all", choices=_INFO)
    parser.add_argument("--config-dir", "-cd")
    parser.add_argument(MULTIRUN, "-m", action="store_true", dest=MULTIRUN)
    for flag in sorted({flag for verb in VERBS.values() for flag in verb.flags} - {MULTIRUN}):
        name, _, takes = flag.partition(" ")
        parser.add_argument(name, action="store" if takes else "store_true", dest=flag)
    return parser.parse_intermixed_args(list(arguments))


def split_verb(words: Sequence[str]) -> tuple[Verb, tuple[str, ...]]:
    """The verb, which has one word or two, and the overrides; raises InvalidConfiguration for an unknown verb."""
    count = 2 if " ".join(words[:2]) in VERBS else 1
    name = " ".join(words[:count])
    if name not in VERBS:
        near = get_close_matches(name, VERBS, n=1)
        known = f"choose one of {', '.join(VERBS)}; cardlab train --help lists games and experiments"
        hint = f"did you mean '{near[0]}'?" if near else known
        raise InvalidConfiguration(f"unknown command '{name}'; {hint}")
    return VERBS[name], tuple(words[count:])


def with_followed_groups(verb: Verb, overrides: tuple[str, ...]) -> tuple[str, ...]:
    """The overrides with an option for each group that follows another, e.g. `sweep=dqn` with `agent=dqn`."""
    for group, other in verb.default_from_group.items():
        if any(text.startswith(f"{group}=") for text in overrides):
            continue
        if "sweep.sampler=grid" in overrides and any(text.startswith("sweep.space.") for text in overrides):
            overrides += ("sweep=standard",)  # the grid is what is given: most ranges of a learner have no step
        elif not any(text.startswith(f"{group}.space.{other}=") for text in overrides):  # each option has its own
            # its own keys are known once its option is
            others = [text for text in overrides if not key_of(text).startswith(f"{group}.")]
            name = OmegaConf.select(compose_tree(verb.config_name, others), f"{other}.name")
            with initialised_hydra():
                overrides += (f"{group}={name if name in group_options(group) else 'standard'}",)
    return overrides


def with_recipe(verb: Verb, overrides: tuple[str, ...]) -> tuple[str, ...]:
    """The overrides with one of the verb's recipes for the game where no experiment is given.

    `agent=NAME` becomes experiment=GAME/NAME where there is one. The game is `game=`, or that of the policy's folder.
    A game without recipes is added as game=NAME.
    """
    given = {key: value for key, _, value in (text.partition("=") for text in overrides)}
    if not verb.recipes or "experiment" in given:
        return overrides
    game = given.get("game")
    if game is None:
        from cardlab.agents.policy_descriptions import read_description  # noqa: PLC0415  imports numpy

        with suppress(OSError, ValueError, KeyError, TypeError):
            game = read_description(Path(given["policy"].strip("'\""))).game
    with initialised_hydra():
        recipes, games = group_options("experiment"), group_options("game")
    if f"{game}/default" not in recipes:
        return overrides if "game" in given or game not in games else (*overrides, f"game={game}")
    names = [given["agent"]] if "agent" in given else verb.recipes
    found = next((name for name in names if f"{game}/{name}" in recipes), None)
    if found is None:
        return (*overrides, f"experiment={game}/default")
    return (*(text for text in overrides if text != f"agent={found}"), f"experiment={game}/{found}")


def run_arguments(arguments: Sequence[str] | None) -> int:
    """Run the command line `arguments`, by default those of the process; returns the exit status."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # torch's hints are for programmers
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # terminals without … print ?
    parsed = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    if parsed.quiet:
        os.environ[QUIET] = "1"  # the processes of a sweep inherit it
    if parsed.shell_completion:
        complete(parsed.shell_completion)
    elif parsed.version:
        print(f"cardlab {version('cardlab')}")
    elif parsed.words:
        verb, overrides = split_verb(parsed.words)
        return _run_verb(verb, overrides, parsed)
    else:
        print(overview())
        return 0 if parsed.help else USAGE_ERROR
    return 0


def _run_verb(verb: Verb, overrides: tuple[str, ...], parsed: argparse.Namespace) -> int:
    flags = _flags(verb, parsed)
    words = [text for text in overrides if verb.positional_key and "=" not in text and not text.startswith("~")]
    overrides = tuple(text for text in overrides if text not in words)
    if verb.takes_one and words:
        check_that(len(words) == 1, verb.positional_key, words, "one; cardlab runs diff A B compares two")
        overrides, words = (*overrides, f"{verb.positional_key}={words[0]}"), []
    values = {name: value for name, value in vars(parsed).items() if name in flags and isinstance(value, str)}
    overrides += tuple(f"{name.partition(' ')[0].removeprefix('--')}={value}" for name, value in values.items())
    use_config_dir(parsed.config_dir)
    if MULTIRUN in flags and not parsed.help:
        if parsed.cfg or parsed.info:
            raise InvalidConfiguration(f"{MULTIRUN}: left out with --cfg and --info, which show one combination")
        return _run_many(verb, overrides)
    overrides = with_recipe(verb, with_followed_groups(verb, overrides))
    if parsed.help:
        print(verb_help(verb, overrides))
        return 0
    tree = _compose(verb, overrides, words)
    if parsed.cfg == "job":
        print(tree_text(tree, package=parsed.package, resolve=parsed.resolve), end="")
    elif asked := parsed.cfg or parsed.info:
        run_hydra(verb.config_name, [f"--{'cfg' if parsed.cfg else 'info'}={asked}", *overrides])
    else:
        request = Request(ComposedConfig(plain(tree)), overrides, flags, verb.name)
        return run_program(lambda: _call(verb, request).status, verb.on_stop)
    return 0


def _run_many(verb: Verb, overrides: tuple[str, ...]) -> int:
    """Run `cardlab train -m`: a training for each combination of the values that are separated by commas."""
    from cardlab.cli.train import run_many  # noqa: PLC0415

    configs = ((compose_config(verb.config_name, each), each) for each in split_multirun(overrides))
    requests = [Request(ComposedConfig(config), tuple(each), verb=verb.name) for config, each in configs]
    return run_program(lambda: run_many(requests).status, verb.on_stop)


def run_verb(verb: Verb, overrides: tuple[str, ...], words: Sequence[str] = ()) -> Outcome:
    """Compose the configuration of `verb` and run it; errors are raised. `words`: the list of its `positional_key`."""
    overrides = with_recipe(verb, with_followed_groups(verb, overrides))
    config = ComposedConfig(plain(_compose(verb, overrides, words)))
    return _call(verb, Request(config, overrides, verb=verb.name))


def _compose(verb: Verb, overrides: Sequence[str], words: Sequence[str]) -> DictConfig:
    """The configuration; with `like=RUN`, of the command's own keys alone: all others change that of the run."""
    if verb.name == "train" and any(text.startswith(f"{LIKE}=") for text in overrides):
        overrides = [text for text in overrides if text.partition("=")[0] in OWN_KEYS]
    tree = compose_tree(verb.config_name, overrides)
    if words:
        tree[verb.positional_key] = [*words]  # not parsed by Hydra
    return tree


def _call(verb: Verb, request: Request) -> Outcome:
    """Run the verb. The error for a wrong value has those of the other groups beside it."""
    try:
        outcome = verb.load()(request)
        return outcome if isinstance(outcome, Outcome) else Outcome(None, outcome)
    except ConfigurationError as error:
        raise combined([error, *_wrong_values(request.config)]) from error


def _wrong_values(config: Mapping[str, Any]) -> list[ConfigurationError]:
    """The errors for the values in the groups of a composed configuration, of an experiment or of another command."""
    from cardlab.experiments.config.build_experiment import PARTS, build_groups  # noqa: PLC0415  imports numpy
    from cardlab.experiments.config.build_parts import build_arena, build_game, build_search_options  # noqa: PLC0415
    from cardlab.experiments.sweep.options import build_sweep  # noqa: PLC0415

    builders = {"game": build_game, "arena": build_arena, "search": lambda data: build_search_options(data, "")}
    errors: list[ConfigurationError] = []
    if config.keys() >= set(PARTS):
        with collected(errors):
            build_groups(config)
        builders = {"sweep": build_sweep}
    for name, build in builders.items():
        if config.get(name) is not None:
            with collected(errors):
                build(config[name])
    return errors


def _flags(verb: Verb, parsed: argparse.Namespace) -> frozenset[str]:
    """The given flags of the verb; raises InvalidConfiguration for a flag of another verb."""
    given = {name for name, value in vars(parsed).items() if name.startswith("--") and value}
    for flag in sorted(given - set(verb.flags)):
        name = flag.partition(" ")[0]
        raise InvalidConfiguration(f"{name}: cardlab {verb.name} has no such flag; run `cardlab {verb.name} --help`")
    for flag in ("resolve", "package"):
        if vars(parsed)[flag] and parsed.cfg != "job":
            raise InvalidConfiguration(f"--{flag}: give it with --cfg job, which prints the configuration")
    return frozenset(given)
