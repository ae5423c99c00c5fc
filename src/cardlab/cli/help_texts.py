"""The texts of `cardlab --help` and `cardlab VERB --help`, and shell completion of verbs, GROUP=OPTION and keys."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from glob import escape
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, cast

from hydra.core.global_hydra import GlobalHydra
from hydra.plugins.completion_plugin import DefaultCompletionPlugin
from omegaconf import OmegaConf

from cardlab.cli.verbs import FLAGS, VERBS, Verb
from cardlab.core.messages import as_written
from cardlab.core.parts import GROUPS, NAME, TARGET, find_object
from cardlab.experiments.config.composition import compose_tree, initialised_hydra, run_hydra, search_folders
from cardlab.experiments.config.error_lines import group_names, group_options, option_rows
from cardlab.experiments.config.part_source import option_help

_REACHED = re.compile(r"^# (?:Score|Budget): (.*)", re.MULTILINE)
_KEY = re.compile(r"^(\s*)(\w+):[^#]*(?:#\s*(.+))?$")
_OWN = "*"  # marks keys of the verb's own YAML file
_COMMENT_COLUMN = 44
_TRAIN_KEYS = frozenset({"game", "agent", "network", "opponents", "trainer", "arena"})
_TRAIN_HELP = "as in `cardlab train --help`"
_ELSEWHERE = {
    _TRAIN_KEYS: f"an experiment, {_TRAIN_HELP}",
    frozenset({"trials", "space"}): "a sweep, as in `cardlab sweep --help`",
}

Comments = Mapping[tuple[str, str, str], str]
"""(group, option, key) → the comment behind the key in the YAML files.

Option is "" for the first comment in any file of the group. In the file of the verb it is _OWN, and group is the key
above, or "".
"""


def overview() -> str:
    """The summary of the program and its verbs."""
    about = metadata("cardlab")
    lines = [
        f"cardlab {about['Version']}: {about['Summary'].lower()}",
        "",
        "usage: cardlab VERB [group=option …] [key=value …]",
        "",
        *_table({name: verb.summary for name, verb in VERBS.items()}),
        "",
        "cardlab VERB --help       groups, keys, flags and examples of a verb",
        "cardlab VERB --cfg job    the composed configuration of a verb",
        "cardlab --version",
        'eval "$(cardlab -sc install=bash)"    shell completion (also zsh, fish)',
    ]
    return "\n".join(lines)


def verb_help(verb: Verb, overrides: Sequence[str] = ()) -> str:
    """Usage, examples, groups, keys and flags of `verb`; keys have the values that `overrides` give them."""
    tree = compose_tree(verb.config_name, overrides, with_hydra=True)
    choices = {str(name): value for name, value in tree.hydra.runtime.choices.items() if "hydra/" not in str(name)}
    config = cast(dict[str, Any], OmegaConf.to_container(tree, resolve=False))
    del config["hydra"]
    if verb.trains:  # its own keys come first; those of the experiment are documented once
        config = {key: value for key, value in config.items() if key not in _TRAIN_KEYS}
    comments = {**_comments(search_folders(), verb.config_name), **_own_comments(config)}
    choices = {name: choice for name, choice in choices.items() if name.count(".") < 2}  # none inside mounts
    groups = _groups(choices, choices.get("game"))
    others = "; game=NAME --help lists those of another game" if isinstance(choices.get("game"), str) else ""
    word = verb.positional_key.upper()
    words = f" [{word}]" if verb.takes_one else f" {word} …" if word else ""
    usage = f"usage: cardlab {verb.name}{words}"
    sections = [
        [
            f"cardlab {verb.name}: {verb.summary}",
            f"{usage} [group=option …] [key=value …]",
            "examples",
            *(f"  {example}" for example in verb.examples),
        ],
        [f"groups (group=option; * marks the chosen one{others})", *_table(groups)] if groups else [],
        _reached(str(choices.get("game"))) if "experiment" in choices and not verb.trains else [],
        [f"keys (key=value) of conf/{verb.config_name}.yaml", *_key_lines(config, comments)],
        [f"and the keys of an experiment, {_TRAIN_HELP}"] if verb.trains else [],
        [
            "flags",
            *_table({**verb.flags, **FLAGS}),
            "A new key needs +key=value. Quote what the shell or Hydra would parse: 'key=[1,2]', 'key=\"a?b\"'.",
        ],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _groups(choices: Mapping[str, object], game: object) -> dict[str, str]:
    """Group → its options, one line per folder; for a group that is used twice, only the choice the second time.

    Folders of games other than `game` are left out, but those of experiments, which choose the game.
    """
    texts: dict[str, str] = {}
    shown: set[str] = set()
    with initialised_hydra():
        for name, choice in sorted(choices.items()):
            group = name.partition("@")[0]
            options = group_options(group)
            if group != "experiment" and isinstance(game, str):
                options = [option for option in options if option.rpartition("/")[0] in ("", game) or option == choice]
            marked = [f"{option}*" if option == choice else option for option in options]
            texts[name] = f"{choice}*" if group in shown else "\n".join(option_rows(marked))
            shown.add(group)
    return texts


def _reached(game: str) -> list[str]:
    """What the experiments of `game` reach: the lines `# Score:` and `# Budget:` of their files."""
    rows: dict[str, str] = {}
    for path in (path for folder in search_folders() for path in sorted(folder.glob(f"experiment/{game}/*.yaml"))):
        if found := _REACHED.findall(path.read_text(encoding="utf-8", errors="replace")):
            rows.setdefault(f"{game}/{path.stem}", "; ".join(found))
    return [f"experiments of {game}: score with its 95 % interval, seeds, budget", *_table(rows)] if rows else []


def _key_lines(config: Mapping[str, Any], comments: Comments, depth: int = 1, group: str = "") -> Iterator[str]:
    option = str(config.get("name", "")) if group else ""
    for key, value in config.items():
        if group and key in (NAME, TARGET):
            continue  # in the line of the group
        inner = cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
        comment = comments.get((group, _OWN, key)) or comments.get((group or "experiment", option, key), "")
        comment, text = str(inner.get(NAME, comment)), "" if inner else f" {as_written(value)}"
        for keys, elsewhere in _ELSEWHERE.items():
            if depth > 1 and inner.keys() >= keys:
                comment, text, inner = elsewhere, " …", {}
        yield f"{'  ' * depth + key + ':' + text:<{_COMMENT_COLUMN}}  {comment}".rstrip()
        yield from _key_lines(inner, comments, depth + 1, key)


def _comments(folders: Sequence[Path], config_name: str) -> Comments:
    found: dict[tuple[str, str, str], str] = {}
    for folder in folders:
        for (group, key), comment in _file_comments(folder / f"{config_name}.yaml").items():
            found.setdefault((group, _OWN, key), comment)
        for path in sorted(folder.glob("*/*.yaml")):
            for (_, key), comment in _file_comments(path).items():
                found.setdefault((path.parent.name, path.stem, key), comment)
                found.setdefault((path.parent.name, "", key), comment)
    return found


def _own_comments(config: Mapping[str, Any]) -> dict[tuple[str, str, str], str]:
    """The help of the options of the user's own classes, which their YAML files may leave out."""
    own = {group: config[group] for group in GROUPS if isinstance(config.get(group), Mapping)}
    return {
        (group, str(part.get(NAME, "")), key): text
        for group, part in own.items()
        if (target := part.get(TARGET)) and not str(target).startswith("cardlab.")
        for key, text in option_help(find_object(f"{group}.{TARGET}", target)).items()
    }


