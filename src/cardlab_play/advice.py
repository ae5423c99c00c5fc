"""Advice: an agent's analysis of a decision, from the player's InfoState only."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.agents.beliefs import Belief
from cardlab.agents.search_agent import SearchAgent
from cardlab.evaluation.intervals import half_width
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.cards.deck import NUM_CARDS, card_text
from cardlab.games.loop import play_out
from cardlab.games.protocol import Floats, Game, InfoStates, Players
from cardlab.games.rows import join
from cardlab_play.action_values import playout_values
from cardlab_play.offered_games import OFFERED_GAMES

BELIEF_DEALS = 400
DIGITS = 4


@dataclass(frozen=True)
class AdviceSettings:
    """How advice plays out games."""

    deals: int  # games per estimate
    belief: Belief | None  # samples hidden cards; None: uniform


@dataclass(frozen=True)
class DecisionAnalysis:
    """An agent's analysis of N decisions of one game."""

    chosen: list[int]  # [N] the actions that the agent would play
    probabilities: Floats | None  # [N, A]
    values: Floats  # [N, A] expected payoffs, -inf where illegal or not evaluated
    values_from_agent: bool  # False: the values come from playouts
    state_values: Floats | None  # [N] expected payoffs
    margins: Floats | None = None  # [N, A] half the width of the 95 % intervals of playouts
    playouts: list[int] | None = None  # [N] playouts per action
    simulations: list[int] | None = None  # [N] simulations of a search, over all actions


def analyze(game: Game, agent: Agent, info_states: InfoStates, players: Players) -> DecisionAnalysis:
    """Analyse the decisions `info_states` [N] of `players` [N] with `agent`. Deterministic."""
    probabilities, state_values = None, None
    if isinstance(agent, SearchAgent):
        results = agent.search(info_states, players)
        values = np.array([result.values for result in results], dtype=np.float32)
        chosen = [int(result.scores.argmax()) for result in results]
        return DecisionAnalysis(
            chosen, None, values, True, None, simulations=[result.simulations for result in results]
        )
    if isinstance(agent, Policy):
        log_probabilities, state_values = agent.evaluate(info_states, players)
        probabilities = np.exp(log_probabilities)
    trusted = OFFERED_GAMES[game.spec.name].values_are_payoffs
    if not trusted:
        state_values = None
    if isinstance(agent, ActionValues) and trusted:
        values, playouts_by_action = agent.action_values(info_states, players), None
    else:
        playouts_by_action = playout_values(game, info_states, players)
        values = playouts_by_action.values
    chosen = (
        agent.act(info_states, players, decision_rng(info_states))
        if probabilities is None
        else probabilities.argmax(axis=1)
    )
    actions = [int(action) for action in chosen]
    if playouts_by_action is None:
        return DecisionAnalysis(actions, probabilities, values, True, state_values)
    return DecisionAnalysis(
        actions, probabilities, values, False, state_values, playouts_by_action.margins, playouts_by_action.deals
    )


def decision_rng(info_states: InfoStates) -> np.random.Generator:
    """A random generator seeded by the InfoStates: equal decisions get equal advice."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(np.ascontiguousarray(info_states).tobytes()).digest()))


@dataclass(frozen=True)
class OutcomeEstimate:
    """Results of games played out from a player's InfoState."""

    value: float
    margin: float | None  # half the width of the 95 % interval; None for one deal
    win_probability: float | None  # share of games with the best payoff, ties split; None for one player
    deals: int


def estimate_outcome(
    game: Game, agent: Agent, info_states: InfoStates, players: Players, deals: int, belief: Belief | None
) -> OutcomeEstimate:
    """Play out `deals` determinizations of `info_states` [1], with `agent` in every seat."""
    rng = decision_rng(info_states)
    states = (belief or game).determinize(InfoStates(join([info_states] * deals)), np.repeat(players, deals), rng)
    play_out(game, states, [agent], rng)
    payoffs = game.payoffs(states)
    own_payoffs = payoffs[:, int(players[0])]
    margin = rounded_or_none(half_width(own_payoffs.astype(np.float64)))
    if game.spec.num_players == 1:
        return OutcomeEstimate(float(own_payoffs.mean()), margin, None, deals)
    best = payoffs == payoffs.max(axis=1, keepdims=True)
    wins = best[:, int(players[0])] / best.sum(axis=1)
    return OutcomeEstimate(float(own_payoffs.mean()), margin, float(wins.mean()), deals)


