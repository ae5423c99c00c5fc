"""Options of TD(lambda). Imports no torch, so that a wrong value is refused quickly."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cardlab.core.options import Flag, Number, check_together, invalid, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import Game
from cardlab.learners.hyperparameters import (
    GREEDY_MIN_PROBABILITY,
    AnnealLearningRate,
    DecisionsPerIteration,
    EmaDecay,
    Epochs,
    Epsilon,
    EpsilonDecay,
    EpsilonStart,
    Gamma,
    LearningRate,
    MaxGradNorm,
    Minibatch,
    RewardScale,
    Successors,
    Symmetries,
)

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network


@options("agent")
class TDOptions:
    """TD(lambda) on the values of afterstates (Sutton 1988; Tesauro 1995); play looks one step ahead."""

    values_only: ClassVar[bool] = True  # it reads no scores of actions

    gamma: Gamma = 1.0
    td_lambda: Number = option(0.5, "0: one-step targets; 1: Monte Carlo", ge=0, le=1)
    successors: Successors = 0
    epsilon: Epsilon = 0.05
    epsilon_start: EpsilonStart = None
    epsilon_decay: EpsilonDecay = 0.3
    temperature: Number = option(
        0.0, "softmax temperature, in points, by which exploring actions are drawn; 0: uniformly", ge=0
    )
    off_policy: Flag = option(False, "targets of greedy play, cut before each exploring action (Watkins 1989)")
    end_decay: Number = option(
        1.0, "factor on the step size of a decision for each later decision of the player in its game", ge=0, le=1
    )
    optimizer: Literal["adam", "adagrad", "sgd"] = option(
        "adam", "optimiser: adam, adagrad (for network=sparse_lines) or sgd (stochastic gradient descent)"
    )
    momentum: Number = option(0.0, "momentum of the optimiser sgd", ge=0, lt=1)
    weight_decay: Number = option(0.0, "L2 penalty: each weight times this number is added to its gradient", ge=0, le=1)
    normalize_gradients: Flag = option(False, "scale the gradient to the norm 1 before each step")
    online: Flag = option(
        False,
        "one step per decision with sgd: for td_lambda 0 in the order of play, for 1 from the end of the game back",
    )
    learning_rate: LearningRate = 1e-3
    anneal_learning_rate: AnnealLearningRate = True
    epochs: Epochs = 1
    minibatch_size: Minibatch = 256
    max_grad_norm: MaxGradNorm = 10.0
    reward_scale: RewardScale = None
    decisions_per_iteration: DecisionsPerIteration = 2048
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def __post_init__(self) -> None:
        if self.successors and self.td_lambda == 1:
            raise invalid(self, "td_lambda", "below 1 with agent.successors")
        if self.off_policy and max(self.epsilon, self.epsilon_start or 0) >= GREEDY_MIN_PROBABILITY:
            raise invalid(self, "epsilon", f"below {GREEDY_MIN_PROBABILITY:g} with agent.off_policy")
        if self.online and self.td_lambda not in (0, 1):
            raise invalid(self, "td_lambda", "0 or 1 with agent.online")
        online = {"optimizer": "sgd", "minibatch_size": 1, "epochs": 1, "successors": 0, "symmetries": False}
        online |= {"momentum": 0, "weight_decay": 0, "normalize_gradients": False, "max_grad_norm": 10.0}
        demands = {"online": online, "momentum": {"optimizer": "sgd"}, "successors": {"off_policy": False}}
        check_together(self, demands)

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`."""
        return find_place(__name__, ".learner:TDLearner")(game, network, self, total_iterations, seed)
