"""Random play of cardlab's games and of OpenSpiel's in turn: decisions per second of processor time, the best round.

Run by hand: `python benchmarks/beside_open_spiel.py PYTHON [ROUNDS]`, where PYTHON is that of an environment with
open_spiel. cardlab plays 1,024 tables through the public loop, OpenSpiel's bots in C++ (peers/open_spiel_games.py).
"""

import re
import subprocess
import sys
from pathlib import Path
from time import process_time

import cardlab
from cardlab.games.protocol import Game
from random_play import NUM_TABLES, play_and_redeal

GAMES = ("big2", "five_o", "open_face", "poker_squares", "thirty_one")
PEER_GAMES = ("hearts", "spades", "dou_dizhu")
PEER_SCRIPT = Path(__file__).parent / "peers" / "open_spiel_games.py"
NUM_STEPS = 500
REPEATS = 5  # in a round: the best of short ones is disturbed least by other processes


def decisions_per_second(game: Game, num_steps: int) -> float:
    """Of random play at all tables, with finished games dealt again."""
    began = process_time()
    play_and_redeal(game, num_steps)
    return NUM_TABLES * num_steps / (process_time() - began)


def peer_decisions_per_second(python: str, name: str) -> float:
    """Of OpenSpiel's uniform bots in C++."""
    output = subprocess.run([python, str(PEER_SCRIPT), name], capture_output=True, text=True, check=True).stdout
    found = re.search(r"bots in C\+\+ ([\d,]+)", output)
    assert found, output
    return float(found[1].replace(",", ""))


def main(python: str, rounds: int) -> None:
    games = {name: cardlab.make_game(name) for name in GAMES}
    best = dict.fromkeys((*GAMES, *PEER_GAMES), 0.0)
    for game in games.values():
        decisions_per_second(game, 100)  # loads kernels
    for _ in range(rounds):
        for name, game in games.items():
            speeds = (decisions_per_second(game, NUM_STEPS) for _ in range(REPEATS))
            best[name] = max(best[name], *speeds)
        for name in PEER_GAMES:
            best[name] = max(best[name], peer_decisions_per_second(python, name))
    for name, speed in best.items():
        print(f"{'OpenSpiel ' if name in PEER_GAMES else ''}{name}: {speed:,.0f} decisions/s")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
