"""Options of the network `belief`. Imports no torch, so that a wrong value is refused quickly."""

from typing import Any

from cardlab.core.options import options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import Activation, TrunkWidths


@options("network")
class BeliefOptions:
    """The belief network: a multilayer perceptron over the whole observation."""

    widths: TrunkWidths = (384, 256)
    activation: Activation = "relu"

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        return find_place(__name__, ".belief:BeliefNetwork")(spec, self)
