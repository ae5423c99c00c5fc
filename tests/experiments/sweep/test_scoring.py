"""What a trial's value is: averages deal by deal, on deals that belong to the sweep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cardlab.agents.registry import load_agent
from cardlab.core.child_processes import usable_cores
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.deals import Purpose, purpose_seed
from cardlab.evaluation.intervals import PerDeal, estimate
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import EVALUATION_SEED, ArenaOptions
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.scoring import combine, play_references, sweep_arena
from cardlab.games.make_game import make_game
from cardlab.training.options import TrainerOptions

SPACE = {"agent.gamma": {"low": 0.0, "high": 1.0}}


@given(arrays(np.float64, (3, 2, 11), elements=st.floats(-100, 100)))
def test_trainings_and_references_count_alike(figures: PerDeal) -> None:
    score = combine([dict(zip(("random", "greedy"), training, strict=True)) for training in figures])
    assert score.overall.mean == pytest.approx(figures.mean(), abs=1e-9)
    assert score.overall.half_width == pytest.approx(estimate(figures.mean(axis=(0, 1))).half_width, abs=1e-9)
    assert score.by_reference["greedy"].mean == pytest.approx(figures[:, 1].mean(), abs=1e-9)
    names = score.metrics("points")
    assert names["interval/sweep/points_low"] <= names["sweep/points"] <= names["interval/sweep/points_high"]
    assert {"sweep/points/random", "sweep/points/greedy"} <= set(names)


@given(st.integers(0, 2**40))
def test_its_deals_are_nobody_else_s(seed: int) -> None:
    arena = ArenaOptions(deals=50_000, seed=seed, until=0.1, references=("random",))
    own = sweep_arena(SweepOptions(space=SPACE, deals=30), arena)
    assert (own.deals, own.until, own.references) == (30, None, ("random",))
    assert len({own.seed, seed, *(purpose_seed(seed, purpose) for purpose in Purpose)}) == 1 + len(Purpose)


def test_workers_share_the_cores() -> None:
    arena = ArenaOptions(processes=64)
    alone, many = (SweepOptions(space=SPACE, deals=30, workers=workers) for workers in (1, 1 + usable_cores()))
    assert sweep_arena(alone, arena).processes == 64
    assert sweep_arena(many, arena).processes == 1


def test_the_figures_are_those_of_the_matches() -> None:
    game = make_game("thirty_one")
    agent = load_agent(game, "greedy")
    arena = sweep_arena(SweepOptions(space=SPACE, deals=40), ArenaOptions(references=("random", "greedy")))
    points = play_references(game, agent, arena, "points")
    wins = play_references(game, agent, arena, "win_rate")
    match = play_match(game, ["greedy", "random"], 40, purpose_seed(EVALUATION_SEED, Purpose.SWEEP))
    assert points["random"].mean() == pytest.approx(match.mean)
    assert wins["random"].mean() == pytest.approx(match.win_rate)
    assert points["greedy"] == pytest.approx(0.0), "against itself, at both seats of each deal, luck cancels"


def test_alone_the_own_points_count() -> None:
    game = make_game("poker_squares")
    arena = sweep_arena(SweepOptions(space=SPACE, deals=20), ArenaOptions())
    figures = play_references(game, load_agent(game, "random"), arena, "points")
    assert list(figures) == ["self"]
    intervals = ["interval/sweep/points_low", "interval/sweep/points_high"]
    assert list(combine([figures]).metrics("points")) == ["sweep/points", *intervals]
    with pytest.raises(InvalidOption, match=r"sweep\.metric=win_rate: must be points"):
        SweepOptions(space=SPACE, metric="win_rate").check_experiment(game, TrainerOptions())
