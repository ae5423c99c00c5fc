"""Random playouts in one kernel are the games that random agents play through the loop."""

from importlib import import_module

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.loop import play_out as play_through
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game, States
from cardlab.games.record_arrays import take

GAMES = [
    ("five_o", {}),
    ("five_o", {"hidden_round": 4}),
    ("open_face", {}),
    ("poker_squares", {}),
    ("poker_squares", {"scoring": "british"}),
    ("poker_squares", {"scoring": "custom", "custom_scores": list(range(-3, 7))}),
]
SAMPLES = 4000

pytestmark = pytest.mark.parametrize(("name", "options"), GAMES)


def played_out(game: Game, states: States, seed: int) -> np.ndarray:
    module = import_module(f"cardlab.games.{game.spec.name}.playouts")
    return module.play_out(states, np.random.default_rng(seed), game.spec.options)


def stopped(game: Game, steps: int, tables: int) -> States:
    """Games of random play after so many decisions of each."""
    rng = np.random.default_rng(0)
    states = game.deal(tables, rng)
    for step, _ in enumerate(play(game, states, [RandomAgent(game)], rng, ask_forced=True)):
        if step == steps:
            break
    return states


def test_complete_games_are_paid_as_by_the_rules(name, options):
    game = make_game(name, **options)
    states = game.deal(200, np.random.default_rng(1))
    play_through(game, states, [RandomAgent(game)], np.random.default_rng(2))
    paid = played_out(game, states, 3)
    assert paid.dtype == np.float32
    assert np.array_equal(paid, game.payoffs(states))
    assert np.abs(paid).sum() > 0


def test_one_card_left_has_one_way_to_go(name, options):
    game = make_game(name, **options)
    states = stopped(game, game.spec.max_decisions - 2, 200)
    assert not game.is_over(states).any()
    paid = played_out(game, states, 3)
    play_through(game, states, [RandomAgent(game)], np.random.default_rng(2))
    assert np.array_equal(paid, game.payoffs(states))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.8])
def test_payoffs_have_the_distribution_of_random_play(name, options, share):
    """From the same positions, sampled by both: mean and spread agree within four standard errors."""
    game = make_game(name, **options)
    steps = int(share * game.spec.max_decisions)
    states = States(np.repeat(stopped(game, steps, 20), SAMPLES // 20))
    fast = played_out(game, states, 4)[:, 0]
    play_through(game, states, [RandomAgent(game)], np.random.default_rng(5))
    slow = game.payoffs(states)[:, 0]
    spread = max(fast.std(), slow.std())
    assert spread > 0
    assert abs(fast.mean() - slow.mean()) < 4 * spread * (2 / SAMPLES) ** 0.5
    assert fast.std() == pytest.approx(slow.std(), rel=0.15)


def test_states_are_left_alone_and_seeds_decide(name, options):
    game = make_game(name, **options)
    states = stopped(game, 4, 300)
    before = states.tobytes()
    first, again, other = (played_out(game, states, seed) for seed in (6, 6, 7))
    assert states.tobytes() == before
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert played_out(game, take(states, np.arange(0)), 0).shape == (0, game.spec.num_players)
