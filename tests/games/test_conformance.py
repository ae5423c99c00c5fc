"""What every game must hold, whatever its rules: no game has a special case here."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardlab.games.make_game import game_names, make_game, without_training_options
from cardlab.games.protocol import Game
from cardlab.testing import GAME_CHECKS
from games.variants import CASES, IDS, VARIANTS

seeds = st.integers(0, 2**32 - 1)
Check = Callable[[Game, int], None]
few = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(name="game", params=CASES, ids=IDS, scope="module")
def _game(request: pytest.FixtureRequest) -> Game:
    name, options = request.param
    return make_game(name, **options)


def test_every_game_has_variants() -> None:
    assert {*VARIANTS, "open_spiel"} == {*game_names()}


@pytest.mark.parametrize("check", GAME_CHECKS)
@few
@given(seed=seeds)
def test_the_protocol_holds(game: Game, check: Check, seed: int) -> None:
    check(game, seed)


@few
@given(seed=seeds)
def test_decks_and_seeds_fix_the_deal(game: Game, seed: int) -> None:
    rng = np.random.default_rng(seed)
    decks = np.stack([rng.permutation(52) for _ in range(4)]).astype(np.int8)
    chance = rng.integers(0, 2**63, size=4, dtype=np.uint64)
    one = game.deal(4, np.random.default_rng(1), decks, chance)
    other = game.deal(4, np.random.default_rng(2), decks, chance)
    assert one.tobytes() == other.tobytes()
    turned = game.deal(4, np.random.default_rng(1), decks[::-1].copy(), chance)
    assert turned.tobytes() != one.tobytes()


def test_matches_know_no_training_options(game: Game) -> None:
    whole = without_training_options(game)
    assert whole.spec.options == game.spec.options
    assert without_training_options(whole) == whole
