"""Writes the base files of conf/ and the JSON schemas from the options classes.

python tools/option_files.py           write conf/: every option at its default, its help as a comment
python tools/option_files.py --check   exit with 1 when a file is stale
python tools/option_files.py --schema  write build/schema/GROUP.json and build/schema/experiment.json, for editors
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from inspect import getdoc
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from cardlab.agents.search.options import SEARCHES
from cardlab.evaluation.options import ArenaOptions
from cardlab.experiments.config.build_experiment import PARTS
from cardlab.experiments.config.options import resolve_class
from cardlab.experiments.promotion.options import PromotionOptions
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.games.catalogue import GAMES
from cardlab.learners.options import LEARNER_OPTIONS, BeliefTraining
from cardlab.learners.rollouts.opponents.options import OPPONENT_OPTIONS
from cardlab.networks.options import NETWORK_OPTIONS, BeliefOptions
from cardlab.training.options import TrainerOptions
from cardlab_play.options import PlayOptions

ROOT = Path(__file__).parents[1]
REGISTRIES: Mapping[str, Mapping[str, Any]] = {
    "game": GAMES,
    "agent": LEARNER_OPTIONS,
    "network": NETWORK_OPTIONS,
    "opponents": OPPONENT_OPTIONS,
    "search": SEARCHES,
}
SINGLE = {
    "trainer": ("quick", TrainerOptions),
    "arena": ("standard", ArenaOptions),
    "sweep": ("standard", SweepOptions),
}
VERBS = {"promote": (PromotionOptions,), "belief": (BeliefOptions, BeliefTraining)}
"""Files that hold more than options: only the lines of these classes are written."""
_KEY = re.compile(r"( *)(\w+):(?= |$)")


def written(value: object) -> str:
    """`value` in YAML, on one line."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 100_000:
        return f"{value:_}"
    plain = list(value) if isinstance(value, tuple) else value
    return yaml.safe_dump(plain, default_flow_style=True, width=1000, allow_unicode=True).removesuffix("...\n").strip()


def option_lines(options: type, indent: str = "") -> Iterator[tuple[str, str]]:
    """Key and lines of each option: its default, and its help as a comment."""
    properties = TypeAdapter(options).json_schema()["properties"]
    for entry in fields(options):
        value: Any = entry.default_factory() if callable(entry.default_factory) else entry.default
        if is_dataclass(value) and not isinstance(value, type):
            nested = (lines for _, lines in option_lines(type(value), f"{indent}  "))
            yield entry.name, "\n".join((f"{indent}{entry.name}:", *nested))
        elif not (entry.name == "policy" and options in SEARCHES.values()):  # cardlab evaluate gives it
            yield entry.name, f"{indent}{entry.name}: {written(value)}  # {properties[entry.name]['description']}"


def base_file(options: type, name: str | None, parent: str | None = None) -> str:
    """A whole file: what it is, its registry key, its options."""
    head = [f"# {(getdoc(options) or '').splitlines()[0]}", *([f"name: {name}"] if name else [])]
    head += [f"{parent}:"] if parent else []
    return "\n".join([*head, *(lines for _, lines in option_lines(options, "  " if parent else ""))]) + "\n"


def verb_file(text: str, classes: tuple[type, ...]) -> str:
    """`text` with the lines of these options written again."""
    known = {key for options in classes for key, _ in option_lines(options)}
    made = []
    for line in text.splitlines():
        match = _KEY.match(line)
        if match is None or match[2] not in known:
            made.append(line)
            continue
        made += [lines for one in classes for key, lines in option_lines(one, match[1]) if key == match[2]]
    return "\n".join(made) + "\n"


def conf_files() -> dict[Path, str]:
    """File → its content."""
    conf = ROOT / "conf"
    made = {
        conf / group / f"{name}.yaml": base_file(resolve_class(home), name)
        for group, registry in REGISTRIES.items()
        for name, home in registry.items()
    }
    made |= {conf / group / f"{name}.yaml": base_file(options, None) for group, (name, options) in SINGLE.items()}
    made[conf / "play.yaml"] = base_file(PlayOptions, None, "play")
    for verb, classes in VERBS.items():
        path = conf / f"{verb}.yaml"
        made[path] = verb_file(path.read_text(), classes)
    return made


def class_schema(options: type, name: str | None = None) -> dict[str, Any]:
    """The schema of one class; `name` is its registry key."""
    schema = TypeAdapter(options).json_schema()
    if name:
        schema["properties"]["name"] = {"const": name}
        schema["required"] = [*schema.get("required", ()), "name"]
    return {**schema, "additionalProperties": False}


def experiment_schema() -> dict[str, Any]:
    """The schema of a composed experiment: one entry of params.yaml."""
    parts: dict[str, Any] = {
        group: {"anyOf": [class_schema(resolve_class(home), name) for name, home in REGISTRIES[group].items()]}
        if group in REGISTRIES
        else class_schema(SINGLE[group][1])
        for group in PARTS
    }
    own = {"name": {"type": "string"}, "seed": {"type": "integer", "minimum": 0}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {**parts, **own},
        "required": [*parts, *own],
        "additionalProperties": False,
    }


def group_schema(classes: Mapping[str, type]) -> dict[str, Any]:
    """The schema of the files of a group, which may name only what they change."""
    properties: dict[str, list[Any]] = {}
    for options in classes.values():
        for key, node in class_schema(options)["properties"].items():
            if node not in properties.setdefault(key, []):
                properties[key].append(node)
    known = {key: nodes[0] if len(nodes) == 1 else {"anyOf": nodes} for key, nodes in properties.items()}
    own = {"name": {"enum": list(classes)}, "defaults": {"type": "array"}}
    return {"type": "object", "properties": {**known, **own}, "additionalProperties": False}


def schemas() -> dict[str, dict[str, Any]]:
    """Name of each schema → the schema."""
    groups = {
        group: group_schema({name: resolve_class(home) for name, home in registry.items()})
        for group, registry in REGISTRIES.items()
    }
    groups |= {group: group_schema({name: options}) for group, (name, options) in SINGLE.items()}
    return {"experiment": experiment_schema(), **groups}


def main(arguments: list[str]) -> int:
    """Write or check the files; return the exit status."""
    if "--schema" in arguments:
        folder = ROOT / "build" / "schema"
        folder.mkdir(parents=True, exist_ok=True)
        for name, schema in schemas().items():
            (folder / f"{name}.json").write_text(json.dumps(schema, indent=1) + "\n")
        return 0
    stale = [path for path, text in conf_files().items() if not path.is_file() or path.read_text() != text]
    for path in stale:
        if "--check" in arguments:
            print(f"{path.relative_to(ROOT)}: differs from its options classes; run make conf")
        else:
            path.write_text(conf_files()[path])
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
