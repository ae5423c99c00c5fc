"""Action values from the game's fast playouts, with their confidence intervals."""

from dataclasses import dataclass

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.agents.search.builders import build_search
from cardlab.agents.search.decisions import DEALS, LEAVES, make_search_decisions, pair_with_actions, sample_deals
from cardlab.agents.search.monte_carlo import MonteCarlo
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.evaluation.intervals import half_width
from cardlab.games.protocol import Floats, Game, InfoStates, Players

PLAYOUTS_PER_DECISION = 1000  # over all actions of a decision
MIN_PLAYOUTS, MAX_PLAYOUTS = 16, 100  # per action


@dataclass(frozen=True)
class PlayoutValues:
    """Mean playout payoffs by action, -inf for illegal actions and forced moves."""

    values: Floats  # [N, A]
    margins: Floats  # [N, A] half the width of the 95 % interval
    deals: list[int]  # [N] playouts per action


def playout_values(game: Game, info_states: InfoStates, players: Players) -> PlayoutValues:
    """Play out every action of the decisions `info_states` [N] of `players` [N]. Actions of a decision share deals."""
    search = build_search(game, MonteCarloOptions(), None, load_agent)
    assert isinstance(search, MonteCarlo)
    values = np.full((len(players), game.spec.num_actions), -np.inf, dtype=np.float32)
    margins = np.full_like(values, np.inf)
    deals: list[int] = []
    for row, decision in enumerate(make_search_decisions(game, info_states, players, 0)):
        legal = decision.legal
        deals.append(
            int(np.clip(PLAYOUTS_PER_DECISION // len(legal), MIN_PLAYOUTS, MAX_PLAYOUTS)) if len(legal) > 1 else 0
        )
        if len(legal) == 1:
            continue
        sampled = sample_deals(game.determinize, decision, deals[row], decision.stream(0, 0, DEALS))
        states, actions = pair_with_actions(sampled, legal)
        game.apply(states, actions)
        searching = np.full(len(states), decision.player, dtype=np.int8)
        payoffs = search.leaf(states, searching, decision.stream(0, 0, LEAVES))[:, decision.player]
        by_action = payoffs.astype(np.float64).reshape(deals[row], len(legal))
        values[row, legal] = by_action.mean(axis=0)
        margins[row, legal] = [half_width(column) for column in by_action.T]
    return PlayoutValues(values, margins, deals)
