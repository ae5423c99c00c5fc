"""Plays chunks of deals in one or several processes, with equal results.

The random stream of agents depends on the seed, the chunk and the lineup's place in the job, never on the process.
"""

import os
import pickle
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import load_agent
from cardlab.core.child_processes import ChildProcess, require_main_guard, stop, wait_for
from cardlab.core.files import check_folder
from cardlab.core.messages import InvalidConfiguration, InvalidOption
from cardlab.evaluation.deals import AGENTS, deal_block
from cardlab.evaluation.game_record import GameRecord, GameRecorder, save_record
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.ray_pool import RayPool
from cardlab.evaluation.seating import Lineup
from cardlab.games.agent_protocol import Agent
from cardlab.games.cards.deck import Cards
from cardlab.games.loop import Moves, play
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game, States
from cardlab.games.record_arrays import copied

PARALLEL_GAMES = 2048  # enough that the cost of Python vanishes
PARALLEL_GAMES_TO_STOP = 512  # for matches that may stop early


@dataclass(frozen=True)
class ChunkJob:
    """One chunk: deals `first` to `last` (exclusive) of `seed`, played by each of some lineups in turn."""

    lineups: tuple[int, ...]  # places among the lineups of the Workers
    seed: int
    index: int  # number of the chunk
    first: int
    last: int


class Tally(NamedTuple):
    """Payoffs of one lineup on some deals."""

    points: NDArray[np.float64]  # [D, groups] mean payoff of each group over the deal's games
    shares: NDArray[np.float64]  # [D, groups] mean share of games with the best payoff, ties split


def merge(tallies: Sequence[Tally]) -> Tally:
    """Concatenate the tallies of chunks in order."""
    return Tally(*map(np.concatenate, zip(*tallies, strict=True)))


def make_jobs(
    lineups: Sequence[Lineup], places: Sequence[int], options: ArenaOptions, played: int = 0
) -> Iterator[ChunkJob]:
    """The chunks of a match of the `lineups` at `places` that begin at deal `played` or later.

    They are smaller by default if the match may stop early or agents search.
    """
    chunk = options.chunk or default_chunk([lineups[place] for place in places], options.until is not None)
    for index, first in enumerate(range(0, options.deals, chunk)):
        if first >= played:
            yield ChunkJob(tuple(places), options.seed, index, first, min(first + chunk, options.deals))


