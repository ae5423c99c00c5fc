"""The hyperparameters of every learner. Imports no torch, so that a wrong value is refused quickly."""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

from pydantic import Field

from cardlab.core.options import (
    NUMERIC,
    Flag,
    InvalidOption,
    Number,
    Text,
    Whole,
    as_written,
    check_choice,
    option,
    options,
)
from cardlab.games.protocol import Game, HasOpening
from cardlab.learners.catalogue import LEARNERS
from cardlab.networks.options import Widths

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network

GREEDY = 0.5  # the best action has a higher probability than this, with any `epsilon` below it, and no other has

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
Rollout = Annotated[int, Field(ge=1, description="decisions gathered before each update, at least"), NUMERIC]
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


@options("agent")
class PPOOptions:
    """Proximal policy optimisation (Schulman et al. 2017) with generalised advantage estimation."""

    name: ClassVar[str] = "ppo"
    gamma: Gamma = 1.0
    gae_lambda: Number = option(0.95, "0: one-step advantages; 1: Monte Carlo", ge=0, le=1)
    clip_range: Number = option(0.2, "clip range of the probability ratio", gt=0, le=10)
    entropy_weight: Number = option(0.01, "weight of the entropy in the loss", ge=0)
    value_weight: Number = option(0.5, "weight of the value loss in the loss", ge=0)
    clip_value: Flag = option(False, "clip the change of the value to the clip range, too; the larger loss counts")
    critic: Literal["own", "all_cards"] = option(
        "own",
        "critic used for advantages: own (value head of the policy) or all_cards (training-only, sees hidden cards)",
    )
    critic_widths: Widths = option((256, 128), "layer widths of the critic all_cards")
    learning_rate: LearningRate = 1e-3
    anneal_learning_rate: AnnealLearningRate = True
    min_learning_rate: Number = option(0.0, "the annealed learning rate stays above this number", ge=0, le=1)
    adam_epsilon: Number = option(1e-8, "Adam's epsilon: smallest denominator of a step", gt=0, le=1)
    anneal_clip_range: Flag = option(False, "lower the clip range to 0 over the budget")
    anneal_entropy_weight: Flag = option(False, "lower the entropy weight to 0 over the budget")
    epochs: Epochs = 2
    minibatch_size: Whole = option(2048, "decisions in one gradient step", ge=2)
    max_grad_norm: MaxGradNorm = 0.5
    reward_scale: RewardScale = None
    decisions_per_iteration: Whole = option(8192, "decisions gathered before each update, at least", ge=2)
    cut_games: Flag = option(
        False, "true: a rollout ends in the middle of games and bootstraps there; false: whole games only"
    )
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False
    greedy: Flag = option(True, "true: the trained policy plays its likeliest action; false: it samples")

    def __post_init__(self) -> None:
        if self.min_learning_rate > self.learning_rate:
            allowed = f"at most agent.learning_rate={self.learning_rate:g}"
            raise InvalidOption("agent.min_learning_rate", self.min_learning_rate, allowed)

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`; InvalidOption for a critic of a game without hidden cards, or with symmetries."""
        if self.critic != "own" and self.symmetries:
            raise InvalidOption("agent.symmetries", True, f"false: agent.critic={self.critic} sees all as it was dealt")
        if self.critic != "own" and self.cut_games:
            raise InvalidOption("agent.cut_games", True, f"false with agent.critic={self.critic}")
        if self.critic != "own" and not game.spec.num_privileged:
            raise InvalidOption("agent.critic", self.critic, f"own: {game.spec.name} has no privileged features")
        return resolve_name(LEARNERS[self.name])(game, network, self, total_iterations, seed)


@options("agent")
class DQNOptions:
    """Deep Q-learning (Mnih et al. 2015): masked, double, n-step to Monte Carlo targets."""

    name: ClassVar[str] = "dqn"
    gamma: Gamma = 1.0
    same_turn_kinds: tuple[Text, ...] = option(
        (), "kinds of decision that share the discount of the decision before them, e.g. [swap]"
    )
    epsilon: Epsilon = 0.05
    epsilon_start: EpsilonStart = None
    epsilon_decay: EpsilonDecay = 0.3
    epsilon_hold: Share = option(0.0, "share of the budget before epsilon_start begins to fall")
    n_step: Whole = option(0, "decisions of the player until the target bootstraps; 0: never (Monte Carlo)", ge=0)
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
    minibatch_size: Minibatch = 2048
    updates_per_iteration: Whole = option(16, "minibatches drawn from the replay buffer per update", ge=1)
    loss: Literal["mse", "huber"] = option("mse", "loss of the action values: mse or huber")
    learning_rate: LearningRate = 1e-3
    anneal_learning_rate: AnnealLearningRate = True
    max_grad_norm: MaxGradNorm = 10.0
    reward_scale: RewardScale = None
    decisions_per_iteration: Rollout = 8192
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def __post_init__(self) -> None:
        if self.successors and self.n_step != 1:
            raise InvalidOption("agent.n_step", self.n_step, "1 with agent.successors")
        if self.zero_other_actions and self.train_all_actions:
            raise InvalidOption("agent.zero_other_actions", True, "false with agent.train_all_actions")
        if self.zero_other_actions and self.loss != "mse":
            raise InvalidOption("agent.loss", self.loss, "mse with agent.zero_other_actions")
        if self.successors and self.episode != "game":
            raise InvalidOption("agent.episode", self.episode, "game with agent.successors")
        if not self.learn_random_actions and max(self.epsilon, self.epsilon_start or 0) >= GREEDY:
            raise InvalidOption("agent.epsilon", self.epsilon, f"below {GREEDY:g} without agent.learn_random_actions")
        if self.successors and self.double:
            raise InvalidOption("agent.double", self.double, "false with agent.successors")

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`; InvalidOption when the game or the network has no such decisions or outputs."""
        if self.zero_other_actions and network.reads_actions:
            raise InvalidOption("agent.zero_other_actions", True, "false: this network scores legal actions only")
        for kind in self.same_turn_kinds:
            check_choice("agent.same_turn_kinds", kind, game.spec.decision_kinds)
        if self.opening_list and not isinstance(game, HasOpening):
            raise InvalidOption("agent.opening_list", True, f"false: {game.spec.name} has no such list")
        if self.whole_opening and not isinstance(game, HasOpening):
            raise InvalidOption("agent.whole_opening", True, f"false: {game.spec.name} has no opening of several cards")
        return resolve_name(LEARNERS[self.name])(game, network, self, total_iterations, seed)


@options("agent")
class TDOptions:
    """TD(lambda) on the values of afterstates (Sutton 1988; Tesauro 1995); play looks one step ahead."""

    name: ClassVar[str] = "td"
    gamma: Gamma = 1.0
    td_lambda: Number = option(0.5, "0: one-step targets; 1: Monte Carlo", ge=0, le=1)
    successors: Successors = 0
    epsilon: Epsilon = 0.0
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
    minibatch_size: Minibatch = 1024
    max_grad_norm: MaxGradNorm = 10.0
    reward_scale: RewardScale = None
    decisions_per_iteration: Rollout = 8192
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def __post_init__(self) -> None:
        if self.successors and self.td_lambda == 1:
            raise InvalidOption("agent.td_lambda", self.td_lambda, "below 1 with agent.successors")
        if self.off_policy and max(self.epsilon, self.epsilon_start or 0) >= GREEDY:
            raise InvalidOption("agent.epsilon", self.epsilon, f"below {GREEDY:g} with agent.off_policy")
        if self.momentum and self.optimizer != "sgd":
            raise InvalidOption("agent.momentum", self.momentum, f"0 with agent.optimizer={self.optimizer}")
        if self.online:
            self._check_online()
        if self.off_policy and self.successors:
            raise InvalidOption("agent.off_policy", True, "false with agent.successors")

    def _check_online(self) -> None:
        if self.td_lambda not in (0, 1):
            raise InvalidOption("agent.td_lambda", self.td_lambda, "0 or 1 with agent.online")
        needed = {"optimizer": "sgd", "minibatch_size": 1, "epochs": 1, "successors": 0, "symmetries": False}
        needed |= {"momentum": 0, "weight_decay": 0, "normalize_gradients": False, "max_grad_norm": 10.0}
        for key, value in needed.items():
            if getattr(self, key) != value:
                raise InvalidOption(f"agent.{key}", getattr(self, key), f"{as_written(value)} with agent.online")

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`."""
        return resolve_name(LEARNERS[self.name])(game, network, self, total_iterations, seed)


@options("agent")
class PolicyIterationOptions:
    """Policy iteration by rollouts (Lagoudakis and Parr 2003); trainer.start_from names a policy of agent=td."""

    name: ClassVar[str] = "policy_iteration"
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
    decisions_per_iteration: Rollout = 4096
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`; InvalidOption when there is no agent `rollouts_by`, or none for this game."""
        return resolve_name(LEARNERS[self.name])(game, network, self, total_iterations, seed)


@options("training")
class BeliefTraining:
    """Training of a belief network (cardlab belief)."""

    iterations: Whole = option(40, "rollouts, each followed by one pass of minibatches", ge=1)
    games: Whole = option(512, "games of self-play in each rollout", ge=1)
    minibatch_size: Minibatch = 512
    learning_rate: Number = option(1e-3, "Adam step size; it falls to 0 over the rollouts", gt=0, le=1)
    max_grad_norm: MaxGradNorm = 10.0
    held_out: Whole = option(1000, "games on which the belief is evaluated, none of them trained on", ge=2)


LEARNER_OPTIONS = {options.name: options for options in (PPOOptions, DQNOptions, TDOptions, PolicyIterationOptions)}
"""The learners by registry key."""
