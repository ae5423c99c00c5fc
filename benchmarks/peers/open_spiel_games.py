"""Random play of card games in OpenSpiel: decisions per second of processor time, by its own bots in C++.

Run by hand, in an environment of its own: `pip install open_spiel`, then `python open_spiel_games.py [GAME …]`.
"""

import random
import sys
from importlib.metadata import version
from time import process_time

import pyspiel

GAMES = ("hearts", "spades", "dou_dizhu", "gin_rummy")
SECONDS = 3.0


def play_from_python(name: str, seconds: float) -> tuple[int, int, float]:
    """(games, decisions, seconds) of games that Python moves, one call per question and move."""
    game, rng = pyspiel.load_game(name), random.Random(0)
    games, decisions, began = 0, 0, process_time()
    while process_time() - began < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            decisions += not state.is_chance_node()
            state.apply_action(rng.choice(state.legal_actions()))  # every chance node here is uniform
        games += 1
    return games, decisions, process_time() - began


def play_by_bots(name: str, seconds: float) -> tuple[int, float]:
    """(games, seconds) of games that OpenSpiel's uniform bots play to the end, one call for each game."""
    game = pyspiel.load_game(name)
    bots = [pyspiel.make_uniform_random_bot(player, 1 + player) for player in range(game.num_players())]
    games, began = 0, process_time()
    while process_time() - began < seconds:
        pyspiel.evaluate_bots(game.new_initial_state(), bots, games)
        games += 1
    return games, process_time() - began


def main(names: tuple[str, ...]) -> None:
    print(f"OpenSpiel {version('open_spiel')}, random play, per second of processor time")
    for name in names:
        game = pyspiel.load_game(name)
        games, decisions, spent = play_from_python(name, SECONDS)
        played, bots_spent = play_by_bots(name, SECONDS)
        length = decisions / games
        print(
            f"{name}: {game.num_players()} players, {game.num_distinct_actions()} actions, {length:.1f} decisions; "
            f"bots in C++ {played * length / bots_spent:,.0f} decisions/s, from Python {decisions / spent:,.0f}"
        )


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or GAMES)
