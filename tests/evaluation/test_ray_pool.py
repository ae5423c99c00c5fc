"""A match of a user's own game on a Ray cluster whose nodes do not see the project's folder."""

import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from cardlab.core.parts import shipped_folder
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.ray_pool import working_directory
from cardlab.evaluation.seating import make_lineup
from cardlab.evaluation.workers import Workers, make_jobs
from cardlab.games.make_game import make_game

GAME = """
from pathlib import Path

from my_cards import kuhn


class Kuhn(kuhn.Kuhn):
    def payoffs(self, states):
        assert Path("conf/game/kuhn.yaml").is_file(), "the node has the configuration"
        assert "runtime_resources" in __file__, "the code is in Ray's own folder"
        return super().payoffs(states)
"""


@pytest.fixture(params=["src", "."])
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The working directory: a project like that of `cardlab init`, its code in src/ or in its root."""
    example, project = shipped_folder().parent / "examples" / "project", tmp_path / "project"
    shutil.copytree(example / "conf", project / "conf")
    code = project / request.param
    shutil.copytree(example / "src", code, dirs_exist_ok=True)
    (code / "hidden.py").write_text(GAME)
    (code / "random.py").write_text("raise ImportError('the name of a module of Python')\n")
    game = project / "conf" / "game" / "kuhn.yaml"
    game.write_text(game.read_text().replace("my_cards.kuhn.Kuhn", "hidden.Kuhn"))
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield project
    for name in [name for name in sys.modules if name.partition(".")[0] in ("my_cards", "hidden")]:
        del sys.modules[name]


@pytest.mark.parametrize("project", ["src"], indirect=True)
def test_a_node_that_has_the_folder_imports_the_code_there(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with working_directory(str(project)):
        assert Path(import_module("hidden").__file__ or "").is_relative_to(project)
    assert Path.cwd() == tmp_path


@pytest.mark.slow
def test_the_code_of_a_project_reaches_nodes_without_its_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster  # noqa: PLC0415  of an extra

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        game, options = make_game("kuhn"), ArenaOptions(deals=20, launcher="ray")
        lineups = [make_lineup(game, ["my_cards.agents.Cautious:lowest:1", "random"])]
        with Workers(game, lineups, options) as workers:
            project.rename(tmp_path / "gone")
            ((_, (tally,)),) = workers.play(make_jobs(lineups, [0], options))
        assert len(tally.points) == 20
    finally:
        cluster.shutdown()
