"""Deep Q-learning (Mnih et al. 2015): replay, target network, double and n-step to Monte Carlo targets.

Also the target of the Open-face paper (Tan and Xiao 2018), averaged over sampled successors.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.agents.exploration import RandomAgent, annealed_epsilon
from cardlab.agents.network_agents import ActionValueAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.protocol import Actions, Floats, Game, HasOpening, InfoStates, Players
from cardlab.games.record_arrays import put, take
from cardlab.learners.base import Learner, MetricMeans, Metrics
from cardlab.learners.dqn.options import DQNOptions
from cardlab.learners.hyperparameters import GREEDY_MIN_PROBABILITY
from cardlab.learners.losses import (
    averaged_bootstrap,
    bootstrap,
    n_step_returns,
    regression,
    regression_of_all,
    regression_to_zero,
    turn_discounts,
)
from cardlab.learners.rollouts.experience import Columns, Experience, pack, unpack
from cardlab.learners.rollouts.sampled_successors import sample_successors
from cardlab.networks.protocol import Network, encode_for


@dataclass(frozen=True, slots=True)
class Transitions(Columns):
    """Decisions and their n-step successors: target = sums + discounts · value(next_info_states)."""

    info_states: InfoStates  # [N]
    players: Players  # [N]
    actions: Actions  # [N]
    sums: Floats  # [N] discounted rewards until the successor, or the end
    discounts: Floats  # [N] of the successor's value; 0 if the game is over
    next_info_states: InfoStates  # [N] the successor: a later decision of the player


class ReplayBuffer:
    """A ring buffer of the last `size` decisions (Lin 1992)."""

    def __init__(self, size: int, state_dtype: np.dtype[np.void]) -> None:
        self.size = size
        self.added = 0
        self._columns = {
            "info_states": np.zeros(size, dtype=state_dtype),
            "players": np.zeros(size, dtype=np.int8),
            "actions": np.zeros(size, dtype=np.int16),
            "sums": np.zeros(size, dtype=np.float32),
            "discounts": np.zeros(size, dtype=np.float32),
            "next_info_states": np.zeros(size, dtype=state_dtype),
        }

    def __len__(self) -> int:
        return min(self.added, self.size)

    def add(self, transitions: Transitions) -> None:
        """Add N decisions; they replace the oldest ones of a full buffer."""
        num = len(transitions.actions)
        places = np.arange(self.added, self.added + num) % self.size
        kept = slice(max(0, num - self.size), num)  # the last `size` of more decisions
        for name, column in transitions.columns().items():
            put(self._columns[name], places[kept], column[kept])
        self.added += num

    def sample(self, num: int, rng: np.random.Generator) -> Transitions:
        """`num` decisions, uniform, with replacement."""
        places = rng.integers(len(self), size=num)
        return Transitions.of({name: take(column, places) for name, column in self._columns.items()})

    def state_dict(self) -> dict[str, Any]:
        """The content as tensors, for a checkpoint."""
        filled = len(self)
        return {"added": self.added} | {name: pack(column[:filled]) for name, column in self._columns.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the content of `state_dict`."""
        self.added = int(state["added"])
        for name, column in self._columns.items():
            column[: len(self)] = unpack(state[name], column)