def default_chunk(lineups: Sequence[Lineup], stops_early: bool) -> int:
    """Deals of a chunk when none is given."""
    usual = PARALLEL_GAMES_TO_STOP if stops_early else PARALLEL_GAMES
    games = min(lineup.parallel_games or usual for lineup in lineups)
    return -(-games // max(lineup.num_seatings for lineup in lineups))


class ChunkPlayer:
    """Plays the jobs of some lineups; each agent is made once."""

    def __init__(
        self,
        game: Game,
        lineups: Sequence[Lineup],
        records: Path | None = None,
        decks: Cards | None = None,
    ) -> None:
        self.game = game
        self.lineups = lineups
        self._decks = decks
        self._folder = records
        self._loaded: dict[str, Agent] = {}

    def __call__(self, job: ChunkJob) -> tuple[Tally, ...]:
        """One tally for each lineup of `job`."""
        return tuple(self._tally(job, turn) for turn in range(len(job.lineups)))

    def deal(self, job: ChunkJob, turn: int) -> States:
        """[D · S] the deals of `job`, each once for every seating of lineup number `turn` of `job`."""
        deals = deal_block(self.game, job.seed, job.first, job.last, self._decks)
        return States(np.repeat(deals, self.lineups[job.lineups[turn]].num_seatings))

    def moves(self, job: ChunkJob, turn: int, states: States) -> Iterator[Moves]:
        """Play the `states` [D · S] of `deal` in place with lineup number `turn` of `job`."""
        lineup = self.lineups[job.lineups[turn]]
        seats = np.tile(lineup.seatings, (job.last - job.first, 1))
        agents = self.agents(lineup)
        rng = np.random.default_rng(np.random.SeedSequence(job.seed, spawn_key=(AGENTS, job.index, turn)))
        with one_thread():
            yield from play(self.game, states, agents, rng, seats=seats)

    def records(self, job: ChunkJob, turn: int, states: States) -> list[GameRecord]:
        """[D · S] records of the games that `moves` plays."""
        lineup, deals = self.lineups[job.lineups[turn]], copied(states)
        agents, recorder = self.agents(lineup), GameRecorder(len(states))
        for moves in self.moves(job, turn, states):
            recorder.add(moves, agents)
        names = [lineup.seated_names(row % lineup.num_seatings) for row in range(len(states))]
        return [recorder.record(self.game, row, deals[row : row + 1], names[row]) for row in range(len(states))]

    def _tally(self, job: ChunkJob, turn: int) -> Tally:
        lineup, states = self.lineups[job.lineups[turn]], self.deal(job, turn)
        if self._folder is None:
            for _ in self.moves(job, turn, states):
                pass
        else:
            for row, record in enumerate(self.records(job, turn, states)):
                deal, seating = divmod(row, lineup.num_seatings)
                name = f"{job.lineups[turn]}-{job.first + deal}-{seating}.json"
                save_record(record, self._folder / name)
        payoffs = self.game.payoffs(states).astype(np.float64)
        if not np.isfinite(payoffs).all():  # of a user's game
            raise InvalidConfiguration(f"game={self.game.spec.name}: payoffs must be finite")
        return tally(lineup, payoffs.reshape(-1, *lineup.seatings.shape))

    def agents(self, lineup: Lineup) -> list[Agent]:
        """[groups] the agents of `lineup`, each loaded once."""
        for name in lineup.agents:
            if isinstance(name, str) and name not in self._loaded:
                self._loaded[name] = load_agent(self.game, name)
        return [self._loaded[entry] if isinstance(entry, str) else entry for entry in lineup.agents]


def tally(lineup: Lineup, payoffs: NDArray[np.float64]) -> Tally:
    """Mean payoffs and win shares of the groups of `lineup` from `payoffs` [D, S, P] by seat."""
    weights = lineup.weights()
    best = payoffs == payoffs.max(axis=2, keepdims=True)
    shares: NDArray[np.float64] = best / best.sum(axis=2, keepdims=True)
    return Tally(
        np.tensordot(payoffs, weights, axes=([1, 2], [1, 2])),
        np.tensordot(shares, weights, axes=([1, 2], [1, 2])),
    )


@contextmanager
def one_thread() -> Generator[None, None, None]:
    """Run torch on one thread: with more, the order of sums, and so a close choice, may differ."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before: int = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Workers:
    """Plays jobs in one or several processes and returns their tallies in the order of the jobs.

    `lineups` are all lineups of the jobs; `decks` [D, C] orders the cards of their deals. Training-only options of the
    game are off. With `options.records`, a folder, every game is saved there as LINEUP-DEAL-SEATING.json. The launcher
    ray uses all cores of its cluster. InvalidOption for agents that cannot be pickled, for records that cannot be
    written, and for several processes in a script without `if __name__ == "__main__":`.
    """

    def __init__(
        self, game: Game, lineups: Sequence[Lineup], options: ArenaOptions, decks: Cards | None = None
    ) -> None:
        self.game = game = without_training_options(game)
        self.lineups = tuple(lineups)
        processes, records = options.workers_of(lineups), None
        if options.records is not None:
            check_folder("arena.records", options.records)  # before any game is played
            records = Path(options.records)
        self._player = ChunkPlayer(game, self.lineups, records, decks)
        self._pool: _ProcessPool | RayPool | None = None
        if options.launcher == "ray":
            _check_pickles(game, self.lineups, processes)
            self._pool = RayPool(self._player, "arena.launcher")
        elif processes > 1:
            _check_pickles(game, self.lineups, processes)
            require_main_guard("arena.processes", processes)
            self._pool = _ProcessPool(processes, self._player)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def play(self, jobs: Iterable[ChunkJob]) -> Generator[tuple[ChunkJob, tuple[Tally, ...]], None, None]:
        """Each job with its tallies, in order; jobs that were sent are played, also after the generator is closed."""
        if self._pool is not None:
            yield from self._pool.play(jobs)
            return
        for job in jobs:
            yield job, self._player(job)


class _ProcessPool:
    """Plays jobs in processes of this machine, two ahead in each."""

    def __init__(self, processes: int, player: ChunkPlayer) -> None:
        self._processes = processes
        self._player = player
        self._pipes: dict[ChildProcess, Connection] = {}  # for jobs
        self._sent: dict[ChunkJob, ChildProcess] = {}
        self._tallies: dict[ChunkJob, tuple[Tally, ...]] = {}

    def play(self, jobs: Iterable[ChunkJob]) -> Generator[tuple[ChunkJob, tuple[Tally, ...]], None, None]:
        """Each job with its tallies, in order."""
        left = iter(jobs)
        ahead = deque(self._send(job) for job in islice(left, 2 * self._processes))
        while ahead:
            job = ahead.popleft()
            while job not in self._tallies:
                wait_for(self._pipes, seconds=60)
                for child in self._pipes:
                    child.is_running(self._receive)
            yield job, self._tallies.pop(job)
            ahead.extend(self._send(job) for job in islice(left, 1))

    def shutdown(self) -> None:
        """Interrupt the processes: chunks ahead of the last one needed may take minutes."""
        stop(self._pipes)

    def _send(self, job: ChunkJob) -> ChunkJob:
        """Send `job` to the process with the fewest jobs."""
        while len(self._pipes) < self._processes:
            receiver, sender = get_context("spawn").Pipe(duplex=False)
            child = ChildProcess.start("a process of the match", _play_jobs, receiver, self._player)
            self._pipes[child] = sender
            receiver.close()
        jobs = Counter(self._sent.values())
        child = min(self._pipes, key=lambda child: jobs[child])
        self._sent[job] = child
        with suppress(BrokenPipeError):  # it has exited, which `is_running` reports
            self._pipes[child].send(job)
        return job

    def _receive(self, played: tuple[ChunkJob, tuple[Tally, ...]]) -> None:
        job, tallies = played
        self._sent.pop(job, None)  # sent twice, after a closed generator
        self._tallies[job] = tallies


def _play_jobs(jobs: Connection, player: ChunkPlayer, report: Callable[[object], None]) -> None:
    """Play jobs until interrupted; agents are made at their first use, so that errors reach the caller."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    while True:
        job = jobs.recv()
        report((job, player(job)))


def _check_pickles(game: Game, lineups: tuple[Lineup, ...], processes: int) -> None:
    try:
        pickle.dumps((game, lineups))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        allowed = f"1 for agents that cannot be sent to another process ({error}); give their names instead"
        raise InvalidOption("arena.processes", processes, allowed) from error
