"""Advice: what an agent would play in the player's seat, from the player's InfoState only."""

from typing import Any

import numpy as np

from cardlab.agents.beliefs import Belief
from cardlab.evaluation.intervals import half_width
from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.cards.deck import card_text
from cardlab.games.loop import play_out
from cardlab.games.protocol import Game, InfoStates
from cardlab.games.record_arrays import join
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.analysis import DecisionAnalysis, analyze, decision_rng
from cardlab_play.belief_networks import BeliefNetworks
from cardlab_play.errors import RequestError
from cardlab_play.table import Table
from cardlab_play.table_store import LiveTable, TableStore
from cardlab_play.views.protocol import Json

BELIEF_DEALS = 400
DIGITS = 4


def advice_message(
    store: TableStore, belief_networks: BeliefNetworks, live: LiveTable, agent_name: str | None, search: str | None
) -> Json:
    """The advice of an agent, by default of the game's advisor. Raises a 409 unless the player is to move."""
    table, agents = live.table, store.agents
    choice, agent = load_advisor(agents, table.game, agent_name, search)
    if not table.user_to_move:
        raise RequestError(409, "the game is over: advice is available during the game only")
    without_search = AgentChoice(choice.agent)
    rollout_agent = agents.load(table.game, AgentChoice("random") if agents.is_slow(without_search) else without_search)
    belief = belief_networks.for_game(table.game)
    message = advice(table, agent, rollout_agent, store.options.advice_deals, belief)
    return {"agent": agent_message(agents, choice), "number": len(table.actions), **message}


def load_advisor(
    agents: AgentCatalog, game: Game, agent: str | None, search: str | None = None
) -> tuple[AgentChoice, Agent]:
    """The requested agent, by default the advisor of the game."""
    choice = AgentChoice(agent or agents.advisor(game).agent, search or None)
    return choice, agents.load_offered(game, choice, "query")


def agent_message(agents: AgentCatalog, choice: AgentChoice) -> Json:
    """An agent with its title."""
    return {"agent": choice.agent, "search": choice.search, "title": agents.title(choice)}


def advice(table: Table, agent: Agent, rollout_agent: Agent, deals: int, belief: Belief | None) -> Json:
    """The advice of `agent` for the player's decision. `rollout_agent` plays out `deals` games in every seat.

    Hidden cards are sampled by `belief`, uniformly without it.
    """
    info_state = table.info_state()
    analysis = analyze(table.game, agent, info_state, table.players)
    action = analysis.chosen[0]
    return {
        "action": action,
        "text": table.action_text(info_state, action),
        **_outcome_message(table, rollout_agent, deals, belief),
        "value_source": "agent" if analysis.playouts is None else "playouts",
        "playouts": None if analysis.playouts is None else analysis.playouts[0],
        "simulations": None if analysis.simulations is None else analysis.simulations[0],
        "options": option_messages(table, info_state, analysis, 0),
        "belief": _belief_message(table, belief),
        "observation": _observation_message(table, agent),
    }


def option_messages(table: Table, info_states: InfoStates, analysis: DecisionAnalysis, row: int) -> list[Json]:
    """The legal actions of `info_states` [1], row `row` of `analysis`, with probabilities and values."""
    return [
        {
            "action": action,
            "text": table.action_text(info_states, action),
            "probability": None if analysis.probabilities is None else rounded(analysis.probabilities[row, action]),
            "value": rounded(analysis.values[row, action]),
            "margin": None if analysis.margins is None else rounded(analysis.margins[row, action]),
        }
        for action in np.flatnonzero(table.game.legal_actions(info_states)[0]).tolist()
    ]


def rounded(value: Any) -> float | None:
    """`value` with DIGITS decimal places, None if it is not finite."""
    return round(float(value), DIGITS) if np.isfinite(value) else None


def _outcome_message(table: Table, agent: Agent, deals: int, belief: Belief | None) -> Json:
    """Mean payoff with half its 95 % interval and share of wins (ties split), with `agent` in every seat."""
    game, info_state = table.game, table.info_state()
    rng = decision_rng(info_state)
    copies = InfoStates(join([info_state] * deals))
    states = (belief or game).determinize(copies, np.repeat(table.players, deals), rng)
    play_out(game, states, [agent], rng)
    payoffs = game.payoffs(states)
    own_payoffs = payoffs[:, table.seat]
    best = payoffs == payoffs.max(axis=1, keepdims=True)
    wins = best[:, table.seat] / best.sum(axis=1)
    return {
        "value": rounded(own_payoffs.mean()),
        "margin": rounded(half_width(own_payoffs.astype(np.float64))),
        "win_probability": None if game.spec.num_players == 1 else rounded(wins.mean()),
        "deals": deals,
    }


def _belief_message(table: Table, belief: Belief | None) -> Json:
    """For each card of unknown place: the probability of each seat, and of the deck or stock (`elsewhere`)."""
    game, info_state = table.game, table.info_state()
    copies, seats = InfoStates(join([info_state] * BELIEF_DEALS)), np.repeat(table.players, BELIEF_DEALS)
    holders = game.holders(game.determinize(copies, seats, decision_rng(info_state)))  # [D, 52]
    uncertain = (holders != holders[0]).any(axis=0)
    if belief is not None:
        holders = game.holders(belief.determinize(copies, seats, decision_rng(info_state)))
    shares = np.stack([(holders == player).mean(axis=0) for player in range(game.spec.num_players)], axis=1)  # [52, P]
    cards = [
        {
            "card": card_text(card),
            "probabilities": [rounded(share) for share in shares[card]],
            "elsewhere": rounded(max(1.0 - float(shares[card].sum()), 0.0)),
        }
        for card in np.flatnonzero(uncertain).tolist()
    ]
    return {"source": "uniform" if belief is None else "network", "cards": cards}


def _observation_message(table: Table, agent: Agent) -> list[Json]:
    """The policy's observation by block, empty for other agents."""
    policy_game = getattr(agent, "game", None)
    if not isinstance(agent, Policy) or not isinstance(policy_game, Game):
        return []
    observation = policy_game.observe(table.info_state(), table.players)[0]
    return [
        {
            "name": block.name,
            "shape": list(block.shape),
            "values": [rounded(value) for value in observation[block.start : block.stop]],
        }
        for block in policy_game.spec.blocks
    ]
