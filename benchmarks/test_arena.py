"""Games per second of a duplicate match between two small networks, on two processes that are already up."""

from collections.abc import Iterator

import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.evaluation.match import play_groups
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import make_lineup
from cardlab.evaluation.workers import Workers
from cardlab.games.make_game import game_names, make_game
from cardlab.networks.mlp_options import MLPOptions

PROCESSES = 2
WIDTHS = (64, 64)
FLOORS = {"big2": 500, "thirty_one": 1_000}  # games (matches) per second
OTHERS = 3_000


@pytest.fixture(params=list(game_names()))
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Two networks at the table (one for one player), the second in the place of everybody else."""
    game = make_game(request.param)
    torch.manual_seed(0)
    first, second = (SoftmaxAgent(game, MLPOptions(widths=WIDTHS).build(game.spec).eval()) for _ in range(2))
    lineup = make_lineup(game, [first, *[second] * (game.spec.num_players - 1)])
    with Workers(game, [lineup], ArenaOptions(processes=PROCESSES)) as started:
        yield started


def test_games_per_second(benchmark: BenchmarkFixture, workers: Workers) -> None:
    games = 2 * PROCESSES * 2048  # two full chunks for each process
    options = ArenaOptions(deals=games // workers.lineups[0].num_seatings, processes=PROCESSES)
    benchmark.pedantic(lambda: play_groups(workers, [[0]], options, lambda _: False), rounds=3, warmup_rounds=1)
    best = games / benchmark.stats.stats.min
    benchmark.extra_info["games_per_second"] = round(best)
    name = workers.game.spec.name
    assert best >= FLOORS.get(name, OTHERS)
