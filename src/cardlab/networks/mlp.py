"""The plain network: one perceptron over the whole observation, one output per action."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.inputs import Inputs
from cardlab.networks.layers import check_activation, check_widths, head, mask_scores, perceptron
from cardlab.networks.protocol import Network


@dataclass(frozen=True)
class MLPOptions:
    """`network=mlp`: fits every game."""

    name: ClassVar[str] = "mlp"
    widths: tuple[int, ...] = (256, 256)
    activation: str = "relu"
    layer_norm: bool = False
    separate_critic: bool = False  # a trunk of its own for the value

    def __post_init__(self) -> None:
        check_widths("network.widths", self.widths)
        check_activation("network.activation", self.activation)

    def build(self, spec: GameSpec) -> "MLP":
        """A fresh network for this game."""
        return MLP(spec, self)


class MLP(Network):
    """Observation → trunk → scores and value."""

    def __init__(self, spec: GameSpec, options: MLPOptions) -> None:
        super().__init__()
        sizes = (spec.num_features, *options.widths)

        def trunk() -> nn.Module:
            return perceptron(sizes, activation=options.activation, layer_norm=options.layer_norm)

        self.actor_trunk = trunk()
        self.critic_trunk = trunk() if options.separate_critic else None
        self.score_head = head(sizes[-1], spec.num_actions, 0.01)
        self.value_head = head(sizes[-1], 1, 0.1)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        hidden = self.actor_trunk(inputs.observations)
        scores = mask_scores(self.score_head(hidden), inputs.legal)
        if self.critic_trunk is not None:
            hidden = self.critic_trunk(inputs.observations)
        return scores, self.value_head(hidden).squeeze(-1)

    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        trunk = self.actor_trunk if self.critic_trunk is None else self.critic_trunk
        return self.value_head(trunk(observations)).squeeze(-1)
