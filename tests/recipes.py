"""The options of the groups in conf/, as the command line takes them: general ones first, then GAME/NAME."""

from pathlib import Path

CONF = Path(__file__).parents[1] / "conf"


def recipes(group: str) -> list[str]:
    """Every option of `group`, from its files."""
    paths = sorted((CONF / group).rglob("*.yaml"), key=lambda path: (len(path.parts), path))
    return [path.relative_to(CONF / group).with_suffix("").as_posix() for path in paths]
