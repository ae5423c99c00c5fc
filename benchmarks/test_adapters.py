"""A step of the vectorised adapters against the native loop, at 1,024 tables: both sides in one go, by CPU time.

Both sides play the same: random legal play, the learner at a random seat, its observation and mask made at each of its
decisions, finished games dealt anew. The figure is processor time for each decision of the learner, adapter over
loop.
"""

from collections.abc import Callable, Iterator
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

import cardlab
from cardlab.agents.exploration import RandomAgent
from cardlab.games.legality import choose_uniformly
from cardlab.games.loop import play
from cardlab.games.protocol import Game, InfoStates, Players
from cardlab.games.record_arrays import put, take
from cardlab.integrations import make_sb3, make_vector

pytestmark = pytest.mark.benchmark(timer=process_time)  # all on one thread; other processes do not count

NUM_TABLES = 1024
DECISIONS = 60_000  # of the learner, in each of the turns below
TURNS = 7  # adapter and loop alternate, so that both meet the same machine
MOST = {True: 1.5, False: 4.0}  # without forced decisions all tables wait for the few that have none left
GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("poker_squares", {}),
    ("thirty_one", {}),
    ("five_o", {}),
    ("big2", {}),
    ("open_face", {}),
)


class Learner:
    """Random play by an agent that observes first, as every agent that learns does."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.decisions = 0

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> NDArray[np.int16]:
        """[N] actions."""
        self.game.observe(info_states, players)
        self.decisions += len(info_states)
        return choose_uniformly(self.game.legal_actions(info_states), rng.random(len(info_states), dtype=np.float32))


def native(game: Game, ask_forced: bool) -> Iterator[float]:
    """Seconds a decision of the learner in the loop, turn by turn."""
    rng = np.random.default_rng(0)
    players = game.spec.num_players
    learner = Learner(game)
    agents = [learner, RandomAgent(game)]

    def seat(num_games: int) -> NDArray[np.int8]:
        seats = np.ones((num_games, players), dtype=np.int8)
        seats[np.arange(num_games), rng.integers(players, size=num_games)] = 0
        return seats

    states, seats = game.deal(NUM_TABLES, rng), seat(NUM_TABLES)
    began, learner.decisions = process_time(), 0
    for moves in play(game, states, agents, rng, seats=seats, ask_forced=ask_forced):
        done = moves.rows[moves.over]
        if done.size:
            game.payoffs(take(states, done))
            put(states, done, game.deal(done.size, rng))
            seats[done] = seat(done.size)
        if learner.decisions >= DECISIONS:
            yield (process_time() - began) / learner.decisions
            began, learner.decisions = process_time(), 0


def vector(game: Game, ask_forced: bool) -> Iterator[float]:
    """Seconds a decision through the Gymnasium vector environment."""
    envs = make_vector(game, NUM_TABLES, ask_forced=ask_forced)
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    while True:
        began, decisions = process_time(), 0
        while decisions < DECISIONS:
            mask = infos["action_mask"].view(np.bool_)
            _, _, _, _, infos = envs.step(choose_uniformly(mask, rng.random(NUM_TABLES, dtype=np.float32)))
            decisions += NUM_TABLES
        yield (process_time() - began) / decisions


def stable_baselines(game: Game, ask_forced: bool) -> Iterator[float]:
    """Seconds a decision through the VecEnv of Stable-Baselines3, without what SB3 itself does with masks."""
    envs = make_sb3(game, NUM_TABLES, seed=0, ask_forced=ask_forced)
    rng = np.random.default_rng(0)
    envs.reset()
    while True:
        began, decisions = process_time(), 0
        while decisions < DECISIONS:
            envs.step(choose_uniformly(envs.action_masks(), rng.random(NUM_TABLES, dtype=np.float32)))
            decisions += NUM_TABLES
        yield (process_time() - began) / decisions


@pytest.mark.parametrize("adapter", [vector, stable_baselines], ids=["gymnasium", "sb3"])
@pytest.mark.parametrize("ask_forced", [True, False], ids=["all", "choices"])
@pytest.mark.parametrize(("name", "options"), GAMES, ids=[name for name, _ in GAMES])
def test_a_step_costs_little_more_than_the_loop(
    benchmark: BenchmarkFixture,
    name: str,
    options: dict[str, Any],
    ask_forced: bool,
    adapter: Callable[[Game, bool], Iterator[float]],
) -> None:
    game = cardlab.make_game(name, **options)
    loop, envs = native(game, ask_forced), adapter(game, ask_forced)
    next(loop), next(envs)  # compile, and reach the middle of games
    pairs = [(next(envs), next(loop)) for _ in range(TURNS)]
    benchmark.pedantic(lambda: next(envs), rounds=3)
    ratio = median(ours / native for ours, native in pairs)
    benchmark.extra_info["ratio"] = round(ratio, 3)
    benchmark.extra_info["adapter_decisions_per_second"] = round(1 / min(pair[0] for pair in pairs))
    benchmark.extra_info["loop_decisions_per_second"] = round(1 / min(pair[1] for pair in pairs))
    print(f"\n{name} {options} ask_forced={ask_forced} {adapter.__name__}: {ratio:.2f}", benchmark.extra_info)
    assert ratio <= MOST[ask_forced]
