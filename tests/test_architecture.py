"""The architecture beyond imports: strings that name modules, and names that are used twice."""

import ast
import re
from collections import Counter
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
FILES = sorted(SOURCES.rglob("*.py"))
MODULES = {".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__") for path in FILES}
_NAME = re.compile(r"(cardlab(?:_play)?(?:\.\w+)+)(?::\w+)?")


def _is_registry(path: Path) -> bool:
    """Registries name modules of their own layer or lower; the public face names its homes."""
    return "registry" in path.stem or "catalogue" in path.stem or path == SOURCES / "cardlab" / "__init__.py"


def test_no_string_outside_of_a_registry_names_a_module() -> None:
    """An import by name hides an arrow from import-linter."""
    found: list[str] = []
    for path in FILES:
        if _is_registry(path):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            match = _NAME.fullmatch(str(node.value)) if isinstance(node, ast.Constant) else None
            if match and (match[1] in MODULES or match[1].rpartition(".")[0] in MODULES - {"cardlab", "cardlab_play"}):
                found.append(f"{path.relative_to(SOURCES)}:{node.lineno} {match[0]}")
    assert not found


def test_every_entry_of_a_registry_exists() -> None:
    for path in filter(_is_registry, FILES):
        for node in ast.walk(ast.parse(path.read_text())):
            match = _NAME.fullmatch(str(node.value)) if isinstance(node, ast.Constant) else None
            if match is None:
                continue
            module, _, name = match[0].partition(":")
            if module not in MODULES:
                continue
            source = SOURCES.joinpath(*module.split("."))
            text = (source / "__init__.py" if source.is_dir() else source.with_suffix(".py")).read_text()
            assert not name or re.search(rf"^(class |def )?{name}\b", text, re.MULTILINE), match[0]


def test_no_two_public_classes_share_a_name() -> None:
    names = Counter(
        node.name
        for path in FILES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_the_core_knows_nothing_of_the_table() -> None:
    for path in (SOURCES / "cardlab").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) cardlab_play", path.read_text(), re.MULTILINE), path
