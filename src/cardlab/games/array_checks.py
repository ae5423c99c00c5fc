"""Checks of the arrays that callers pass to a game, before a kernel reads them.

Kernels check no index: a deck that is too short or an action that is too large would read or write beyond an array.
`checked` wraps the public methods of a game, `checked_function` a function that takes its records. Both check each
argument by the parameter of the Game protocol that it is given for. Records are trusted: they come from `deal`;
`check_valid` checks those from elsewhere.

Hot loops call `unchecked(game)`, whose methods check nothing: their arrays come from the game itself.
"""

from collections.abc import Callable
from functools import wraps
from inspect import isfunction, signature
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from cardlab.core.messages import as_written
from cardlab.games.legality import legality
from cardlab.games.protocol import AnyStates, ChecksStates, Game, GameSpec, HasHiddenChoices

_Class = TypeVar("_Class")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Array = NDArray[Any]

_UNCHECKED_CLASS = "_unchecked_class"


class InvalidArray(ValueError):
    """An array does not fit the game; the message is one line that names the argument and what it must be."""


def check_floats(name: str, value: object, shape: tuple[int | None, ...]) -> NDArray[np.float32]:
    """`value` as float32; InvalidArray unless it is an array of numbers of this shape (None: any length)."""
    array = _as_array(name, value)
    if array.dtype.kind not in "fiu" or not _has_shape(array, shape):
        raise InvalidArray(f"{name}: must be numbers {_shape_text(shape)}, not {_type_text(array)}")
    return array.astype(np.float32, copy=False)


def check_decks(decks: object, spec: GameSpec, num_games: int | None = None) -> NDArray[np.int8]:
    """`decks` as int8 [num_games, C] (None: any number); InvalidArray unless each row has every card once."""
    last = spec.num_cards - 1
    if last < 0:
        raise InvalidArray(f"decks: must be left out, as {spec.name} has no deck")
    array = _check_whole("decks", decks, (num_games, spec.num_cards), last)
    wrong = (np.sort(array, axis=1) != np.arange(spec.num_cards)).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidArray(f"decks[{row}]={as_written(array[row].tolist())}: must have each card 0 to {last} once")
    return np.ascontiguousarray(array, dtype=np.int8)


def _check_whole(name: str, value: object, shape: tuple[int | None, ...], high: int) -> _Array:
    """`value` as an array of this shape; InvalidArray unless it has whole numbers from 0 to `high` only."""
    array = _as_array(name, value)
    if not _has_shape(array, shape) or (array.dtype.kind not in "iu" and array.size):
        raise InvalidArray(f"{name}: must be whole numbers {_shape_text(shape)}, not {_type_text(array)}")
    if array.size and (array.min() < 0 or array.max() > high):
        place = np.unravel_index(((array < 0) | (array > high)).argmax(), array.shape)
        where = "".join(f"[{index}]" for index in place)
        raise InvalidArray(f"{name}{where}={array[place]}: must be from 0 to {high}")
    return array


def _check_argument(name: str, value: Any, game: Game, num_games: int) -> Any:
    """The argument of the protocol's parameter `name` as kernels take it; other arguments are returned unchanged."""
    spec = game.spec
    match name:
        case "states" | "info_states":
            value = _check_records(name, value, 1, game)
        case "info_state":
            value = _check_records(name, value, 0, game)
        case "num_games":
            value = int(_check_whole(name, value, (), 2**31 - 1))
        case "action":
            value = int(_check_whole(name, value, (), spec.num_actions - 1))
        case "actions":
            value = _check_whole(name, value, (num_games,), spec.num_actions - 1).astype(np.int16, copy=False)
        case "players":
            value = _check_whole(name, value, (num_games,), spec.num_players - 1).astype(np.int8, copy=False)
        case "decks" if value is not None:
            value = check_decks(value, spec, num_games)
        case "seeds" if value is not None:
            value = _check_whole(name, value, (num_games,), 2**64 - 1).astype(np.uint64, copy=False)
        case "weights" if value is not None:
            value = _check_weights(check_floats(name, value, (num_games, spec.num_players, spec.num_cards)))
        case _:
            pass
    return value


def _check_records(name: str, value: Any, num_dimensions: int, game: Game) -> Any:
    is_array = isinstance(value, np.void | np.ndarray)
    if not is_array or value.ndim != num_dimensions or value.dtype != game.state_dtype:
        expected = "an array [games] of {} records" if num_dimensions else "one {} record"
        raise InvalidArray(f"{name}: must be {expected.format(game.spec.name)}, not {_type_text(value)}")
    return np.asarray(value) if num_dimensions else value


