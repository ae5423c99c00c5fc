"""Bring your own agent: play it against references, evaluate it, and enter it in a tournament.

A script in notebook form (jupytext, percent format): run it as a whole, or cell by cell in an editor. A few seconds.
"""

# %% [markdown]
# # Bring your own agent
#
# An agent is a class with one method, `act`. It gets what its players know in N games (`InfoStates`, one record for
# each game), whose decisions they are, and a random generator. It returns N legal actions. The fields of the record are
# on the game's page: `docs/games/thirty_one.md`.

# %%
from pathlib import Path

import numpy as np
from rich.console import Console

import cardlab
from cardlab.evaluation.evaluate import evaluate, evaluation_table
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.tournament import run_tournament, tournament_table

DRAW, TAKE, CALL, SWAP_FIRST = 0, 1, 2, 3
VALUES = np.array([2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11]).repeat(4)  # of each card: 4 · rank + suit


def scores(hands):
    """Score of `hands` [..., cards]: the highest sum of one suit."""
    in_suit = (hands % 4)[..., None] == np.arange(4)
    return (VALUES[hands][..., None] * in_suit).sum(axis=-2).max(axis=-1)


class EarlyCaller:
    """Thirty-One: makes the best hand that the next card allows, and calls at `level` points or more."""

    def __init__(self, game, level=26):
        self.game = game
        self.level = level

    def act(self, info_states, players, rng):
        """[N] legal actions of `players` [N]."""
        rows, swaps = np.arange(len(players)), info_states["phase"] == 1
        hands = info_states["hands"][rows, players]  # [N, 3]
        card = np.where(swaps, info_states["drawn"], info_states["top"])
        after = np.repeat(hands[:, None], 4, axis=1)  # [N, 4, 3]: the card in each place, or the hand as it is
        after[:, np.arange(3), np.arange(3)] = card[:, None]
        gains = scores(after) - scores(hands)[:, None]  # [N, 4]
        gains[:, 3] += gains[:, :3].max(axis=1) < 0.5  # no swap without a gain
        legal = self.game.legal_actions(info_states)  # [N, 7]
        swap = np.where(legal[:, SWAP_FIRST:], gains, -99).argmax(axis=1) + SWAP_FIRST
        turn = np.where(gains[:, :3].max(axis=1) > 0, TAKE, DRAW)
        turn[(scores(hands) >= self.level) & legal[:, CALL]] = CALL
        return np.where(swaps, swap, turn).astype(np.int16)


# %% [markdown]
# ## Play
#
# A match plays the same deals in every seating, so that luck cancels. A dictionary names the agents.

# %%
game = cardlab.make_game("thirty_one")
match = cardlab.play_match(game, {"mine": EarlyCaller(game), "greedy": "greedy"}, num_deals=1000, seed=1)
for name, result in match.by_name.items():
    print(f"{name}: wins {result.wins} of {match.num_games} games")

# %% [markdown]
# With a time limit, the result says how many deals were played. `decks` are deals of your own.

# %%
quick = cardlab.play_match(game, [EarlyCaller(game), "random"], num_deals=1_000_000, seconds=0.2)
print(f"{quick.num_deals} deals in 0.2 s: {quick.win_rate:.3f}")
decks = np.random.default_rng(0).permuted(np.tile(np.arange(52), (100, 1)), axis=1)
print("on given deals:", cardlab.play_match(game, [EarlyCaller(game), "greedy"], decks=decks).wins)

# %% [markdown]
# ## Evaluate
#
# One table against several references, on the deals that `cardlab evaluate` uses.

# %%
arena = ArenaOptions(
    deals=1000, references=("random", "greedy_stock_only", "greedy", "threshold:level:29"), processes=1
)
evaluation = evaluate(game, EarlyCaller(game), arena, policy_digest="", experiment="early_caller")
Console().print(evaluation_table(evaluation))

# %% [markdown]
# ## Enter a tournament
#
# Objects and names of agents, each against each; the cross table is also in `tournament.json` and `tournament.csv`.

# %%
entrants = {"call at 24": EarlyCaller(game, 24), "call at 26": EarlyCaller(game, 26), "greedy": "greedy"}
entrants["champion"] = "champion"
tournament = run_tournament(game, entrants, ArenaOptions(deals=200, processes=1), Path("runs/own_tournament"))
Console().print(tournament_table(tournament))

# %% [markdown]
# In a project of your own, commands know it by its path: with the class in `src/my_cards/agents.py`,
# `cardlab tournament game=thirty_one 'agents=[my_cards.agents.EarlyCaller,greedy]'`. See `docs/your_project.md`.