def _file_comments(path: Path) -> dict[tuple[str, str], str]:
    """(key above, key) → the comment behind the key in a YAML file; the key above is "" at the top."""
    found: dict[tuple[str, str], str] = {}
    above: list[tuple[int, str]] = []  # indent and key of the lines around
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    for match in filter(None, map(_KEY.match, lines)):
        indent = len(match[1])
        above = [line for line in above if line[0] < indent]
        if match[3]:
            found.setdefault((above[-1][1] if above else "", match[2]), match[3])
        above.append((indent, match[2]))
    return found


def _table(rows: Mapping[str, str]) -> list[str]:
    width = max(map(len, rows), default=0)
    indent = "\n" + " " * (width + 4)
    return [f"  {name:<{width}}  {text}".replace("\n", indent) for name, text in rows.items()]


REQUESTS = [f"{action}={shell}" for action in ("install", "uninstall", "query") for shell in ("bash", "zsh", "fish")]


def complete(request: str) -> None:
    """Print a script for `eval` (`install=SHELL`, `uninstall=SHELL`), or the candidates (`query=SHELL`)."""
    if not request.startswith("query="):
        run_hydra("train", ["--shell-completion", request])
        return
    line = os.environ.get("COMP_LINE", "").partition(" ")[2]  # in which Hydra's shell scripts pass the line
    with initialised_hydra():
        print(("\n" if request == "query=fish" else " ").join(_candidates(line.lstrip())))


def _candidates(line: str) -> list[str]:
    """The completions of the last word of a line without the program's name."""
    found = next((name for name in VERBS if " " in name and line.startswith(f"{name} ")), line.partition(" ")[0])
    if found == line:
        return list(dict.fromkeys(name.split()[0] for name in VERBS if name.startswith(line)))
    if found not in VERBS:
        return []
    overrides = line.removeprefix(f"{found} ")
    word = overrides.rpartition(" ")[2]
    if word.startswith("-"):
        flags = [*re.findall(r"--[\w-]+", " ".join((*FLAGS, *VERBS[found].flags))), "--help"]
        return [flag for flag in flags if flag.startswith(word)]
    second = [name.split()[1] for name in VERBS if name.startswith(f"{line}") and name != found]
    return second + (_options(word) or _keys(VERBS[found].config_name, overrides))


def _options(word: str) -> list[str]:
    """The completions of `word` if it is the beginning of GROUP=OPTION, or of policy=FOLDER."""
    key, sign, beginning = word.partition("=")
    if key == "policy" and sign:
        folder, slash, name = beginning.rpartition("/")
        found = sorted(path.name for path in Path(f"{folder}{slash}" or ".").glob(f"{escape(name)}*") if path.is_dir())
        return [f"{key}={folder}{slash}{each}/" for each in found if name or not each.startswith(".")]
    group = key.lstrip("+").partition("@")[0]
    options = group_options(group) if sign and group in group_names() else []
    return [f"{key}={option}" for option in options if option.startswith(beginning)]


def _keys(config_name: str, overrides: str) -> list[str]:
    """Hydra's completions of keys; groups with folders get the sign = like other groups."""
    hydra, groups = DefaultCompletionPlugin(GlobalHydra.instance().config_loader()), group_names()
    found = hydra._query(config_name, overrides)  # pyright: ignore[reportPrivateUsage]
    return [f"{key}=" if key in groups else key for key in found]
