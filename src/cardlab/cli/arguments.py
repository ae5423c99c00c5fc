"""Parses the command line: a verb, Hydra overrides, and flags."""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from omegaconf import OmegaConf

from cardlab.cli.verbs import VERBS, Verb
from cardlab.core.files import load_json
from cardlab.core.options import InvalidOption
from cardlab.experiments.config.composition import compose_tree, initialised_hydra
from cardlab.experiments.config.error_lines import group_options, key_of
from cardlab.experiments.config.options import InvalidConfiguration

FLAGS = {
    "--quiet, -q": "show no progress",
    "--cfg job, --info": "print the configuration or its sources; --resolve fills in ${…}, --package KEY: one part",
    "--config-dir DIR": "search DIR for options and experiments before conf/ of the working directory and the package",
}

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
    parser.add_argument("--shell-completion", "-sc", action="store_true")
    parser.add_argument("--cfg", "-c", choices=("job", "hydra", "all"))
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("--package", "-p")
    parser.add_argument("--info", "-i", nargs="?", const="all", choices=_INFO)
    parser.add_argument("--config-dir", "-cd")
    parser.add_argument("--multirun", "-m", action="store_true")
    for flag in sorted({flag for verb in VERBS.values() for flag in verb.flags}):
        parser.add_argument(flag, action="store_true", dest=flag)
    return parser.parse_intermixed_args(list(arguments))


def split_verb(words: Sequence[str]) -> tuple[Verb, tuple[str, ...]]:
    """The verb, which has one word or two, and the overrides; raises InvalidConfiguration for an unknown verb."""
    count = 2 if " ".join(words[:2]) in VERBS else 1
    name = " ".join(words[:count])
    if name not in VERBS:
        near = get_close_matches(name, VERBS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(VERBS)}"
        raise InvalidConfiguration(f"unknown command '{name}'; {hint}")
    return VERBS[name], tuple(words[count:])


def with_followed_groups(verb: Verb, overrides: tuple[str, ...]) -> tuple[str, ...]:
    """The overrides with an option for each group that follows another, e.g. `sweep=dqn` with `agent=dqn`."""
    for group, other in verb.default_from_group.items():
        if not any(text.startswith(f"{group}=") for text in overrides):
            # its own keys are known once its option is
            others = [text for text in overrides if not key_of(text).startswith(f"{group}.")]
            name = OmegaConf.select(compose_tree(verb.config_name, others), f"{other}.name")
            if name is None:
                raise InvalidOption(other, "(left out)", "given")
            with initialised_hydra():
                overrides += (f"{group}={name if name in group_options(group) else 'standard'}",)
    return overrides


def with_recipe(verb: Verb, overrides: tuple[str, ...]) -> tuple[str, ...]:
    """The overrides with one of the verb's recipes for the game where no experiment is given.

    `agent=NAME` becomes experiment=GAME/NAME where there is one. The game is `game=`, or that of the policy's folder.
    """
    given = {key: value for key, _, value in (text.partition("=") for text in overrides)}
    if not verb.recipes or "experiment" in given:
        return overrides
    game = given.get("game")
    if game is None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            game = load_json(Path(given["policy"].strip("'\"")) / "policy.json")["game"]
    with initialised_hydra():
        recipes = group_options("experiment")
    if f"{game}/default" not in recipes:
        return overrides
    names = [given["agent"]] if "agent" in given else verb.recipes
    found = next((name for name in names if f"{game}/{name}" in recipes), None)
    if found is None:
        return (*overrides, f"experiment={game}/default")
    return (*(text for text in overrides if text != f"agent={found}"), f"experiment={game}/{found}")
