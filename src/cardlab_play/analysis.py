"""What an agent thinks of decisions: its choice with probabilities, or with the values and visits of its search."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search_agent import SearchAgent
from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.protocol import Floats, InfoStates, Players


@dataclass(frozen=True)
class DecisionAnalysis:
    """An agent's analysis of N decisions of one game."""

    chosen: list[int]  # [N] the actions that the agent would play
    probabilities: Floats | None = None  # [N, A] of a policy
    search_values: Floats | None = None  # [N, A] expected payoffs of a search, -inf where it did not look
    visits: NDArray[np.int64] | None = None  # [N, A] simulations of a search by action
    simulations: list[int] | None = None  # [N] of a search, over all actions


def analyze(agent: Agent, info_states: InfoStates, players: Players) -> DecisionAnalysis:
    """Analyse the decisions `info_states` [N] of `players` [N] with `agent`. Deterministic."""
    if isinstance(agent, SearchAgent):
        results = agent.search(info_states, players)
        values = np.array([result.values for result in results], dtype=np.float32)
        none = np.zeros(values.shape[1], dtype=np.int64)
        return DecisionAnalysis(
            [int(result.scores.argmax()) for result in results],
            search_values=values,
            visits=np.array([none if result.visits is None else result.visits for result in results]),
            simulations=[result.simulations for result in results],
        )
    if isinstance(agent, Policy):
        probabilities = np.exp(agent.evaluate(info_states, players)[0])
        return DecisionAnalysis(probabilities.argmax(axis=1).tolist(), probabilities)
    return DecisionAnalysis(agent.act(info_states, players, decision_rng(info_states)).tolist())


def decision_rng(info_states: InfoStates) -> np.random.Generator:
    """A random generator seeded by the InfoStates: equal decisions get equal advice."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(np.ascontiguousarray(info_states).tobytes()).digest()))
