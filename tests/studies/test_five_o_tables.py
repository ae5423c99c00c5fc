"""studies/five_o_tables: what its experiments count, and that its page shows it."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from omegaconf import OmegaConf

from cardlab.agents.registry import make_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.cards.hands import strengths
from cardlab.games.loop import play_out
from cardlab.games.make_game import make_game

STUDY = Path(__file__).parents[2] / "studies" / "five_o_tables"
sys.path.insert(0, str(STUDY))  # scripts of a study import only from their own folder

from figures import CAPTIONS, page_text, write_page  # noqa: E402
from five_o_experiments import FiveOOptions, play_duel, run_experiments  # noqa: E402

SMALL = FiveOOptions(
    agents={"one": "reflex_1", "two": "greedy_2", "chance": "random"},
    slow_agents={"slow": "reflex_3"},
    slow_against=["two"],
    simulations=[100, 20_000],
    points=[10, 100],
    deals=20,
    slow_deals=5,
    depths=[1, 2],
    decks=2,
    searcher="expectiminimax:root:textbook",
)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    messages: list[str] = []
    found = run_experiments(SMALL, messages.append)
    assert messages[-1] == "Figure 2: depth 2"
    return found


def test_a_duel_counts_games_and_strengths_from_both_seats() -> None:
    duel = play_duel("greedy_2", "random", 10, 3)
    game, rng = make_game("five_o"), np.random.default_rng(3)
    agents = [make_agent(game, "greedy_2"), make_agent(game, "random")]
    states = game.deal(10, rng)
    swapped = states.copy()
    play_out(game, states, agents, rng)
    play_out(game, swapped, agents[::-1], rng)
    payoffs = [*game.payoffs(states)[:, 0], *game.payoffs(swapped)[:, 1]]
    assert (duel.won, duel.lost, duel.drawn) == (payoffs.count(1), payoffs.count(-1), payoffs.count(0))
    columns = [*states["columns"][:, 0], *swapped["columns"][:, 1]]
    best_first = np.array([sorted(strengths(hands), reverse=True) for hands in columns])
    assert duel.strengths[0] == pytest.approx(best_first.mean(axis=0))


def test_the_table_is_the_same_from_both_sides(results: dict[str, Any]) -> None:
    table = results["table_3"]
    for name, row in table.items():
        assert set(row) == set(table) - {name}
        for other, (won, lost, drawn) in row.items():
            assert [won, lost, drawn] == [table[other][name][index] for index in (1, 0, 2)]
            assert won + lost + drawn == 40
        assert results["figure_4"][name]["won"] == sum(won for won, _, _ in row.values())
    assert table["two"]["chance"][0] > 30
    assert sum(results["table_3_slow"]["slow"]["two"]) == 10


def test_simulated_chances_come_near_the_exact_ones(results: dict[str, Any]) -> None:
    for chances in results["table_2"].values():
        assert np.abs(np.subtract(chances["20000"], chances["exact"])).max() < 0.02
        assert set(chances) == {"exact", "100", "20000"}


def test_depth_one_is_greedy_2_itself(results: dict[str, Any]) -> None:
    assert results["figure_2"][0]["share"] == 50.0


def test_the_page_has_all_tables_and_figures(results: dict[str, Any], tmp_path: Path) -> None:
    write_page(results, tmp_path)
    text = (tmp_path / "tables.md").read_text()
    assert text == page_text(results)
    assert "-".join(map(str, results["table_3"]["one"]["two"])) in text
    assert "| slow | " + "-".join(map(str, results["table_3_slow"]["slow"]["two"])) in text
    for name in CAPTIONS:
        assert f"({name}.svg)" in text
        assert (tmp_path / f"{name}.svg").read_text().startswith("<svg")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write_page(results, tmp_path)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_budgets_are_checked_and_those_of_params_are_valid() -> None:
    with pytest.raises(InvalidOption, match=r"five_o_tables\.deals=0"):
        FiveOOptions(agents={}, deals=0)
    with pytest.raises(InvalidOption, match=r"five_o_tables\.depths=0"):
        FiveOOptions(agents={}, depths=[0])
    config: Any = OmegaConf.to_container(OmegaConf.load(STUDY / "params.yaml"))
    options = FiveOOptions(**config["five_o_tables"])
    assert options.deals * 2 >= 500
    assert set(options.slow_against) <= set(options.agents)
    for text in [*options.agents.values(), *options.slow_agents.values()]:
        make_agent(make_game("five_o"), text)
