"""Records from elsewhere, of every game: damaged ones are refused, and what is accepted can be played to its end."""

from typing import cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardlab.agents.exploration import RandomAgent
from cardlab.games.array_checks import InvalidArray, check_valid
from cardlab.games.loop import play_out
from cardlab.games.make_game import make_game
from cardlab.games.protocol import NO_PLAYER, ChecksStates, Game, InfoStates, States
from cardlab.testing import sample
from games.variants import CASES, IDS

SIDE = 60  # damaged records of an example


@pytest.fixture(name="game", params=CASES, ids=IDS, scope="module")
def _game(request: pytest.FixtureRequest) -> Game:
    name, options = request.param
    return make_game(name, **options)


def damaged(records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[SIDE] copies of `records` with one to three bytes that are random, or those of another place."""
    size = records.dtype.itemsize
    raw = records.view(np.uint8).reshape(-1, size)[rng.integers(len(records), size=SIDE)]
    for row in raw:
        places = rng.integers(size, size=rng.integers(1, 4))
        row[places] = rng.choice([row[rng.integers(size, size=len(places))], rng.integers(256, size=len(places))])
    return np.ascontiguousarray(raw).view(records.dtype)[:, 0]


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_accepted_can_be_used(game: Game, seed: int) -> None:
    assert isinstance(game, ChecksStates)
    rng, whole = np.random.default_rng(seed), cast(Game, game)
    accepted = 0
    for states, movers in sample(whole, seed, count=3):
        known = whole.information(states, movers)
        for records in (states, known):
            broken = damaged(np.ascontiguousarray(records), rng)
            valid = broken[game.are_valid(broken)]
            accepted += len(valid)
            use(whole, valid, rng)
    assert accepted < 3 * SIDE  # of 6 SIDE: some bytes of a record are free, such as a seed


def use(game: Game, records: np.ndarray, rng: np.random.Generator) -> None:
    """Ask the game for all that it says about records that may be States or InfoStates."""
    players = np.maximum(game.current_player(States(records)), 0)
    known = game.information(States(records), players)
    assert np.isfinite(game.observe(known, players)).all()
    game.holders(States(records))
    for record in known[:3]:
        assert game.render(record)
    whole = game.determinize(known, players, rng)
    game.observe(game.information(whole, players), players)
    play_out(game, whole, [RandomAgent(game)], rng)
    assert (game.current_player(whole) == NO_PLAYER).all()
    assert np.isfinite(game.payoffs(whole)).all()
    moving = np.flatnonzero(game.current_player(InfoStates(known)) >= 0)
    legal = game.legal_actions(InfoStates(known[moving]))
    game.apply(InfoStates(known[moving].copy()), legal.argmax(axis=1).astype(np.int16))


def test_a_damaged_record_is_named(game: Game) -> None:
    states = game.deal(3, np.random.default_rng(0))
    check_valid("deal", states, game)
    states.view(np.uint8).reshape(3, -1)[1] = 0x7F
    with pytest.raises(InvalidArray, match=rf"^deal\[1\]: is no record of a game of {game.spec.name}$"):
        check_valid("deal", states, game)
