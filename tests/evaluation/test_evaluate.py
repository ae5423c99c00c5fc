import json

import pytest
from rich.console import Console

from cardlab.core.messages import InvalidOption
from cardlab.evaluation.evaluate import evaluate, evaluation_table, write_evaluation
from cardlab.evaluation.intervals import Estimate, main_score
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import EVALUATION_SEED, ArenaOptions
from cardlab.evaluation.progress import progress_bars
from small_games.high_card import HighCard, Shower


def measure(game, agent, **options):
    return evaluate(game, agent, ArenaOptions(**options), policy_digest="d1", experiment="demo")


@pytest.mark.parametrize("num_players", [2, 3])
def test_figures_are_those_of_the_match_against_copies(num_players, high_card_agents):
    game = HighCard(num_players)
    evaluation = measure(game, "high", deals=60, references=["low", "random"])
    match = play_match(game, ["high"] + ["low"] * (num_players - 1), 60, EVALUATION_SEED)
    assert list(evaluation["references"]) == ["low", "random"]
    assert evaluation["references"]["low"] == {
        "mean": match.mean,
        "low": match.interval[0],
        "high": match.interval[1],
        "win_rate": match.win_rate,
        "win_rate_low": match.win_rate_interval[0],
        "win_rate_high": match.win_rate_interval[1],
        "deals": 60,
    }
    assert {key: evaluation[key] for key in ("format", "experiment", "game", "policy_digest", "deals", "seed")} == {
        "format": 1,
        "experiment": "demo",
        "game": "high_card",
        "policy_digest": "d1",
        "deals": 60,
        "seed": EVALUATION_SEED,
    }


def test_one_player_has_its_own_mean_and_paired_differences():
    game = HighCard(1)
    agent = Shower(game)
    references = measure(game, agent, deals=80)["references"]
    assert list(references) == ["self", "random"]
    own = play_match(game, [agent], 80, EVALUATION_SEED)
    assert references["self"] == {"mean": own.mean, "low": own.interval[0], "high": own.interval[1], "deals": 80}
    assert references["random"]["difference_low"] > 0
    assert references["random"]["difference"] == pytest.approx(
        references["self"]["mean"] - references["random"]["mean"]
    )


def test_the_main_score_is_that_against_the_strongest_reference():
    row = {"low": 0.1, "high": 0.5, "deals": 50}
    evaluation = {"references": {"random": {"mean": 0.9, **row}, "greedy": {"mean": 0.3, **row}}}
    assert main_score(evaluation) == ("greedy", Estimate(0.3, 0.1, 0.5, 50))
    evaluation["references"]["self"] = {"mean": 120.0, **row}
    assert main_score(evaluation)[0] == "self"


def test_the_file_has_the_same_bytes_for_the_same_agent(tmp_path, high_card_agents):
    for name in ("a.json", "b.json"):
        write_evaluation(measure(HighCard(2), "high", deals=20), tmp_path / "deep" / name)
    first, second = ((tmp_path / "deep" / name).read_bytes() for name in ("a.json", "b.json"))
    assert first == second
    assert json.loads(first)["references"].keys() == {"random"}


@pytest.mark.parametrize("num_players", [1, 2])
def test_the_table_shows_every_reference(num_players, high_card_agents, text_of):
    evaluation = measure(HighCard(num_players), "high", deals=20, references=["low", "random"])
    text = text_of(evaluation_table(evaluation))
    for word in ("demo", "low", "random", "difference" if num_players == 1 else "wins"):
        assert word in text


def test_names_are_shown_as_they_are(text_of):
    references = {"mine [v2]": {"mean": 1.0, "low": 0.5, "high": 1.5, "deals": 20}}
    evaluation = {"experiment": "front:back:false", "game": "open_face", "seed": 0, "references": references}
    text = text_of(evaluation_table(evaluation))
    assert "front:back:false: open_face, arena.seed=0" in text
    assert "mine [v2]" in text


def test_progress_is_shown_and_goes(high_card_agents, monkeypatch):
    told = []
    evaluate(
        HighCard(2),
        "high",
        ArenaOptions(deals=20, chunk=5),
        policy_digest="",
        experiment="",
        progress=lambda *news: told.append(news),
    )
    assert told == [("random", done, 20) for done in (5, 10, 15, 20)]
    monkeypatch.setattr("cardlab.evaluation.progress.terminal", lambda: Console(quiet=True))
    with progress_bars() as progress:
        for news in told:
            progress(*news)


def test_a_reference_that_is_no_agent_is_named():
    with pytest.raises(InvalidOption, match="nobody"):
        measure(HighCard(2), "random", deals=20, references=["nobody"])
    with pytest.raises(InvalidOption, match=r"arena\.references"):
        ArenaOptions(references="random")
