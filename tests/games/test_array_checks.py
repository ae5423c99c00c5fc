"""What callers hand to a game is checked before a kernel reads it: every method, every argument, every game."""

import pickle
from collections.abc import Callable
from importlib import import_module
from inspect import isfunction, signature
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardlab.agents.exploration import RandomAgent
from cardlab.games.abilities import SparseLineValues
from cardlab.games.array_checks import InvalidArray, unchecked
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game, HasActionFeatures, HasPrivilegedFeatures, States
from games.variants import CASES, IDS, VARIANTS

TABLES = 3
some = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Call = Callable[..., Any]

WHOLE = ("players", "actions", "seeds")
ARRAYS = {*WHOLE, "states", "info_states", "decks", "weights"}
CHECKED = {*ARRAYS, "num_games", "info_state", "action"}
FUNCTIONS = [
    (game, f"{module}.{name}")
    for module, names in (("playouts", ("play_out",)), ("endgame", ("solvable", "action_values")))
    for name in names
    for game in ("big2", "five_o", "open_face", "poker_squares")
]


def methods_of(name: str) -> list[str]:
    """The public methods of a game that take arrays."""
    game_class = type(make_game(name))
    return [
        method
        for method, function in vars(game_class).items()
        if isfunction(function)
        and not method.startswith("_")
        and not CHECKED.isdisjoint(signature(function).parameters)
    ]


CALLS = [*((name, method) for name in VARIANTS for method in methods_of(name)), *FUNCTIONS]


def find_call(game: Game, path: str) -> Call:
    if "." not in path:
        return getattr(game, path)
    module, name = path.split(".")
    return getattr(import_module(f"cardlab.games.{game.spec.name}.{module}"), name)


def walk(game: Game, seed: int, steps: int) -> States:
    rng = np.random.default_rng(seed)
    states = game.deal(TABLES, rng)
    for _, _moves in zip(range(steps), play(game, states, [RandomAgent(game)], rng), strict=False):
        pass
    return states


def good_values(path: str) -> Any:
    """A table of values as the call at `path` takes it."""
    if "pattern" in path:
        return np.zeros(import_module("cardlab.games.poker_squares.patterns").NUM_PATTERNS, dtype=np.float32)
    return SparseLineValues(np.zeros((100_000, 2), dtype=np.float32), np.zeros(2, dtype=np.float32))


def good_arguments(game: Game, seed: int, path: str) -> dict[str, Any]:
    """Arguments that fit, in the middle of a game."""
    rng = np.random.default_rng(seed)
    states = walk(game, seed, 400 if "endgame" in path else int(rng.integers(0, 12)))  # exact values take few cards
    players = game.current_player(states)
    known = game.information(states, players.clip(0))
    good = {
        "num_games": TABLES,
        "states": states,
        "info_states": known,
        "info_state": known[0],
        "players": players.clip(0),
        "actions": game.legal_actions(states).argmax(axis=1).astype(np.int16),
        "action": int(game.legal_actions(states)[0].argmax()),
        "decks": np.stack([rng.permutation(52) for _ in range(TABLES)]),
        "seeds": rng.integers(0, 2**63, size=TABLES, dtype=np.uint64),
        "weights": rng.random((TABLES, game.spec.num_players, 52), dtype=np.float32),
        "rng": rng,
        "num_samples": 1,
        "options": dict(game.spec.options),
        "reward_scale": 1.0,
        "values": good_values(path),
    }
    return {name: good[name] for name in signature(find_call(game, path)).parameters}


def bad_whole(draw: Any, good: Any, low: int, high: int) -> Any:
    """Like the whole numbers `good` [G], but of another length, type or shape, or with one beyond its bounds."""
    values = np.array(good).astype(np.int64)
    beyond = [value for value in (low - 1, low - 2**40, high + 1, high + 2**40) if -(2**63) <= value < 2**63]
    if beyond and draw(st.booleans()):
        values[draw(st.integers(0, len(values) - 1))] = draw(st.sampled_from(beyond))
        return values
    return draw(
        st.sampled_from(
            [
                *(values[1:], values[:0], np.concatenate([values, values]), values[:, None], values[0]),
                *(values.astype(kind) for kind in (float, bool, str, object)),
                *("all", [[0], [0, 1]], 3, None),
            ]
        )
    )


