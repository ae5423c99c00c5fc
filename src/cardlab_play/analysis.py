"""An agent's analysis of decisions: probabilities and action values, from InfoStates only."""

import hashlib
from dataclasses import dataclass

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.agents.search.builders import build_search
from cardlab.agents.search.monte_carlo import MonteCarlo
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.agents.search.search_io import DEALS, LEAVES, make_search_decisions, pair_with_actions, sample_deals
from cardlab.agents.search_agent import SearchAgent
from cardlab.evaluation.intervals import half_width
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.protocol import Floats, Game, InfoStates, Players
from cardlab_play.offered_games import OFFERED_GAMES

PLAYOUTS_PER_DECISION = 1000  # over all actions of a decision
MIN_PLAYOUTS, MAX_PLAYOUTS = 16, 100  # per action


@dataclass(frozen=True)
class DecisionAnalysis:
    """An agent's analysis of N decisions of one game."""

    chosen: list[int]  # [N] the actions that the agent would play
    values: Floats  # [N, A] expected payoffs, -inf where illegal or not evaluated
    probabilities: Floats | None = None  # [N, A]
    state_values: Floats | None = None  # [N] expected payoffs
    margins: Floats | None = None  # [N, A] half the width of the 95 % intervals of playouts
    playouts: list[int] | None = None  # [N] playouts per action, None where the values are the agent's own
    simulations: list[int] | None = None  # [N] simulations of a search, over all actions


def analyze(game: Game, agent: Agent, info_states: InfoStates, players: Players) -> DecisionAnalysis:
    """Analyse the decisions `info_states` [N] of `players` [N] with `agent`. Deterministic."""
    if isinstance(agent, SearchAgent):
        results = agent.search(info_states, players)
        return DecisionAnalysis(
            [int(result.scores.argmax()) for result in results],
            np.array([result.values for result in results], dtype=np.float32),
            simulations=[result.simulations for result in results],
        )
    probabilities, state_values = None, None
    if isinstance(agent, Policy):
        log_probabilities, state_values = agent.evaluate(info_states, players)
        probabilities = np.exp(log_probabilities)
        chosen = probabilities.argmax(axis=1).tolist()
    else:
        chosen = agent.act(info_states, players, decision_rng(info_states)).tolist()
    trusted = OFFERED_GAMES[game.spec.name].values_are_payoffs
    state_values = state_values if trusted else None
    if isinstance(agent, ActionValues) and trusted:
        return DecisionAnalysis(chosen, agent.action_values(info_states, players), probabilities, state_values)
    values, margins, playouts = playout_values(game, info_states, players)
    return DecisionAnalysis(chosen, values, probabilities, state_values, margins, playouts)


def decision_rng(info_states: InfoStates) -> np.random.Generator:
    """A random generator seeded by the InfoStates: equal decisions get equal advice."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(np.ascontiguousarray(info_states).tobytes()).digest()))


def playout_values(game: Game, info_states: InfoStates, players: Players) -> tuple[Floats, Floats, list[int]]:
    """Mean payoffs of random playouts of every action of `players` [N], on the same deals for one decision.

    Returns values [N, A], -inf for illegal actions and forced moves; half the width of their 95 % intervals [N, A];
    and the number of playouts per action [N].
    """
    search = build_search(game, MonteCarloOptions(), None, load_agent)
    assert isinstance(search, MonteCarlo)
    values = np.full((len(players), game.spec.num_actions), -np.inf, dtype=np.float32)
    margins = np.full_like(values, np.inf)
    playouts = [0] * len(players)
    for row, decision in enumerate(make_search_decisions(game, info_states, players, 0)):
        legal = decision.legal
        if len(legal) == 1:
            continue
        playouts[row] = int(np.clip(PLAYOUTS_PER_DECISION // len(legal), MIN_PLAYOUTS, MAX_PLAYOUTS))
        sampled = sample_deals(game.determinize, decision, playouts[row], decision.stream(0, 0, DEALS))
        states, actions = pair_with_actions(sampled, legal)
        game.apply(states, actions)
        payoffs = search.leaf(states, np.full(len(states), decision.player, np.int8), decision.stream(0, 0, LEAVES))
        by_action = payoffs[:, decision.player].astype(np.float64).reshape(playouts[row], len(legal))
        values[row, legal] = by_action.mean(axis=0)
        margins[row, legal] = [half_width(column) for column in by_action.T]
    return values, margins, playouts
