"""The page of all options: the base files of conf/, which `make conf` writes from the classes of options."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
GROUPS = {
    "game": "The rules of a game, and how its states become numbers.",
    "agent": "The learner.",
    "network": "The shape of the network.",
    "opponents": "Who plays at the other seats in training.",
    "trainer": "Budget and machine of a training.",
    "arena": "The matches of an evaluation.",
    "search": "What a policy does beyond its network when it chooses a move.",
    "sweep": "A sweep.",
    "play": "The web table.",
}
BASES = {"trainer": ("quick",), "arena": ("standard",), "sweep": ("standard",)}
_OPTION = re.compile(r"( *)(\w+):(?: (.*?)  # (.*))?$")


def configuration_page() -> str:
    """Markdown: for each group its base files as tables of key, default and help."""
    parts = [
        "# Configuration\n",
        "Every option with its default, made from `conf/` when this page was built. A key is given as",
        "`GROUP.KEY=VALUE`; `GROUP=NAME` chooses a file of `conf/GROUP/`. Other files there change some of these",
        "values for a game or a budget. `cardlab train --cfg job` prints a whole configuration.\n",
    ]
    for group, about in GROUPS.items():
        parts += [f"## {group}\n", f"{about}\n"]
        for path in _base_files(group):
            parts += list(_table(group, path))
    return "\n".join(parts) + "\n"


def _base_files(group: str) -> list[Path]:
    folder = ROOT / "conf" / group
    if not folder.exists():
        return [folder.with_suffix(".yaml")]
    names = BASES.get(group)
    paths = [folder / f"{name}.yaml" for name in names] if names else sorted(folder.glob("*.yaml"))
    return [path for path in paths if "defaults:" not in path.read_text(encoding="utf-8")]


def _table(group: str, path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.parent.name == group and group not in BASES:
        yield f"### {group}={path.stem}\n"
    yield f"{lines[0].removeprefix('# ')}\n"
    rows = list(_rows(group, lines[1:]))
    if not rows:
        yield "It has no options.\n"
        return
    yield "| key | default | |\n|---|---|---|"
    yield from rows
    yield ""


def _rows(group: str, lines: list[str]) -> Iterator[str]:
    """A row for each option; a key without a value holds the options below it."""
    above: list[str] = []
    for line in lines:
        match = _OPTION.match(line)
        if match is None:
            continue
        indent, key, default, about = match.groups()
        above = above[: len(indent) // 2]
        if about is None:
            above.append(key)
            continue
        name = ".".join([*([group] if above[:1] != [group] else []), *above, key])
        yield f"| `{name}` | `{default}` | {about.replace('|', chr(92) + '|')} |"
