"""Agents that play by a network: by its scores, or by the values of what each action leads to."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from cardlab.agents.random_agent import choose_uniformly
from cardlab.core.kernels import kernel
from cardlab.games.fused_rollouts import Coded, CodeValues
from cardlab.games.protocol import Actions, Bools, Floats, Game, InfoStates, Players, ShowsAfterstates
from cardlab.games.rows import copied, take
from cardlab.networks.inputs import Places
from cardlab.networks.protocol import Network, encode_for, encode_legal_for
from cardlab.networks.sparse_lines import CodesNetwork

_ROWS_AT_ONCE = 1024  # afterstates: more leave the cache, and their pages cost more than their arithmetic


@dataclass(frozen=True, slots=True)
class Sampled:
    """Actions with what the agent thought of them when it chose."""

    actions: Actions  # [N]
    log_probabilities: Floats  # [N] of the actions, under the policy that chose them
    values: Floats  # [N] worth of the situation, or of the action chosen, in the learner's reward scale


class SamplingAgent(Protocol):
    """How a learner plays while it gathers experience: it says what it thought of its actions."""

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions for [N] decisions, with log-probabilities and values."""
        ...


@kernel
def sample_each(log_probabilities: Floats, starts: Places, uniforms: Floats) -> Places:
    """[N] a place in log-probabilities [K], drawn by `uniforms` [N] in [0, 1) between starts [N + 1] and the next."""
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
def best_of_each(scores: Floats, starts: Places) -> Places:
    """[N] the place of the highest of the scores [K] between starts [N + 1] and the next; the first of equals."""
    places = np.empty(len(starts) - 1, dtype=np.int64)
    for row in range(len(places)):
        best = starts[row]
        for place in range(starts[row] + 1, starts[row + 1]):
            if scores[place] > scores[best]:
                best = place
        places[row] = best
    return places


def explore(actions: Actions, legal: Bools, epsilon: float, rng: np.random.Generator) -> Actions:
    """`actions` [N], each replaced by a uniform legal one with probability `epsilon`."""
    if epsilon <= 0:
        return actions
    wanders = rng.random(len(actions)) < epsilon
    at_random = choose_uniformly(legal, rng.random(len(actions), dtype=np.float32))
    return np.where(wanders, at_random, actions)


