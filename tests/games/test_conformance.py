"""What every game must hold, whatever its rules: no game has a special case here."""

import pickle
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardlab.agents.random_actions import RandomAgent
from cardlab.games.loop import Moves, play, play_out
from cardlab.games.make_game import game_names, make_game, without_training_options
from cardlab.games.protocol import (
    NO_PLAYER,
    Game,
    HasActionFeatures,
    HasHistory,
    HasPrivilegedFeatures,
    InfoStates,
    Players,
    States,
    lists_legal_actions,
)
from games.variants import CASES, IDS, VARIANTS

TABLES = 12
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(name="game", params=CASES, ids=IDS, scope="module")
def _game(request: pytest.FixtureRequest) -> Game:
    name, options = request.param
    return make_game(name, **options)


def positions(game: Game, seed: int, tables: int = TABLES, every: int = 1) -> Iterator[tuple[States, States, Moves]]:
    """Every so many steps of random play: the states before, the states after, what was played."""
    rng = np.random.default_rng(seed)
    states = game.deal(tables, rng)
    before = States(states.copy())
    for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng, ask_forced=True)):
        if step % every == 0:
            yield before, states, moves
        before = States(states.copy())


def sample(game: Game, seed: int, count: int = 6) -> list[tuple[States, Players]]:
    """Positions of random play where somebody decides, with who does."""
    found: list[tuple[States, Players]] = []
    for before, _, moves in positions(game, seed):
        found.append((States(before[moves.rows]), moves.players))
    picks = np.random.default_rng(seed).choice(len(found), size=min(count, len(found)), replace=False)
    return [found[pick] for pick in sorted(picks)]


def test_every_game_has_variants() -> None:
    assert set(VARIANTS) == set(game_names())


@few
@given(seed=seeds)
def test_random_play_ends_within_the_bounds_of_the_spec(game: Game, seed: int) -> None:
    spec = game.spec
    decisions = np.zeros(TABLES, dtype=np.int64)
    final = None
    for _, after, moves in positions(game, seed):
        decisions[moves.rows] += 1
        assert (moves.players >= 0).all()
        assert (moves.players < spec.num_players).all()
        assert np.array_equal(game.is_over(after)[moves.rows], moves.over)
        final = after
    assert final is not None
    assert game.is_over(final).all()
    assert (game.current_player(final) == NO_PLAYER).all()
    assert not game.legal_actions(final).any()
    assert decisions.max() <= spec.max_decisions
    payoffs = game.payoffs(final)
    assert payoffs.shape == (TABLES, spec.num_players)
    assert payoffs.dtype == np.float32
    low, high = spec.payoff_range
    assert (payoffs >= low - 1e-4).all()
    assert (payoffs <= high + 1e-4).all()
    if spec.zero_sum:
        np.testing.assert_allclose(payoffs.sum(axis=1), 0, atol=1e-4)


@few
@given(seed=seeds)
def test_legal_actions_are_of_the_kind_of_the_decision(game: Game, seed: int) -> None:
    spec = game.spec
    assert len(spec.action_kinds) == spec.num_actions
    kinds = np.array(spec.action_kinds)
    for states, _ in sample(game, seed):
        legal = game.legal_actions(states)
        assert legal.dtype == np.bool_
        assert legal.shape == (len(states), spec.num_actions)
        assert legal.any(axis=1).all()
        kind = game.decision_kind(states)
        assert (kind < len(spec.decision_kinds)).all()
        rows, actions = np.nonzero(legal)
        assert np.array_equal(kinds[actions], kind[rows])


@few
@given(seed=seeds)
def test_lists_are_what_masks_mark(game: Game, seed: int) -> None:
    """Rows without a current player are included; games without lists are skipped."""
    if not lists_legal_actions(game):
        return
    for _, after, _ in positions(game, seed, tables=40):
        rows, marked = np.nonzero(game.legal_actions(after))
        actions, starts = game.list_legal_actions(after)
        assert actions.dtype == np.int16
        np.testing.assert_array_equal(actions, marked)
        np.testing.assert_array_equal(starts, np.searchsorted(rows, np.arange(len(after) + 1)))


