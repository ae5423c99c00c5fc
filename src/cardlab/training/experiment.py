"""One experiment: everything that a training run depends on, built and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from cardlab.core.options import InvalidOption
from cardlab.evaluation.options import ArenaOptions
from cardlab.games.protocol import Game
from cardlab.training.options import TrainerOptions

if TYPE_CHECKING:
    from cardlab.learners.base import LearnerOptions
    from cardlab.learners.rollouts.opponents.protocol import AgentOf, Opponents
    from cardlab.networks.protocol import Network, NetworkOptions

SHARED = ("decisions_per_iteration", "minibatch_size", "buffer_size")
"""Options of learners that are sums over all processes: each of these takes its share."""
_SMALLEST_SHARE = 2  # an advantage needs another to be normalised with


class OpponentOptions(Protocol):
    """Frozen options of one kind of opponents."""

    name: ClassVar[str]  # registry key, as in conf/opponents/

    def build(self, game: Game, agent_of: "AgentOf", network: "Network") -> "Opponents":
        """The field of opponents."""
        ...


@dataclass(frozen=True)
class Experiment:
    """What a composed configuration means."""

    name: str
    seed: int
    game: Game  # as trained on: options for training only included
    agent: "LearnerOptions"
    network: "NetworkOptions"
    opponents: OpponentOptions
    trainer: TrainerOptions
    arena: ArenaOptions
    config: Mapping[str, Any]  # the plain configuration that it was built from
    builder: str = __name__  # module that built it: part of the code that decides the result

    def __post_init__(self) -> None:
        processes = self.trainer.processes
        for name in SHARED if processes > 1 else ():
            whole = getattr(self.agent, name, None)
            if whole is not None and whole < _SMALLEST_SHARE * processes:
                allowed = f"at most {max(1, whole // _SMALLEST_SHARE)} with agent.{name}={whole}, which they share"
                raise InvalidOption("trainer.processes", processes, allowed)

    @property
    def rounds(self) -> int:
        """Rounds of training that the budget gives."""
        return self.trainer.rounds(self.agent.decisions_per_iteration)

    @property
    def last_round(self) -> int:
        """The round after which training ends, annealing or not."""
        return self.trainer.last_round(self.agent.decisions_per_iteration)


def check_device(trainer: TrainerOptions) -> None:
    """InvalidOption when a training needs a GPU and this machine has none."""
    if trainer.device != "gpu":
        return
    import torch  # noqa: PLC0415 (a wrong value is refused without it)

    if not torch.accelerator.is_available():
        raise InvalidOption("trainer.device", "gpu", "cpu on this machine: torch sees no GPU")
