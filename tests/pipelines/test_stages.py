"""What dvc.yaml says, checked against the code without running a stage."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import pytest
from dvc.repo import Repo
from omegaconf import OmegaConf

from cardlab.games.catalogue import GAMES

ROOT = Path(__file__).parents[2]
# Modules that decide no result: registries say where a part is, tracking and progress only tell.
DECIDES_NOTHING = ("cardlab.tracking", "cardlab.evaluation.progress", "cardlab.evaluation.ray_pool")
ROOTS = {
    "train": ("cardlab.training.run", "cardlab.experiments.config.build"),
    "evaluate": ("cardlab.evaluation.evaluate", "cardlab.experiments.config.groups", "cardlab.agents.policies"),
    "survey": (
        "cardlab.experiments.report.forecasts",
        "cardlab.evaluation.evaluate",
        "cardlab.evaluation.game_statistics",
        "cardlab.experiments.config.groups",
        "cardlab.agents.policies",
        "cardlab.learners.rollouts.opponents",
    ),
    "strength": ("cardlab.evaluation.snapshot_matches", "cardlab.experiments.config.groups", "cardlab.agents.policies"),
}


@pytest.fixture(scope="module")
def stages() -> dict[str, Any]:
    with Repo(str(ROOT)) as repo:
        return {stage.addressing: stage for stage in repo.index.stages}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("cardlab")


def closure(graph: grimp.ImportGraph, roots: set[str]) -> set[str]:
    """All modules that are imported when `roots` are; what only tells is not followed."""
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module not in seen and not module.startswith(DECIDES_NOTHING):
            seen.add(module)
            waiting += graph.find_modules_directly_imported_by(module)
    return seen


def chosen(experiment: dict[str, Any], kind: str) -> set[str]:
    """Modules that the configuration names and the code imports by that name."""
    game, agent = experiment["game"]["name"], experiment["agent"]["name"]
    parts = {f"cardlab.games.{game}.game", f"cardlab.agents.heuristics.{game}"}
    more = {"train": {f"cardlab.learners.{agent}"}, "survey": {f"cardlab.evaluation.outcomes.{game}"}}
    return parts | more.get(kind, set())


@pytest.mark.parametrize("kind", list(ROOTS))
def test_a_stage_depends_on_all_the_code_that_decides_its_result(
    kind: str, stages: dict[str, Any], graph: grimp.ImportGraph, experiments: dict[str, Any]
) -> None:
    for name, experiment in experiments.items():
        dependencies = [Path(dep.def_path) for dep in stages[f"{kind}@{name}"].deps]
        for module in closure(graph, {*ROOTS[kind], *chosen(experiment, kind)}):
            path = Path("src", *module.split("."))
            file = path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")
            if file.name in ("__init__.py", "catalogue.py") and module != "cardlab.agents.registry":
                continue
            covered = any(file == dependency or dependency in file.parents for dependency in dependencies)
            assert covered, f"{kind}@{name} does not depend on {file}"


@pytest.mark.parametrize("kind", list(ROOTS))
def test_a_stage_depends_on_no_code_that_it_does_not_use(
    kind: str, stages: dict[str, Any], graph: grimp.ImportGraph, experiments: dict[str, Any]
) -> None:
    for name, experiment in experiments.items():
        used = closure(graph, {*ROOTS[kind], *chosen(experiment, kind)})
        for dep in stages[f"{kind}@{name}"].deps:
            path = Path(dep.def_path)
            assert (ROOT / path).exists() or path.parts[0] in ("models", "snapshots"), path
            if path.parts[0] == "src":
                module = ".".join(path.with_suffix("").parts[1:])
                assert any(one == module or one.startswith(f"{module}.") for one in used), f"{kind}@{name}: {path}"


def test_the_cross_tables_depend_on_every_game_and_all_agents(stages: dict[str, Any], graph: grimp.ImportGraph) -> None:
    dependencies = [Path(dep.def_path) for dep in stages["cross_tables"].deps]
    games = {f"cardlab.{part}" for game in GAMES for part in (f"games.{game}.game", f"agents.scripted.{game}")}
    roots = {
        "cardlab.evaluation.tournament",
        "cardlab.evaluation.evaluate",
        "cardlab.experiments.config.groups",
        "cardlab.agents.policies",
    }
    for module in closure(graph, {*roots, *games}):
        path = Path("src", *module.split("."))
        file = path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")
        if file.name not in ("__init__.py", "catalogue.py"):
            assert any(file == one or one in file.parents for one in dependencies), file


def test_the_sweep_depends_on_all_the_code_that_decides_its_study(
    stages: dict[str, Any], graph: grimp.ImportGraph, params: dict[str, Any]
) -> None:
    dependencies = [Path(os.path.relpath(dep.fs_path, ROOT)) for dep in stages["tuning/dvc.yaml:tune"].deps]
    roots = {
        "cardlab.experiments.sweep.sweep",
        "cardlab.experiments.sweep.compose_trials",
        *chosen(params["tune"]["experiment"], "train"),
    }
    for module in closure(graph, roots):
        path = Path("src", *module.split("."))
        file = path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")
        decides = file.name not in ("__init__.py", "catalogue.py") and not module.startswith(
            "cardlab.experiments.report"
        )
        covered = any(file == dependency or dependency in file.parents for dependency in dependencies)
        assert covered or not decides, f"tune does not depend on {file}"


def test_stages_read_params_and_never_compose() -> None:
    """A stage that composed would ignore what `dvc exp run -S agent@…` has chosen."""
    code = (
        "import pathlib, runpy, sys\n"
        "for path in pathlib.Path('pipelines').glob('*.py'): runpy.run_path(str(path), run_name='imported')\n"
        "assert 'hydra' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_nothing_imports_a_stage() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) pipelines", path.read_text(), re.MULTILINE), path


@pytest.fixture(scope="module")
def params() -> dict[str, Any]:
    found: Any = OmegaConf.to_container(OmegaConf.load(ROOT / "params.yaml"))
    return found


@pytest.fixture(scope="module")
def experiments(params: dict[str, Any]) -> dict[str, Any]:
    return params["experiments"]
