"""Play of the champions that encode lines, lines that are alike once and each by itself: both sides in one run."""

import time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.registry import load_agent
from cardlab.games.loop import play_out
from cardlab.games.make_game import make_game
from cardlab.networks.lines import LineEncoder

TRIES = 5
LEAST = 1.05  # times as fast


@pytest.mark.benchmark(group="repeats")
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(("name", "games"), [("poker_squares", 1000), ("five_o", 100), ("open_face", 500)])
def test_lines_that_are_alike_are_encoded_once(
    benchmark: BenchmarkFixture, monkeypatch: pytest.MonkeyPatch, name: str, games: int
) -> None:
    game = make_game(name)
    champion = load_agent(game, "champion")
    spent: dict[str, list[float]] = {"once": [], "each": []}

    def play_both() -> None:
        for way, times in spent.items():
            with monkeypatch.context() as patched:
                if way == "each":
                    patched.setattr(LineEncoder, "encode_distinct", lambda *_: None)
                states = game.deal(games, np.random.default_rng(5))
                start = time.process_time()
                play_out(game, states, [champion] * game.spec.num_players, np.random.default_rng(6))
                times.append((time.process_time() - start) / games)

    benchmark.pedantic(play_both, rounds=TRIES, warmup_rounds=1)
    once, each = (1000 * min(times) for times in spent.values())
    benchmark.extra_info |= {"milliseconds_a_game": round(once, 3), "each_by_itself": round(each, 3)}
    print(f"{name}: {once:.2f} ms a game, {each:.2f} with each line by itself: {each / once:.2f} times")
    assert each / once >= LEAST