@dataclass(frozen=True)
class SoftmaxAgent:
    """Plays by the softmax of a network's scores: sampled, or the likeliest action when `greedy`."""

    game: Game
    network: Network
    greedy: bool = False
    reward_scale: float = 1.0

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions with their log-probabilities and the values of the situations."""
        with torch.inference_mode():
            observations, pairs = encode_legal_for(self.network, self.game, info_states, players)
            scores, values = self.network.score_legal(observations, pairs)
            log_probabilities = pairs.log_softmax(scores).cpu().numpy()
            starts = pairs.starts.cpu().numpy()
            if self.greedy:
                places = best_of_each(log_probabilities, starts)
            else:
                places = sample_each(log_probabilities, starts, rng.random(len(values), dtype=np.float32))
            actions = pairs.actions.cpu().numpy()[places].astype(np.int16)
            return Sampled(actions, log_probabilities[places], values.float().cpu().numpy())

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
    """Plays the action with the highest action value; a uniform legal one with probability `epsilon`."""

    game: Game
    network: Network
    epsilon: float = 0.0
    reward_scale: float = 1.0

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions with their log-probabilities and the value of the best action."""
        scores = self.scores(info_states, players)
        best = scores.argmax(axis=1).astype(np.int16)
        return _epsilon_greedy(best, scores.max(axis=1), np.isfinite(scores), self.epsilon, rng)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """Expected payoff by each action [N, A], minus infinity where illegal."""
        return self.scores(info_states, players) * np.float32(self.reward_scale)

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] of the epsilon-greedy policy and values [N]."""
        scores = self.scores(info_states, players)
        return _greedy_log_probabilities(scores, self.epsilon), scores.max(axis=1) * np.float32(self.reward_scale)

    def scores(self, info_states: InfoStates, players: Players) -> Floats:
        """Action values [N, A], minus infinity where illegal."""
        with torch.inference_mode():
            inputs = encode_for(self.network, self.game, info_states, players)
            return self.network(inputs)[0].float().cpu().numpy()


@dataclass
class AfterstateAgent:
    """Looks one step ahead: plays the action whose afterstate is worth most, with what it pays at once.

    The value network prices what is still to come after each afterstate, in units of `reward_scale`. With probability
    `epsilon` it explores: any action is as likely as any other, or with a `temperature` likely by the softmax of their
    worths over so many points.
    """

    game: Game
    network: Network
    epsilon: float = 0.0
    reward_scale: float = 1.0
    temperature: float = 0.0
    off_policy: bool = False  # sampled values are those of the best actions, whatever was chosen

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions with their log-probabilities and the worths of the actions chosen, or of the best."""
        worths = self._worths(info_states, players)
        best = worths.argmax(axis=1).astype(np.int16)
        if self.epsilon > 0 and self.temperature > 0:
            sampled = _softly_greedy(best, worths, self.epsilon, self.temperature / self.reward_scale, rng)
        else:
            sampled = _epsilon_greedy(best, worths.max(axis=1), np.isfinite(worths), self.epsilon, rng)
        if self.epsilon <= 0 or self.off_policy:
            return sampled
        chosen = np.take_along_axis(worths, sampled.actions[:, None].astype(np.int64), axis=1)[:, 0]
        return Sampled(sampled.actions, sampled.log_probabilities, chosen)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """Expected payoff by each action [N, A], minus infinity where illegal."""
        return self._worths(info_states, players) * np.float32(self.reward_scale)

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] of the epsilon-greedy policy and values [N]."""
        worths = self._worths(info_states, players)
        return _greedy_log_probabilities(worths, self.epsilon), worths.max(axis=1) * np.float32(self.reward_scale)

    def code_values(self) -> CodeValues | None:
        """What a Coded game plays by in one kernel, where the network is one of codes."""
        if isinstance(self.game, Coded) and isinstance(self.network, CodesNetwork):
            return self.network.code_values()
        return None

    def _worths(self, info_states: InfoStates, players: Players) -> Floats:
        """What each action pays at once and its afterstate is worth [N, A], minus infinity where illegal."""
        if isinstance(self.game, Coded) and (values := self.code_values()) is not None:
            return self.game.worths_by_codes(info_states, values, self.reward_scale)
        legal = self.game.legal_actions(info_states)
        rows, actions = np.nonzero(legal)
        known, movers, moves = take(info_states, rows), players[rows], actions.astype(np.int16)
        prices = self._prices(known, movers, moves)
        after = afterstates(self.game, known, movers, moves)
        worths = np.full(legal.shape, -np.inf, dtype=np.float32)
        worths[rows, actions] = np.where(after.over, np.float32(0), prices) + after.gains / self.reward_scale
        return worths

    def _prices(self, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
        """Network values of the afterstates of `actions` [K]."""
        prices = np.empty(len(players), dtype=np.float32)
        with torch.inference_mode():
            for start in range(0, len(players), _ROWS_AT_ONCE):
                part = slice(start, start + _ROWS_AT_ONCE)
                observed = observe_after(self.game, InfoStates(info_states[part]), players[part], actions[part])
                observations = torch.from_numpy(observed).to(self.network.device)
                prices[part] = self.network.value(observations).float().cpu().numpy()
        return prices


@dataclass(frozen=True, slots=True)
class Afterstates:
    """What actions lead to, as far as their player can see."""

    info_states: InfoStates  # [N]
    gains: Floats  # [N] what the action paid its player at once
    over: Bools  # [N]


def afterstates(game: Game, info_states: InfoStates, players: Players, actions: Actions) -> Afterstates:
    """The afterstates of `actions` [N]; `info_states` [N] are changed in place."""
    here = np.arange(len(players))
    before = game.payoffs(info_states)[here, players]
    game.apply(info_states, actions)
    gains = game.payoffs(info_states)[here, players] - before
    return Afterstates(info_states, gains, game.is_over(info_states))


def observe_after(game: Game, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
    """[N, F] what the afterstates of `actions` [N] are valued by; `info_states` [N] are left as they are."""
    if isinstance(game, ShowsAfterstates):
        return game.observe_after(info_states, players, actions)
    after = copied(info_states)
    game.apply(after, actions)
    return game.observe(after, players)


def _epsilon_greedy(best: Actions, values: Floats, legal: Bools, epsilon: float, rng: np.random.Generator) -> Sampled:
    actions = explore(best, legal, epsilon, rng)
    share = epsilon / legal.sum(axis=1)
    chances = np.where(actions == best, 1.0 - epsilon + share, share)
    return Sampled(actions, np.log(chances).astype(np.float32), values)


def _softly_greedy(
    best: Actions, worths: Floats, epsilon: float, temperature: float, rng: np.random.Generator
) -> Sampled:
    """Each of `best` replaced with probability `epsilon` by a draw from the softmax of `worths` over `temperature`."""
    highest = worths.max(axis=1)
    weights = np.exp((worths - highest[:, None]) / np.float32(temperature))
    sums = weights.cumsum(axis=1)
    wanders = rng.random(len(best)) < epsilon
    drawn = (rng.random(len(best), dtype=np.float32)[:, None] * sums[:, -1:] >= sums).sum(axis=1)
    drawn = np.where(drawn < worths.shape[1], drawn, best)  # rounding may lead behind the last
    actions = np.where(wanders, drawn, best).astype(np.int16)
    shares = np.take_along_axis(weights, actions[:, None].astype(np.int64), axis=1)[:, 0] / sums[:, -1]
    chances = np.where(actions == best, 1.0 - epsilon, 0.0) + epsilon * shares
    return Sampled(actions, np.log(chances).astype(np.float32), highest)


def _greedy_log_probabilities(scores: Floats, epsilon: float) -> Floats:
    legal = np.isfinite(scores)
    chances = np.where(legal, epsilon / legal.sum(axis=1, keepdims=True), 0.0)
    chances[np.arange(len(scores)), scores.argmax(axis=1)] += 1.0 - epsilon
    with np.errstate(divide="ignore"):
        return np.log(chances).astype(np.float32)