def bad_decks(draw: Any, good: Any) -> Any:
    decks = np.array(good)
    row, place = draw(st.integers(0, TABLES - 1)), draw(st.integers(0, 51))
    change = draw(st.sampled_from(["twice", "beyond", "shape"]))
    if change == "twice":
        decks[row, place] = decks[row, (place + draw(st.integers(1, 51))) % 52]
        return decks
    if change == "beyond":
        decks[row, place] = draw(st.sampled_from([-1, 52, 127, 256, 2**40, -(2**40)]))
        return decks
    shapes = [decks[1:], decks[:0], np.concatenate([decks, decks]), decks[:, 1:], decks[0], decks[None], decks.T]
    return draw(st.sampled_from([*shapes, decks.astype(float), decks.astype(str), 7, "As Td"]))


def bad_weights(draw: Any, good: Any) -> Any:
    weights = np.array(good)
    if draw(st.booleans()):
        weights[-1, -1, draw(st.integers(0, 51))] = draw(st.sampled_from([-1.0, np.nan, np.inf, -np.inf]))
        return weights
    return draw(st.sampled_from([weights[1:], weights[:, :, 1:], weights[:, 1:], weights[0], weights.astype(str), 1.0]))


def bad_records(draw: Any, good: Any, one: bool) -> Any:
    other = np.zeros(TABLES, dtype=[("grid", np.int8, 7)])
    if one:
        return draw(st.sampled_from([np.array([good]), other[0], None, bytes(good), 0]))
    shapes = [good[0], good[None], good.view(np.uint8), list(good), None, np.arange(TABLES)]
    return draw(st.sampled_from([*shapes, other, good.view(f"V{good.dtype.itemsize}")]))


def bad_argument(draw: Any, game: Game, name: str, good: Any) -> Any:
    if name in WHOLE:
        high = {"players": game.spec.num_players - 1, "actions": game.spec.num_actions - 1, "seeds": 2**64 - 1}[name]
        return bad_whole(draw, good, 0, high)
    if name in ("states", "info_states", "info_state"):
        return bad_records(draw, good, name == "info_state")
    if name == "decks":
        return bad_decks(draw, good)
    if name == "weights":
        return bad_weights(draw, good)
    highest = 2**31 - 1 if name == "num_games" else game.spec.num_actions - 1
    return draw(st.sampled_from([-1, highest + 1, 2.0, True, None, "3", 2**70]))


@pytest.mark.parametrize(("name", "path"), CALLS)
@some
@given(data=st.data())
def test_arrays_that_do_not_fit_are_refused(name: str, path: str, data: st.DataObject) -> None:
    game = make_game(name)
    call = find_call(game, path)
    seed = data.draw(st.integers(0, 99))
    call(**good_arguments(game, seed, path))
    arguments = good_arguments(game, seed, path)
    wrong = data.draw(st.sampled_from([name for name in arguments if name in CHECKED]))
    arguments[wrong] = bad_argument(data.draw, game, wrong, arguments[wrong])
    if wrong in ("decks", "seeds", "weights") and arguments[wrong] is None:
        return  # left out
    kept = {key: value.tobytes() for key, value in arguments.items() if isinstance(value, np.ndarray)}
    with pytest.raises(InvalidArray) as caught:
        call(**arguments)
    assert str(caught.value).startswith(wrong) or wrong == "num_games"
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert all(arguments[key].tobytes() == value for key, value in kept.items())


def test_all_of_the_protocol_is_checked() -> None:
    wanted = {name for name in vars(Game) if isfunction(vars(Game)[name]) and not name.startswith("_")}
    for name in VARIANTS:
        assert wanted <= set(methods_of(name))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("given", [0, 2, 4, 1000])
