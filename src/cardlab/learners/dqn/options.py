"""Options of DQN. Imports no torch, so that a wrong value is refused quickly."""

from typing import TYPE_CHECKING, Any, Literal

from cardlab.core.options import Flag, Text, Whole, check_choice, check_together, invalid, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import Game, HasOpening
from cardlab.learners.hyperparameters import (
    GREEDY_MIN_PROBABILITY,
    AnnealLearningRate,
    DecisionsPerIteration,
    EmaDecay,
    Epsilon,
    EpsilonDecay,
    EpsilonStart,
    Gamma,
    LearningRate,
    MaxGradNorm,
    Minibatch,
    RewardScale,
    Share,
    Successors,
    Symmetries,
)

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network


@options("agent")
class DQNOptions:
    """Deep Q-learning (Mnih et al. 2015): masked, double, n-step to Monte Carlo targets."""

    gamma: Gamma = 1.0
    same_turn_kinds: tuple[Text, ...] = option(
        (), "kinds of decision that share the discount of the decision before them, e.g. [swap]"
    )
    epsilon: Epsilon = 0.05
    epsilon_start: EpsilonStart = None
    epsilon_decay: EpsilonDecay = 0.3
    epsilon_hold: Share = option(0.0, "share of the budget before epsilon_start begins to fall")
    n_step: Whole = option(3, "decisions of the player until the target bootstraps; 0: never (Monte Carlo)", ge=0)
    double: Flag = option(True, "the online network chooses, the target network evaluates (van Hasselt et al. 2016)")
    successors: Successors = 0
    order: Literal["mean_of_maxima", "maximum_of_mean"] = option(
        "mean_of_maxima", "how successors are combined: mean_of_maxima (Bellman target) or maximum_of_mean"
    )
    successor_opponents: Literal["target", "random"] = option(
        "target", "who plays the opponents until a successor: target (the target network) or random"
    )
    train_all_actions: Flag = option(
        False, "every legal action learns the target of the action taken: a mistake of the Open-face paper"
    )
    zero_other_actions: Flag = option(
        False, "all other actions of the decision learn the target 0, as in the program of the Thirty-One paper"
    )
    learn_random_actions: Flag = option(True, "false: random actions of epsilon are played, but not learned from")
    opening_list: Flag = option(
        False, "openings follow the game's published list and are not learned (greedy start); open_face has one"
    )
    whole_opening: Flag = option(
        False,
        "an opening is one decision, whose last card is learned; opening_list comes first; open_face has one",
    )
    episode: Literal["game", "reward"] = option(
        "game", "where a return ends: game (its end) or reward (the next reward, such as that of a round of a match)"
    )
    update_per_game: Flag = option(
        False, "one update for each finished game or episode, on its decisions, in place of the replay buffer"
    )
    target_update: Whole = option(10, "updates between two copies to the target network", ge=1)
    buffer_size: Whole = option(200_000, "decisions in the replay buffer", ge=1, le=10**9)
    minibatch_size: Minibatch = 256
    updates_per_iteration: Whole = option(16, "minibatches drawn from the replay buffer per update", ge=1)
    loss: Literal["mse", "huber"] = option("huber", "loss of the action values: mse or huber")
    learning_rate: LearningRate = 1e-3
    anneal_learning_rate: AnnealLearningRate = True
    max_grad_norm: MaxGradNorm = 10.0
    reward_scale: RewardScale = None
    decisions_per_iteration: DecisionsPerIteration = 2048
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def __post_init__(self) -> None:
        successors = {"n_step": 1, "episode": "game", "double": False}
        zeroed = {"train_all_actions": False, "loss": "mse"}
        check_together(self, {"successors": successors, "zero_other_actions": zeroed})
        if not self.learn_random_actions and max(self.epsilon, self.epsilon_start or 0) >= GREEDY_MIN_PROBABILITY:
            raise invalid(self, "epsilon", f"below {GREEDY_MIN_PROBABILITY:g} without agent.learn_random_actions")

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`; InvalidOption when the game or the network has no such decisions or outputs."""
        if self.zero_other_actions and network.reads_actions:
            raise invalid(self, "zero_other_actions", "false: this network scores legal actions only")
        for kind in self.same_turn_kinds:
            check_choice("agent.same_turn_kinds", kind, game.spec.decision_kinds)
        for key in ("opening_list", "whole_opening"):
            if getattr(self, key) and not isinstance(game, HasOpening):
                raise invalid(self, key, f"false: {game.spec.name} has no opening of several cards")
        return find_place(__name__, ".learner:DQNLearner")(game, network, self, total_iterations, seed)
