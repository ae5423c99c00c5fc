"""Checks of the arrays that callers pass to a game, before a kernel reads them.

Kernels check no index: a deck that is too short or an action that is too large would read or write beyond an array.
`checked` wraps every public method of a game; `checked_function` wraps other functions that take its records. An
argument's name (`states`, `players`, `actions`, …) selects its check. A check of shape and type costs a few
microseconds; players, actions, decks and weights are also read. Records are trusted: they come from `deal`.

Hot loops call `unchecked(game)`, whose methods check nothing: their arrays come from the game itself.
"""

from collections.abc import Callable
from functools import wraps
from inspect import Signature, isfunction, signature
from numbers import Integral
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import as_written
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.protocol import Actions, AnyStates, Bools, Game, has_hidden_choices

_Class = TypeVar("_Class")
_Function = TypeVar("_Function", bound=Callable[..., Any])

_NO_DEFAULT = Signature.empty
_MAX_GAMES = 2**31 - 1
_UNCHECKED_CLASS = "_unchecked_class"


class InvalidArray(ValueError):
    """An array does not fit the game; the message is one line that names the argument and what it must be."""


class ArrayLimits(NamedTuple):
    """Sizes of one game that its arrays must match."""

    game: str
    record: np.dtype[np.void]
    num_players: int
    num_actions: int


def _limits_of(game: Game) -> ArrayLimits:
    spec = game.spec
    return ArrayLimits(spec.name, game.state_dtype, spec.num_players, spec.num_actions)


def checked(game_class: type[_Class]) -> type[_Class]:
    """Decorate a class that implements Game: its public methods raise InvalidArray before a kernel sees bad arrays."""
    methods: dict[str, Any] = {name: method for name, method in vars(game_class).items() if _takes_arrays(name, method)}
    for name, method in methods.items():
        setattr(game_class, name, _checked_method(name, method))
    plain = type(game_class.__name__, (game_class,), {**methods, "__reduce__": _reduce_unchecked})
    setattr(game_class, _UNCHECKED_CLASS, plain)
    return game_class


def checked_function(game_class: type[Any]) -> Callable[[_Function], _Function]:
    """Decorate a function that takes records of a game: it raises InvalidArray for arrays that do not fit."""
    limits = _limits_of(game_class())

    def decorate(function: _Function) -> _Function:
        parameters = signature(function)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            arguments = _bind_arguments(parameters, args, kwargs)
            _check_all(limits, arguments)
            return function(**arguments)

        return cast(_Function, call)

    return decorate


def unchecked(game: Game) -> Game:
    """`game` without checks, for loops whose arrays come from the game itself."""
    plain = vars(type(game)).get(_UNCHECKED_CLASS)
    return game if plain is None else _with_class(game, plain)


def check_decks(decks: NDArray[np.integer], num_games: int) -> NDArray[np.int8]:
    """`decks` as [G, 52] int8; InvalidArray unless it has `num_games` rows, each an order of the 52 cards."""
    array = _whole_numbers("decks", decks, (num_games, NUM_CARDS))
    wrong = (np.sort(array, axis=1) != np.arange(NUM_CARDS)).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidArray(f"decks[{row}]={as_written(array[row].tolist())}: must have each card 0 to 51 once")
    return np.ascontiguousarray(array, dtype=np.int8)


def check_floats(name: str, value: object, shape: tuple[int | None, ...]) -> NDArray[np.float32]:
    """`value` as float32; InvalidArray unless it is an array of numbers of this shape (None: any length)."""
    array = _as_array(name, value)
    fits = array.ndim == len(shape) and all(want in (None, size) for want, size in zip(shape, array.shape, strict=True))
    if array.dtype.kind not in "fiu" or not fits:
        raise InvalidArray(f"{name}: must be numbers {_shape_text(shape)}, not {_type_text(array)}")
    return array.astype(np.float32, copy=False)


def _takes_arrays(name: str, method: object) -> bool:
    return isfunction(method) and not name.startswith("_") and not _CHECKED.isdisjoint(signature(method).parameters)


