"""Random play of card games in RLCard: decisions per second of processor time, by its own `env.run`.

Run by hand, in an environment of its own: `pip install rlcard`, then `python rlcard_games.py [GAME …]`.
"""

import sys
from importlib.metadata import version
from time import process_time

import rlcard
from rlcard.agents import RandomAgent

GAMES = ("doudizhu", "uno", "gin-rummy", "limit-holdem", "leduc-holdem")
SECONDS = 4.0


def play(name: str, seconds: float) -> tuple[int, int, int, float]:
    """(players, actions, decisions, seconds) of games with random agents at all seats."""
    env = rlcard.make(name, config={"seed": 0})
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])
    env.run()  # loads tables
    decisions, began = 0, process_time()
    while process_time() - began < seconds:
        trajectories, _ = env.run()
        decisions += sum(len(one) // 2 for one in trajectories)  # state, action, state, …
    return env.num_players, env.num_actions, decisions, process_time() - began


def main(names: tuple[str, ...]) -> None:
    print(f"RLCard {version('rlcard')}, random play, per second of processor time")
    for name in names:
        players, actions, decisions, spent = play(name, SECONDS)
        print(f"{name}: {players} players, {actions} actions; {decisions / spent:,.0f} decisions/s")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or GAMES)
