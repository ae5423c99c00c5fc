"""The command line: a verb, Hydra overrides, and the few flags that all verbs share."""

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn

from cardlab.cli.verbs import VERBS, Verb
from cardlab.core.options import InvalidOption
from cardlab.experiments.config.options import InvalidConfiguration

FLAGS = {
    "--cfg job": "print the composed configuration and stop; --cfg hydra: Hydra's own; --resolve, --package KEY",
    "--info": "what Hydra knows: defaults, search path, plugins",
    "--help": "this text, for the options that are chosen",
}

_INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")  # what Hydra takes


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidConfiguration(f"{message} (`cardlab --help` shows what there is)")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Everything before and behind the verb; InvalidConfiguration in one line for what cannot be read."""
    parser = _Parser(prog="cardlab", add_help=False, allow_abbrev=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--shell-completion", "-sc", action="store_true")
    parser.add_argument("--cfg", "-c", choices=("job", "hydra", "all"))
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("--package", "-p")
    parser.add_argument("--info", "-i", nargs="?", const="all", choices=_INFO)
    parser.add_argument("--multirun", "-m", action="store_true")
    for verb in VERBS.values():
        for flag in verb.flags:
            parser.add_argument(flag, action="store_true", dest=flag)
        for key in verb.long_keys:
            parser.add_argument(key, dest=key)
    return parser.parse_intermixed_args(list(arguments))


def split_verb(words: Sequence[str]) -> tuple[Verb, tuple[str, ...]]:
    """The verb that `words` begin with, of one word or two, and what stands behind it."""
    count = 2 if " ".join(words[:2]) in VERBS else 1
    return find_verb(" ".join(words[:count])), tuple(words[count:])


def find_verb(word: str) -> Verb:
    """The verb of this name; InvalidOption names those that there are."""
    if word not in VERBS:
        near = get_close_matches(word, VERBS, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise InvalidOption("verb", word, f"one of {', '.join(VERBS)}{hint}")
    return VERBS[word]
