"""Hidden cards sampled by how likely a policy makes the moves of the opponents (Rebstock and others 2019)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Policy
from cardlab.games.array_checks import unchecked
from cardlab.games.legality import legality
from cardlab.games.protocol import Game, HasHistory, InfoStates, Players, States
from cardlab.games.record_arrays import as_bytes, put, take

CANDIDATES = 4  # uniform deals for each that is sampled
TEMPERATURE = 5.0  # flattens the likelihoods: opponents are not the policy, and the candidates are few
SLIP = 0.005  # probability of a move that the policy would never make
CHUNK_ROWS = 4096  # decisions that the policy evaluates together


@dataclass(frozen=True)
class PolicyInference:
    """Samples deals as if `policy` had played for the opponents."""

    game: Game  # a HasHistory
    policy: Policy

    def determinize(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> States:
        """[N] full states; rows of one InfoState are drawn from the candidates of all of them."""
        copies = np.repeat(np.arange(len(players)), CANDIDATES)
        candidates = self.game.determinize(take(info_states, copies), players[copies], rng)
        weights = self.log_likelihoods(candidates, players[copies]) / TEMPERATURE
        _, groups = np.unique(as_bytes(info_states), return_inverse=True)
        chosen = np.empty(len(players), dtype=np.intp)
        for group in range(groups.max() + 1):
            rows, pool = np.flatnonzero(groups == group), np.flatnonzero(groups[copies] == group)
            chosen[rows] = pool[_resample(weights[pool], len(rows), rng)]
        return take(candidates, chosen)

    def log_likelihoods(self, states: States, players: Players) -> NDArray[np.float64]:
        """[N] log-probability, in nats, of the moves that the opponents of `players` [N] made to reach `states` [N]."""
        assert isinstance(self.game, HasHistory)
        game = unchecked(self.game)
        decks, actions = self.game.history(states)
        replayed = game.deal(len(states), np.random.default_rng(0), decks)
        totals = np.zeros(len(states))
        for step in range(actions.shape[1]):
            rows = np.flatnonzero(actions[:, step] >= 0)
            now, made = take(replayed, rows), actions[rows, step]
            movers = game.current_player(now)
            free = legality(game, now).forced_moves() < 0
            chosen = np.flatnonzero(free & (movers != players[rows]))
            totals[rows[chosen]] += self._log_probabilities(take(now, chosen), movers[chosen], made[chosen])
            game.apply(now, made)
            put(replayed, rows, now)
        return totals

    def _log_probabilities(self, states: States, players: Players, actions: NDArray[np.int16]) -> NDArray[np.float64]:
        known = self.game.information(states, players)
        found = np.zeros(len(states))
        for first in range(0, len(states), CHUNK_ROWS):
            part = slice(first, first + CHUNK_ROWS)
            logs, _ = self.policy.evaluate(InfoStates(known[part]), players[part])
            chosen = np.take_along_axis(logs, actions[part, None].astype(np.intp), axis=1)[:, 0]
            found[part] = np.log((1 - SLIP) * np.exp(chosen.astype(np.float64)) + SLIP)
        return found


def _resample(log_weights: NDArray[np.float64], number: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Indices [number] drawn in proportion to the weights, systematically, in random order."""
    totals = np.exp(log_weights - log_weights.max()).cumsum()
    points = (np.arange(number) + rng.random()) * (totals[-1] / number)
    return rng.permutation(np.minimum(np.searchsorted(totals, points, side="right"), len(totals) - 1))
