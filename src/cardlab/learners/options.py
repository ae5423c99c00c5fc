"""The hyperparameters that all learners share, and what they may be."""

from typing import Protocol

from cardlab.core.options import check_range


class SharedOptions(Protocol):
    """Frozen hyperparameters of one kind of learner: those that all of them have."""

    @property
    def learning_rate(self) -> float:
        """Of Adam, at the start."""
        ...

    @property
    def anneal_learning_rate(self) -> bool:
        """Whether it falls to 0 over the budget."""
        ...

    @property
    def decisions_per_round(self) -> int:
        """Decisions gathered between two updates, at least."""
        ...

    @property
    def minibatch_size(self) -> int:
        """Decisions in one gradient step."""
        ...

    @property
    def max_grad_norm(self) -> float:
        """Gradients are clipped to it."""
        ...

    @property
    def reward_scale(self) -> float | None:
        """Payoffs are divided by it; none: the game's payoff_scale."""
        ...

    @property
    def average_decay(self) -> float:
        """What a round leaves of the running mean of the weights, 0 to 1; 0: no mean is kept."""
        ...

    @property
    def symmetries(self) -> bool:
        """Whether each decision is learned from in an equivalent form, drawn anew each time."""
        ...


def check_shared(options: SharedOptions, fewest: int = 1) -> None:
    """InvalidOption unless these are in range; minibatches and rounds have at least `fewest` decisions."""
    check_range("agent.learning_rate", options.learning_rate, 0, 1, open_low=True)
    check_range("agent.minibatch_size", options.minibatch_size, fewest, whole=True)
    check_range("agent.max_grad_norm", options.max_grad_norm, 0, open_low=True)
    if options.reward_scale is not None:
        check_range("agent.reward_scale", options.reward_scale, 0, open_low=True)
    check_range("agent.decisions_per_round", options.decisions_per_round, fewest, whole=True)
    check_range("agent.average_decay", options.average_decay, 0, 0.9999)
