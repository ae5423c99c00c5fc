"""Options of PPO. Imports no torch, so that a wrong value is refused quickly."""

from typing import TYPE_CHECKING, Any, Literal

from cardlab.core.options import Flag, Number, Whole, invalid, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import Game
from cardlab.learners.hyperparameters import (
    AnnealLearningRate,
    EmaDecay,
    Epochs,
    Gamma,
    LearningRate,
    MaxGradNorm,
    RewardScale,
    Symmetries,
)
from cardlab.networks.option_types import Widths

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network


@options("agent")
class PPOOptions:
    """Proximal policy optimisation (Schulman et al. 2017) with generalised advantage estimation."""

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
    magnet_weight: Number = option(
        0.0, "weight in the loss of the KL divergence from the policy with the EMA weights of agent.ema_decay", ge=0
    )
    epochs: Epochs = 2
    minibatch_size: Whole = option(256, "decisions in one gradient step", ge=2)
    max_grad_norm: MaxGradNorm = 0.5
    reward_scale: RewardScale = None
    decisions_per_iteration: Whole = option(2048, "decisions gathered before each update", ge=2)
    cut_games: Flag = option(
        False, "true: a rollout ends in the middle of games and bootstraps there; false: whole games only"
    )
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False
    greedy: Flag = option(True, "true: the trained policy plays its likeliest action; false: it samples")

    def __post_init__(self) -> None:
        if self.magnet_weight and not self.ema_decay:
            raise invalid(self, "magnet_weight", "0 without agent.ema_decay")
        if self.min_learning_rate > self.learning_rate:
            raise invalid(self, "min_learning_rate", f"at most agent.learning_rate={self.learning_rate:g}")

    def build(self, game: Game, network: "Network", total_iterations: int, seed: int) -> Any:
        """The learner of `network`; InvalidOption for a critic of a game without hidden cards, or with symmetries."""
        if self.critic != "own" and self.symmetries:
            raise invalid(self, "symmetries", f"false: agent.critic={self.critic} sees all as it was dealt")
        if self.critic != "own" and self.cut_games:
            raise invalid(self, "cut_games", f"false with agent.critic={self.critic}")
        if self.critic != "own" and not game.spec.num_privileged:
            raise invalid(self, "critic", f"own: {game.spec.name} has no privileged features")
        return find_place(__name__, ".learner:PPOLearner")(game, network, self, total_iterations, seed)
