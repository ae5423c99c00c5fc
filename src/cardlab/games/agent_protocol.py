"""The protocols Agent, Policy and ActionValues. Agents see InfoStates only."""

from typing import Protocol, runtime_checkable

import numpy as np

from cardlab.games.protocol import Actions, Floats, InfoStates, Players


@runtime_checkable
class Agent(Protocol):
    """Chooses actions in parallel games. Agents are stateless: the InfoStates hold all that they know."""

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] legal actions for `players` [N], each the current player of its row."""
        ...


@runtime_checkable
class Policy(Agent, Protocol):
    """An agent with action probabilities and state values."""

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] (minus infinity where illegal) and values [N] (expected further payoff)."""
        ...


@runtime_checkable
class ActionValues(Protocol):
    """An agent that estimates the value of every action."""

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """[N, A] expected further payoff after each action; minus infinity where illegal."""
        ...