def test_decks_are_one_for_each_game(name: str, given: int) -> None:
    """Too few used to be read, and games beyond the array written, by two of the games."""
    decks = np.tile(np.arange(52, dtype=np.int8), (given, 1))
    with pytest.raises(InvalidArray, match=rf"^decks: must be whole numbers \[3, 52\], not int8 \[{given}, 52\]$"):
        make_game(name).deal(3, np.random.default_rng(0), decks)


@pytest.fixture(name="game", params=CASES, ids=IDS, scope="module")
def _game(request: pytest.FixtureRequest) -> Game:
    name, options = request.param
    return make_game(name, **options)


@some
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(0, 60))
def test_what_fits_is_taken(game: Game, seed: int, steps: int) -> None:
    """Of any player, of the truth, of what anybody knows, after moves that wait for a card, and at the end."""
    rng = np.random.default_rng(seed)
    states = walk(game, seed, steps)
    movers = game.current_player(states)
    after = game.information(states, movers.clip(0))
    game.apply(after, np.where(movers < 0, 0, game.legal_actions(states).argmax(axis=1)))
    for records in (states, game.information(states, rng.integers(game.spec.num_players, size=TABLES)), after):
        players = rng.integers(game.spec.num_players, size=TABLES)
        names = ("current_player", "decision_kind", "legal_actions", "is_over", "payoffs", "holders")
        assert all(len(getattr(game, name)(records)) == TABLES for name in names)
        assert len(game.information(records, players)) == TABLES
        if isinstance(game, HasPrivilegedFeatures):
            assert len(game.privileged(records, players)) == TABLES
        weights = rng.random((TABLES, game.spec.num_players, 52))
        known = game.information(records, players)
        for belief in (None, weights, np.zeros_like(weights)):
            assert len(game.determinize(known, players, rng, belief)) == TABLES
        assert len(game.observe(known, players)) == TABLES
        if isinstance(game, HasActionFeatures):
            game.action_features(known, players)


@some
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(0, 60))
def test_illegal_actions_are_refused(game: Game, seed: int, steps: int) -> None:
    states = walk(game, seed, steps)
    actions = game.legal_actions(states).argmax(axis=1)
    for row, player in enumerate(game.current_player(states)):
        forbidden = np.flatnonzero(~game.legal_actions(states)[row])
        if player < 0 or not forbidden.size:
            continue
        wrong = actions.copy()
        wrong[row] = forbidden[seed % forbidden.size]
        kept = states.tobytes()
        with pytest.raises(InvalidArray, match=rf"^actions\[{row}\]={wrong[row]}: must be a legal action of "):
            game.apply(states, wrong)
        assert states.tobytes() == kept


@pytest.mark.parametrize("name", VARIANTS)
def test_an_unchecked_game_plays_the_same(name: str) -> None:
    game = make_game(name)
    bare = unchecked(game)
    one, other = (each.deal(5, np.random.default_rng(3)) for each in (game, bare))
    assert one.tobytes() == other.tobytes()
    assert bare.spec == game.spec
    assert isinstance(bare, type(game))
    assert type(pickle.loads(pickle.dumps(bare))) is type(bare)
    assert unchecked(bare).current_player(one).tolist() == game.current_player(one).tolist()


def test_arrays_that_cannot_be_written_are_not_played_on() -> None:
    game = make_game("open_face")
    states = game.deal(2, np.random.default_rng(0))
    states.flags.writeable = False
    with pytest.raises(InvalidArray, match="writable"):
        game.apply(states, np.zeros(2, dtype=np.int16))


@pytest.mark.parametrize("codes", [3, 100_000])
def test_values_of_codes_fit(codes: int) -> None:
    """Too few vectors, and weights that are not one for each of their columns."""
    game = make_game("poker_squares", features="sparse_lines")
    states = game.deal(2, np.random.default_rng(0))
    with pytest.raises(InvalidArray, match="vectors" if codes == 3 else "weights"):
        game.sparse_play_out(states, SparseLineValues(np.zeros((codes, 4), np.float32), np.zeros(3, np.float32)))  # pyright: ignore
    with pytest.raises(InvalidArray, match="values: must be numbers"):
        game.pattern_play_out(states, np.zeros(codes, np.float32))  # pyright: ignore
