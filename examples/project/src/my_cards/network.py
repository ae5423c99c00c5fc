"""A network with one hidden layer."""

from torch import Tensor, nn

from cardlab.core.options import Positive, option, options
from cardlab.games.protocol import GameSpec
from cardlab.networks.inputs import Inputs
from cardlab.networks.layers import head, mask_scores
from cardlab.networks.protocol import Network


@options("network")
class TinyOptions:
    """One hidden layer."""

    width: Positive = option(32, "width of the hidden layer")

    def check(self, spec):
        """Raise InvalidOption if the network does not fit the game; this one fits all."""

    def build(self, spec):
        """The network for a game."""
        return TinyNetwork(spec, self)


class TinyNetwork(Network):
    """Observation → hidden layer → scores of the actions, and the value."""

    def __init__(self, spec: GameSpec, options: TinyOptions) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(spec.num_features, options.width), nn.Tanh())
        self.score_head = head(options.width, spec.num_actions, 0.01)
        self.value_head = head(options.width, 1, 0.1)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        hidden = self.hidden(inputs.observations)
        return mask_scores(self.score_head(hidden), inputs.legal), self.value_head(hidden).squeeze(-1)

    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self.value_head(self.hidden(observations)).squeeze(-1)
