"""The arena with games, scripted agents and policy folders as users have them, and worker processes that load them."""

import json

import numpy as np
import pytest
import torch

import cardlab
from cardlab.agents.policy_files import describe, save_policy
from cardlab.evaluation.evaluate import evaluate
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.replay import run_replay
from cardlab.evaluation.tournament import run_tournament
from cardlab.networks.mlp_options import MLPOptions
from plays import PLAYS

GAME = cardlab.make_game("thirty_one")


def save_network(folder, seed):
    torch.manual_seed(seed)
    options = MLPOptions(widths=(16,))
    return save_policy(folder, describe(GAME, options, PLAYS["softmax"], {}), options.build(GAME.spec))


@pytest.mark.slow
def test_a_tournament_has_the_same_bytes_with_any_number_of_processes(tmp_path):
    save_network(tmp_path / "policy", 0)
    agents = ["random", "greedy", "threshold:level:27", str(tmp_path / "policy")]
    for processes in (1, 2):
        options = ArenaOptions(deals=40, chunk=10, processes=processes)
        run_tournament(GAME, agents, options, tmp_path / str(processes))
    one, two = ((tmp_path / name / "tournament.json").read_bytes() for name in "12")
    assert one == two
    standings = json.loads(one)["standings"]
    assert {standings[0]["agent"], standings[1]["agent"]} == {"greedy", "threshold:level:27"}


def test_a_policy_that_was_trained_again_is_played_again(tmp_path):
    agents, options = ["random", str(tmp_path / "policy")], ArenaOptions(deals=10)
    for seed in (0, 0, 1):
        save_network(tmp_path / "policy", seed)
        run_tournament(GAME, agents, options, tmp_path)
    assert len(list((tmp_path / "pairings").iterdir())) == 2


def test_an_option_that_no_policy_depends_on_is_part_of_what_was_played(tmp_path):
    for lives in (3, 1):
        game = cardlab.make_game("thirty_one", lives=lives)
        run_tournament(game, ["random", "greedy"], ArenaOptions(deals=10), tmp_path)
    assert len(list((tmp_path / "pairings").iterdir())) == 2


def test_matches_are_played_whole_whatever_training_plays():
    options = ArenaOptions(deals=50)
    for_training = cardlab.make_game("thirty_one", play="round", reward="shaped")
    figures = [evaluate(game, "greedy", options, policy_digest="", experiment="") for game in (GAME, for_training)]
    assert figures[0] == figures[1]


@pytest.mark.parametrize("num_players", [1, 2, 4, 5])
def test_a_game_of_a_match_can_be_read(num_players):
    game = GAME if num_players == 2 else cardlab.make_game("poker_squares")
    if num_players > 2:
        game = cardlab.make_game("thirty_one", num_players=num_players)
    record, lines = run_replay(game, ["random"] * num_players, ArenaOptions(deals=5), deal=4, inputs=["all"])
    text = "\n".join(lines)
    assert len(record.actions) > 4
    assert text.count("→") == len(record.actions)
    assert text.splitlines()[-1].startswith("paid: player 0")


def test_the_seat_of_an_agent_does_not_matter_to_what_it_is_said_to_win():
    there = cardlab.play_match(GAME, ["greedy", "random"], num_deals=100, seed=0)
    back = cardlab.play_match(GAME, ["random", "greedy"], num_deals=100, seed=0)
    assert there.mean > 0 > back.mean
    assert np.isclose(there.by_player[1].points.mean, -there.mean, atol=1e-6)
