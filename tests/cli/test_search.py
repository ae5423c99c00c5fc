"""Search from the command line: around a policy, by name, its options' errors, and what is kept."""

import json
from functools import partial

import pytest

from cardlab.cli import main
from cardlab.evaluation.evaluate import evaluate
from cardlab.evaluation.game_record import load_record
from cardlab.evaluation.match import Interrupted
from cardlab.evaluation.options import ArenaOptions
from cardlab.games.make_game import make_game

SMALL = ("game=five_o", "arena.deals=2", "arena.processes=1", "record=false")


def test_an_agent_is_evaluated_with_a_search_around_it(tmp_path, capsys):
    output = tmp_path / "evaluation.json"
    overrides = ["policy=greedy_2", "search=monte_carlo", "search.simulations=20", f"output={output}"]
    assert main(["evaluate", *SMALL, *overrides]) == 0
    kept = json.loads(output.read_text())
    assert kept["experiment"] == "greedy_2+monte_carlo"
    assert (kept["search"]["name"], kept["search"]["simulations"]) == ("monte_carlo", 20)
    assert kept["references"]["random"]["deals"] == 2
    assert "greedy_2+monte_carlo" in capsys.readouterr().out


def test_timed_games_are_kept_and_found_again(tmp_path, capsys):
    folder = tmp_path / "games"
    policy = "monte_carlo:seconds:0.01"
    assert main(["evaluate", *SMALL, f"policy={policy}", f"arena.records={folder}"]) == 0
    files = sorted(folder.glob("*.json"))
    assert [file.name for file in files] == ["0-0-0.json", "0-0-1.json", "0-1-0.json", "0-1-1.json"]
    record = load_record(files[0])
    thought = [effort for effort in record.efforts if effort is not None]
    assert len(record.efforts) == len(record.actions) == 40
    assert thought
    assert all(min(sizes, default=1) >= 1 for effort in thought for sizes in effort)
    assert all(any(effort) for effort in thought)
    capsys.readouterr()
    assert main(["replay", f"record={files[0]}"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("repeated search: the same move") == len(thought)
    assert "now action" not in shown


def test_what_was_played_is_kept_and_resumed(tmp_path):
    game = make_game("thirty_one")
    options = ArenaOptions(deals=40, chunk=10, references=("random", "greedy"), processes=1)

    def interrupt(name: str, done: int, most: int) -> None:
        if done == 50 and not resumed:
            raise KeyboardInterrupt
        seen.append(done)

    seen, resumed, played = [], False, tmp_path / "runs" / "scores"
    measure = partial(evaluate, game, "greedy", options, policy_digest="", experiment="x", progress=interrupt)
    with pytest.raises(Interrupted) as stopped:
        measure(played=played)
    references = stopped.value.result["references"]
    assert {name: figures["deals"] for name, figures in references.items()} == {"random": 30, "greedy": 20}
    assert len(list(played.iterdir())) == 2
    resumed = True
    seen.clear()
    whole = measure(played=played)
    assert seen == [60, 70, 80], "the deals of before are not played again"
    assert whole == evaluate(game, "greedy", options, policy_digest="", experiment="x")
    seen.clear()
    assert measure(played=played) == whole
    assert not seen, "a finished match is not played again"


def test_nothing_is_kept_when_nothing_was_played():
    def interrupt(name: str, done: int, most: int) -> None:
        raise KeyboardInterrupt

    options = ArenaOptions(deals=4, chunk=1, processes=1)
    with pytest.raises(KeyboardInterrupt) as stopped:
        evaluate(make_game("thirty_one"), "greedy", options, policy_digest="", experiment="x", progress=interrupt)
    assert not isinstance(stopped.value, Interrupted)
