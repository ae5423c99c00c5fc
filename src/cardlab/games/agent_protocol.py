"""Who plays: agents choose actions from what they may know, and from nothing else."""

from typing import Protocol, runtime_checkable

import numpy as np

from cardlab.games.protocol import Actions, Floats, InfoStates, Players


@runtime_checkable
class Agent(Protocol):
    """Chooses for many tables at once. Agents keep nothing between calls: all they know is in the InfoStates."""

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] legal actions for `players` [N], each the current player of its row."""
        ...


@runtime_checkable
class Policy(Agent, Protocol):
    """An agent that can say how likely it plays what, and how it sees its prospects."""

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] (minus infinity where illegal) and values [N] (payoff still to come)."""
        ...


@runtime_checkable
class ActionValues(Protocol):
    """An agent that prices every action."""

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """[N, A] what is still to come after each action, in payoffs; minus infinity where illegal."""
        ...
