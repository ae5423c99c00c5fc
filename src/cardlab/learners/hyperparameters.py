"""Types of the options that several learners share, with their limits and help. Imports no torch."""

from typing import Annotated, Protocol

from pydantic import Field

from cardlab.core.options import NUMERIC, Flag

GREEDY_MIN_PROBABILITY = (
    0.5  # the best action has a higher probability than this, with any `epsilon` below it, and no other has
)

Share = Annotated[float, Field(ge=0, le=1), NUMERIC]
Gamma = Annotated[float, Field(ge=0, le=1, description="discount per decision of the player"), NUMERIC]
LearningRate = Annotated[float, Field(gt=0, le=10, description="step size of the optimiser"), NUMERIC]
AnnealLearningRate = Annotated[Flag, Field(description="lower the learning rate to 0 over the budget")]
MaxGradNorm = Annotated[
    float, Field(gt=0, allow_inf_nan=False, description="gradients are clipped to this norm"), NUMERIC
]
RewardScale = Annotated[
    Annotated[float, Field(gt=0, allow_inf_nan=False), NUMERIC] | None,
    Field(description="payoffs are divided by this number; null: the typical difference between results of the game"),
]
DecisionsPerIteration = Annotated[int, Field(ge=1, description="decisions gathered before each update"), NUMERIC]
Minibatch = Annotated[int, Field(ge=1, description="decisions in one gradient step"), NUMERIC]
Epochs = Annotated[int, Field(ge=1, description="passes over the decisions of an update"), NUMERIC]
EmaDecay = Annotated[
    float,
    Field(ge=0, le=0.9999, description="EMA decay of the weights per update; 0: the last weights are kept"),
    NUMERIC,
]
Symmetries = Annotated[
    Flag, Field(description="learn from a random equivalent form of each decision; only poker_squares has such forms")
]
Successors = Annotated[
    int, Field(ge=0, le=1024, description="sampled successor states in a one-step target; 0: the observed one"), NUMERIC
]
EpsilonStart = Annotated[
    Share | None, Field(description="share of random actions at the start; null: epsilon from the start")
]
EpsilonDecay = Annotated[
    float, Field(ge=0, le=1, description="share of the budget in which epsilon_start falls to epsilon"), NUMERIC
]
Epsilon = Annotated[
    float, Field(ge=0, le=1, description="share of random actions in training; play is greedy"), NUMERIC
]


class SharedOptions(Protocol):
    """What the options of all learners have; each is described at its type above."""

    @property
    def learning_rate(self) -> float: ...  # noqa: D102
    @property
    def anneal_learning_rate(self) -> bool: ...  # noqa: D102
    @property
    def decisions_per_iteration(self) -> int: ...  # noqa: D102
    @property
    def minibatch_size(self) -> int: ...  # noqa: D102
    @property
    def max_grad_norm(self) -> float: ...  # noqa: D102
    @property
    def reward_scale(self) -> float | None: ...  # noqa: D102
    @property
    def ema_decay(self) -> float: ...  # noqa: D102
    @property
    def symmetries(self) -> bool: ...  # noqa: D102