class DQNLearner(Learner):
    """Action values by regression on what the games paid; the loss is on the action taken only."""

    def __init__(self, game: Game, network: Network, options: DQNOptions, total_iterations: int, seed: int) -> None:
        super().__init__(game, network, options, total_iterations, seed)
        if network.leaves_actions_out:
            raise InvalidOption("agent", "dqn", "ppo: this network has no value for some legal actions")
        self.options = options
        self.target_network = deepcopy(network).requires_grad_(False)
        self._same_turn = [game.spec.decision_kinds.index(kind) for kind in options.same_turn_kinds]
        self.buffer = ReplayBuffer(options.buffer_size, game.state_dtype)

    def compile_networks(self) -> None:
        """Compile the passes of the network and of the target network."""
        super().compile_networks()
        self.target_network.compiled = True

    @property
    def epsilon(self) -> float:
        """Current share of random actions."""
        options = self.options
        schedule = (options.epsilon_decay, self.progress, options.epsilon_hold)
        return annealed_epsilon(options.epsilon_start, options.epsilon, *schedule)

    def behaviour_agent(self) -> ActionValueAgent:
        """Explores with epsilon."""
        return self._agent(self.game, self.network, self.epsilon)

    def trained_agent(self, game: Game, network: Network) -> ActionValueAgent:
        """Greedy."""
        return self._agent(game, network, 0.0)

    def _agent(self, game: Game, network: Network, epsilon: float) -> ActionValueAgent:
        return ActionValueAgent(game, network, epsilon, self.reward_scale, **self._opening())

    def _opening(self) -> dict[str, bool]:
        """How the agent opens, where it is not card by card."""
        if self.options.opening_list:
            return {"opening_list": True}
        return {"whole_opening": True} if self.options.whole_opening else {}

    def policy_options(self) -> dict[str, Any]:
        """Options of the trained agent, written to its policy."""
        return super().policy_options() | self._opening()

    def update(self, experience: Experience) -> Metrics:
        """Add the rollout to the replay buffer, then learn from minibatches of it."""
        options = self.options
        rewards = experience.rewards / np.float32(self.reward_scale)
        gammas = turn_discounts(self.game.decision_kind(experience.info_states), options.gamma, self._same_turn)
        ends = experience.ends | (experience.rewards != 0) if options.episode == "reward" else experience.ends
        sums, discounts, following = n_step_returns(rewards, ends, gammas, options.n_step)
        ahead = take(experience.info_states, following)
        added = Transitions(experience.info_states, experience.players, experience.actions, sums, discounts, ahead)
        episodes = np.cumsum(ends) - ends  # number of the player's episode in the rollout
        if not options.learn_random_actions:
            greedy = experience.log_probabilities > np.log(GREEDY_MIN_PROBABILITY)
            added, episodes = added.take(greedy), episodes[greedy]
        if isinstance(self.game, HasOpening) and self._opening():
            known = added.info_states
            opened = self.game.listed_actions(known) >= 0 if options.opening_list else self.game.places_more(known)
            added, episodes = added.take(~opened), episodes[~opened]
        means = MetricMeans()
        self.target_network.eval()  # without dropout
        for drawn in self._minibatches(added, episodes):
            info_states, actions = self.augment(drawn.info_states, drawn.actions)
            self._step(replace(drawn, info_states=info_states, actions=actions), means)
        if (self.iterations_done + 1) % options.target_update == 0:
            self.target_network.load_state_dict(self.network.state_dict())
        return {
            **means.result(),
            "epsilon": self.epsilon,
            "buffer_size": float(self.group.all_gather(len(self.buffer)).sum()),
        }

    def _minibatches(self, added: Transitions, episodes: NDArray[np.int64]) -> Iterator[Transitions]:
        """Samples of the replay buffer with `added`; with `update_per_game`, `added` episode by episode."""
        options = self.options
        if options.update_per_game:
            for episode in np.unique(episodes):
                yield added.take(episodes == episode)
            return
        self.buffer.add(added)
        for _ in range(options.updates_per_iteration):
            yield self.buffer.sample(options.minibatch_size, self.rng)

    def _step(self, drawn: Transitions, means: MetricMeans) -> None:
        options = self.options
        targets = self._targets(drawn)
        scores = self._scores(self.network, drawn.info_states, drawn.players, drawn.actions)
        actions = torch.from_numpy(drawn.actions.astype(np.int64)).to(self.device)
        predicted = scores.gather(1, actions[:, None]).squeeze(1)
        if options.zero_other_actions:
            kinds = torch.from_numpy(self.game.decision_kind(drawn.info_states)).to(self.device)
            loss, count = regression_to_zero(scores, actions, targets, kinds), len(predicted)
        elif options.train_all_actions:
            loss, count = regression_of_all(scores, targets, options.loss), int((~scores.isneginf()).sum())
        else:
            loss, count = regression(predicted, targets, options.loss), len(predicted)
        norm = self.gradient_step([(loss, 1.0)], count, options.max_grad_norm)
        means.add(value_loss=loss, action_value=predicted.mean(), grad_norm=norm)
        means.add(**self._losses_by_kind(drawn, predicted.detach(), targets))

    def _targets(self, drawn: Transitions) -> Tensor:
        """[N] targets of the actions taken, by networks in evaluation mode."""
        paid = torch.from_numpy(drawn.sums).to(self.device)
        if not (self.options.successors or drawn.discounts.any()):
            return paid  # the sums reach the ends of the games
        with torch.no_grad():
            if self.options.successors:
                return self._averaged_targets(drawn)
            discounts = torch.from_numpy(drawn.discounts).to(self.device)
            ahead, _ = self.augment(drawn.next_info_states, drawn.actions)  # in other random forms
            return paid + discounts * self._bootstrap(ahead, drawn.players)

    def _averaged_targets(self, drawn: Transitions) -> Tensor:
        """[N] y = 1/M Σ_j R_j + γ · (mean of maxima, or maximum of the mean, of Q'(s_j, a)); see `sample_successors`.

        Successors are sampled again at each step. R_j, the reward on the way, differs only where a game pays or ends
        before the player's next decision.
        """
        options, num = self.options, len(drawn.actions)
        plays_random = options.successor_opponents == "random"
        others = RandomAgent(self.game) if plays_random else self.trained_agent(self.game, self.target_network)
        after = sample_successors(
            self.game,
            drawn.info_states,
            drawn.players,
            drawn.actions,
            others,
            num_samples=options.successors,
            rng=self.rng,
        )
        scores = self._scores(self.target_network, after.info_states, after.players)
        shared = np.isin(self.game.decision_kind(after.info_states), self._same_turn)
        discounts = torch.from_numpy(np.where(shared, np.float32(1), np.float32(options.gamma)))
        scores = torch.where(scores.isneginf(), scores, scores * discounts.to(self.device)[:, None])
        paid = after.rewards.reshape(num, -1).mean(axis=1) / np.float32(self.reward_scale)
        values = averaged_bootstrap(scores.reshape(num, options.successors, -1), options.order)
        return torch.from_numpy(paid).to(self.device) + values

    def _losses_by_kind(self, drawn: Transitions, predicted: Tensor, targets: Tensor) -> Metrics:
        """The loss of each kind of decision, in a game that has several."""
        names = self.game.spec.decision_kinds
        if len(names) < 2:
            return {}
        kinds = self.game.decision_kind(drawn.info_states)
        rows = {name: torch.from_numpy(np.flatnonzero(kinds == kind)) for kind, name in enumerate(names)}
        return {
            f"value_loss_{name}": float(regression(predicted[index], targets[index], self.options.loss))
            for name, index in rows.items()
            if len(index)
        }

    def _bootstrap(self, info_states: InfoStates, players: Players) -> Tensor:
        target_scores = online_scores = self._scores(self.target_network, info_states, players)
        if self.options.double:
            self.network.eval()
            online_scores = self._scores(self.network, info_states, players)
            self.network.train()
        return bootstrap(online_scores, target_scores, double=self.options.double)

    def _scores(
        self, network: Network, info_states: InfoStates, players: Players, taken: Actions | None = None
    ) -> Tensor:
        """[N, A]; with `zero_other_actions` and the actions `taken`, also those of the decision's illegal actions."""
        inputs = encode_for(network, self.game, info_states, players)
        if taken is not None and self.options.zero_other_actions:
            kinds = np.array(self.game.spec.action_kinds)
            outputs = kinds == kinds[taken][:, None]
            inputs = replace(inputs, legal=torch.from_numpy(outputs).to(self.device))
        return network(inputs)[0]

    def extra_state(self) -> dict[str, Any]:
        """The replay buffer; the target network is a submodule."""
        return {"buffer": self.buffer.state_dict()}

    def load_extra_state(self, state: Mapping[str, Any]) -> None:
        """Restore the replay buffer."""
        self.buffer.load_state_dict(state["buffer"])
