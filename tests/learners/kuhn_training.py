"""Train a learner on Kuhn poker against the uniform player, and read the policy that it plays off its agent."""

from functools import partial
from typing import Any

import numpy as np

from cardlab.evaluation.options import ArenaOptions
from cardlab.learners.dqn.options import DQNOptions
from cardlab.learners.policy_iteration.options import PolicyIterationOptions
from cardlab.learners.ppo.options import PPOOptions
from cardlab.learners.rollouts.opponents.fixed import ScriptedOptions
from cardlab.learners.td.options import TDOptions
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.proto_action_options import ProtoActionOptions
from cardlab.training.experiment import Experiment
from cardlab.training.options import TrainerOptions
from small_games.kuhn import BET, OPEN, Kuhn, Policy

AGENTS: dict[str, Any] = {
    "ppo": partial(PPOOptions, learning_rate=5e-3, decisions_per_iteration=1024, minibatch_size=256, epochs=4),
    "ppo_all_cards": partial(
        PPOOptions,
        learning_rate=5e-3,
        decisions_per_iteration=1024,
        minibatch_size=256,
        epochs=4,
        critic="all_cards",
        critic_widths=(32,),
    ),
    "dqn": partial(
        DQNOptions, loss="mse", learning_rate=5e-3, decisions_per_iteration=512, buffer_size=8192, epsilon=0.2, n_step=0
    ),
    "dqn_bootstrap": partial(
        DQNOptions,
        loss="mse",
        learning_rate=5e-3,
        decisions_per_iteration=512,
        buffer_size=8192,
        epsilon=0.2,
        n_step=1,
        target_update=2,
    ),
    "dqn_averaged": partial(
        DQNOptions,
        loss="mse",
        learning_rate=5e-3,
        decisions_per_iteration=512,
        buffer_size=8192,
        epsilon=0.2,
        n_step=1,
        double=False,
        target_update=2,
        minibatch_size=512,
        successors=2,
        successor_opponents="random",
    ),
    "td": partial(TDOptions, learning_rate=5e-3, decisions_per_iteration=512, minibatch_size=128, epsilon=0.2),
    "td_mean": partial(
        TDOptions, learning_rate=5e-3, decisions_per_iteration=512, minibatch_size=128, epsilon=0.2, ema_decay=0.7
    ),
    "td_averaged": partial(  # it plays uniformly, as the others do, and learns what answering them best is worth
        TDOptions,
        learning_rate=5e-3,
        decisions_per_iteration=512,
        minibatch_size=128,
        epsilon=1.0,
        td_lambda=0.0,
        successors=2,
    ),
    "policy_iteration": partial(PolicyIterationOptions, decisions_per_iteration=256, rollouts=2),
}
NETWORKS = {
    "mlp": MLPOptions(widths=(32,)),
    "actions": ActionsOptions((32,), (16,), (32,)),
    "proto_action": ProtoActionOptions(2, 8, (32,), (16,), (32,)),
}


def kuhn_experiment(agent: str, *, seed: int = 7, rounds: int = 40, network: str = "mlp") -> Experiment:
    """A training against the uniform player."""
    options = AGENTS[agent]()
    trainer = TrainerOptions(decisions=rounds * options.decisions_per_iteration, parallel_games=64, evaluations=2)
    return Experiment(
        name=f"kuhn_{agent}",
        seed=seed,
        game=Kuhn(),
        agent=options,
        network=NETWORKS[network],
        opponents=ScriptedOptions({"random": 1.0}),
        trainer=trainer,
        arena=ArenaOptions(references=("random",)),
        config={"name": f"kuhn_{agent}", "seed": seed},
    )


def policy_of(agent: Any) -> Policy:
    """(own card, line) → probability of a bet, for the greedy agent, at every decision of the game."""
    game, rng = Kuhn(), np.random.default_rng(0)
    policy: Policy = {}
    for card in range(3):
        for line in OPEN:
            player = len(line) % 2
            others = [other for other in range(3) if other != card]
            pair = [card, others[0]] if player == 0 else [others[0], card]
            deck = np.array([[*pair, *(number for number in range(52) if number not in pair)]], dtype=np.int8)
            states = game.deal(1, rng, deck)
            for move in line:
                game.apply(states, np.array([BET if move == "b" else 1 - BET], dtype=np.int16))
            players = np.array([player], dtype=np.int8)
            action = agent.act(game.information(states, players), players, rng)[0]
            policy[card, line] = float(action == BET)
    return policy
