"""Golden playthroughs: one game of each kind, written out in readable text.

`python tests/games/playthrough.py` writes them anew, after a change of the rules that was meant.
"""

from pathlib import Path

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.protocol import States

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 31


def playthrough(name: str) -> str:
    """A random game under the default options: every position as its player saw it, every legal action, every move."""
    game = make_game(name)
    rng = np.random.default_rng(SEED)
    states = game.deal(1, rng)
    lines = [f"game: {name}", f"seed: {SEED}", ""]
    for moves in play(game, states, [RandomAgent(game)], rng, ask_forced=True):
        known, player, action = moves.info_states[0], int(moves.players[0]), int(moves.actions[0])
        legal = np.flatnonzero(game.legal_actions(States(moves.info_states))[0])
        texts = ", ".join(f"{index} {game.action_text(known, int(index))}" for index in legal[:12])
        lines += [game.render(known), f"legal ({len(legal)}): {texts}{', …' if len(legal) > 12 else ''}"]
        lines += [f"player {player} plays {action}: {game.action_text(known, action)}", ""]
    lines += ["payoffs: " + " ".join(f"{payoff:g}" for payoff in game.payoffs(states)[0])]
    return "\n".join(line.rstrip() for line in "\n".join(lines).split("\n")) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in ("big2", "five_o", "open_face", "poker_squares", "thirty_one"):
        (FOLDER / f"{each}.txt").write_text(playthrough(each))
