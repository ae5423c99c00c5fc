"""conf/ is found in a checkout and in an installed wheel, which has it inside the package."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_wheel_takes_conf_into_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["conf"] == "cardlab/conf"
    champions = {path.name for path in (ROOT / "champions").iterdir()}
    assert {name for name in included if name.startswith("champions/")} == {
        f"champions/{name}" for name in champions - {"dvc.yaml"}
    }
    assert project["project"]["scripts"] == {"cardlab": "cardlab.cli:main"}


def test_the_wheel_brings_no_file_that_another_tool_takes_for_its_own() -> None:
    """DVC reads every dvc.yaml and *.dvc below a project, also in an environment that lies in it."""
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    roots = [ROOT / name for name in (*included["packages"], *included["force-include"])]
    files = [path for root in roots for path in ([root] if root.is_file() else root.rglob("*"))]
    assert len(files) > 100
    taken = ("dvc.yaml", "dvc.lock", "conftest.py", ".dvc")
    assert not [path for path in files if path.name in taken or path.suffix == ".dvc"]


def test_an_installed_package_composes_from_its_own_folder(tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    shutil.copytree(ROOT / "src/cardlab", installed / "cardlab", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "conf", installed / "cardlab/conf")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = (
        "from cardlab.experiments.config.composition import compose_config, search_folders\n"
        "print(search_folders()[0]); print(compose_config('train', ['experiment=thirty_one/dqn'])['name'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(installed / "cardlab/conf"), "thirty_one_dqn"]
    assert os.listdir(elsewhere) == []
