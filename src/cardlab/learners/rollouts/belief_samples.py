"""What players knew when they decided, and what was true: the samples that beliefs are learned from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import play
from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.rows import join, take
from cardlab.learners.losses.belief import holder_targets


@dataclass(frozen=True, slots=True)
class Sightings:
    """Decisions with a choice, of whole games."""

    games: NDArray[np.intp]  # [N] number of the game
    players: Players  # [N]
    info_states: InfoStates  # [N]
    states: States  # [N] after the decision: the others' cards are as they were before it
    targets: NDArray[np.int64]  # [N, 52] as of objectives.beliefs

    def __len__(self) -> int:
        return len(self.players)


def gather_sightings(game: Game, agents: Sequence[Agent], num_games: int, rng: np.random.Generator) -> Sightings:
    """The decisions of `num_games` games in which each seat is given to one of `agents`, drawn anew for each game."""
    states = game.deal(num_games, rng)
    seats = rng.integers(0, len(agents), (num_games, game.spec.num_players)).astype(np.int8)
    parts: list[Sightings] = []
    for moves in play(game, states, agents, rng, seats=seats):
        asked = np.flatnonzero(moves.queried)
        rows, players = moves.rows[asked], moves.players[asked]
        info_states, after = take(moves.info_states, asked), take(states, rows)
        targets = holder_targets(game.holders(after), game.holders(States(info_states)), players, game.spec.num_players)
        parts.append(Sightings(rows, players, info_states, after, targets))
    return Sightings(
        np.concatenate([part.games for part in parts]),
        np.concatenate([part.players for part in parts]),
        join([part.info_states for part in parts]),
        join([part.states for part in parts]),
        np.concatenate([part.targets for part in parts]),
    )
