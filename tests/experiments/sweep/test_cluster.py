"""Trials and chunks of matches on a Ray cluster of two nodes, both on this machine."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from optuna.trial import TrialState

from cardlab.cli import main
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.tournament import run_tournament
from cardlab.games.make_game import make_game
from experiments.sweep.tiny import TINY, runs_of, study_of
from ray_nodes import two_nodes


@pytest.fixture(scope="module")
def ray_nodes() -> Generator[Any]:
    """Ray, connected to two nodes of one core each."""
    with two_nodes(head_cpus=1) as (ray, _, _):
        yield ray


@pytest.mark.slow
def test_a_tournament_on_two_nodes_has_the_figures_of_one_process(ray_nodes: Any, tmp_path: Path) -> None:
    assert len([node for node in ray_nodes.nodes() if node["Alive"]]) == 2
    game = make_game("thirty_one")
    agents = ["random", "greedy", "threshold:level:30"]
    tournaments = [
        run_tournament(
            game, agents, ArenaOptions(deals=64, chunk=8, processes=1, launcher=launcher), tmp_path / launcher
        )
        for launcher in ("processes", "ray")
    ]
    assert tournaments[0] == tournaments[1]


@pytest.mark.slow
@pytest.mark.usefixtures("no_plots")
def test_trials_run_on_two_nodes(ray_nodes: Any, root: Path) -> None:
    longer = "trainer.decisions=20000"  # seconds for each trial, so that one node cannot run all
    assert main(["sweep", *TINY, longer, "sweep.trials=3", "sweep.workers=2", "sweep.launcher=ray"]) == 0
    trials = study_of(root).get_trials()
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 3
    assert len({trial.user_attrs["worker"] for trial in trials}) == 2
    assert [run.info.status for run in runs_of(root, "trial")] == ["FINISHED"] * 3


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    game = make_game("thirty_one")
    with pytest.raises(InvalidOption, match=r"arena\.launcher=ray: must be processes, or pip install"):
        run_tournament(game, ["random", "greedy"], ArenaOptions(deals=2, launcher="ray"), Path("unused"))
    assert play_match(game, ["random", "greedy"], 2, 0).num_deals == 2
