"""Interface between a game with sparse line codes and the network that values them: playouts in one kernel.

networks/sparse_lines.py defines the network. A game that SupportsFusedRollouts computes the same values line by line:
a decision reads each line twice, instead of ten lines for each cell.
"""

from typing import NamedTuple, Protocol, runtime_checkable

from cardlab.games.protocol import Floats, InfoStates, States


class SparseLineValues(NamedTuple):
    """Parameters of a value: Σ over open lines of weights · relu(Σ over its codes of vectors), plus settled points."""

    vectors: Floats  # [codes, H] one vector per code of the game's vocabulary
    weights: Floats  # [H]


@runtime_checkable
class SupportsFusedRollouts(Protocol):
    """A game that evaluates actions by sparse line values in one kernel."""

    def sparse_action_values(self, info_states: InfoStates, values: SparseLineValues, reward_scale: float) -> Floats:
        """[N, A] reward plus afterstate value of each action, in units of `reward_scale`; -inf where illegal."""
        ...

    def sparse_play_out(self, states: States, values: SparseLineValues) -> Floats:
        """[G, P] payoffs of greedy play by action values; `states` are not changed."""
        ...
