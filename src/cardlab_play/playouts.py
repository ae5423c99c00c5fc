"""What an agent thinks of decisions, and playouts of their options on sampled deals."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from cardlab.agents.beliefs import Belief
from cardlab.agents.registry import load_agent
from cardlab.agents.search.builders import build_search
from cardlab.agents.search.monte_carlo import MonteCarlo
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.agents.search.search_io import pair_with_actions
from cardlab.agents.search_agent import SearchAgent
from cardlab.evaluation.intervals import CONFIDENCE, half_width
from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.protocol import Floats, Game, InfoStates, Players, States
from cardlab.games.record_arrays import join


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


MIN_DEALS = 16
MAX_GAMES = 1600  # of one decision, over all its options


@dataclass(frozen=True)
class PlayoutAgent:
    """The agent that plays out every seat, and how hidden cards are sampled: by `belief`, uniformly without it."""

    game: Game
    agent: Agent
    belief: Belief | None = None


@dataclass(frozen=True)
class OptionPlayouts:
    """Payoffs of the options of one decision on the same D sampled deals."""

    options: list[int]  # [k] actions
    payoffs: NDArray[np.float64]  # [D, k] of the player
    wins: NDArray[np.float64]  # [D, k] share of the best payoff

    def value(self, action: int) -> tuple[float, float]:
        """Mean payoff of an option, with half its 95 % interval."""
        payoffs = self._payoffs(action)
        return float(payoffs.mean()), half_width(payoffs)

    def win_probability(self, action: int) -> float:
        """Share of the deals that are won, ties split."""
        return float(self.wins[:, self.options.index(action)].mean())

    def difference(self, action: int, other: int) -> tuple[float, float]:
        """How much more `action` is worth than `other` deal by deal, with half its 95 % interval."""
        differences = self._payoffs(action) - self._payoffs(other)
        return float(differences.mean()), half_width(differences)

    def best(self) -> int:
        """The option of the highest mean."""
        return self.options[int(self.payoffs.mean(axis=0).argmax())]

    def is_clearly_better(self, action: int, other: int) -> bool:
        """Whether `action` is worth more, at 95 % for all options together (Bonferroni)."""
        deals, others = len(self.payoffs), max(len(self.options) - 1, 1)
        differences = self._payoffs(action) - self._payoffs(other)
        quantile = float(stdtrit(deals - 1, 1 - (1 - CONFIDENCE) / 2 / others))
        return float(differences.mean()) > quantile * float(differences.std(ddof=1)) / sqrt(deals)

    def _payoffs(self, action: int) -> NDArray[np.float64]:
        return self.payoffs[:, self.options.index(action)]


def num_deals(most: int, num_options: int) -> int:
    """Deals for one decision: at most `most`, fewer where there are many options."""
    return max(min(most, MAX_GAMES // num_options), min(most, MIN_DEALS))


def play_out_options(
    by: PlayoutAgent, info_states: Sequence[InfoStates], player: int, options: Sequence[Sequence[int]], deals: int
) -> list[OptionPlayouts]:
    """[N] playouts of `options` [N] of the decisions `info_states` [N], each [1], of `player`. Deterministic."""
    game = by.game
    parts = [_positions(by, own, player, actions, deals) for own, actions in zip(info_states, options, strict=True)]
    search = build_search(game, MonteCarloOptions(), by.agent, load_agent)
    assert isinstance(search, MonteCarlo)
    together = join(parts)
    players = np.full(len(together), player, dtype=np.int8)
    payoffs = search.leaf(together, players, decision_rng(info_states[0])).astype(np.float64)
    best = payoffs == payoffs.max(axis=1, keepdims=True)
    wins = best[:, player] / best.sum(axis=1)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return [
        OptionPlayouts(list(actions), paid.reshape(deals, -1), won.reshape(deals, -1))
        for actions, paid, won in zip(options, np.split(payoffs[:, player], ends), np.split(wins, ends), strict=True)
    ]


def _positions(by: PlayoutAgent, info_state: InfoStates, player: int, options: Sequence[int], deals: int) -> States:
    """[deals · k] positions after each option, deal by deal."""
    copies = InfoStates(join([info_state] * deals))
    seats = np.full(deals, player, dtype=np.int8)
    sampled = (by.belief or by.game).determinize(copies, seats, decision_rng(info_state))
    states, actions = pair_with_actions(sampled, np.array(options, dtype=np.intp))
    by.game.apply(states, actions)
    return states
