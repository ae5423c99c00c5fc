"""Options of the network `sparse_lines`. Imports no torch, so that a wrong value is refused quickly."""

from typing import Any

from cardlab.core.options import Whole, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import require


@options("network")
class SparseLinesOptions:
    """Sums of embeddings of the codes of each line of cards; the fastest network; needs game.features=sparse_lines."""

    width: Whole = option(64, "width of the embeddings", ge=1, le=1024)

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without codes of lines."""
        others = "mlp or trunks, or game=poker_squares game.features=sparse_lines"
        require(bool(spec.num_codes), "sparse_lines", spec, "sparse lines", f"{others}: with these features")

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return find_place(__name__, ".sparse_lines:SparseLinesNetwork")(spec, self)