@few
@given(seed=seeds)
def test_a_seed_is_a_game(game: Game, seed: int) -> None:
    ends = []
    for _ in range(2):
        rng = np.random.default_rng(seed)
        states = game.deal(TABLES, rng)
        play_out(game, states, [RandomAgent(game)], rng)
        ends.append(states.tobytes())
    assert ends[0] == ends[1]


@few
@given(seed=seeds)
def test_the_batch_does_not_matter(game: Game, seed: int) -> None:
    """One table at a time comes to the same as all tables at once."""
    for before, after, moves in positions(game, seed, tables=5, every=7):
        for place, row in enumerate(moves.rows):
            alone = States(before[row : row + 1].copy())
            game.apply(alone, moves.actions[place : place + 1])
            assert alone.tobytes() == after[row : row + 1].tobytes()


@few
@given(seed=seeds)
def test_hidden_cards_change_nothing_visible(game: Game, seed: int) -> None:
    """Two states that differ only in what a player cannot know look the same to that player, byte for byte."""
    rng = np.random.default_rng(seed)
    for states, movers in sample(game, seed):
        others = rng.integers(game.spec.num_players, size=len(states)).astype(np.int8)
        for players in (movers, others):
            known = game.information(states, players)
            elsewhere = game.determinize(known, players, rng)
            again = game.information(elsewhere, players)
            assert again.tobytes() == known.tobytes()
            assert game.observe(again, players).tobytes() == game.observe(known, players).tobytes()
        known = game.information(states, movers)
        elsewhere = game.determinize(known, movers, rng)
        assert np.array_equal(game.legal_actions(elsewhere), game.legal_actions(states))
        assert np.array_equal(game.legal_actions(known), game.legal_actions(states))


@few
@given(seed=seeds)
def test_info_states_tell_the_public_facts(game: Game, seed: int) -> None:
    for states, movers in sample(game, seed):
        known = game.information(states, movers)
        assert known.dtype == game.state_dtype
        assert np.array_equal(game.current_player(known), movers)
        assert np.array_equal(game.decision_kind(known), game.decision_kind(states))
        assert np.array_equal(game.is_over(known), game.is_over(states))
        assert np.array_equal(game.payoffs(known), game.payoffs(states))