def check_valid(name: str, states: AnyStates, game: Game) -> None:
    """InvalidArray unless all `states` can occur in `game`, for records from elsewhere."""
    if isinstance(game, ChecksStates):
        valid = game.are_valid(states)
        if not valid.all():
            raise InvalidArray(f"{name}[{int(valid.argmin())}]: is no record of a game of {game.spec.name}")


def _check_weights(weights: _Array) -> _Array:
    if weights.size and not 0 <= weights.min() <= weights.max() < np.inf:
        raise InvalidArray(f"weights={weights.min():g} to {weights.max():g}: must be finite and at least 0")
    return np.ascontiguousarray(weights)


def checked(game_class: type[_Class]) -> type[_Class]:
    """Decorate a class that implements Game: its public methods raise InvalidArray before a kernel sees bad arrays."""
    methods = {name: method for name, method in vars(game_class).items() if isfunction(method) and name[0] != "_"}
    for name, method in methods.items():
        setattr(game_class, name, _with_checks(method, None))
    plain = type(game_class.__name__, (game_class,), {**methods, "__reduce__": _reduce_unchecked})
    setattr(game_class, _UNCHECKED_CLASS, plain)
    return game_class


def checked_function(game_class: type[Any]) -> Callable[[_Function], _Function]:
    """Decorate a function that takes records of a game: it raises InvalidArray for arrays that do not fit."""
    return lambda function: cast(_Function, _with_checks(function, unchecked(game_class())))


def _with_checks(function: Callable[..., Any], game: Game | None) -> Callable[..., Any]:
    """`function` with checked arguments; `game` is None for a method, whose `self` is the game."""
    parameters = signature(function)
    plays = function.__name__ in ("apply", "observe_afterstates")

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = parameters.bind(*args, **kwargs).arguments
        if game is None:
            arguments["self"] = unchecked(arguments["self"])
        own = arguments["self"] if game is None else game
        records, num_games = np.empty(0), 0
        for name, given in arguments.items():
            arguments[name] = value = _check_argument(name, given, own, num_games)
            if name == "num_games":
                num_games = value
            elif name in ("states", "info_states"):
                records, num_games = value, len(value)
        if plays:
            _check_legal(own, records, arguments["actions"])
        return function(**arguments)

    return call


def _check_legal(game: Game, states: Any, actions: _Array) -> None:
    """Check that `states` is writable and `actions` are legal; rows without a current player are skipped."""
    if not states.flags.writeable:
        raise InvalidArray("states: must be a writable array")
    name = game.spec.name
    wrong = ~legality(game, states).are_legal(actions) & (game.current_player(states) >= 0)
    if isinstance(game, HasHiddenChoices):
        wrong &= ~game.hidden_choices(states)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidArray(f"actions[{row}]={actions[row]}: must be a legal action of {name} in this state")


def unchecked(game: Game) -> Game:
    """`game` without checks, for loops whose arrays come from the game itself."""
    plain = vars(type(game)).get(_UNCHECKED_CLASS)
    return game if plain is None else _with_class(game, plain)


def _with_class(game: object, game_class: type[Any]) -> Any:
    """`game` as an instance of `game_class`, with its options and cached properties."""
    other = object.__new__(game_class)
    object.__setattr__(other, "__dict__", vars(game))
    return other


def _reduce_unchecked(game: Game) -> tuple[Callable[[Game], Game], tuple[Game]]:
    """Pickle an unchecked game as its checked game, whose class can be imported."""
    return unchecked, (cast(Game, _with_class(game, type(game).__bases__[0])),)


def _as_array(name: str, value: object) -> _Array:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InvalidArray(f"{name}: must be an array; {error}") from None


def _has_shape(array: _Array, shape: tuple[int | None, ...]) -> bool:
    return array.ndim == len(shape) and all(want in (None, size) for want, size in zip(shape, array.shape, strict=True))


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("any" if length is None else str(length) for length in shape) + "]"


def _type_text(value: object) -> str:
    if not isinstance(value, np.ndarray | np.generic):
        return type(value).__name__
    dtype = value.dtype
    return f"{'records of another kind' if dtype.names else dtype} {_shape_text(value.shape)}"
