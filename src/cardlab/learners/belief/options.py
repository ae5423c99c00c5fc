"""Options of the training of a belief network. Imports no torch, so that a wrong value is refused quickly."""

from cardlab.core.messages import InvalidOption
from cardlab.core.options import Whole, option, options
from cardlab.learners.hyperparameters import LearningRate, MaxGradNorm, Minibatch


@options("training")
class BeliefTraining:
    """Training of a belief network (cardlab belief); the learning rate falls to 0 over the rollouts."""

    iterations: Whole = option(40, "rollouts, each followed by one pass of minibatches", ge=1)
    games: Whole = option(512, "games of self-play in each rollout", ge=1)
    minibatch_size: Minibatch = 512
    learning_rate: LearningRate = 1e-3
    max_grad_norm: MaxGradNorm = 10.0
    held_out: Whole = option(1000, "games on which the belief is evaluated, none of them trained on", ge=2)


def check_believable(game: str) -> None:
    """Raise InvalidOption for the name of a game without hands whose deals have a known likelihood."""
    if game != "big2":
        raise InvalidOption("game", game, "big2, whose players hold hands that others may guess")
