"""Agents that act by a network: by its action scores, or by the values of afterstates."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from cardlab.agents.exploration import SampledActions, epsilon_greedy, epsilon_softmax, greedy_log_probabilities
from cardlab.core.kernels import kernel
from cardlab.games.abilities import SparseLineValues, SupportsFusedRollouts
from cardlab.games.array_checks import unchecked
from cardlab.games.protocol import (
    Actions,
    Bools,
    Floats,
    Game,
    HasOpening,
    InfoStates,
    ObservesAfterstates,
    Players,
    States,
)
from cardlab.games.record_arrays import copied, take
from cardlab.networks.inputs import Indices
from cardlab.networks.protocol import Network, encode_for, encode_legal_for
from cardlab.networks.sparse_lines import SparseLinesNetwork

_CHUNK_ROWS = 1024  # afterstates per pass: larger chunks fall out of the cache


@kernel
def sample_place(log_probabilities: Floats, starts: Indices, uniforms: Floats) -> Indices:
    """[N] places in log_probabilities [K], one sampled by `uniforms` [N] from each row starts[n] … starts[n + 1]."""
    places = np.empty(len(uniforms), dtype=np.int64)
    for row in range(len(uniforms)):
        left = uniforms[row]
        chosen = starts[row]
        for place in range(starts[row], starts[row + 1]):
            share = np.exp(log_probabilities[place])
            if share > 0:
                chosen = place
                left -= share
                if left < 0:
                    break
        places[row] = chosen
    return places


@kernel
def best_place(scores: Floats, starts: Indices) -> Indices:
    """[N] places of the highest of scores [K] in each row starts[n] … starts[n + 1]; the first of equals."""
    places = np.empty(len(starts) - 1, dtype=np.int64)
    for row in range(len(places)):
        best = starts[row]
        for place in range(starts[row] + 1, starts[row + 1]):
            if scores[place] > scores[best]:
                best = place
        places[row] = best
    return places


@dataclass(frozen=True)
class SoftmaxAgent:
    """Samples from the softmax of a network's scores, or plays the most probable action when `greedy`."""

    game: Game
    network: Network
    greedy: bool = False
    reward_scale: float = 1.0

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> SampledActions:
        """Actions with their log-probabilities and the values of the states."""
        with torch.inference_mode():
            observations, pairs = encode_legal_for(self.network, self.game, info_states, players)
            scores, values = self.network.score_legal(observations, pairs)
            log_probabilities = pairs.log_softmax(scores).cpu().numpy()
            starts = pairs.starts.cpu().numpy()
            if self.greedy:
                places = best_place(log_probabilities, starts)
            else:
                places = sample_place(log_probabilities, starts, rng.random(len(values), dtype=np.float32))
            actions = pairs.actions.cpu().numpy()[places].astype(np.int16)
            return SampledActions(actions, log_probabilities[places], values.float().cpu().numpy())

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] and values [N]."""
        with torch.inference_mode():
            scores, values = self.network(encode_for(self.network, self.game, info_states, players))
            log_probabilities = scores.float().log_softmax(dim=-1).cpu().numpy()
            return log_probabilities, values.float().cpu().numpy() * np.float32(self.reward_scale)


@dataclass
class ActionValueAgent:
    """Epsilon-greedy on a network's action values.

    With `opening_list` openings follow the game's list. With `whole_opening` the cards of an opening are placed as one:
    an action is worth the best way to place the others, by the values of the last placement (Tan and Xiao 2018).
    """

    game: Game
    network: Network
    epsilon: float = 0.0
    reward_scale: float = 1.0
    opening_list: bool = False
    whole_opening: bool = False

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> SampledActions:
        """Actions with their log-probabilities and the value of the best action."""
        scores = self.scores(info_states, players)
        best = scores.argmax(axis=1).astype(np.int16)
        return epsilon_greedy(best, scores.max(axis=1), np.isfinite(scores), self.epsilon, rng)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """Expected payoff by each action [N, A], minus infinity where illegal."""
        return self.scores(info_states, players) * np.float32(self.reward_scale)

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] of the epsilon-greedy policy and values [N]."""
        scores = self.scores(info_states, players)
        return greedy_log_probabilities(scores, self.epsilon), scores.max(axis=1) * np.float32(self.reward_scale)

    def scores(self, info_states: InfoStates, players: Players) -> Floats:
        """Action values [N, A], minus infinity where illegal."""
        if self.whole_opening and isinstance(self.game, HasOpening):
            return self._scores_of_placements(self.game.places_more(info_states), info_states, players)
        scores = self._network_scores(info_states, players)
        if self.opening_list and isinstance(self.game, HasOpening):
            listed = self.game.listed_actions(info_states)
            opens = listed >= 0
            scores[opens] = np.where(np.arange(scores.shape[1]) == listed[opens, None], scores[opens], -np.inf)
        return scores

    def _network_scores(self, info_states: InfoStates, players: Players) -> Floats:
        with torch.inference_mode():
            inputs = encode_for(self.network, self.game, info_states, players)
            return self.network(inputs)[0].float().cpu().numpy()

    def _scores_of_placements(self, more: Bools, info_states: InfoStates, players: Players) -> Floats:
        """The network's [N, A], but where `more` [N] cards of an opening follow the best score after the action."""
        if not more.any():
            return self._network_scores(info_states, players)
        scores = np.full((len(players), self.game.spec.num_actions), -np.inf, dtype=np.float32)
        if not more.all():
            scores[~more] = self._network_scores(take(info_states, ~more), players[~more])
        openings = np.flatnonzero(more)
        rows, actions = np.nonzero(self.game.legal_actions(take(info_states, openings)))
        rows = openings[rows]
        after = take(info_states, rows)
        self.game.apply(after, actions.astype(np.int16))
        scores[rows, actions] = self.scores(after, players[rows]).max(axis=1)
        return scores


