"""What the files dvc.yaml say, checked without running a stage; and, slowly, what the stages load."""

import json
import os
import re
import subprocess
import sys
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo
from networkx import descendants
from omegaconf import OmegaConf

from cardlab.core.code_digest import Sources
from cardlab.core.messages import InvalidOption
from cardlab.experiments.benchmark import check_benchmark
from cardlab.experiments.config.composition import compose_config
from cardlab.experiments.stage_code import stage_configs

ROOT = Path(__file__).parents[2]
SOURCES = Sources(ROOT / "src")
PARAMS: Any = OmegaConf.to_container(OmegaConf.load(ROOT / "params.yaml"))
SHORT = {
    "agent": {"decisions_per_iteration": 256, "minibatch_size": 128},
    "arena": {"deals": 8, "pairing_deals": 4, "processes": 1},
    "trainer": {"decisions": 512, "parallel_games": 16, "evaluations": 1, "evaluation_deals": 4, "snapshots": 2},
}
STAGES = ("train", "evaluate")
THROUGH_TRACKING = {
    "train": {
        "cardlab.experiments.report",
        "cardlab.experiments.report.drawing",
        *(f"cardlab.networks.{network}_options" for network in ("actions", "auto", "lines", "mlp")),
    },
    "report": {"cardlab.core.files", "cardlab.core.options", "cardlab.core.parts"},
    "tournaments": {"cardlab.evaluation.intervals"},
}
"""Stage → modules that it uses to record, to draw for MLflow or to advise, and no other way."""


@pytest.fixture(scope="module")
def graph() -> Any:
    """Stages of all pipelines of the repository, each with edges to those that it needs."""
    with Repo(str(ROOT)) as repo:
        return repo.index.graph


@pytest.fixture(scope="module")
def stages(graph: Any) -> dict[str, Any]:
    """Those of the benchmark and of the sweep, which follow the code."""
    files = ("dvc.yaml", "studies/tuning/dvc.yaml")
    return {stage.addressing.rpartition(":")[2]: stage for stage in graph if stage.path_in_repo in files}


@pytest.fixture(scope="module")
def paper_stages(graph: Any) -> dict[str, Any]:
    return {stage.addressing.rpartition(":")[2]: stage for stage in graph if stage.path_in_repo == "papers/dvc.yaml"}


@pytest.fixture(scope="module")
def champion_stages(graph: Any) -> dict[str, Any]:
    written = [stage for stage in graph if stage.path_in_repo == "papers/champions/dvc.yaml"]
    return {stage.addressing.rpartition(":")[2]: stage for stage in written}


def test_no_stage_of_the_benchmark_needs_one_of_the_papers(graph: Any) -> None:
    """`dvc repro` at the root would train it."""
    benchmark = [stage for stage in graph if stage.path_in_repo == "dvc.yaml"]
    needed = set[str]().union(*({one.path_in_repo for one in descendants(graph, stage)} for stage in benchmark))
    assert needed == {"dvc.yaml"}


def test_the_recipes_of_the_papers_are_those_of_conf(paper_stages: dict[str, Any]) -> None:
    written: Any = OmegaConf.to_container(OmegaConf.load(ROOT / "papers" / "params.yaml"))
    assert written == compose_config("config", ["benchmark=papers"]), "cd papers && cardlab compose benchmark=papers"
    recipes = {f"{stage}@{name}" for stage in STAGES for name in written["experiments"]}
    assert recipes == set(paper_stages) - {"code"}


def test_the_recipes_of_the_champions_are_those_of_conf_and_none_trains_before_what_it_continues(
    champion_stages: dict[str, Any],
) -> None:
    written: Any = OmegaConf.to_container(OmegaConf.load(ROOT / "papers" / "champions" / "params.yaml"))
    assert written == compose_config("config", ["benchmark=champions"])
    trained = {address.partition("@")[2] for address in champion_stages if not address.startswith(("code", "evaluate"))}
    assert trained == set(written["experiments"])
    for name, config in written["experiments"].items():
        named = {config["trainer"]["start_from"], config["agent"].get("rollouts_by")} - {None}
        if named:
            needed = {dep.def_path for dep in champion_stages[f"continue@{name}"].deps}
            assert {text.rpartition("/")[0] for text in named} <= needed


def test_a_training_may_continue_a_policy_that_an_earlier_stage_makes_and_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chain: Any = OmegaConf.to_container(OmegaConf.load(ROOT / "papers" / "champions" / "params.yaml"))
    monkeypatch.chdir(tmp_path)  # where no stage has made a policy
    names = ("poker_squares_sparse_lines", "poker_squares_policy_iteration")
    chain["experiments"] = {name: chain["experiments"][name] for name in names}
    check_benchmark(chain, elsewhere=True)
    chain["experiments"][names[1]]["trainer"]["start_from"] = "models/another/seed_7"
    with pytest.raises(InvalidOption, match="start_from=models/another/seed_7: must be a folder with"):
        check_benchmark(chain, elsewhere=True)


