"""Policy iteration by rollouts: learn the values of the best actions from games played out after each of them.

Tesauro and Galperin 1996 play the better action; Lagoudakis and Parr 2003 learn it. This learner regresses on the
differences between actions of one decision over the same deals. It starts from a policy of agent=td
(trainer.start_from). Another, faster agent may play the rollouts: which action is better depends little on the player.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.agents.network_agents import AfterstateAgent, afterstates, observe_afterstates
from cardlab.agents.policy_descriptions import PolicyError
from cardlab.agents.registry import load_agent
from cardlab.agents.search.builders import HasFusedRollouts
from cardlab.core.messages import InvalidOption
from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.loop import play_out
from cardlab.games.protocol import Actions, Bools, Floats, Game, InfoStates, Players, States
from cardlab.games.record_arrays import copied, take
from cardlab.learners.base import Learner, MetricMeans, Metrics
from cardlab.learners.policy_iteration.options import PolicyIterationOptions
from cardlab.learners.rollouts.experience import Experience
from cardlab.networks.protocol import Network


@dataclass(frozen=True, slots=True)
class CandidateRollouts:
    """D decisions with C candidate actions and the mean payoffs of their rollouts."""

    info_states: InfoStates  # [D]
    players: Players  # [D]
    actions: Actions  # [D, C] by value, best first
    tried: Bools  # [D, C] whether the action was played out
    payoffs: Floats  # [D, C] mean payoff of the rollouts; 0 where not tried

    def __len__(self) -> int:
        return len(self.players)


class PolicyIterationLearner(Learner):
    """Differences between the values of afterstates by regression on those between mean payoffs of rollouts."""

    def __init__(
        self, game: Game, network: Network, options: PolicyIterationOptions, total_iterations: int, seed: int
    ) -> None:
        super().__init__(game, network, options, total_iterations, seed)
        self.options = options
        self._player = None if options.rollouts_by is None else _load_player(game, options.rollouts_by)

    def behaviour_agent(self) -> AfterstateAgent:
        """Greedy; the rollouts explore."""
        return self.trained_agent(self.game, self.network)

    def trained_agent(self, game: Game, network: Network) -> AfterstateAgent:
        """Greedy."""
        return AfterstateAgent(game, network, 0.0, self.reward_scale)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adagrad (Duchi et al. 2011), whose steps stay large for rare features; or Adam."""
        if self.options.optimizer == "adam":
            return super().configure_optimizers()
        return torch.optim.Adagrad(self.network.parameters(), lr=self.options.learning_rate, fused=True)

    def update(self, experience: Experience) -> Metrics:
        """Play rollouts of the best actions by the current network, then make one pass over their results."""
        self.network.eval()
        trials = self._play_rollouts(experience)
        self.network.train()
        means = MetricMeans()
        for part in self.minibatches(len(trials), self.options.minibatch_size):
            loss = self._loss(trials, part)
            norm = self.gradient_step([(loss, 1.0)], len(part), self.options.max_grad_norm)
            means.add(difference_loss=loss, grad_norm=norm)
        improved = (np.where(trials.tried, trials.payoffs, -np.inf).argmax(axis=1) > 0).mean() if len(trials) else 0.0
        return {**means.result(), "candidate_share": len(trials) / len(experience), "improved_share": float(improved)}

    def _play_rollouts(self, experience: Experience) -> CandidateRollouts:
        """Rollouts of the decisions at which several actions have nearly the same value."""
        agent = self.behaviour_agent()
        values = agent.action_values(experience.info_states, experience.players)
        actions, tried = near_best(values, self.options.candidates, self.options.margin)
        several = np.flatnonzero(tried.sum(axis=1) > 1)
        info_states, players = take(experience.info_states, several), experience.players[several]
        actions, tried = actions[several], tried[several]
        payoffs = np.zeros(tried.shape, dtype=np.float32)
        decisions, _ = np.nonzero(tried)
        num = self.options.rollouts
        repeated = np.repeat(np.arange(len(several)), num)
        deals = self.game.determinize(InfoStates(info_states[repeated]), players[repeated], self.rng)
        states = States(deals[(decisions[:, None] * num + np.arange(num)).ravel()])
        unchecked(self.game).apply(states, np.repeat(actions[tried], num))
        paid = self._play_out(self._player or agent, states)
        paid = paid[np.arange(len(states)), np.repeat(players[decisions], num)]
        payoffs[tried] = paid.reshape(-1, num).mean(axis=1)
        return CandidateRollouts(info_states, players, actions, tried, payoffs)

    def _play_out(self, agent: Agent, states: States) -> Floats:
        """[G, P] payoffs after `agent` has played `states` to the end at all seats; in one kernel where possible."""
        fused = agent.fused_rollouts(self.game) if isinstance(agent, HasFusedRollouts) else None
        if fused is not None:
            return fused(states)
        play_out(self.game, states, [agent], self.rng)
        return self.game.payoffs(states)

    def _loss(self, trials: CandidateRollouts, part: NDArray[np.int64]) -> Tensor:
        """Mean over decisions of the squared errors of the differences from each decision's mean."""
        tried, scale = trials.tried[part], np.float32(self.reward_scale)
        rows, _ = np.nonzero(tried)
        known, movers = take(trials.info_states, part[rows]), trials.players[part[rows]]
        known, actions = self.augment(known, trials.actions[part][tried])
        observed = observe_afterstates(self.game, known, movers, actions)
        after = afterstates(self.game, copied(known), movers, actions)
        predicted = self.network.value(torch.from_numpy(observed).to(self.device))
        predicted = predicted.masked_fill(torch.from_numpy(after.over).to(self.device), 0.0)
        # Payoffs count the whole game: what was paid before the decision is equal for all its actions.
        errors = predicted + torch.from_numpy((after.rewards - trials.payoffs[part][tried]) / scale).to(self.device)
        owners = torch.from_numpy(rows).to(self.device)
        sums = errors.new_zeros(len(part)).index_add(0, owners, errors)
        counts = torch.from_numpy(tried.sum(axis=1)).to(self.device)
        return (errors - (sums / counts)[owners]).square().sum() / max(len(part), 1)


def _load_player(game: Game, text: str) -> Agent:
    """The agent that plays rollouts. Raises InvalidOption."""
    try:
        with torch.random.fork_rng(devices=[]):  # loading draws no numbers from the run's generator
            return load_agent(game, text)
    except (InvalidOption, PolicyError) as error:
        raise InvalidOption("agent.rollouts_by", text, f"a policy or agent of {game.spec.name} ({error})") from error


def near_best(values: Floats, most: int, margin: float) -> tuple[Actions, Bools]:
    """The `most` best actions [N, C] by values [N, A], best first, and which of them are candidates [N, C].

    Candidates are within `margin` of the best. Of actions with exactly equal values only the first is one: they nearly
    always lead to equivalent positions.
    """
    order = np.argsort(-values, axis=1, kind="stable")
    ranked = np.take_along_axis(values, order, axis=1)
    near = np.isfinite(ranked) & (ranked >= ranked[:, :1] - margin)
    near[:, 1:] &= ranked[:, 1:] != ranked[:, :-1]
    first = np.argsort(~near, axis=1, kind="stable")[:, :most]
    return np.take_along_axis(order, first, axis=1).astype(np.int16), np.take_along_axis(near, first, axis=1)