@dataclass
class AfterstateAgent:
    """Plays the action with the highest immediate reward plus afterstate value.

    The value network predicts the payoff still to come after each afterstate, in units of `reward_scale`. With
    probability `epsilon` the action is uniformly random, or with a `temperature` (in points) sampled from the softmax
    of the action values.
    """

    game: Game
    network: Network
    epsilon: float = 0.0
    reward_scale: float = 1.0
    temperature: float = 0.0
    off_policy: bool = False  # `sample` returns values of the best actions instead of the chosen ones

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> SampledActions:
        """Actions with their log-probabilities and the values of the chosen (or best) actions."""
        action_values = self._action_values(info_states, players)
        best = action_values.argmax(axis=1).astype(np.int16)
        if self.epsilon > 0 and self.temperature > 0:
            sampled = epsilon_softmax(best, action_values, self.epsilon, self.temperature / self.reward_scale, rng)
        else:
            sampled = epsilon_greedy(best, action_values.max(axis=1), np.isfinite(action_values), self.epsilon, rng)
        if self.epsilon <= 0 or self.off_policy:
            return sampled
        chosen = np.take_along_axis(action_values, sampled.actions[:, None].astype(np.int64), axis=1)[:, 0]
        return SampledActions(sampled.actions, sampled.log_probabilities, chosen)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """Expected payoff by each action [N, A], minus infinity where illegal."""
        return self._action_values(info_states, players) * np.float32(self.reward_scale)

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] of the epsilon-greedy policy and values [N]."""
        action_values = self._action_values(info_states, players)
        return greedy_log_probabilities(action_values, self.epsilon), action_values.max(axis=1) * np.float32(
            self.reward_scale
        )

    def sparse_line_values(self) -> SparseLineValues | None:
        """The weights for fused rollouts, where game and network are of sparse lines; else None."""
        if isinstance(self.network, SparseLinesNetwork) and isinstance(self.game, SupportsFusedRollouts):
            return self.network.sparse_line_values()
        return None

    def fused_rollouts(self, game: Game) -> Callable[[States], Floats] | None:
        """Greedy play of `game` in one kernel, from states [G] to payoffs [G, P]; None where there is none."""
        values = self.sparse_line_values()
        if values is None or not isinstance(game, SupportsFusedRollouts):
            return None
        return partial(game.sparse_play_out, values=values)

    def _action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """Reward plus afterstate value of each action [N, A], minus infinity where illegal."""
        if (values := self.sparse_line_values()) is not None and isinstance(self.game, SupportsFusedRollouts):
            return self.game.sparse_action_values(info_states, values, self.reward_scale)
        legal = self.game.legal_actions(info_states)
        rows, actions = np.nonzero(legal)
        known, movers, moves = take(info_states, rows), players[rows], actions.astype(np.int16)
        afterstate_values = self._afterstate_values(known, movers, moves)
        after = afterstates(self.game, known, movers, moves)
        action_values = np.full(legal.shape, -np.inf, dtype=np.float32)
        action_values[rows, actions] = (
            np.where(after.over, np.float32(0), afterstate_values) + after.rewards / self.reward_scale
        )
        return action_values

    def _afterstate_values(self, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
        """Network values of the afterstates of `actions` [K]."""
        afterstate_values = np.empty(len(players), dtype=np.float32)
        with torch.inference_mode():
            for start in range(0, len(players), _CHUNK_ROWS):
                part = slice(start, start + _CHUNK_ROWS)
                observed = observe_afterstates(self.game, InfoStates(info_states[part]), players[part], actions[part])
                observations = torch.from_numpy(observed).to(self.network.device)
                afterstate_values[part] = self.network.value(observations).float().cpu().numpy()
        return afterstate_values


@dataclass(frozen=True, slots=True)
class Afterstates:
    """Afterstates: InfoStates after an action of their owner."""

    info_states: InfoStates  # [N]
    rewards: Floats  # [N] immediate payoff of the action
    over: Bools  # [N]


def afterstates(game: Game, info_states: InfoStates, players: Players, actions: Actions) -> Afterstates:
    """The afterstates of `actions` [N]; `info_states` [N] are changed in place."""
    game = unchecked(game)
    here = np.arange(len(players))
    before = game.payoffs(info_states)[here, players]
    game.apply(info_states, actions)
    rewards = game.payoffs(info_states)[here, players] - before
    return Afterstates(info_states, rewards, game.is_over(info_states))


def observe_afterstates(game: Game, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
    """[N, F] observations of the afterstates of `actions` [N]; `info_states` [N] stay unchanged."""
    game = unchecked(game)
    if isinstance(game, ObservesAfterstates):
        return game.observe_afterstates(info_states, players, actions)
    after = copied(info_states)
    game.apply(after, actions)
    return game.observe(after, players)
