"""The program `cardlab`: finds the verb, composes its configuration, runs it, and prints errors in one line."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper

from cardlab.cli.arguments import parse_arguments, split_verb, with_followed_groups, with_recipe
from cardlab.cli.completion import complete
from cardlab.cli.help_texts import overview, verb_help
from cardlab.cli.verbs import ComposedConfig, Request, Verb
from cardlab.core.exit_status import USAGE_ERROR, run_program
from cardlab.core.options import ConfigurationError, combined
from cardlab.evaluation.progress import QUIET
from cardlab.experiments.config.composition import compose_tree, plain, run_hydra, tree_text, use_config_dir
from cardlab.experiments.config.error_lines import decides_keys, key_of
from cardlab.experiments.config.options import InvalidConfiguration


def run_arguments(arguments: Sequence[str] | None) -> int:
    """Run the command line `arguments`, by default those of the process; returns the exit status."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # torch's hints are for programmers
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # terminals without … print ?
    return _run(sys.argv[1:] if arguments is None else list(arguments))


def _run(arguments: list[str]) -> int:
    parsed = parse_arguments(arguments)
    if parsed.quiet:
        os.environ[QUIET] = "1"  # the processes of a sweep inherit it
    if parsed.shell_completion:
        complete(parsed.words)
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
    for text in overrides if words else ():
        if key_of(text) == verb.positional_key:
            raise InvalidConfiguration(f"{text}: leave it out, since {' '.join(words)} are the {verb.positional_key}")
    use_config_dir(parsed.config_dir)
    for text in overrides if not (parsed.info or parsed.cfg in ("hydra", "all")) else ():
        if key_of(text).startswith("hydra."):
            raise InvalidConfiguration(f"{text}: has no effect, as no Hydra job is started; leave it out")
    try:
        overrides = with_recipe(verb, with_followed_groups(verb, overrides))
        if parsed.help:
            print(verb_help(verb, overrides))
            return 0
        tree = compose_tree(verb.config_name, overrides)
    except ConfigurationError as error:
        raise combined([error, *_errors_beside(error, verb, overrides)]) from error
    if words:
        tree[verb.positional_key] = words  # not parsed by Hydra
    if parsed.cfg == "job":
        print(tree_text(tree, package=parsed.package, resolve=parsed.resolve), end="")
    elif parsed.cfg:
        run_hydra(verb.config_name, [f"--cfg={parsed.cfg}", *overrides])
    elif parsed.info:
        run_hydra(verb.config_name, [f"--info={parsed.info}", *overrides])
    else:
        request = Request(ComposedConfig(plain(tree)), overrides, flags, verb.name)
        return run_program(lambda: _call(verb, request), verb.on_stop)
    return 0


def _call(verb: Verb, request: Request) -> int:
    """Run the verb. The error for a wrong value has those of the other groups beside it."""
    try:
        return verb.load()(request)
    except ConfigurationError as error:
        from cardlab.experiments.check_values import wrong_values  # noqa: PLC0415  imports numpy

        raise combined([error, *wrong_values(request.config)]) from error


def _errors_beside(error: ConfigurationError, verb: Verb, overrides: Sequence[str]) -> list[ConfigurationError]:
    """The errors for wrong values beside an error of composition, where the right overrides can be composed alone."""
    said = [str(each) for each in (error, *error.others)]
    wrong = [text for text in overrides if any(line.startswith((f"{key_of(text)}=", text)) for line in said)]
    all_wrong = len(wrong) == len(overrides)  # nothing is left that could have another error
    if not wrong or all_wrong or any(decides_keys(text) for text in wrong):
        return []
    groups = tuple(f"{key_of(text)}." for text in wrong)
    right = [text for text in overrides if text not in wrong and not key_of(text).startswith(groups)]
    from cardlab.experiments.check_values import wrong_values  # noqa: PLC0415  imports numpy

    try:
        return wrong_values(plain(compose_tree(verb.config_name, right)))
    except ConfigurationError:
        return []


def _flags(verb: Verb, parsed: argparse.Namespace) -> frozenset[str]:
    """The given flags of the verb; raises InvalidConfiguration for a flag of another verb."""
    if parsed.multirun:
        raise InvalidConfiguration("--multirun: not supported; use cardlab sweep with sweep.sampler=grid")
    given = {name for name, value in vars(parsed).items() if name.startswith("--") and value}
    for flag in sorted(given - set(verb.flags)):
        raise InvalidConfiguration(f"{flag}: cardlab {verb.name} has no such flag; run `cardlab {verb.name} --help`")
    for flag in ("resolve", "package"):
        if vars(parsed)[flag] and parsed.cfg != "job":
            raise InvalidConfiguration(f"--{flag}: give it with --cfg job, which prints the configuration")
    return frozenset(given)
