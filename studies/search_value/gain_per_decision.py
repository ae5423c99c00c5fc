"""What a search around the champion adds to a game, by the decisions in which it differs from the champion alone.

Usage: gain_per_decision.py OUTPUT.csv GAME SECONDS=POSITIONS [SECONDS=POSITIONS …]
Positions with a choice are drawn from games of the champion against itself, the same for every time. Where the search
plays otherwise, the champion plays both actions out at all seats, on the same deals of the hidden cards. The mean
difference times the decisions with a choice of a game is the gain of the search (first order of the performance
difference lemma, Kakade and Langford 2002, 6.1: positions are those of the champion, not of the search).
"""

import csv
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import cardlab
from cardlab.agents.beliefs import load_belief
from cardlab.agents.search.search_io import pair_with_actions
from cardlab.evaluation.intervals import estimate
from cardlab.games.agent_protocol import Agent
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.loop import play, play_out
from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.record_arrays import take

SEARCHES = {
    "big2": "candidates:4",
    "thirty_one": "",
    "five_o": "leaf:value:depth:4:candidates:3:raw_weight:0.3:endgame:true",
    "open_face": "leaf:value:depth:2:endgame:true",
    "poker_squares": "leaf:value:depth:2:candidates:6:endgame:true",
}
"""Game → options of Monte Carlo search that earlier measurements found best."""
OPTIONS: dict[str, dict[str, Any]] = {"five_o": {"features": "prospects"}}
"""Game → options that its search needs."""
GAMES = 200  # of the champion, from which the positions are drawn
PLAYOUTS = 400  # of each action
SEED = 20261126
Redeal = Callable[[States, Players, np.random.Generator], States]


def main(arguments: Sequence[str]) -> None:
    """Measure each time, write a row for each position and print a line for each time."""
    output, name, *budgets = arguments
    torch.set_num_threads(1)
    game = cardlab.make_game(name, **OPTIONS.get(name, {}))
    champion = cardlab.load_agent(game, "champion")
    positions, per_player = draw_positions(game, champion)
    redeal = make_redeal(game)
    gains: dict[tuple[int, int], float] = {}
    with Path(output).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["seconds", "position", "champion", "search", "gain", "wall_seconds"])
        for budget in budgets:
            seconds, number = budget.split("=")
            text = f"monte_carlo:policy:champion:seconds:{seconds}:{SEARCHES[name]}"
            search = cardlab.load_agent(game, text.strip(":"))
            found = np.zeros(int(number))
            differing = 0
            for index, (state, player) in enumerate(positions[: int(number)]):
                rng = np.random.default_rng([SEED, index])
                players = np.array([player], dtype=np.int8)
                known = game.information(state, players)
                usual = int(champion.act(known, players, rng)[0])
                began = time.perf_counter()
                chosen = int(search.act(known, players, rng)[0])
                wall = time.perf_counter() - began
                if chosen != usual:
                    differing += 1
                    if (index, chosen) not in gains:
                        both = np.array([chosen, usual], dtype=np.intp)
                        gains[index, chosen] = compare(game, champion, redeal, (state, players), both, rng)
                    found[index] = gains[index, chosen]
                writer.writerow([seconds, index, usual, chosen, f"{found[index]:.4f}", f"{wall:.3f}"])
                file.flush()
            gain = estimate(found * per_player)
            line = f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}) points a game"
            print(f"{name}, {seconds} s: {line}, {differing} of {number} decisions differ", flush=True)


def draw_positions(game: Game, champion: Agent) -> tuple[list[tuple[States, int]], float]:
    """Positions with a choice in random order, and how many a player has in a game."""
    rng = np.random.default_rng(SEED)
    states = game.deal(GAMES, rng)
    positions: list[tuple[States, int]] = []
    before = states.copy()
    for moves in play(game, states, [champion], rng):
        for place in np.flatnonzero(moves.queried):
            row = moves.rows[place]
            positions.append((States(before[row : row + 1].copy()), int(moves.players[place])))
        before = states.copy()
    per_player = len(positions) / (GAMES * game.spec.num_players)
    return [positions[place] for place in rng.permutation(len(positions))], per_player


def make_redeal(game: Game) -> Redeal:
    """Draws what no player knows, the order of the deck; in Big 2, which has none, the hands by the belief network."""
    belief = load_belief(game, Path("champions/beliefs/big2")) if game.spec.name == "big2" else None

    def redeal(states: States, players: Players, rng: np.random.Generator) -> States:
        known = game.information(states, players)
        if belief is not None:
            return belief.determinize(known, players, rng)
        if game.spec.name == "thirty_one":
            held = states["hands"][:, : game.spec.num_players, :, None] == np.arange(NUM_CARDS)
            return game.determinize(known, players, rng, held.any(axis=2).astype(np.float32))
        if game.spec.name == "five_o":
            known = InfoStates(states.copy())  # with the cards that lie face down
            known["deck"][:, states[0]["turn"] + 1 :] = -1
        return game.determinize(known, players, rng)

    return redeal


def compare(
    game: Game,
    champion: Agent,
    redeal: Redeal,
    position: tuple[States, Players],
    actions: NDArray[np.intp],
    rng: np.random.Generator,
) -> float:
    """Payoff of the first of two `actions` less that of the second, by playouts of the champion on the same deals."""
    copies = np.zeros(PLAYOUTS, dtype=np.intp)
    state, players = take(position[0], copies), take(position[1], copies)
    both, paired = pair_with_actions(redeal(state, players, rng), actions)
    game.apply(both, paired)
    play_out(game, both, [champion], rng)
    one, other = game.payoffs(both)[:, position[1][0]].reshape(PLAYOUTS, 2).astype(np.float64).T
    return float((one - other).mean())


if __name__ == "__main__":
    main(sys.argv[1:])
