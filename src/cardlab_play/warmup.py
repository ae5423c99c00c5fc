"""Compile and load, beside the first requests, what games need: nobody should wait for that at a move or for advice.

Requests go first: nothing is begun while they come. One thing at a time, what most people meet first: the moves of each
game, then advice by its advisor, then its searches, and last every other agent of the lists, so that those that cannot
be loaded are offered no longer.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from cardlab.games.catalogue import make_game
from cardlab.games.protocol import Game
from cardlab_play.advice import How, advice, think
from cardlab_play.beliefs import Beliefs
from cardlab_play.deals import Deal
from cardlab_play.errors import Refusal, one_line
from cardlab_play.players import Player, Players
from cardlab_play.settings import SETTINGS
from cardlab_play.table import Table

QUIET_SECONDS = 1.0  # without a request, before the next thing is begun
REST_SECONDS = 0.05  # between two looks

_log = logging.getLogger(__name__)


@dataclass
class Warming:
    """A thread that does all of it, until it is told to stop."""

    players: Players
    beliefs: Beliefs
    quiet_seconds: Callable[[], float]  # since the last request
    _stop: threading.Event = field(default_factory=threading.Event, init=False)

    def start(self) -> None:
        """Begin; the thread ends with the process."""
        threading.Thread(target=self.run, name="warm-up", daemon=True).start()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stop.set()

    def run(self) -> None:
        """Do everything now; what fails is told in one line each."""
        began = time.monotonic()
        for name, work in self.works():
            if not self._waited_for_quiet():
                return
            try:
                work()
            except Refusal as error:  # an agent that cannot be loaded is left out from now on
                _log.warning("%s: %s", name, error)
            except Exception as error:
                _log.warning("%s cannot be prepared: %s", name, one_line(error))
        _log.info("everything is compiled, after %.0f s", time.monotonic() - began)

    def _waited_for_quiet(self) -> bool:
        """Wait until no requests come; False once it is to stop."""
        while not self._stop.wait(REST_SECONDS):
            if self.quiet_seconds() >= QUIET_SECONDS:
                return True
        return False

    def works(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """All that there is to do, by name."""
        games = {name: make_game(name) for name in SETTINGS}
        for name, game in games.items():
            yield f"moves of {name}", partial(self._play, game)
        for name, game in games.items():
            yield f"advice of {name}", partial(self._advise, game)
        for name, game in games.items():
            for player in self._searching(game):
                yield f"{player.search} at {name}", partial(self._ask, game, player)
        for name, game in games.items():
            for entry in self.players.listed(game):
                yield f"{entry.agent} at {name}", partial(self._ask, game, Player(entry.agent))

    def _play(self, game: Game) -> None:
        """The first moves of a game against its advisor."""
        table = self._table(game)
        rng = np.random.default_rng(0)
        for _ in range(3):
            if table.waits:
                table.answer(int(rng.choice(table.legal())))
                table.play_on()
                table.choices()
                table.news()

    def _advise(self, game: Game) -> None:
        table, agent = self._table(game), self.players.load(game, self.players.advisor(game))
        advice(game, agent, agent, table.known(), table.seats, How(1, self.beliefs.of(game)))

    def _searching(self, game: Game) -> Iterator[Player]:
        """Each search around the advisor and around the best scripted agent: others run the same kernels."""
        entries = self.players.listed(game)
        scripted = [entry.agent for entry in entries if entry.kind == "scripted"]
        for agent in dict.fromkeys((self.players.advisor(game).agent, scripted[0])):
            for entry in entries:
                if entry.agent == agent:
                    yield from (Player(agent, search) for search in entry.searches)

    def _ask(self, game: Game, player: Player) -> None:
        """One decision of `player`, if it plays by the game's usual rules; who fails at it is offered no longer."""
        if not self.players.fits(game, player):
            return
        self.players.check(game, player, "play")
        table, agent = self._table(game), self.players.load(game, player)
        try:
            agent.act(table.known(), table.seats, np.random.default_rng(0))
        except Exception as error:
            self.players.leave_out(game, player, one_line(error))
            raise
        think(game, agent, table.known(), table.seats)

    def _table(self, game: Game) -> Table:
        """A table at which a person in the first seat is to move."""
        agent = self.players.load(game, self.players.advisor(game))
        table = Table(game, Deal(bytes(32)), 0, [agent] * (game.spec.num_players - 1))
        table.play_on()
        return table