@pytest.mark.parametrize("pipeline", ["", "papers", "papers/champions"])
def test_every_stage_has_its_digest_as_a_parameter(request: pytest.FixtureRequest, pipeline: str) -> None:
    written = json.loads((ROOT / pipeline / "code.json").read_text())
    fixture = {"": "stages", "papers": "paper_stages", "papers/champions": "champion_stages"}[pipeline]
    stages: dict[str, Any] = request.getfixturevalue(fixture)
    for address, stage in stages.items():
        kind, _, experiment = address.partition("@")
        if kind != "code":
            (dependency,) = (dep for dep in stage.deps if dep.def_path == "code.json")
            (key,) = dependency.params
            of_experiment, code = experiment and kind != "compare", "train" if kind == "continue" else kind
            assert key == (f"experiments.{experiment}.{code}" if of_experiment else address.replace("@", "."))
            assert re.fullmatch("[0-9a-f]{16}", reduce(getitem, key.split("."), written))


def test_no_stage_but_code_depends_on_source_files(stages: dict[str, Any]) -> None:
    for address, stage in stages.items():
        folders = {
            Path(os.path.relpath(dep.fs_path, ROOT)).parts[0] for dep in stage.deps if not hasattr(dep, "params")
        }
        assert address == "code" or not folders & {"src", "pipelines"}, address
    assert {dep.def_path for dep in stages["code"].deps} == {"src", "pipelines", "params.yaml"}


def test_what_decides_a_training_is_a_parameter_of_it(stages: dict[str, Any]) -> None:
    for name, config in PARAMS["experiments"].items():
        (params,) = (dep.params for dep in stages[f"train@{name}"].deps if dep.def_path == "params.yaml")
        whole = {key for key in config if f"experiments.{name}.{key}" in params}
        assert whole == config.keys() - {"name", "arena"}


def test_what_is_plotted_is_in_git() -> None:
    # `dvc exp run` of one stage reads the plots of all: in a clone it would fail on an output that is not cached there
    definition: Any = OmegaConf.load(ROOT / "dvc.yaml")
    outputs = [out for stage in definition.stages.values() for out in stage.get("outs", [])]
    in_git = {name for out in outputs if not isinstance(out, str) for name, flags in out.items() if not flags.cache}
    assert {name for plot in definition.plots for name in plot} <= in_git


@pytest.mark.slow
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


@pytest.mark.slow
def test_all_code_that_a_stage_loads_counts_in_its_digest(tmp_path: Path) -> None:
    """An experiment of each game, and a pair to compare, briefly; each stage in one process."""
    pairs: dict[str, list[str]] = dict([next(iter(PARAMS["compare"].items()))])
    of_games = {config["game"]["_target_"]: name for name, config in reversed(PARAMS["experiments"].items())}
    chosen = {*of_games.values(), *next(iter(pairs.values()))}
    experiments = {name: _short(config) for name, config in PARAMS["experiments"].items() if name in chosen}
    experiments[next(iter(experiments))]["seeds"] = 2
    OmegaConf.save({"experiments": experiments, "compare": pairs}, tmp_path / "params.yaml")
    (tmp_path / "pipelines").symlink_to(ROOT / "pipelines")
    commands = [[stage, name] for name in experiments for stage in STAGES]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/mlflow.db",
        "DVC_ROOT": str(tmp_path),
    }
    program = [sys.executable, str(Path(__file__).with_name("loaded_modules.py"))]
    shared = [["tournaments"], ["report"], *(["compare", key] for key in pairs)]
    given = json.dumps([*commands, *shared])
    subprocess.run([*program, given], cwd=tmp_path, env=environment, check=True, timeout=800)
    sources = Sources(ROOT / "src")
    for stage, *names in [*commands, *shared]:
        loaded = json.loads((tmp_path / f"{'_'.join([stage, *names])}.json").read_text())
        configs = stage_configs(PARAMS, stage, *names)
        counted = sources.modules([ROOT / "pipelines" / f"{stage}.py"], configs)
        allowed = counted.keys() | THROUGH_TRACKING.get(stage, set())
        missing = [name for name in loaded if name not in allowed and not SOURCES.reason(name)]
        assert len(loaded) > 10
        assert "cardlab.training.training_process" in loaded or stage != "train", "the seeds' processes do not count"
        assert not missing, f"{stage} {names} loads what its digest does not have: {missing}"


def _short(config: dict[str, Any]) -> dict[str, Any]:
    return (
        config | {"seeds": 1} | {group: config[group] | SHORT.get(group, {}) for group in ("agent", "arena", "trainer")}
    )
