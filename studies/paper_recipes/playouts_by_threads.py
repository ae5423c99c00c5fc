"""Playouts that Monte Carlo search makes in a second at Poker Squares with one and with two threads.

Usage: playouts_by_threads.py POLICY. POLICY has the features `paper`. Prints a row for each of six positions of a game
that was played at random: mean playouts of REPEATS searches, which take turns. Needs two idle cores.
"""

import sys
from collections.abc import Sequence

import numpy as np
import torch

import cardlab
from cardlab.agents.registry import make_agent
from cardlab.agents.search_agent import SearchAgent
from cardlab.games.loop import play

PLACED = (1, 4, 8, 12, 16, 20)  # cards on the grid
THREADS = (1, 2)
REPEATS = 6


def main(arguments: Sequence[str]) -> None:
    """Search, and print the table."""
    (policy,) = arguments
    torch.set_num_threads(1)
    game = cardlab.make_game("poker_squares", features="paper")
    text = f"monte_carlo:policy:{policy}:seconds:1:raw_weight:0.2"
    searches = {threads: make_agent(game, f"{text}:threads:{threads}") for threads in THREADS}
    rng = np.random.default_rng(5)
    made = {placed: {threads: list[int]() for threads in THREADS} for placed in PLACED}
    moves_of_game = play(game, game.deal(1, rng), [make_agent(game, "random")], rng)
    for placed, moves in enumerate(moves_of_game):
        if placed not in PLACED:
            continue
        for repeat in range(REPEATS):
            for threads in THREADS if repeat % 2 else reversed(THREADS):
                agent = searches[threads]
                assert isinstance(agent, SearchAgent)
                (result,) = agent.search(moves.info_states, np.zeros(1, dtype=np.int8))
                made[placed][threads].append(result.simulations)
    print("placed  one thread  two threads  ratio")
    for placed, counts in made.items():
        one, two = (np.mean(counts[threads]) for threads in THREADS)
        print(f"{placed:6}  {one:10,.0f}  {two:11,.0f}  {two / one:5.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
