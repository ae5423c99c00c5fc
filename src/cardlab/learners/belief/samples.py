"""Samples for learning beliefs: what a player knew at a decision, and the complete state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import play
from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.record_arrays import take
from cardlab.learners.belief.loss import holder_targets
from cardlab.learners.rollouts.experience import Columns


@dataclass(frozen=True, slots=True)
class BeliefSamples(Columns):
    """Decisions of finished games, without forced moves."""

    games: NDArray[np.intp]  # [N] number of the game
    players: Players  # [N]
    info_states: InfoStates  # [N]
    states: States  # [N] after the decision; the opponents' cards are as before it
    targets: NDArray[np.int64]  # [N, 52] see holder_targets

    def __len__(self) -> int:
        return len(self.players)


def collect_belief_samples(
    game: Game, agents: Sequence[Agent], num_games: int, rng: np.random.Generator
) -> BeliefSamples:
    """The decisions of `num_games` games; each seat of each game gets a random one of `agents`."""
    states = game.deal(num_games, rng)
    seats = rng.integers(0, len(agents), (num_games, game.spec.num_players)).astype(np.int8)
    parts: list[BeliefSamples] = []
    for moves in play(game, states, agents, rng, seats=seats):
        asked = np.flatnonzero(moves.queried)
        rows, players = moves.rows[asked], moves.players[asked]
        info_states, after = take(moves.info_states, asked), take(states, rows)
        targets = holder_targets(game.holders(after), game.holders(States(info_states)), players, game.spec.num_players)
        parts.append(BeliefSamples(rows, players, info_states, after, targets))
    return BeliefSamples.join(parts)
