"""What choices at Poker Squares are worth: other cells against the champion's own, by games of the champion.

Usage: positions.py positions=400 games=400 [SEARCH …]
Positions are of turns 2 to 21 of the champion's own games; of each the champion's six best cells are played out. Says
what its other cells lose by its own values and what they lose in truth, then what the cell of each search gains.
"""

import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import torch

import cardlab
from cardlab.agents.search import SearchAgent
from cardlab.games.protocol import Floats
from cardlab.games.rows import join, take
from cardlab.playing.loop import play
from cardlab.search.decisions import crossed, make_decisions, sample_deals
from cardlab.search.leaves import Playouts

FIRST_TURN, NUM_TURNS = 2, 20
CANDIDATES = 6
GAPS = (0.0, 0.5, 1.0, 2.0, 4.0, np.inf)  # points by which the champion holds another cell for worse
SEED = 991


def main(arguments: Sequence[str]) -> None:
    """Play the games, then let each search choose."""
    given = dict(text.split("=") for text in arguments[:2])
    num_positions, num_games = int(given["positions"]), int(given["games"])
    torch.set_num_threads(1)
    game = cardlab.make_game("poker_squares")
    champion, rng = cardlab.load_agent(game, "champion"), np.random.default_rng(SEED)
    seen = [moves.info_states.copy() for moves in play(game, game.deal(num_positions, rng), [champion], rng)]
    known = join([take(seen[FIRST_TURN + i % NUM_TURNS], np.array([i])) for i in range(num_positions)])
    players = np.zeros(num_positions, dtype=np.int8)
    values = champion.action_values(known, players)
    best = np.argsort(-values, axis=1, kind="stable")[:, :CANDIDATES]
    paid = []
    for number, decision in enumerate(make_decisions(game, known, players, SEED)):
        deals = sample_deals(game.determinize, decision, num_games, np.random.default_rng([SEED, number]))
        cells = best[number][np.isin(best[number], decision.legal)]
        states, actions = crossed(deals, cells)
        game.apply(states, actions)
        payoffs = Playouts(game, [champion])(states, np.zeros(len(states), dtype=np.int8), rng)
        paid.append(dict(zip(cells.tolist(), payoffs[:, 0].reshape(num_games, -1).T, strict=True)))
    tell_gaps(paid, values)
    for text in arguments[2:]:
        agent = cardlab.load_agent(game, text)
        assert isinstance(agent, SearchAgent)
        chosen = agent.act(known, players, rng).tolist()
        gains = np.array([_gain(row, cell) for row, cell in zip(paid, chosen, strict=True)])
        error = np.sqrt((gains.var(axis=1) / num_games).sum()) / num_positions
        print(f"{text}: {NUM_TURNS * gains.mean():+.2f} ± {1.96 * NUM_TURNS * error:.2f} points a game")


def tell_gaps(paid: Sequence[Mapping[int, Floats]], values: Floats) -> None:
    """Print what other cells lose by `values` [positions, 25] and in truth, and by how much the values are wrong.

    The error beyond luck is a covariance: of what each half of the games says of it.
    """
    rows = []
    for games, value in zip(paid, values, strict=True):
        own, *others = games
        for cell in others:
            halves = [half.mean() for half in np.array_split(games[own] - games[cell], 2)]
            rows.append((value[own] - value[cell], *halves))
    promised, one, other = np.array(rows, dtype=np.float64).T
    for low, high in pairwise(GAPS):
        here = (promised >= low) & (promised < high)
        lost = (one + other)[here] / 2
        wrong = ((one - promised) * (other - promised))[here]
        error = 1.96 / np.sqrt(here.sum())
        print(
            f"{here.sum()} cells held for {low} to {high} worse: {promised[here].mean():.2f} in the mean, "
            f"in truth {lost.mean():.2f} ± {error * lost.std():.2f}; "
            f"mean square of the error {wrong.mean():.2f} ± {error * wrong.std():.2f}"
        )


def _gain(paid: Mapping[int, Floats], cell: int) -> Floats:
    """[games] what `cell` was paid more than the champion's own, which comes first; one not played out, nothing."""
    own = next(iter(paid.values()))
    return paid.get(cell, own) - own


if __name__ == "__main__":
    main(sys.argv[1:])
