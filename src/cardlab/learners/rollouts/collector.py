"""Tables that never stop: a finished game is dealt anew at once, and hands over its decisions whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.network_agents import ExploringAgent, SampledActions
from cardlab.agents.random_agent import RandomAgent
from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.loop import Moves, play
from cardlab.games.protocol import Actions, Floats, Game, HasEmptySeats, InfoStates, Players, States
from cardlab.games.rows import copied, join, put, take
from cardlab.learners.rollouts.experience import Experience, generator_state, pack, restore_generator, unpack
from cardlab.learners.rollouts.opponents.protocol import Opponents, Seats
from cardlab.learners.rollouts.opponents.seats import bring_to_table


class _Recorder:
    """The learner at the table: passes on its actions and keeps the rest of its last answer."""

    def __init__(self, sampler: ExploringAgent) -> None:
        self.sampler = sampler
        self.answer: SampledActions | None = None

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        self.answer = self.sampler.sample(info_states, players, rng)
        return self.answer.actions


@dataclass(frozen=True, slots=True)
class _Decisions:
    """Decisions in the order they were made, of games under way or finished."""

    games: NDArray[np.int64]  # [N] number of the game
    players: Players
    info_states: InfoStates
    actions: Actions
    log_probabilities: Floats
    values: Floats
    paid: Floats  # [N] what the player had been paid before
    states: States | None = None  # [N] the truth then, where it is kept

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        arrays = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: array for name, array in arrays.items() if array is not None}

    def pick(self, index: NDArray[Any]) -> "_Decisions":
        return _Decisions.of({name: take(array, index) for name, array in self.columns().items()})

    @staticmethod
    def join(parts: Sequence["_Decisions"]) -> "_Decisions":
        return _Decisions.of({name: join([getattr(part, name) for part in parts]) for name in parts[0].columns()})

    @staticmethod
    def of(arrays: Mapping[str, Any]) -> "_Decisions":
        return _Decisions(**arrays)


@dataclass(frozen=True, slots=True)
class _Results:
    games: NDArray[np.int64]  # [M]
    payoffs: Floats  # [M, P]
    seats: NDArray[np.int8]  # [M, P]


_MOST_MOVES_AHEAD = 64  # of a table's first game: enough for the longest game of fixed length


def _games_under_way(game: Game, tables: int, rng: np.random.Generator) -> States:
    """[tables] games, each after a random number of random moves; fresh where the game would have ended by then."""
    ahead = rng.integers(min(game.spec.max_decisions, _MOST_MOVES_AHEAD), size=tables)
    states = game.deal(tables, rng)
    under_way = copied(states)
    for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng), start=1):
        there = moves.rows[(ahead[moves.rows] == step) & ~moves.over]
        put(under_way, there, take(states, there))
        if step == ahead.max():
            break
    return under_way


class Collector:
    """`tables` games side by side; `collect` plays on until enough decisions stand in finished games.

    Each table begins somewhere in its first game, so that games end evenly over time, also those of one length: a round
    then holds hardly more decisions than were asked for.
    """

    def __init__(
        self,
        game: Game,
        sampler: ExploringAgent,
        opponents: Opponents,
        tables: int,
        rng: np.random.Generator,
        *,
        ask_forced: bool = False,
        keep_states: bool = False,
    ) -> None:
        self.game = unchecked(game)
        self.ask_forced = ask_forced  # whether decisions with a single legal action are samples too
        self.keep_states = keep_states  # whether samples hold the truth, for a critic that sees it
        self.opponents = opponents
        self.rng = rng
        self._learner = _Recorder(sampler)
        self._states = _games_under_way(game, tables, rng)
        self._seats = self._seat(self._states)
        self._games = np.arange(tables)
        self._counts = np.zeros(tables, dtype=np.int64)  # decisions recorded in the game under way
        self._next_game = tables
        self._under_way: list[_Decisions] = []

    @property
    def sampler(self) -> ExploringAgent:
        """The learner's agent, as it plays now."""
        return self._learner.sampler

    @sampler.setter
    def sampler(self, sampler: ExploringAgent) -> None:
        self._learner.sampler = sampler

    def collect(self, num_decisions: int) -> Experience:
        """All decisions of the games that end until `num_decisions` are there: so many, or a little more."""
        results: list[_Results] = []
        finished = 0
        agents: list[Agent] = [self._learner, *self.opponents.agents]
        before = self._truth()
        for moves in play(self.game, self._states, agents, self.rng, seats=self._seats, ask_forced=self.ask_forced):
            self._record(moves, before)
            if moves.over.any():
                ended = moves.rows[moves.over]
                finished += int(self._counts[ended].sum())
                results.append(self._redeal(ended))
                if finished >= num_decisions:
                    break
            before = self._truth()
        return self._hand_over(results)

    def _truth(self) -> States | None:
        """The tables as they stand before a move, which the loop makes in place."""
        return copied(self._states) if self.keep_states else None

    def _record(self, moves: Moves, before: States | None) -> None:
        mine = np.flatnonzero(moves.queried & (moves.agents == 0))
        answer = self._learner.answer
        if mine.size == 0 or answer is None:
            return
        info_states = take(moves.info_states, mine)
        players = moves.players[mine]
        rows = moves.rows[mine]
        paid = self.game.payoffs(info_states)[np.arange(mine.size), players]
        self._under_way.append(
            _Decisions(
                self._games[rows],
                players,
                info_states,
                answer.actions,
                answer.log_probabilities,
                answer.values,
                paid,
                None if before is None else take(before, rows),
            )
        )
        self._counts[rows] += 1

    def _seat(self, dealt: States) -> Seats:
        """[G, P] who sits where in games that were dealt; the learner where a seat is taken."""
        seats = self.opponents.seat(len(dealt), self.game.spec.num_players, self.rng)
        if isinstance(self.game, HasEmptySeats):
            bring_to_table(seats, self.game.occupied_seats(dealt), self.rng)
        return seats

    def _redeal(self, rows: NDArray[np.intp]) -> _Results:
        results = _Results(self._games[rows], self.game.payoffs(take(self._states, rows)), self._seats[rows])
        dealt = self.game.deal(len(rows), self.rng)
        put(self._states, rows, dealt)
        self._seats[rows] = self._seat(dealt)
        self._games[rows] = np.arange(self._next_game, self._next_game + len(rows))
        self._counts[rows] = 0
        self._next_game += len(rows)
        return results

    def _hand_over(self, results: Sequence[_Results]) -> Experience:
        games = np.concatenate([part.games for part in results])
        payoffs = np.concatenate([part.payoffs for part in results])
        seats = np.concatenate([part.seats for part in results])
        decisions = _Decisions.join(self._under_way)
        done = np.isin(decisions.games, games)
        self._under_way = [decisions.pick(~done)]
        decisions = decisions.pick(np.flatnonzero(done))
        decisions = decisions.pick(np.lexsort((decisions.players, decisions.games)))  # stable: keeps time order
        ends = np.ones(len(decisions.games), dtype=np.bool_)
        ends[:-1] = (np.diff(decisions.games) != 0) | (np.diff(decisions.players) != 0)
        order = np.argsort(games)
        final = payoffs[order][np.searchsorted(games[order], decisions.games), decisions.players]
        later = np.where(ends, final, np.append(decisions.paid[1:], np.float32(0)))
        return Experience(
            info_states=decisions.info_states,
            players=decisions.players,
            actions=decisions.actions,
            log_probabilities=decisions.log_probabilities,
            values=decisions.values,
            rewards=(later - decisions.paid).astype(np.float32),
            ends=ends,
            payoffs=payoffs,
            seats=seats,
            states=decisions.states,
        )

    def state_dict(self) -> dict[str, Any]:
        """All that a resumed run needs, games under way included."""
        parts = self._under_way or [self._nothing()]
        decisions = _Decisions.join(parts)
        return {
            "states": pack(self._states),
            "seats": pack(self._seats),
            "games": pack(self._games),
            "counts": pack(self._counts),
            "next_game": self._next_game,
            "under_way": {name: pack(array) for name, array in decisions.columns().items()},
            "rng": generator_state(self.rng),
            "opponents": self.opponents.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`."""
        self._states[:] = unpack(state["states"], self._states)
        self._seats[:] = unpack(state["seats"], self._seats, self._seats.shape[1])
        self._games[:] = unpack(state["games"], self._games)
        self._counts[:] = unpack(state["counts"], self._counts)
        self._next_game = int(state["next_game"])
        nothing = self._nothing().columns()
        packed = state["under_way"]
        self._under_way = [_Decisions.of({name: unpack(packed[name], like) for name, like in nothing.items()})]
        restore_generator(self.rng, state["rng"])
        self.opponents.load_state_dict(state["opponents"])

    def _nothing(self) -> _Decisions:
        empty = np.zeros(0, dtype=np.float32)
        return _Decisions(
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=np.int8),
            InfoStates(np.zeros(0, dtype=self.game.state_dtype)),
            np.zeros(0, dtype=np.int16),
            empty,
            empty,
            empty,
            States(np.zeros(0, dtype=self.game.state_dtype)) if self.keep_states else None,
        )
