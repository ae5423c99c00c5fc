"""Games whose lines are told by codes, and what a network of codes knows: each other's half of a compiled playout.

The network (networks/sparse_lines.py) is defined by its forward pass; a game that SupportsFusedRollouts computes the
same in one kernel, line by line, so that a decision costs two looks at each line in the place of ten for each cell.
"""

from typing import NamedTuple, Protocol, runtime_checkable

from cardlab.games.protocol import Floats, InfoStates, States


class SparseLineValues(NamedTuple):
    """Worth of a position: Σ over open lines of weights · relu(Σ over its codes of vectors), and what is settled."""

    vectors: Floats  # [codes, H] one for each code of the game's vocabulary
    weights: Floats  # [H]


@runtime_checkable
class SupportsFusedRollouts(Protocol):
    """A game that plays one step ahead by code values in one kernel."""

    def sparse_action_values(self, info_states: InfoStates, values: SparseLineValues, reward_scale: float) -> Floats:
        """[N, A] what each action pays at once and its afterstate is worth, in units of `reward_scale`; else -inf."""
        ...

    def sparse_play_out(self, states: States, values: SparseLineValues) -> Floats:
        """[G, P] payoffs when all play takes the action of most worth; `states` are left as they are."""
        ...
