"""Collection of experience from parallel games; a finished game is dealt again at once and hands over its decisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.exploration import ExploringAgent, RandomAgent, SampledActions
from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.loop import Moves, play
from cardlab.games.protocol import Actions, Bools, Floats, Game, HasEmptySeats, InfoStates, Players, States
from cardlab.games.record_arrays import copied, put, take
from cardlab.learners.rollouts.experience import Columns, Experience, generator_state, pack, restore_generator, unpack
from cardlab.learners.rollouts.opponents.protocol import Opponents, Seats, move_learner_to_occupied_seat

_MAX_FIRST_MOVES = 64  # random moves before collection; covers the longest game of fixed length
_SMALLEST = 2  # decisions in a rollout: advantages are standardised, which takes two


class _RecordingAgent:
    """Plays as the learner's agent and keeps its last output."""

    def __init__(self, agent: ExploringAgent) -> None:
        self.agent = agent
        self.output: SampledActions | None = None

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        self.output = self.agent.sample(info_states, players, rng)
        return self.output.actions


@dataclass(frozen=True, slots=True)
class _Decisions(Columns):
    """Decisions in time order, of unfinished and finished games."""

    games: NDArray[np.int64]  # [N] number of the game
    rollouts: NDArray[np.int64]  # [N] number of the rollout in which it was played
    players: Players
    info_states: InfoStates
    actions: Actions
    log_probabilities: Floats
    values: Floats
    paid: Floats  # [N] the player's payoff up to the decision
    states: States | None = None  # [N] complete states, if they are kept


_DTYPES: dict[str, Any] = {
    "games": np.int64,
    "rollouts": np.int64,
    "players": np.int8,
    "actions": np.int16,
    "log_probabilities": np.float32,
    "values": np.float32,
    "paid": np.float32,
}
"""Numbers of _Decisions in a checkpoint."""


@dataclass(frozen=True, slots=True)
class _Results(Columns):
    games: NDArray[np.int64]  # [M]
    payoffs: Floats  # [M, P]
    seats: NDArray[np.int8]  # [M, P]


def _deal_in_progress(game: Game, num_games: int, rng: np.random.Generator) -> States:
    """Games after a random number of random moves each; a game that would be over by then is at its start."""
    num_moves = rng.integers(min(game.spec.max_decisions, _MAX_FIRST_MOVES), size=num_games)
    states = game.deal(num_games, rng)
    in_progress = copied(states)
    for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng), start=1):
        reached = moves.rows[(num_moves[moves.rows] == step) & ~moves.over]
        put(in_progress, reached, take(states, reached))
        if step == num_moves.max():
            break
    return in_progress


def _by_player(decisions: _Decisions) -> NDArray[np.intp]:
    """An order in which the decisions of one player in one game are adjacent; it keeps the order of time."""
    return np.lexsort((decisions.players, decisions.games))


def _last_of_players(decisions: _Decisions) -> Bools:
    """[N] whether a decision, in the order `_by_player`, is the last of its player in its game."""
    last = np.ones(len(decisions.games), dtype=np.bool_)
    last[:-1] = (np.diff(decisions.games) != 0) | (np.diff(decisions.players) != 0)
    return last


def _bootstrap_values(decisions: _Decisions, results: _Results, waiting: _Decisions) -> tuple[Floats, Floats]:
    """[N] payoff and [N] value at what follows a player's last decision: the end of the game, or one in `waiting`."""
    paid, values = (np.zeros(len(decisions.games), dtype=np.float32) for _ in range(2))
    over = np.isin(decisions.games, results.games)
    order = np.argsort(results.games)
    places = np.searchsorted(results.games[order], decisions.games[over])
    paid[over] = results.payoffs[order][places, decisions.players[over]]
    num_players = results.payoffs.shape[1]
    keys, wanted = (part.games * num_players + part.players for part in (waiting, decisions.take(~over)))
    places = np.searchsorted(keys, wanted)
    paid[~over], values[~over] = waiting.paid[places], waiting.values[places]
    return paid, values


