"""docs/cli.md is complete: every verb with its file, summary and an example that composes; every flag and group."""

import re
from pathlib import Path

import pytest

from cardlab.cli.verbs import VERBS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/cli.md").read_text(encoding="utf-8")


def rows() -> dict[str, list[str]]:
    table = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in table if len(row) == 4}


def test_the_table_has_the_verbs_in_their_order() -> None:
    assert list(rows()) == list(VERBS)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_stands_with_its_file_and_an_example(verb: str) -> None:
    config, summary, example = rows()[verb]
    assert config == f"`conf/{VERBS[verb].config_name}.yaml`"
    assert (ROOT / config.strip("`")).is_file()
    assert summary == VERBS[verb].summary
    assert example.strip("`") in VERBS[verb].examples


def test_every_flag_of_a_verb_is_explained() -> None:
    for verb in VERBS.values():
        for flag, meaning in verb.flags.items():
            assert f"`{verb.name} {flag}`" in TEXT, meaning


def test_every_group_is_explained() -> None:
    groups = {path.name for path in (ROOT / "conf").iterdir() if path.is_dir()}
    explained = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)) - set(VERBS) | {"sweep"}
    assert groups == explained