def _checked_method(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    parameters = _without_self(signature(method))
    names = tuple(parameters.parameters)
    applies = name in ("apply", "observe_afterstates")

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        plain = unchecked(self)
        arguments = _bind_arguments(parameters, args, kwargs)
        _check_all(_limits_of(plain), arguments)
        if applies:
            _check_legal(plain, arguments[names[0]], arguments["actions"])
        return method(plain, **arguments)

    return call


def _without_self(parameters: Signature) -> Signature:
    return parameters.replace(parameters=list(parameters.parameters.values())[1:])


def _bind_arguments(parameters: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call in the order of `parameters`; TypeError for a missing or unknown one."""
    names = list(parameters.parameters)
    count = len(args)
    missing = count < len(names) and parameters.parameters[names[count]].default is _NO_DEFAULT
    if kwargs or count > len(names) or missing:
        return parameters.bind(*args, **kwargs).arguments
    return dict(zip(names, args, strict=False))


def _check_all(limits: ArrayLimits, arguments: dict[str, Any]) -> None:
    """Check `arguments` in place; arrays are cast to the types that kernels take."""
    num_games = 0
    for name, value in arguments.items():
        if name in ("states", "info_states"):
            arguments[name] = _records(name, value, limits)
            num_games = len(arguments[name])
        elif name == "num_games":
            arguments[name] = num_games = _whole_number(name, value, _MAX_GAMES)
        elif name == "info_state":
            _check_record(value, limits)
        elif name == "action":
            arguments[name] = _whole_number(name, value, limits.num_actions - 1)
        elif name in _CHECKS and (value is not None or name not in _OPTIONAL):
            arguments[name] = _CHECKS[name](value, num_games, limits)


def _records(name: str, value: object, limits: ArrayLimits) -> NDArray[np.void]:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or not _is_record(value.dtype, limits):
        raise InvalidArray(f"{name}: must be an array [games] of {limits.game} records, not {_type_text(value)}")
    return value if type(value) is np.ndarray else np.asarray(value)


def _check_record(value: object, limits: ArrayLimits) -> None:
    if not isinstance(value, np.void | np.ndarray) or value.ndim or not _is_record(value.dtype, limits):
        raise InvalidArray(f"info_state: must be one {limits.game} record, not {_type_text(value)}")


def _is_record(dtype: np.dtype[Any], limits: ArrayLimits) -> bool:
    return dtype is limits.record or dtype == limits.record


def _check_players(value: object, num_games: int, limits: ArrayLimits) -> NDArray[np.int8]:
    players = _whole_numbers("players", value, (num_games,))
    _check_bounds("players", players, limits.num_players - 1)
    return players.astype(np.int8, copy=False)


def _check_actions(value: object, num_games: int, limits: ArrayLimits) -> Actions:
    actions = _whole_numbers("actions", value, (num_games,))
    _check_bounds("actions", actions, limits.num_actions - 1)
    return actions.astype(np.int16, copy=False)


def _check_decks(value: Any, num_games: int, _: ArrayLimits) -> NDArray[np.int8]:
    return check_decks(value, num_games)


def _check_seeds(value: object, num_games: int, _: ArrayLimits) -> NDArray[np.uint64]:
    seeds = _whole_numbers("seeds", value, (num_games,))
    if seeds.dtype.kind == "i" and seeds.size and seeds.min() < 0:
        raise InvalidArray(f"seeds={seeds.min()}: must be whole numbers of at least 0")
    return seeds.astype(np.uint64, copy=False)


def _check_weights(value: object, num_games: int, limits: ArrayLimits) -> NDArray[np.float32]:
    weights = check_floats("weights", value, (num_games, limits.num_players, NUM_CARDS))
    if weights.size and not 0 <= weights.min() <= weights.max() < np.inf:
        raise InvalidArray(f"weights={weights.min():g} to {weights.max():g}: must be finite and at least 0")
    return np.ascontiguousarray(weights)


_CHECKS: dict[str, Callable[[Any, int, ArrayLimits], Any]] = {
    "players": _check_players,
    "actions": _check_actions,
    "decks": _check_decks,
    "seeds": _check_seeds,
    "weights": _check_weights,
}
_OPTIONAL = {"decks", "seeds", "weights"}
_CHECKED = {*_CHECKS, "states", "info_states", "num_games", "info_state", "action"}


def _check_legal(game: Game, states: AnyStates, actions: Actions) -> None:
    """Check that `states` is writable and `actions` are legal; rows without a current player are skipped."""
    if not states.flags.writeable:
        raise InvalidArray("states: must be a writable array")
    allowed: Bools = game.legal_actions(states)[np.arange(len(states)), actions]
    wrong = ~allowed & (game.current_player(states) >= 0)
    name = game.spec.name
    if has_hidden_choices(game):
        wrong &= ~game.hidden_choices(states)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidArray(f"actions[{row}]={actions[row]}: must be a legal action of {name} in this state")


def _check_bounds(name: str, array: NDArray[np.integer], high: int) -> None:
    if array.size and (array.min() < 0 or array.max() > high):
        row = int(((array < 0) | (array > high)).argmax())
        raise InvalidArray(f"{name}[{row}]={array[row]}: must be from 0 to {high}")


def _whole_number(name: str, value: object, high: int) -> int:
    whole = type(value) is int or (not isinstance(value, bool) and isinstance(value, Integral))
    if not whole or not 0 <= int(cast(int, value)) <= high:
        raise InvalidArray(f"{name}={as_written(value)}: must be a whole number from 0 to {high}")
    return int(cast(int, value))


def _whole_numbers(name: str, value: object, shape: tuple[int, ...]) -> NDArray[np.integer]:
    array = _as_array(name, value)
    if array.shape != shape or (array.dtype.kind not in "iu" and array.size):
        raise InvalidArray(f"{name}: must be whole numbers {_shape_text(shape)}, not {_type_text(array)}")
    return array


def _as_array(name: str, value: object) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InvalidArray(f"{name}: must be an array; {error}") from None


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("any" if length is None else str(length) for length in shape) + "]"


def _type_text(value: object) -> str:
    if not isinstance(value, np.ndarray | np.generic):
        return type(value).__name__
    dtype = value.dtype
    return f"{'records of another kind' if dtype.names else dtype} {_shape_text(value.shape)}"


def _with_class(game: object, game_class: type[Any]) -> Any:
    """`game` as an instance of `game_class`, with its options and cached properties."""
    other = object.__new__(game_class)
    object.__setattr__(other, "__dict__", vars(game))
    return other


def _reduce_unchecked(game: Game) -> tuple[Callable[[Game], Game], tuple[Game]]:
    """Pickle an unchecked game as its checked game, whose class can be imported."""
    return unchecked, (cast(Game, _with_class(game, type(game).__bases__[0])),)
