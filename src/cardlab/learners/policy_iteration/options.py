"""Options of policy iteration. Imports no torch, so that a wrong value is refused quickly."""

from typing import TYPE_CHECKING, Any, Literal

from cardlab.core.options import Number, Text, Whole, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import Game
from cardlab.learners.hyperparameters import (
    AnnealLearningRate,
    DecisionsPerIteration,
    EmaDecay,
    LearningRate,
    MaxGradNorm,
    Minibatch,
    RewardScale,
    Symmetries,
)

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network


@options("agent")
class PolicyIterationOptions:
    """Policy iteration by rollouts (Lagoudakis and Parr 2003); trainer.start_from names a policy of agent=td."""

    candidates: Whole = option(3, "actions of a decision that rollouts compare, at most", ge=2)
    margin: Number = option(4.0, "points by which the value of a candidate may be below the best", gt=0)
    rollouts: Whole = option(6, "deals on which each candidate is played out", ge=1)
    rollouts_by: Text | None = option(
        None, "agent that plays the rollouts, e.g. a faster policy of equal win rate; null: the learning one"
    )
    optimizer: Literal["adagrad", "adam"] = option("adagrad", "optimiser: adagrad (for network=sparse_lines) or adam")
    learning_rate: LearningRate = 2e-3
    anneal_learning_rate: AnnealLearningRate = True
    minibatch_size: Minibatch = 16
    max_grad_norm: MaxGradNorm = 10.0
    reward_scale: RewardScale = None
    decisions_per_iteration: DecisionsPerIteration = 4096
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`; InvalidOption when there is no agent `rollouts_by`, or none for this game."""
        return find_place(__name__, ".learner:PolicyIterationLearner")(game, network, self, total_iterations, seed)
