"""Compile kernels and load agents in the background, so that moves and advice do not wait for it.

Tasks run one by one, and only while no requests arrive: first the moves of each game, then advice, searches, and all
other agents. Agents that fail to load are removed from the catalog.

Where the kernels are not compiled yet, a process of its own runs all tasks first. Compilers keep hundreds of megabytes:
the server loads what that process has compiled.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
import torch

from cardlab.core.child_processes import ChildProcess, Report
from cardlab.core.kernel_cache import cache_folder
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game
from cardlab_play.advice import advice, playout_agent
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.deals import Deal
from cardlab_play.errors import one_line
from cardlab_play.offered_games import offered_games
from cardlab_play.options import PlayOptions
from cardlab_play.playouts import analyze
from cardlab_play.table import Table

IDLE_SECONDS = 1.0  # time without requests before the next task starts
POLL_SECONDS = 0.05  # between two checks

_log = logging.getLogger(__name__)


@dataclass
class WarmUp:
    """A thread that runs the warm-up tasks until it is stopped."""

    agents: AgentCatalog
    idle_seconds: Callable[[], float]  # since the last request
    _compiler: ChildProcess | None = field(default=None, init=False)
    _stop: threading.Event = field(default_factory=threading.Event, init=False)

    def start(self) -> None:
        """Start the daemon thread, and before it the process that compiles, where kernels are missing."""
        if not _compiled_mark().exists():
            self._compiler = ChildProcess.start("compiler", compile_kernels, self.agents.options)
        threading.Thread(target=self.run, name="warm-up", daemon=True).start()

    def stop(self) -> None:
        """Start no more tasks, and kill the process that compiles."""
        self._stop.set()
        if self._compiler is not None:
            self._compiler.process.kill()
            self._compiler.process.join()

    def run(self) -> None:
        """Run all tasks in this thread, after those of the process that compiles. A failing task logs one line."""
        if self._compiler is not None:
            wait([self._compiler.process.sentinel])  # `stop` joins: of two threads that do, one sees no exit status
        for name, work in self.tasks():
            while self.idle_seconds() < IDLE_SECONDS and not self._stop.wait(POLL_SECONDS):
                pass
            if self._stop.is_set():
                return
            try:
                work()
            except Exception as error:
                _log.warning("warm-up of %s failed: %s", name, one_line(error))

    def tasks(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """All tasks with their names."""
        games = [make_game(name) for name in offered_games()]
        for kind, work in (("moves", self._play), ("advice", self._advise)):
            for game in games:
                yield f"{kind} of {game.spec.name}", partial(work, game)
        for list_choices in (self._representative_searches, self._agents):
            for game in games:
                for choice in list_choices(game):
                    yield f"{choice.search or choice.agent} at {game.spec.name}", partial(self._decide, game, choice)

    def _play(self, game: Game) -> None:
        """Play the first moves of a game against its advisor."""
        table = self._table(game)
        rng = np.random.default_rng(0)
        for _ in range(3):
            if table.user_to_move:
                table.play_action(int(rng.choice(table.legal_actions())))
                table.play_agents()
            table.legal_moves()
            table.recent_events()

    def _advise(self, game: Game) -> None:
        table, choice = self._table(game), self.agents.advisor(game)
        by, _ = playout_agent(self.agents, game, choice)
        advice(table, self.agents.load(game, choice), by, 2)

    def _representative_searches(self, game: Game) -> list[AgentChoice]:
        """Each search around the advisor and the best scripted agent. Other agents use the same kernels."""
        entries = self.agents.matching_entries(game)
        scripted = next(entry.agent for entry in entries if entry.kind == "scripted")
        chosen = [entry for entry in entries if entry.agent in (self.agents.advisor(game).agent, scripted)]
        return [AgentChoice(entry.agent, search) for entry in chosen for search in entry.searches]

    def _agents(self, game: Game) -> list[AgentChoice]:
        return [AgentChoice(entry.agent) for entry in self.agents.matching_entries(game)]

    def _decide(self, game: Game, choice: AgentChoice) -> None:
        """One decision of the agent. A failing agent is removed from the catalog."""
        table, agent = self._table(game), self.agents.load_offered(game, choice, "play")
        try:
            agent.act(table.info_state(), table.players, np.random.default_rng(0))
        except Exception as error:
            self.agents.exclude(game, choice, one_line(error))
            raise
        analyze(agent, table.info_state(), table.players)

    def _table(self, game: Game) -> Table:
        """A table with the player in seat 0 to move."""
        agent = self.agents.load(game, self.agents.advisor(game))
        table = Table(game, Deal(bytes(32)), 0, [agent] * (game.spec.num_players - 1))
        table.play_agents()
        return table


def compile_kernels(options: PlayOptions, _report: Report) -> None:
    """Run all tasks, which fills the cache of kernels on disk, and mark it as complete."""
    os.nice(10)  # requests go first
    logging.disable()  # the server's own warm-up reports what fails
    torch.set_num_threads(1)
    WarmUp(AgentCatalog(options), lambda: inf).run()
    _compiled_mark().touch()


def _compiled_mark() -> Path:
    """The file that says that all kernels are compiled. Its folder is of these sources only (core/kernel_cache.py)."""
    return cache_folder() / "compiled_by_play"