@few
@given(seed=seeds)
def test_determinized_games_can_be_played_to_the_end(game: Game, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for states, movers in sample(game, seed, count=3):
        whole = game.determinize(game.information(states, movers), movers, rng)
        play_out(game, whole, [RandomAgent(game)], rng)
        assert game.is_over(whole).all()


@few
@given(seed=seeds)
def test_afterstates_agree_with_what_happens(game: Game, seed: int) -> None:
    """Applied to an InfoState, an action never says more than what is so: at most, it waits unresolved."""
    for before, after, moves in positions(game, seed, every=3):
        known = InfoStates(game.information(States(before[moves.rows]), moves.players).copy())
        game.apply(known, moves.actions)
        there = States(after[moves.rows])
        over = game.is_over(known)
        waits = ~over & (game.current_player(known) == NO_PLAYER)
        settled = ~waits
        assert np.array_equal(over[settled], game.is_over(there)[settled])
        assert np.array_equal(game.current_player(known)[settled], game.current_player(there)[settled])
        assert np.array_equal(game.payoffs(known)[settled], game.payoffs(there)[settled])
        assert not game.legal_actions(known)[waits].any()
        assert np.isfinite(game.observe(known, moves.players)).all()


@few
@given(seed=seeds)
def test_observations_fill_their_blocks(game: Game, seed: int) -> None:
    spec = game.spec
    for states, movers in sample(game, seed):
        for encoded in (game.observe(game.information(states, movers), movers),):
            assert encoded.dtype == np.float32
            assert encoded.shape == (len(states), spec.num_features)
            assert np.isfinite(encoded).all()
            assert np.abs(encoded).max() <= 60
        if isinstance(game, HasPrivilegedFeatures):
            hidden = game.privileged(states, movers)
            assert hidden.shape == (len(states), spec.num_privileged)
            assert np.isfinite(hidden).all()
    assert isinstance(game, HasPrivilegedFeatures) == bool(spec.num_privileged)
    starts = [block.start for block in spec.blocks]
    assert starts == [0, *(block.stop for block in spec.blocks[:-1])]
    assert len({block.name for block in spec.blocks}) == len(spec.blocks)


@few
@given(seed=seeds)
def test_action_features_describe_the_legal_actions(game: Game, seed: int) -> None:
    assert isinstance(game, HasActionFeatures) == bool(game.spec.num_action_features)
    if not isinstance(game, HasActionFeatures):
        return
    for states, movers in sample(game, seed):
        known = game.information(states, movers)
        rows, actions, features = game.action_features(known, movers)
        wanted_rows, wanted_actions = np.nonzero(game.legal_actions(known))
        assert np.array_equal(rows, wanted_rows)
        assert np.array_equal(actions, wanted_actions)
        assert features.dtype == np.float32
        assert features.shape == (len(rows), game.spec.num_action_features)
        assert np.isfinite(features).all()


@few
@given(seed=seeds)
def test_histories_lead_to_the_states(game: Game, seed: int) -> None:
    """Games without histories are skipped."""
    if not isinstance(game, HasHistory):
        return
    for _, after, _ in positions(game, seed, every=9):
        decks, actions = game.history(after)
        replayed = game.deal(len(after), np.random.default_rng(0), decks)
        for step in range(actions.shape[1]):
            rows = np.flatnonzero(actions[:, step] >= 0)
            now = States(replayed[rows])
            assert game.legal_actions(now)[np.arange(len(rows)), actions[rows, step]].all()
            game.apply(now, actions[rows, step])
            replayed[rows] = now
        assert replayed.tobytes() == after.tobytes()


@few
@given(seed=seeds)
def test_finished_rows_are_left_alone(game: Game, seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = game.deal(3, rng)
    play_out(game, states, [RandomAgent(game)], rng)
    kept = states.tobytes()
    for action in range(0, game.spec.num_actions, max(1, game.spec.num_actions // 7)):
        game.apply(states, np.full(3, action, dtype=np.int16))
        assert states.tobytes() == kept


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


@few
@given(seed=seeds)
def test_holders_know_every_hand(game: Game, seed: int) -> None:
    for states, movers in sample(game, seed, count=3):
        holders = game.holders(states)
        assert holders.shape == (len(states), 52)
        assert ((holders >= -1) & (holders < game.spec.num_players)).all()
        assert len(movers) == len(states)


@pytest.mark.parametrize("tables", [0, 1])
def test_few_tables_are_tables(game: Game, tables: int) -> None:
    rng = np.random.default_rng(0)
    states = game.deal(tables, rng)
    players = np.zeros(tables, dtype=np.int8)
    known = game.information(states, players)
    assert game.observe(known, players).shape == (tables, game.spec.num_features)
    assert game.legal_actions(states).shape == (tables, game.spec.num_actions)
    assert len(game.determinize(known, players, rng)) == tables
    play_out(game, states, [RandomAgent(game)], rng)
    assert game.is_over(states).all()


def test_texts_tell_actions_apart(game: Game) -> None:
    for states, movers in sample(game, 5, count=4):
        known = game.information(states[:1], movers[:1])
        legal = np.flatnonzero(game.legal_actions(known)[0])
        texts = [game.action_text(known[0], int(action)) for action in legal]
        assert len(set(texts)) == len(texts)
        assert game.render(known[0]).strip()


def test_a_game_travels_to_other_processes(game: Game) -> None:
    again = pickle.loads(pickle.dumps(game))
    assert again == game
    assert again.spec == game.spec


def test_matches_know_no_training_options(game: Game) -> None:
    whole = without_training_options(game)
    assert whole.spec.options == game.spec.options
    assert without_training_options(whole) == whole
