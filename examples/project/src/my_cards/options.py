"""Options of the learner and the network. No torch here: a wrong value is refused before it is imported."""

from cardlab.core.options import Number, Positive, option, options
from cardlab.learners.hyperparameters import (
    AnnealLearningRate,
    DecisionsPerIteration,
    EmaDecay,
    Gamma,
    LearningRate,
    MaxGradNorm,
    Minibatch,
    RewardScale,
    Symmetries,
)


@options("agent")
class ReinforceOptions:
    """REINFORCE with a value baseline (Williams 1992)."""

    gamma: Gamma = 1.0
    entropy_weight: Number = option(0.01, "weight of the entropy bonus", ge=0)
    learning_rate: LearningRate = 3e-3
    anneal_learning_rate: AnnealLearningRate = True
    decisions_per_iteration: DecisionsPerIteration = 2048
    minibatch_size: Minibatch = 512
    max_grad_norm: MaxGradNorm = 1.0
    reward_scale: RewardScale = None
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def build(self, game, network, total_iterations, seed):
        """The learner that trains `network`."""
        from my_cards.reinforce import ReinforceLearner

        return ReinforceLearner(game, network, self, total_iterations, seed)


@options("network")
class TinyOptions:
    """One hidden layer."""

    width: Positive = option(32, "width of the hidden layer")

    def check(self, spec):
        """Raise InvalidOption if the network does not fit the game; this one fits all."""

    def build(self, spec):
        """The network for a game."""
        from my_cards.network import TinyNetwork

        return TinyNetwork(spec, self)
