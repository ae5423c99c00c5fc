"""Where royalties justify the risk of a foul in Open-face: the safest and the boldest placement, by rollouts.

Usage: foul_risk.py positions=4000 games=256. Writes placements.csv: one row for each position of the champion's own
games in which the safest placement differs from the one that promises most royalties, with the differences of the two.
Half of the rollouts select the two placements, the other half evaluate them: so selection does not bias the figures.
Prints how often the champion fouls, on the deals of every evaluation.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

import cardlab
from cardlab.agents.search.search_io import SearchDecision, make_search_decisions, pair_with_actions, sample_deals
from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import play, play_out
from cardlab.games.open_face.rules import NUM_DEALT, NUM_OPENING, royalty_sum
from cardlab.games.protocol import Game
from cardlab.games.record_arrays import join, take

OUTPUT = Path(__file__).parent / "placements.csv"
COLUMNS = ("cards_left", "foul_more", "royalties_more", "points_more", "taken")
SEED = 992
FIRST_STEP, NUM_STEPS = 2 * NUM_OPENING, NUM_DEALT - 2 * NUM_OPENING - 2  # single cards with a choice of rows
FOULED, PROMISED, POINTS = range(3)
OPPONENTS, FOUL_DEALS, DEALS_SEED = ("random", "random_fills", "champion"), 5000, 20_000_001
NEITHER = 0.5  # the champion chose a third placement


def main(arguments: Sequence[str]) -> None:
    """Count the fouls, then play out positions of the champion's games."""
    given = dict(text.split("=") for text in arguments)
    torch.set_num_threads(1)
    game = cardlab.make_game("open_face")
    champion = cardlab.load_agent(game, "champion")
    for name in OPPONENTS:
        print(f"fouls against {name}: {100 * foul_rate(game, champion, cardlab.load_agent(game, name)):.1f} %")
    with OUTPUT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in compare_ends(game, champion, int(given["positions"]), int(given["games"])):
            writer.writerow([f"{figure:.4g}" for figure in row])


def foul_rate(game: Game, champion: Agent, opponent: Agent) -> float:
    """Share of games in which the champion fouls, from both seats of FOUL_DEALS deals."""
    rates: list[float] = []
    for seat in range(2):
        rng = np.random.default_rng(DEALS_SEED)
        states = game.deal(FOUL_DEALS, rng)
        play_out(game, states, [champion, opponent] if seat == 0 else [opponent, champion], rng)
        rates.append(float(is_fouled(states["ranks"][:, seat]).mean()))
    return sum(rates) / len(rates)


def is_fouled(ranks: NDArray[np.int32]) -> NDArray[np.bool_]:
    """[G] whether complete rows of these ranks [G, 3] are out of order."""
    return (ranks[:, 2] < ranks[:, 1]) | (ranks[:, 1] < ranks[:, 0])


def compare_ends(game: Game, champion: Agent, num_positions: int, num_games: int) -> Iterator[Sequence[float]]:
    """Values of COLUMNS for each position where the safest placement is not the boldest."""
    rng = np.random.default_rng(SEED)
    moves = [
        (step.info_states.copy(), step.players.copy(), step.actions.copy())
        for step in play(game, game.deal(num_positions, rng), [champion], rng)
    ][FIRST_STEP : FIRST_STEP + NUM_STEPS]
    at = [(*moves[number % NUM_STEPS], np.array([number])) for number in range(num_positions)]
    known = join([take(info_states, row) for info_states, _, _, row in at])
    players = np.array([players[row[0]] for _, players, _, row in at], dtype=np.int8)
    chosen = [int(actions[row[0]]) for _, _, actions, row in at]
    for number, decision in enumerate(make_search_decisions(game, known, players, SEED)):
        if decision.legal.size < 2:
            continue
        outcomes = play_each(game, champion, decision, num_games, np.random.default_rng([SEED, number]))
        seen, judged = outcomes[::2].mean(axis=0), outcomes[1::2].mean(axis=0)
        safe, bold = seen[:, FOULED].argmin(), seen[:, PROMISED].argmax()
        if safe != bold:
            more = judged[bold] - judged[safe]
            place = decision.legal.tolist().index(chosen[number])
            taken = 1.0 if place == bold else 0.0 if place == safe else NEITHER
            cards_left = (NUM_DEALT - int(known[number]["step"]) + 1) // 2
            yield cards_left, more[FOULED], more[PROMISED], more[POINTS], taken


def play_each(
    game: Game, champion: Agent, decision: SearchDecision, num_games: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """[games, k, 3] outcome of each of the k placements: foul, royalties of its rows if in order, points."""
    deals = sample_deals(game.determinize, decision, num_games, rng)
    states, actions = pair_with_actions(deals, decision.legal)
    game.apply(states, actions)
    play_out(game, states, [champion], rng)
    ranks = states["ranks"][:, decision.player]
    fouled = is_fouled(ranks)
    promised = [royalty_sum(*rows) for rows in ranks.tolist()]
    points = game.payoffs(states)[:, decision.player]
    return np.stack([fouled, promised, points], axis=1).reshape(num_games, decision.legal.size, 3).astype(np.float64)


if __name__ == "__main__":
    main(sys.argv[1:])
