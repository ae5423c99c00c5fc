"""Writes the base files of conf/ and the JSON schemas from the options classes, and scores into the experiments' files.

python tools/generate_conf.py           write conf/: every option at its default, its help as a comment; scores
python tools/generate_conf.py --check   exit with 1 when a file is stale
python tools/generate_conf.py --schema  write build/schema/GROUP.json and build/schema/experiment.json, for editors
"""

import json
import re
import sys
from collections.abc import Mapping
from inspect import getdoc
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from cardlab.core.parts import GROUPS, NAME, TARGET, find_object, option_names, read_option, target_of
from cardlab.evaluation.intervals import SELF, main_score
from cardlab.evaluation.options import ArenaOptions
from cardlab.experiments.config.build_experiment import PARTS
from cardlab.experiments.config.part_source import option_lines
from cardlab.experiments.promotion.gate import PromotionOptions
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.learners.belief.options import BeliefTraining
from cardlab.networks.belief_options import BeliefOptions
from cardlab.training.options import TrainerOptions
from cardlab_play.options import PlayOptions

ROOT = Path(__file__).parents[1]
SINGLE = {
    "trainer": ("quick", TrainerOptions),
    "arena": ("standard", ArenaOptions),
    "sweep": ("standard", SweepOptions),
}
VERBS = {"promote": (PromotionOptions,), "belief": (BeliefOptions, BeliefTraining)}
"""Files that hold more than options: only the lines of these classes are written."""
_KEY = re.compile(r"( *)(\w+):(?= |$)")
_SCORE = re.compile(r"^# Score: .*", re.MULTILINE)


def part_classes(group: str) -> dict[str, type]:
    """Name of each base file of a group → its class; base files build on no other and have no folder."""
    names = [name for name in option_names(group) if "/" not in name]
    return {name: find_object(TARGET, read_option(group, name)[TARGET]) for name in names}


def base_file(options: type, target: str | None, parent: str | None = None) -> str:
    """A whole file: what it is, its class, its options."""
    head = [f"# {(getdoc(options) or '').splitlines()[0]}", *([f"{TARGET}: {target}"] if target else [])]
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


def scored_file(text: str, evaluation: Path) -> str:
    """`text` with the line `# Score:` of an evaluation: against the reference that leaves the fewest points."""
    found = json.loads(evaluation.read_text())
    name, points = main_score(found)
    digits = 1 if points.mean > 100 else 2
    mean, low, high = (f"{value:.{digits}f}" for value in (points.mean, points.low, points.high))
    against = "" if name == SELF else f" against {name}"
    seeds = len(found.get("seeds", [0]))
    score = f"{mean} ({low} to {high}) points a game{against}; {seeds} {'seed' if seeds == 1 else 'seeds'}"
    return _SCORE.sub(f"# Score: {score}", text, count=1)


def scored_files() -> dict[Path, str]:
    """Each experiment's file with results: those of the benchmark, or the champion of its game."""
    made: dict[Path, str] = {}
    for path in sorted((ROOT / "conf" / "experiment").glob("*/*.yaml")):
        game, recipe = path.parent.name, path.stem
        folder = ROOT / "champions" / game if recipe == "champion" else ROOT / "results" / f"{game}_{recipe}"
        if (evaluation := folder / "evaluation.json").is_file():
            made[path] = scored_file(path.read_text(), evaluation)
    return made


def conf_files() -> dict[Path, str]:
    """File → its content."""
    conf = ROOT / "conf"
    made = {
        conf / group / f"{name}.yaml": base_file(part, target_of(part))
        for group in GROUPS
        for name, part in part_classes(group).items()
    }
    made |= {conf / group / f"{name}.yaml": base_file(options, None) for group, (name, options) in SINGLE.items()}
    lines = (conf / "play.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    head = "".join(line for line in lines if line.startswith(("# cardlab play: ", "#   ")))  # the help of the verb
    made[conf / "play.yaml"] = head + base_file(PlayOptions, None, "play")
    for verb, classes in VERBS.items():
        path = conf / f"{verb}.yaml"
        made[path] = verb_file(path.read_text(), classes)
    return made | scored_files()


def class_schema(options: type, *, is_part: bool = False) -> dict[str, Any]:
    """The schema of one class; that of a part has `_target_` and `name`, too."""
    schema = TypeAdapter(options).json_schema()
    if is_part:
        schema["properties"] |= {TARGET: {"const": target_of(options)}, NAME: {"type": "string"}}
        schema["required"] = [*schema.get("required", ()), TARGET, NAME]
    return {**schema, "additionalProperties": False}


def experiment_schema() -> dict[str, Any]:
    """The schema of a composed experiment: one entry of params.yaml."""
    parts: dict[str, Any] = {
        group: {"anyOf": [class_schema(part, is_part=True) for part in part_classes(group).values()]}
        if group in GROUPS
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
    own = {NAME: {"type": "string"}, TARGET: {"type": "string"}, "defaults": {"type": "array"}}
    return {"type": "object", "properties": {**known, **own}, "additionalProperties": False}


def schemas() -> dict[str, dict[str, Any]]:
    """Name of each schema → the schema."""
    groups = {group: group_schema(part_classes(group)) for group in GROUPS}
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