def belief_message(game: Game, info_states: InfoStates, players: Players, belief: Belief | None) -> dict[str, Any]:
    """For each card of unknown place: the probability of each seat, and of the deck or stock (`elsewhere`)."""
    num_players = game.spec.num_players
    uncertain, probabilities = _holder_probabilities(game, info_states, players, belief)
    cards = [
        {
            "card": card_text(card),
            "probabilities": [rounded(probabilities[card, player]) for player in range(num_players)],
            "elsewhere": rounded(max(1.0 - float(probabilities[card].sum()), 0.0)),
        }
        for card in np.flatnonzero(uncertain).tolist()
    ]
    return {"source": "uniform" if belief is None else "network", "cards": cards}


def observation_message(agent: Agent, info_states: InfoStates, players: Players) -> list[dict[str, Any]]:
    """The policy's observation by block, empty for other agents."""
    policy_game = getattr(agent, "game", None)
    if not isinstance(agent, Policy) or not isinstance(policy_game, Game):
        return []
    observation = policy_game.observe(info_states, players)[0]
    return [
        {
            "name": block.name,
            "shape": list(block.shape),
            "values": [rounded(value) for value in observation[block.start : block.stop]],
        }
        for block in policy_game.spec.blocks
    ]


def option_messages(game: Game, info_states: InfoStates, analysis: DecisionAnalysis, row: int) -> list[dict[str, Any]]:
    """The legal actions of `info_states` [1], row `row` of `analysis`, with probabilities and values."""
    return [
        {
            "action": action,
            "text": game.action_text(InfoStates(info_states[0]), action),
            "probability": None if analysis.probabilities is None else rounded(analysis.probabilities[row, action]),
            "value": rounded_or_none(analysis.values[row, action]),
            "margin": None if analysis.margins is None else rounded_or_none(analysis.margins[row, action]),
        }
        for action in np.flatnonzero(game.legal_actions(info_states)[0]).tolist()
    ]


def rounded(value: Any) -> float:
    """`value` with DIGITS decimal places."""
    return round(float(value), DIGITS)


def rounded_or_none(value: Any) -> float | None:
    """`value` with DIGITS decimal places, None if it is not finite."""
    return rounded(value) if np.isfinite(value) else None


def _holder_probabilities(
    game: Game, info_states: InfoStates, players: Players, belief: Belief | None
) -> tuple[Any, Any]:
    """[52] whether the holder of a card is unknown, and [52, P] the share of deals in which each player holds it."""
    copies, seats = InfoStates(join([info_states] * BELIEF_DEALS)), np.repeat(players, BELIEF_DEALS)
    holders = game.holders(game.determinize(copies, seats, decision_rng(info_states)))
    certain = (holders == holders[0]).all(axis=0)
    if belief is not None:
        holders = game.holders(belief.determinize(copies, seats, decision_rng(info_states)))
    shares = np.stack([(holders == player).mean(axis=0) for player in range(game.spec.num_players)], axis=1)
    assert shares.shape == (NUM_CARDS, game.spec.num_players)
    return ~certain, shares


def advice(
    game: Game, agent: Agent, rollout_agent: Agent, info_states: InfoStates, players: Players, settings: AdviceSettings
) -> dict[str, Any]:
    """The advice message of `agent` for the decision `info_states` [1]. `rollout_agent` plays out the games."""
    analysis = analyze(game, agent, info_states, players)
    expected = estimate_outcome(game, rollout_agent, info_states, players, settings.deals, settings.belief)
    action = analysis.chosen[0]
    return {
        "action": action,
        "text": game.action_text(InfoStates(info_states[0]), action),
        "value": rounded(expected.value),
        "margin": expected.margin,
        "win_probability": None if expected.win_probability is None else rounded(expected.win_probability),
        "deals": expected.deals,
        "value_source": "agent" if analysis.values_from_agent else "playouts",
        "playouts": None if analysis.playouts is None else analysis.playouts[0],
        "simulations": None if analysis.simulations is None else analysis.simulations[0],
        "options": option_messages(game, info_states, analysis, 0),
        "belief": belief_message(game, info_states, players, settings.belief),
        "observation": observation_message(agent, info_states, players),
    }
