"""Many tables with one seat kept free for a learner: what all vectorised adapters step.

Nothing is kept by table in Python: a step is a handful of calls on whole arrays, and the loop of `cardlab.games`
moves everybody else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import load_agent
from cardlab.core.options import InvalidOption, check_whole
from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.legality import forced_moves
from cardlab.games.loop import IllegalAction, play
from cardlab.games.protocol import Bools, Floats, Game, InfoStates, Players, States
from cardlab.games.rows import join, put, take

NO_ROWS = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Turn:
    """All tables where the learner is to move again, and what came of its last moves. Every array is a fresh one."""

    observations: Floats  # [G, F] what the learner sees
    masks: Bools  # [G, A] what it may do
    rewards: Floats  # [G] what it was paid since its last decision
    over: Bools  # [G] whether the game of that decision has ended; the row already shows the next one
    ended: NDArray[np.intp]  # [E] rows where `over`, ascending
    final_observations: Floats  # [E, F] what the learner saw when its game ended
    returns: Floats  # [E] all that it was paid in the game
    lengths: NDArray[np.int64]  # [E] its decisions in the game


@dataclass(frozen=True, slots=True)
class _Ended:
    """Games that ended within one step, as they stood then."""

    rows: NDArray[np.intp]
    states: States
    seats: Players
    lengths: NDArray[np.int64]


def seat_opponents(game: Game, opponents: Sequence[Agent | str] | Agent | str | None) -> list[Agent]:
    """[P − 1] the agents beside the learner: one for each other seat, or the same (default `random`) at all."""
    others = game.spec.num_players - 1
    if opponents is None or isinstance(opponents, str) or not isinstance(opponents, Sequence):
        opponents = [opponents or "random"] * others
    if len(opponents) != others:
        raise InvalidOption("opponents", len(opponents), f"{others} for {game.spec.name}, one for each other seat")
    made: dict[str, Agent] = {}
    for entry in opponents:
        if isinstance(entry, str) and entry not in made:
            made[entry] = load_agent(game, entry)
    return [made[entry] if isinstance(entry, str) else entry for entry in opponents]


class Tables:
    """`num_tables` games in which `opponents` play all seats but the learner's.

    Opponents sit in their order behind the learner, whose seat is `seat`, or drawn anew for each game. A finished game
    is dealt anew in the same step, and the others play on until the learner is to move. With `ask_forced` the learner
    is asked even where it has a single legal action, as other libraries do; without, that is played for it. A game in
    which the learner had no decision at all leaves no trace. The rewards of a game add up to its payoff.
    """

    def __init__(
        self,
        game: Game,
        num_tables: int,
        opponents: Sequence[Agent | str] | Agent | str | None = None,
        *,
        seat: int | None = None,
        ask_forced: bool = True,
    ) -> None:
        check_whole("num_tables", num_tables, 1)
        if seat is not None:
            check_whole("seat", seat, 0, game.spec.num_players - 1)
        self.game = game
        self.num_tables = num_tables
        self.opponents = seat_opponents(game, opponents)
        self.seat = seat
        self.ask_forced = ask_forced
        self.rng = np.random.default_rng()
        self._all = np.arange(num_tables)
        self._agents, self._orders = _seatings(game.spec.num_players, self.opponents)
        self._masks: Bools | None = None

    def reset(self, rng: np.random.Generator, decks: NDArray[np.int8] | None = None) -> Turn:
        """Deal every table anew, from `decks` [G, 52] if given; all chance comes from `rng` from now on."""
        self.rng = rng
        self.states = self.game.deal(self.num_tables, rng, decks)
        self.seats: Players = np.zeros(self.num_tables, dtype=np.int8)
        self._sitting = np.zeros((self.num_tables, self.game.spec.num_players), dtype=np.int8)
        self._take_seats(self._all)
        self._paid: Floats = np.zeros(self.num_tables, dtype=np.float32)
        self._lengths = np.zeros(self.num_tables, dtype=np.int64)
        self._begin_turn()
        return self._finish_turn()

    def step(self, actions: NDArray[np.integer]) -> Turn:
        """Play `actions` [G] for the learner; IllegalAction names the first one that the rules forbid."""
        if self._masks is None:
            raise RuntimeError("reset() comes before step()")
        chosen = check_actions(self._masks, actions, self.game.spec.name)
        self._begin_turn()
        unchecked(self.game).apply(self.states, chosen)
        self._lengths += 1
        return self._finish_turn()

    def known(self, row: int) -> InfoStates:
        """[1] what the learner at table `row` knows."""
        return self.game.information(take(self.states, np.array([row])), self.seats[[row]])

    def _begin_turn(self) -> None:
        self._over: Bools = np.zeros(self.num_tables, dtype=np.bool_)
        self._ended: list[_Ended] = []

    def _finish_turn(self) -> Turn:
        known, masks = self._reach_decisions() if self.ask_forced else self._reach_choices()
        observations = self.game.observe(known, self.seats)
        self._masks = masks
        paid = self._paid_now(self.states, self.seats)
        fresh = self._lengths == 0
        paid[fresh] = 0  # what is paid before the first decision counts with it
        rewards = np.where(fresh, np.float32(0), paid - self._paid)
        ended = _joined(self._ended, self.game.state_dtype)
        finals, returns = np.zeros((0, observations.shape[1]), dtype=np.float32), np.zeros(0, dtype=np.float32)
        if ended.rows.size:  # all of one step at once: they come a few at a time
            finals = self.game.observe(self.game.information(ended.states, ended.seats), ended.seats)
            returns = self._paid_now(ended.states, ended.seats)
            rewards[ended.rows] = returns - self._paid[ended.rows]
        self._paid = paid
        return Turn(observations, masks, rewards, self._over, ended.rows, finals, returns, ended.lengths)

    def _reach_decisions(self) -> tuple[InfoStates, Bools]:
        """Play on until the learner is to move at every table: what it knows there [G], its masks [G, A]."""
        while True:
            waiting = np.flatnonzero(self._movers(self._all) != self.seats)
            if waiting.size == 0:
                known = self.game.information(self.states, self.seats)
                return known, self.game.legal_actions(known)
            self._move(waiting)

    def _reach_choices(self) -> tuple[InfoStates, Bools]:
        """The same, until it has two legal actions or more; single ones are played with the others' moves."""
        known = InfoStates(np.empty(self.num_tables, dtype=self.game.state_dtype))
        masks = np.empty((self.num_tables, self.game.spec.num_actions), dtype=np.bool_)
        waiting = self._all
        while waiting.size:
            mine = self._movers(waiting) == self.seats[waiting]
            rows = waiting[mine]
            here = self.game.information(take(self.states, rows), self.seats[rows])
            legal = self.game.legal_actions(here)
            put(known, rows, here)
            masks[rows] = legal
            moving = ~mine
            moving[mine] = forced_moves(legal) >= 0
            waiting = waiting[moving]
            self._move(waiting)
        return known, masks

    def _movers(self, rows: NDArray[np.intp]) -> Players:
        """[N] who is to move at `rows`, where finished games are dealt anew first."""
        everywhere = rows.size == self.num_tables
        players = self.game.current_player(self.states if everywhere else take(self.states, rows))
        ended = np.flatnonzero(players < 0)
        if ended.size:
            self._deal_anew(rows[ended])
            players[ended] = self.game.current_player(take(self.states, rows[ended]))
        return players

    def _move(self, rows: NDArray[np.intp]) -> None:
        """One step of the loop at `rows`; the learner is there with a single legal action only, and is not asked."""
        if rows.size:
            here = take(self.states, rows)
            next(play(self.game, here, self._agents, self.rng, seats=self._sitting[rows]))
            put(self.states, rows, here)

    def _deal_anew(self, rows: NDArray[np.intp]) -> None:
        """Keep the finished games at `rows` and deal the next ones."""
        decided = np.flatnonzero((self._lengths[rows] > 0) & ~self._over[rows])
        if decided.size:
            ended = rows[decided]
            self._ended.append(_Ended(ended, take(self.states, ended), self.seats[ended], self._lengths[ended]))
            self._over[ended] = True
        put(self.states, rows, self.game.deal(rows.size, self.rng))
        self._take_seats(rows)
        self._lengths[rows] = 0

    def _take_seats(self, rows: NDArray[np.intp]) -> None:
        players = self.game.spec.num_players
        drawn = self.rng.integers(players, size=rows.size, dtype=np.int8) if self.seat is None else np.int8(self.seat)
        self.seats[rows] = drawn
        self._sitting[rows] = self._orders[self.seats[rows]]

    def _paid_now(self, states: States, seats: Players) -> Floats:
        return self.game.payoffs(states)[np.arange(len(states)), seats]