class Collector:
    """`num_games` parallel games; `collect` continues them until finished games hold enough decisions.

    With `cut` it stops after enough decisions of all games and returns each whose player has decided again or whose
    game is over. The last decision of each player in a running game stays for the next rollout.

    The games begin at random moments of their course, so that they end evenly over time, also games of fixed length.
    """

    def __init__(
        self,
        game: Game,
        agent: ExploringAgent,
        opponents: Opponents,
        num_games: int,
        rng: np.random.Generator,
        *,
        ask_forced: bool = False,
        keep_states: bool = False,
        cut: bool = False,
    ) -> None:
        self.game = unchecked(game)
        self.agent = agent  # the learner's agent: the behaviour policy
        self.ask_forced = ask_forced  # whether forced moves are samples, too
        self.keep_states = keep_states  # whether samples hold complete states, for a critic that sees hidden cards
        self.cut = cut
        self.opponents = opponents
        self.rng = rng
        self._states = _deal_in_progress(game, num_games, rng)
        self._seats = self._assign_seats(self._states)
        self._games = np.arange(num_games)
        self._counts = np.zeros(num_games, dtype=np.int64)  # decisions recorded in each unfinished game
        self._next_game = num_games
        self._unfinished: list[_Decisions] = []
        self._rollout = 0  # number of the rollout that is played
        self._surplus = 0  # decisions returned beyond those asked for
        self.mean_age = 0.0  # rollouts since the decisions of the last one were played, on average

    def collect(self, num_decisions: int) -> Experience:
        """The decisions of the next games that finish, or with `cut` of all games.

        On average `num_decisions`: what one rollout has more, the next has less.
        """
        least = self._seats.size + _SMALLEST if self.cut else num_decisions // 2  # with `cut` each seat keeps one back
        wanted = max(1, num_decisions - self._surplus, min(num_decisions, least))
        seats = self._seats[:0].copy()
        results = [_Results(self._games[:0], np.zeros(seats.shape, np.float32), seats)]
        finished = 0
        learner = _RecordingAgent(self.agent)
        agents: list[Agent] = [learner, *self.opponents.agents]
        before = self._kept_states()
        for moves in play(self.game, self._states, agents, self.rng, seats=self._seats, ask_forced=self.ask_forced):
            recorded = self._record(moves, learner.output, before)
            finished += recorded if self.cut else 0
            if moves.over.any():
                ended = moves.rows[moves.over]
                finished += 0 if self.cut else int(self._counts[ended].sum())
                results.append(self._redeal(ended))
            if finished >= wanted:
                break
            before = self._kept_states()
        experience = self._take_ready(_Results.join(results))
        self._surplus += len(experience) - num_decisions
        self._rollout += 1
        return experience

    def _kept_states(self) -> States | None:
        """A copy of the states before a move, which the loop applies in place."""
        return copied(self._states) if self.keep_states else None

    def _record(self, moves: Moves, output: SampledActions | None, before: States | None) -> int:
        """Keep the learner's decisions; returns their number."""
        mine = np.flatnonzero(moves.queried & (moves.agents == 0))
        if mine.size == 0 or output is None:
            return 0
        info_states = take(moves.info_states, mine)
        players = moves.players[mine]
        rows = moves.rows[mine]
        paid = self.game.payoffs(info_states)[np.arange(mine.size), players]
        self._unfinished.append(
            _Decisions(
                self._games[rows],
                np.full(mine.size, self._rollout),
                players,
                info_states,
                output.actions,
                output.log_probabilities,
                output.values,
                paid,
                None if before is None else take(before, rows),
            )
        )
        self._counts[rows] += 1
        return mine.size

    def _assign_seats(self, dealt: States) -> Seats:
        """[G, P] agents at the seats of new games, -1 at empty seats; the learner gets an occupied seat."""
        seats = self.opponents.assign_seats(len(dealt), self.game.spec.num_players, self.rng)
        if isinstance(self.game, HasEmptySeats):
            occupied = self.game.occupied_seats(dealt)
            move_learner_to_occupied_seat(seats, occupied, self.rng)
            seats[~occupied] = -1
        return seats

    def _redeal(self, rows: NDArray[np.intp]) -> _Results:
        results = _Results(self._games[rows], self.game.payoffs(take(self._states, rows)), self._seats[rows])
        dealt = self.game.deal(len(rows), self.rng)
        put(self._states, rows, dealt)
        self._seats[rows] = self._assign_seats(dealt)
        self._games[rows] = np.arange(self._next_game, self._next_game + len(rows))
        self._counts[rows] = 0
        self._next_game += len(rows)
        return results

    def _take_ready(self, results: _Results) -> Experience:
        """The decisions that are ready, which are then forgotten here: those of the games in `results` at least."""
        decisions = _Decisions.join(self._unfinished)
        ready = np.isin(decisions.games, results.games)
        if self.cut:
            decisions = decisions.take(_by_player(decisions))
            ready = np.isin(decisions.games, results.games) | ~_last_of_players(decisions)
        waiting = decisions.take(~ready)
        self._unfinished = [waiting]
        decisions = decisions.take(np.flatnonzero(ready))
        self.mean_age = float((self._rollout - decisions.rollouts).mean())
        decisions = decisions.take(_by_player(decisions))
        ends = _last_of_players(decisions)
        final, next_values = _bootstrap_values(decisions, results, waiting)
        later = np.where(ends, final, np.append(decisions.paid[1:], np.float32(0)))
        return Experience(
            info_states=decisions.info_states,
            players=decisions.players,
            actions=decisions.actions,
            log_probabilities=decisions.log_probabilities,
            values=decisions.values,
            rewards=(later - decisions.paid).astype(np.float32),
            ends=ends,
            payoffs=results.payoffs,
            seats=results.seats,
            states=decisions.states,
            next_values=np.where(ends, next_values, np.float32(0)) if self.cut else None,
        )

    def state_dict(self) -> dict[str, Any]:
        """The games, their recorded decisions, the generator and the opponents, for a checkpoint."""
        unfinished = _Decisions.join(self._unfinished).columns() if self._unfinished else {}
        return {
            "states": pack(self._states),
            "seats": pack(self._seats),
            "games": pack(self._games),
            "counts": pack(self._counts),
            "next_game": self._next_game,
            "rollout": self._rollout,
            "surplus": self._surplus,
            "unfinished": {name: pack(array) for name, array in unfinished.items()},
            "rng": generator_state(self.rng),
            "opponents": self.opponents.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the content of `state_dict`."""
        self._states[:] = unpack(state["states"], self._states)
        self._seats[:] = unpack(state["seats"], self._seats, self._seats.shape[1])
        self._games[:] = unpack(state["games"], self._games)
        self._counts[:] = unpack(state["counts"], self._counts)
        self._next_game = int(state["next_game"])
        self._rollout, self._surplus = int(state["rollout"]), int(state["surplus"])
        dtypes = _DTYPES | {"info_states": self.game.state_dtype, "states": self.game.state_dtype}
        unfinished = {name: unpack(packed, np.dtype(dtypes[name])) for name, packed in state["unfinished"].items()}
        self._unfinished = [_Decisions.of(unfinished)] if unfinished else []
        restore_generator(self.rng, state["rng"])
        self.opponents.load_state_dict(state["opponents"])
