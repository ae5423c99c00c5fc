"""Positions that were met, by their histories: a bounded cache, which is never part of a state."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.games.array_checks import InvalidArray
from cardlab.games.protocol import NO_PLAYER, Bools, Floats, States
from cardlab.games.record_arrays import take
from cardlab.integrations.open_spiel.facts import Facts, read_facts, tensor_reader, unplayable

NONE = -1  # behind the end of a history, and for no pending action
HIDDEN = -(2**15)  # a chance outcome in an InfoState
_BYTES = 2**28  # of the records in the cache
_MOST = 2**17  # positions in the cache
_MOST_DEALS = 2**12  # InfoStates whose deals are kept
_Indices = NDArray[np.intp]


class Positions:
    """Records of positions with seed 0 and no owner, and OpenSpiel's states that they were read from."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.lock = RLock()
        self._most = min(_MOST, max(2**10, _BYTES // facts.record.itemsize))
        self._read = tensor_reader(facts.game, facts.has_recall)
        self._deals: dict[bytes, tuple[States, NDArray[np.float64]]] = {}
        self._clear()

    def _clear(self) -> None:
        self._places: dict[bytes, int] = {}
        self._states: list[Any] = []
        self._records = np.zeros(2**8, dtype=self.facts.record)
        self._is_chance = np.zeros(2**8, dtype=np.bool_)
        self._chance: dict[int, tuple[list[int], list[float]]] = {}  # outcomes, and sums of their probabilities
        self._tensors: dict[tuple[int, int], NDArray[Any]] = {}

    def settle(self, records: States, goes_on: Bools) -> States:
        """The positions of the histories of `records` [N], behind the chance that follows where `goes_on` [N].

        Chance outcome k is a function of `seed` and k alone. Seeds are those of `records`, owners are not set.
        """
        with self.lock:
            if len(self._states) > self._most:
                self._clear()
            histories, lengths = np.ascontiguousarray(records["history"]), records["length"].astype(np.intp)
            places = np.array(self._find(histories), dtype=np.intp)
            while (rows := np.flatnonzero(self._is_chance[places] & goes_on)).size:
                drawn = uniforms(records["seed"][rows], lengths[rows]).tolist()
                for row, place, uniform in zip(rows.tolist(), places[rows].tolist(), drawn, strict=True):
                    outcomes, sums = self._chance[place]
                    outcome = outcomes[min(bisect_right(sums, uniform), len(sums) - 1)]
                    histories[row, lengths[row]] = -2 - outcome
                lengths[rows] += 1
                places[rows] = self._find(histories[rows])
            settled = take(self._records, places)
            settled["seed"] = records["seed"]
            return States(settled)

    def tensors(self, records: Any, players: Any) -> NDArray[Any]:
        """[N, …] what `players` [N] see in full states, or in InfoStates whose histories are whole."""
        with self.lock:
            places = self._find(np.ascontiguousarray(records["history"]))
            found = [self._tensor(place, player) for place, player in zip(places, players.tolist(), strict=True)]
        return np.array(found, dtype=self.facts.record["tensor"].base).reshape(records["tensor"].shape)

    def deals(self, record: Any) -> tuple[States, NDArray[np.float64]]:
        """All full positions that agree with one InfoState, and the sums of their probabilities."""
        with self.lock:
            key = record.tobytes()
            if key not in self._deals:
                if len(self._deals) >= _MOST_DEALS:
                    self._deals.clear()
                found = [*self._agreeing(record)]
                histories = np.full((len(found), record["history"].size), NONE, dtype=np.int16)
                for row, (history, _) in enumerate(found):
                    histories[row, : len(history)] = history
                places = self._find(histories)
                sums = np.cumsum([probability for _, probability in found])
                self._deals[key] = States(take(self._records, np.array(places, dtype=np.intp))), sums
            return self._deals[key]

    def state(self, record: Any) -> Any:
        """OpenSpiel's state of a full history; for an InfoState one that looks the same to its owner, None if unknown.

        Do not change it.
        """
        with self.lock:
            hides = not self.facts.perfect and record["owner"] >= 0
            if not hides:
                return self._states[self._find(record["history"][None])[0]]
            if self.facts.determinizes:
                record = next(iter(self.deals(record)[0]), None)
                return None if record is None else self._states[self._find(record["history"][None])[0]]
            owner, records = int(record["owner"]), self._records[: len(self._states)]
            if record["mover"] == owner:
                same = (records["mover"] == owner) & (records["tensor"] == record["tensor"]).all(axis=1)
                return next((self._states[place] for place in np.flatnonzero(same)), None)
            places = np.flatnonzero((records["mover"] == record["mover"]) & (records["over"] == record["over"]))
            same = (place for place in places if (self._tensor(int(place), owner) == record["tensor"]).all())
            return next((self._states[place] for place in same), None)

    def _find(self, histories: NDArray[np.int16]) -> list[int]:
        """Places of the histories [N, H]; those that are not there are added."""
        width = histories.shape[1] * histories.itemsize
        keys: list[bytes] = np.ascontiguousarray(histories).view(np.dtype((np.void, width))).ravel().tolist()
        known = self._places.get
        places = [known(key, NONE) for key in keys]
        if NONE in places:
            for row, key in enumerate(keys):
                if places[row] == NONE:
                    place = known(key, NONE)  # the row before may have added it
                    places[row] = self._add(key, histories[row]) if place == NONE else place
        return places

    def _add(self, key: bytes, history: NDArray[np.int16]) -> int:
        """Place of a new position."""
        length = int(np.count_nonzero(history != NONE))
        moves: list[int] = history[:length].tolist()
        state = self._make_state(history, moves)
        place = len(self._states)
        if place == len(self._records):
            self._records = np.concatenate([self._records, np.zeros_like(self._records)])
            self._is_chance = np.concatenate([self._is_chance, np.zeros_like(self._is_chance)])
        self._states.append(state)
        record = self._records[place]
        record["history"], record["length"], record["pending"] = history, length, NONE
        record["mover"] = record["owner"] = NO_PLAYER
        record["over"] = state.is_terminal()
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            self._is_chance[place] = True
            self._chance[place] = [*outcomes], [*accumulate(probabilities)]
            self._places[key] = place
            return place
        record["payoffs"] = state.returns()
        if not record["over"]:
            player = state.current_player()
            marks = np.zeros(8 * record["legal"].size, dtype=np.bool_)
            marks[state.legal_actions()] = True
            record["mover"], record["legal"] = player, np.packbits(marks, bitorder="little")
            record["tensor"] = self._tensor(place, player)
        self._places[key] = place  # late: an error leaves no half of a record
        return place

    def _make_state(self, history: NDArray[np.int16], moves: list[int]) -> Any:
        """OpenSpiel's state, from that of the position before where it is in the cache."""
        if not moves:
            return self.facts.game.new_initial_state()
        before = history.copy()
        before[len(moves) - 1] = NONE
        place = self._places.get(before.tobytes(), NONE)
        if place != NONE:
            return _moved(self._states[place], moves[-1])
        state = self.facts.game.new_initial_state()
        for move in moves:
            state = _moved(state, move)
        return state

    def _tensor(self, place: int, player: int) -> NDArray[Any]:
        """What a player sees, as in a record."""
        key = (place, player)
        if key not in self._tensors:
            self._tensors[key] = self._packed(self._read(self._states[place], player))
        return self._tensors[key]

    def _packed(self, values: Floats) -> NDArray[Any]:
        """A tensor as in a record."""
        if not self.facts.bits:
            return values / np.float32(self.facts.scale)
        if not ((values == 0) | (values == 1)).all():
            raise unplayable(self.facts.name, "a game whose tensor is 0 and 1 late as in its first moves")
        return np.packbits(values != 0, bitorder="little")

    def _agreeing(self, record: Any) -> Iterator[tuple[list[int], float]]:
        """Full histories that look like an InfoState to its owner, with their probabilities."""
        owner, known = int(record["owner"]), record["history"][: record["length"]].tolist()

        def walk(state: Any, history: list[int], probability: float) -> Iterator[tuple[list[int], float]]:
            if len(history) == len(known):
                here = NO_PLAYER if state.is_terminal() else state.current_player()
                at_rest = not state.is_chance_node() and state.is_terminal() == record["over"]
                same = at_rest and here == record["mover"]
                if same and (self._packed(self._read(state, owner)) == record["tensor"]).all():
                    yield history, probability
            elif state.is_chance_node() == (known[len(history)] == HIDDEN):
                move = known[len(history)]
                if move != HIDDEN:
                    if move in state.legal_actions():
                        yield from walk(state.child(move), [*history, move], probability)
                    return
                for outcome, chance in state.chance_outcomes():
                    yield from walk(state.child(outcome), [*history, -2 - outcome], probability * chance)

        yield from walk(self.facts.game.new_initial_state(), [], 1.0)


def _moved(state: Any, move: int) -> Any:
    """The state after an action, or after a chance outcome, which is below 0."""
    action = move if move >= 0 else -2 - move
    if move >= 0 and action not in state.legal_actions():
        raise InvalidArray(f"actions: {action} must be a legal action in this state")
    return state.child(action)


def uniforms(seeds: NDArray[np.uint64], places: _Indices) -> NDArray[np.float64]:
    """[N] numbers in [0, 1), each a function of a seed and of a place in a history (splitmix64)."""
    mixed = seeds + (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


@cache
def positions_of(text: str) -> Positions:
    """The positions of one game, shared by all its objects of this process."""
    return Positions(read_facts(text))