def check_actions(masks: Bools, actions: NDArray[np.integer], name: str) -> NDArray[np.int16]:
    """[N] `actions` as the engine takes them; IllegalAction names the first that `masks` [N, A] forbid."""
    chosen = np.asarray(actions)
    if chosen.shape != masks.shape[:1]:
        raise IllegalAction(f"{name}: actions: must be {len(masks)} numbers, one a table, not of shape {chosen.shape}")
    within = (chosen >= 0) & (chosen < masks.shape[1])
    fits = within & masks[np.arange(len(masks)), np.where(within, chosen, 0)]
    if not fits.all():
        row = int(np.flatnonzero(~fits)[0])
        allowed = np.flatnonzero(masks[row]).tolist()
        raise IllegalAction(f"{name}: action {chosen[row]} is not legal at table {row}; legal: {allowed}")
    return chosen.astype(np.int16)


def _seatings(num_players: int, opponents: Sequence[Agent]) -> tuple[list[Agent], NDArray[np.int8]]:
    """The distinct agents, so that copies are asked at once, and who sits where [P, P] by the learner's seat."""
    agents: list[Agent] = []
    numbers: list[int] = []
    for opponent in opponents:
        found = [index for index, agent in enumerate(agents) if agent is opponent]
        numbers.append(found[0] if found else len(agents))
        if not found:
            agents.append(opponent)
    orders = np.zeros((num_players, num_players), dtype=np.int8)
    for seat in range(num_players):
        for place, number in enumerate(numbers):
            orders[seat, (seat + 1 + place) % num_players] = number
    return agents, orders


def _joined(parts: Sequence[_Ended], dtype: np.dtype[np.void]) -> _Ended:
    """The ended games of one step, in the order of their rows."""
    if not parts:
        return _Ended(NO_ROWS, States(np.zeros(0, dtype)), np.zeros(0, np.int8), np.zeros(0, np.int64))
    rows = np.concatenate([part.rows for part in parts])
    order = np.argsort(rows)
    states = take(join([part.states for part in parts]), order)
    seats = np.concatenate([part.seats for part in parts])[order]
    return _Ended(rows[order], states, seats, np.concatenate([part.lengths for part in parts])[order])
