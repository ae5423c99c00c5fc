"""Every study has its README, and its scripts import only what exists: cardlab and files of their own folder."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "studies"
FOLDERS = sorted(path for path in STUDIES.iterdir() if path.is_dir())
SCRIPTS = sorted(STUDIES.glob("*/*.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_study_has_a_question_a_command_and_its_scripts_in_its_readme(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "\nQuestion: " in text
    assert "\n```bash\n" in text
    assert f"({folder.name}/README.md)" in (STUDIES / "README.md").read_text(encoding="utf-8")
    for figure in folder.glob("*.svg"):
        pages = [path.read_text(encoding="utf-8") for path in folder.glob("*.md")]
        assert any(f"({figure.name})" in page for page in pages), figure


def imported(script: Path) -> Iterator[tuple[str, list[str]]]:
    """Modules that `script` imports, with the names that it takes from them."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module), [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}/{script.name}")
def test_what_a_script_imports_exists(script: Path) -> None:
    for module, names in imported(script):
        if script.with_name(f"{module}.py").is_file():
            continue
        loaded = importlib.import_module(module)
        missing = [name for name in names if not hasattr(loaded, name)]
        assert not missing, f"{module}: {missing}"
