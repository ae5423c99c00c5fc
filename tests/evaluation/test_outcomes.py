"""What happened in games: each game's counts against what its own texts and payoffs say."""

import json

import numpy as np
import pytest

from cardlab.agents.registry import load_agent
from cardlab.evaluation.game_statistics import measure_games
from cardlab.evaluation.options import ArenaOptions
from cardlab.games.abilities import find_ability
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from games.variants import VARIANTS
from small_games.high_card import HighCard, Shower

OPTIONS = ArenaOptions(pairing_deals=20, seed=5)


def played(name, games=40, **options):
    """Finished games of random players, and what each player did: (row, player, text)."""
    game = make_game(name, **options)
    rng = np.random.default_rng(1)
    states = game.deal(games, rng)
    texts = []
    for moves in play(game, states, [load_agent(game, "random")], rng):
        for row, player, info, action in zip(moves.rows, moves.players, moves.info_states, moves.actions, strict=True):
            texts.append((int(row), int(player), game.action_text(info, int(action))))
    return game, states, texts


def of(outcomes, title):
    return next(outcome for outcome in outcomes if outcome.title == title)


def test_poker_squares_lines_make_the_payoff():
    game, states, _ = played("poker_squares")
    (lines,) = find_ability(make_game("poker_squares"), "outcomes").read(states)
    assert (lines.counts.sum(axis=2) == 10).all()
    assert lines.counts[:, 0] @ game.scores == pytest.approx(game.payoffs(states)[:, 0])


def test_five_o_columns_make_the_payoff():
    game, states, _ = played("five_o")
    outcomes = find_ability(make_game("five_o"), "outcomes").read(states)
    assert (of(outcomes, "columns of each hand").counts.sum(axis=2) == 5).all()
    won = of(outcomes, "columns won").counts @ np.arange(6)
    assert ((won >= 3) @ [1, -1] == game.payoffs(states)[:, 0]).all()


def test_open_face_boards_make_the_payoff():
    game, states, _ = played("open_face", games=300)
    outcomes = find_ability(make_game("open_face"), "outcomes").read(states)
    boards = of(outcomes, "boards by royalties").counts
    assert (boards.sum(axis=2) == 1).all()
    fouls = boards[:, :, 0] > 0
    assert 0.3 < fouls.mean() < 0.95  # random play fouls mostly
    both, alone = fouls.all(axis=1), fouls[:, 0] & ~fouls[:, 1]
    payoffs = game.payoffs(states)[:, 0]
    assert (payoffs[both] == 0).all()
    assert (payoffs[alone] <= -6).all()
    for row in ("front row", "middle row", "back row"):
        assert (of(outcomes, row).counts.sum(axis=2) == 1).all()


def test_big_2_counts_every_card_once():
    game, states, texts = played("big2", games=10, opening="choose")
    outcomes = find_ability(make_game("big2"), "outcomes").read(states)
    left = of(outcomes, "cards left").counts @ np.arange(14)
    assert -left.sum(axis=1) == pytest.approx(np.minimum(game.payoffs(states), 0).sum(axis=1))
    hands = of(outcomes, "hands played of each kind").counts
    plays = np.zeros(hands.shape[:2])
    for row, player, text in texts:
        plays[row, player] += text != "pass"
    assert (hands.sum(axis=2) == plays).all()
    sizes = np.array([1, 2, 3, 4, 4, 5, 5, 5, 5])
    assert hands @ sizes == pytest.approx(13 - left)


@pytest.mark.parametrize("num_players", [2, 5])
def test_thirty_one_rounds_and_lives(num_players):
    _, states, _ = played("thirty_one", num_players=num_players)
    outcomes = find_ability(make_game("thirty_one"), "outcomes").read(states)
    rounds = of(outcomes, "rounds in a match").counts[:, 0]
    assert (rounds.sum(axis=1) == 1).all()
    assert (rounds.argmax(axis=1) + 1 == np.minimum(states["round"], 12)).all()
    lives = of(outcomes, "lives left").counts[:, :num_players]
    assert (lives.argmax(axis=2) == states["lives"][:, :num_players]).all()


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_a_survey_of_each_game(name):
    survey = measure_games(make_game(name), "greedy_2" if name == "five_o" else "random", "random", OPTIONS)
    lengths = survey["length"]["counts"]
    assert sum(lengths.values()) == survey["games"]
    assert survey["outcomes"]
    for outcome in survey["outcomes"]:
        assert len(outcome["policy"]) == len(outcome["others"]) == len(outcome["labels"])
        assert sum(outcome["policy"]) > 0
    assert json.loads(json.dumps(survey)) == survey


def test_what_is_done_is_told_apart_by_who_did_it():
    survey = measure_games(make_game("thirty_one"), "greedy_stock_only", "random", OPTIONS)
    done = next(outcome for outcome in survey["outcomes"] if outcome["title"].startswith("decisions"))
    policy, others = (dict(zip(done["labels"], done[who], strict=True)) for who in ("policy", "others"))
    assert policy["take"] == 0 < others["take"]
    mean = survey["length"]["mean"]
    assert sum(policy.values()) + sum(others.values()) == pytest.approx(mean, abs=1e-4)


def test_a_game_without_outcomes_has_lengths(high_card_agents):
    game = HighCard(3)
    survey = measure_games(game, Shower(game), "random", OPTIONS)
    assert survey["length"] == {"mean": 3.0, "counts": {"3": survey["games"]}}
    assert survey["outcomes"] == []
