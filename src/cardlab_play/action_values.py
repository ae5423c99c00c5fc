"""Values of actions from games that the quick playouts of the game finish, each with how far it can be trusted."""

from dataclasses import dataclass

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.agents.search.builders import build_search
from cardlab.agents.search.decisions import DEALS, LEAVES, make_search_decisions, pair_with_actions, sample_deals
from cardlab.agents.search.monte_carlo import MonteCarlo
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.evaluation.intervals import half_width
from cardlab.games.protocol import Floats, Game, InfoStates, Players

PLAYOUTS = 1000  # over all options of a decision
FEWEST, MOST = 16, 100  # of one option


@dataclass(frozen=True)
class PlayedOut:
    """Means of playouts by action, minus infinity where illegal, or where there is no choice."""

    values: Floats  # [N, A]
    margins: Floats  # [N, A] half the width of the 95 % interval
    deals: list[int]  # [N] playouts of each option


def play_out_options(game: Game, known: InfoStates, players: Players) -> PlayedOut:
    """Play every option of the decisions `known` [N] of `players` [N] out, all options of one on the same deals."""
    search = build_search(game, MonteCarloOptions(), None, load_agent)
    assert isinstance(search, MonteCarlo)
    values = np.full((len(players), game.spec.num_actions), -np.inf, dtype=np.float32)
    margins = np.full_like(values, np.inf)
    deals: list[int] = []
    for row, decision in enumerate(make_search_decisions(game, known, players, 0)):
        legal = decision.legal
        deals.append(int(np.clip(PLAYOUTS // len(legal), FEWEST, MOST)) if len(legal) > 1 else 0)
        if len(legal) == 1:
            continue
        drawn = sample_deals(game.determinize, decision, deals[row], decision.stream(0, 0, DEALS))
        states, actions = pair_with_actions(drawn, legal)
        game.apply(states, actions)
        searching = np.full(len(states), decision.player, dtype=np.int8)
        paid = search.leaf(states, searching, decision.stream(0, 0, LEAVES))[:, decision.player]
        by_option = paid.astype(np.float64).reshape(deals[row], len(legal))
        values[row, legal] = by_option.mean(axis=0)
        margins[row, legal] = [half_width(column) for column in by_option.T]
    return PlayedOut(values, margins, deals)
