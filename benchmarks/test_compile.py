"""CPU seconds until a fresh process can play: kernels compiled in an empty cache, and loaded from a full one."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.games.make_game import game_names

FOUNDATION = ("poker_squares", "thirty_one")  # together in one process: 30 CPU seconds cold, 2 cached
COLD = {"big2": 60}
CACHED = {"big2": 3}
OTHERS = (30, 2)

FIRST_USE = """
import sys, time
import numba, numpy as np
start = time.process_time()
from cardlab.agents.exploration import RandomAgent
from cardlab.games.make_game import make_game
from cardlab.games.loop import play

for name in sys.argv[1:]:
    game, rng = make_game(name), np.random.default_rng(0)
    states = game.deal(2, rng)
    moves = next(play(game, states, [RandomAgent(game)], rng))
    game.payoffs(states)
    game.decision_kind(states)
    game.observe(moves.info_states, moves.players)
    if hasattr(game, "action_features"):
        game.action_features(moves.info_states, moves.players)
    game.determinize(moves.info_states, moves.players, rng)
    if hasattr(game, "privileged"):
        game.privileged(states, moves.players)
    game.holders(states)
print(time.process_time() - start)
"""


def seconds_to_play(names: Sequence[str], cache: Path) -> float:
    """CPU seconds of a new process, from the import of cardlab to the end of a first use of every method."""
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = str(cache)
    command = [sys.executable, "-c", FIRST_USE, *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.mark.parametrize("names", [FOUNDATION, *((name,) for name in game_names())], ids="+".join)
def test_first_use(benchmark: BenchmarkFixture, tmp_path: Path, names: Sequence[str]) -> None:
    cold = seconds_to_play(names, tmp_path)
    runs: list[float] = []
    benchmark.pedantic(lambda: runs.append(seconds_to_play(names, tmp_path)), rounds=3)
    cached = min(runs)
    benchmark.extra_info["cold_seconds"] = round(cold, 2)
    benchmark.extra_info["cached_seconds"] = round(cached, 2)
    assert cold <= COLD.get(names[0], OTHERS[0])
    assert cached <= CACHED.get(names[0], OTHERS[1])
