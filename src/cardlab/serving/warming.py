"""Compile and load, beside the first requests, what a game needs: the first move of a day should not wait for that."""

import logging
import threading

import numpy as np

from cardlab.games.catalogue import make_game
from cardlab.serving.deals import Deal
from cardlab.serving.players import Players
from cardlab.serving.settings import SETTINGS
from cardlab.serving.table import Table

_log = logging.getLogger("cardlab.serving")


def warm_up(players: Players) -> threading.Thread:
    """Play the first moves of each game, in a thread that ends with the process."""
    thread = threading.Thread(target=_play_all, args=(players,), name="warm-up", daemon=True)
    thread.start()
    return thread


def _play_all(players: Players) -> None:
    for name in SETTINGS:
        try:
            _play(players, name)
        except Exception:
            _log.exception("%s cannot be played", name)


def _play(players: Players, name: str) -> None:
    game = make_game(name)
    agent = players.load(game, players.advisor(game))
    table = Table(game, Deal(bytes(32)), 0, [agent] * (game.spec.num_players - 1))
    table.play_on()
    rng = np.random.default_rng(0)
    for _ in range(3):
        if table.waits:
            table.answer(int(rng.choice(table.legal())))
            table.play_on()
            table.choices()
            table.news()
