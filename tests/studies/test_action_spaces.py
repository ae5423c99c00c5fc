"""studies/action_spaces: its page shows the tables of its rows, and its means and intervals are those of the seeds."""

import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "studies" / "action_spaces"
sys.path.insert(0, str(STUDY))  # scripts of a study import only from their own folder

from action_spaces import SPACES, over_seeds, read_results, tables  # noqa: E402
from cardlab.experiments.config.build_experiment import read_experiment  # noqa: E402
from cardlab.experiments.config.composition import compose_experiment  # noqa: E402


def test_the_page_has_the_tables_of_the_rows() -> None:
    page = (STUDY / "README.md").read_text(encoding="utf-8")
    lines = [line for line in "\n".join(tables(read_results())).splitlines() if line]
    assert len(lines) > 15
    assert not [line for line in lines if line not in page.splitlines()]


def test_an_interval_over_seeds_is_students() -> None:
    assert over_seeds([1.0, 2.0, 3.0]) == "2.00 (-0.48 to 4.48)"
    assert over_seeds([1.5]) == "1.50"


@pytest.mark.parametrize("space", SPACES)
def test_every_action_space_is_an_experiment_on_the_same_observation(space: str) -> None:
    experiment = read_experiment(compose_experiment(SPACES[space]))
    assert experiment.game.spec.num_features == 412
    assert experiment.agent_name == "ppo"
