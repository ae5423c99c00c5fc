"""Shell completion of verbs and of GROUP=OPTION; Hydra completes keys, but not the options in folders."""

import os
import re
from contextlib import redirect_stdout
from io import StringIO

from cardlab.cli.verbs import FLAGS, VERBS
from cardlab.experiments.config.composition import initialised_hydra, run_hydra
from cardlab.experiments.config.error_lines import group_names, group_options

REQUESTS = [f"{action}={shell}" for action in ("install", "uninstall", "query") for shell in ("bash", "zsh", "fish")]
_LINE = "COMP_LINE"  # variable in which Hydra's shell scripts pass the line


def complete(request: str) -> None:
    """Print a script for `eval` (`install=SHELL`, `uninstall=SHELL`), or the candidates (`query=SHELL`)."""
    if not request.startswith("query="):
        run_hydra("train", ["--shell-completion", request])
        return
    program, _, rest = os.environ.get(_LINE, "").partition(" ")
    verb, space, overrides = _split(rest.lstrip())
    if not space:
        print(" ".join(dict.fromkeys(name.split()[0] for name in VERBS if name.startswith(verb))))
    elif verb in VERBS:
        word = overrides.rpartition(" ")[2]
        second = [name.split()[1] for name in VERBS if name.startswith(f"{verb} {overrides}")]
        if second and " " not in overrides:
            print(" ".join(second))
        if word.startswith("-"):
            flags = [*re.findall(r"--[\w-]+", " ".join(FLAGS)), "--help", *VERBS[verb].flags]
            print(" ".join(flag for flag in flags if flag.startswith(word)))
        elif offered := _options(word):
            print(("\n" if request == "query=fish" else " ").join(offered))
        else:
            os.environ[_LINE] = f"{program} {overrides}"
            print(_keys(VERBS[verb].config_name, request), end="")


def _split(line: str) -> tuple[str, str, str]:
    """The verb of one word or two, the space behind it, and the overrides."""
    for name in VERBS:
        if " " in name and line.startswith(f"{name} "):
            return name, " ", line.removeprefix(f"{name} ")
    return line.partition(" ")


def _options(word: str) -> list[str]:
    """The completions of `word` if it is the beginning of GROUP=OPTION."""
    key, sign, beginning = word.partition("=")
    with initialised_hydra():
        group = key.lstrip("+").partition("@")[0]
        options = group_options(group) if sign and group in group_names() else []
    return [f"{key}={option}" for option in options if option.startswith(beginning)]


def _keys(config_name: str, query: str) -> str:
    """Hydra's completions of keys; groups with folders get the sign = like other groups."""
    with redirect_stdout(StringIO()) as printed:
        run_hydra(config_name, ["--shell-completion", query])
    with initialised_hydra():
        groups = group_names()
    return re.sub(r"\S+", lambda found: f"{found[0]}=" if found[0] in groups else found[0], printed.getvalue())
