"""What OpenSpiel does not state about a game, read from its type and from random play: sizes, privacy, scales."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from math import prod
from random import Random
from types import ModuleType
from typing import Any, cast

import numpy as np

from cardlab.core.messages import InvalidOption, one_of
from cardlab.games.protocol import Floats

_LARGEST_RECORD = 2**14  # bytes
_LARGEST_NUMBER = 32_000  # actions and chance outcomes are int16
_ERRORS = (RuntimeError, ValueError, LookupError, TypeError)  # what OpenSpiel raises; SpielError is a RuntimeError
_MOVES = 1_500  # of random play; some games never end by it
_COMPARED = 8  # actions of a decision
_CHECKED = 200  # decisions
_MOST_DEALS = 5_000  # sequences of chance outcomes that `determinize` goes through


@dataclass(frozen=True)
class Facts:
    """A game of OpenSpiel, and all that its adapter must know beforehand."""

    game: Any  # pyspiel.Game with turns
    name: str
    shape: tuple[int, ...]  # of the tensor
    has_recall: bool  # the tensor is that of the information state: it holds all that the player has seen
    perfect: bool  # nothing is hidden but chance to come
    public: bool  # all players see each move
    bits: bool  # the tensor has no other numbers than 0 and 1
    scale: float  # by which the tensor is divided
    payoff_scale: float  # standard deviation of payoffs of random play
    deals: int  # sequences of chance outcomes in a game, at most

    @property
    def is_zero_sum(self) -> bool:
        """Whether payoffs add up to 0."""
        return self.game.get_type().utility == library().GameType.Utility.ZERO_SUM

    @property
    def determinizes(self) -> bool:
        """Whether full states can be drawn that agree with what a player knows."""
        return self.perfect or (self.public and self.has_recall and self.deals <= _MOST_DEALS)

    @cached_property
    def record(self) -> np.dtype[np.void]:
        """One game. `mover` is -1 where no one decides; `owner` is that of an InfoState, else -1.

        `history` has actions, chance outcome k as -2 - k, and -1 behind its end. `tensor` is what the owner, or in the
        truth the mover, sees. `pending` is an action whose result the owner cannot see.
        """
        size = prod(self.shape)
        tensor = (np.uint8, -(-size // 8)) if self.bits else (np.float32, size)
        return np.dtype(
            [
                ("seed", np.uint64),
                ("history", np.int16, self.game.max_history_length() + 1),
                ("length", np.int16),
                ("pending", np.int16),
                ("mover", np.int8),
                ("owner", np.int8),
                ("over", np.bool_),
                ("payoffs", np.float32, self.game.num_players()),
                ("legal", np.uint8, -(-self.game.num_distinct_actions() // 8)),
                ("tensor", *tensor),
            ]
        )


def unplayable(text: str, allowed: str) -> InvalidOption:
    """The error for a game of OpenSpiel that cannot be played here."""
    return InvalidOption("game.text", text, allowed)


def library() -> ModuleType:
    """The module of OpenSpiel; InvalidOption where it is not installed."""
    try:
        import pyspiel  # noqa: PLC0415
    except ImportError as error:
        raise InvalidOption("game", "open_spiel", """left out, or pip install 'cardlab[open-spiel]' first""") from error
    return pyspiel


@cache
def read_facts(text: str) -> Facts:
    """The game that `text` names, such as `leduc_poker(players=3)`. Raises InvalidOption for one that cannot be had."""
    pyspiel = library()
    game, name = _load(pyspiel, text)
    kind = game.get_type()
    has_recall = kind.provides_information_state_tensor
    perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    if perfect and kind.provides_observation_tensor:
        has_recall = False
    try:
        shape = tuple(game.information_state_tensor_shape() if has_recall else game.observation_tensor_shape())
        probe = _Probe(game, tensor_reader(game, has_recall))
    except _ERRORS as error:
        raise unplayable(text, f"a game that can be played ({_first_line(error)})") from error
    facts = Facts(
        game,
        name,
        shape,
        has_recall,
        perfect,
        perfect or probe.public,
        probe.bits,
        1.0 if probe.bits else max(1.0, probe.largest),
        payoff_scale=probe.payoff_scale,
        deals=probe.deals,
    )
    if probe.longest > game.max_history_length():
        raise unplayable(text, "a game that ends within the moves and chance outcomes that it states")
    if facts.record.itemsize > _LARGEST_RECORD:
        large = f"a game whose record has at most {_LARGEST_RECORD} bytes; this one has {facts.record.itemsize}"
        raise unplayable(text, large)
    return facts


def _load(pyspiel: ModuleType, text: str) -> tuple[Any, str]:
    """The game with turns, and its name."""
    word = text.partition("(")[0]
    types = pyspiel.GameType
    registered = pyspiel.registered_games()
    kinds = {kind.short_name: kind for kind in registered if kind.dynamics != types.Dynamics.MEAN_FIELD}
    if word not in kinds:
        near = get_close_matches(word, kinds, n=1)
        advice = f" (did you mean {near[0]}?)" if near else ""
        raise unplayable(text, f"a game of OpenSpiel that is no mean-field game{advice}")
    defaults = cast(Mapping[str, Any], kinds[word].parameter_specification)
    try:
        given = pyspiel.game_parameters_from_string(text)
        if given.keys() - {"name", *defaults}:
            raise unplayable(text, f"{word} with its parameters: {one_of(sorted(defaults))}")
        game = pyspiel.load_game(text)
        kind = game.get_type()
        if kind.dynamics == types.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
        sizes = (game.num_distinct_actions(), game.max_chance_outcomes(), game.max_history_length())
    except _ERRORS as error:
        raise unplayable(text, f"a game that OpenSpiel can load ({_first_line(error)})") from error
    allowed = {
        "a game that lists its chance outcomes": kind.chance_mode != types.ChanceMode.SAMPLED_STOCHASTIC,
        "a game with a tensor of what its players see": kind.provides_observation_tensor
        or kind.provides_information_state_tensor,
        f"a game of at most {_LARGEST_NUMBER:,} actions, chance outcomes and moves": 0 < max(sizes) <= _LARGEST_NUMBER,
    }
    for demand, holds in allowed.items():
        if not holds:
            raise unplayable(text, demand)
    return game, _name(word, {key: value for key, value in given.items() if str(defaults.get(key)) != str(value)})


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _name(word: str, parameters: Mapping[str, Any]) -> str:
    """`leduc_poker_players_3`: fit for folders, and for names in MLflow; without parameters at their defaults."""
    parts = [word, *(f"{key}_{value}" for key, value in sorted(parameters.items()) if key != "name")]
    return re.sub(r"[^A-Za-z0-9.-]+", "_", "_".join(parts)).strip("_")


def tensor_reader(game: Any, has_recall: bool) -> Callable[[Any, int], Floats]:
    """A function of state and player: the tensor, float32, in a buffer that the next call overwrites."""
    pyspiel = library()

    def plain(state: Any, player: int) -> Floats:
        found = state.information_state_tensor(player) if has_recall else state.observation_tensor(player)
        return np.array(found, dtype=np.float32)

    try:  # a buffer is much faster than a list, where a game has its own observer
        observer = game.make_observer(pyspiel.IIGObservationType(perfect_recall=has_recall), {})
        found = pyspiel._Observation(game, observer)
        buffer = np.frombuffer(found, np.float32)
        state = next(random_game(game, 0))
        player = state.current_player()
        found.set_from(state, player)
        if not np.array_equal(buffer, plain(state, player)):
            return plain
    except (*_ERRORS, StopIteration):
        return plain

    def read(state: Any, player: int) -> Floats:
        found.set_from(state, player)
        return buffer

    return read


def random_game(game: Any, seed: int) -> Iterator[Any]:
    """Positions with a player to move, and the last one, of one random game; the caller must not change them."""
    random, state = Random(seed), game.new_initial_state()  # noqa: S311
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state = state.child(random.choices(outcomes, weights)[0])
        else:
            yield state
            state = state.child(random.choice(state.legal_actions()))
    yield state


class _Probe:
    """What some random games show."""

    def __init__(self, game: Any, read: Callable[[Any, int], Floats]) -> None:
        self.bits, self.public, self.largest, self.deals, self.longest = True, True, 0.0, 1, 0
        self._payoffs: list[float] = []
        self._game, self._read, self._checked = game, read, 0
        moves, seed = 0, 0
        while moves < _MOVES:
            for state in random_game(game, seed):
                moves += 1
                if state.is_terminal() or moves == 2 * _MOVES:
                    self._end(state)
                    break
                self._look(state)
            seed += 1

    @property
    def payoff_scale(self) -> float:
        """The standard deviation of payoffs, two digits of it; 1 where all are equal."""
        return float(f"{np.std(self._payoffs or [0.0]):.2g}") or 1.0

    def _look(self, state: Any) -> None:
        player = state.current_player()
        tensor = self._read(state, player)
        self.bits &= bool(((tensor == 0) | (tensor == 1)).all())
        self.largest = max(self.largest, float(np.abs(tensor).max(initial=0)))
        if self.public and self._checked < _CHECKED:
            self._checked += 1
            others = (other for other in range(self._game.num_players()) if other != player)
            self.public = all(self._sees(state, other) for other in others)

    def _sees(self, state: Any, other: int) -> bool:
        """Whether the moves from here all look different to another player."""
        children = (state.child(action) for action in state.legal_actions()[:_COMPARED])
        try:
            seen = [self._read(child, other).tobytes() for child in children if not child.is_terminal()]
        except _ERRORS:  # OpenSpiel has no tensor here
            return False
        return len(set(seen)) == len(seen)

    def _end(self, state: Any) -> None:
        """Note what the game paid, and how many deals it could have had."""
        if state.is_terminal():
            self._payoffs += state.returns()
        walked, deals = self._game.new_initial_state(), 1
        for step in state.full_history():
            if walked.is_chance_node():
                deals = min(deals * len(walked.chance_outcomes()), 10**9)
            walked.apply_action(step.action)
        self.deals, self.longest = max(self.deals, deals), max(self.longest, len(state.full_history()))
