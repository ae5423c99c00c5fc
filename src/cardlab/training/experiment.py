"""One experiment: everything that a training depends on, built and validated."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cardlab.agents.policy_descriptions import POLICY_FILES
from cardlab.agents.specs import policy_hint
from cardlab.core.options import invalid
from cardlab.core.parts import NAME, target_of
from cardlab.core.running_code import check_unchanged, code_digest
from cardlab.evaluation.options import ArenaOptions
from cardlab.games.protocol import Game
from cardlab.training.options import TrainerOptions

if TYPE_CHECKING:
    from cardlab.learners.base import LearnerOptions
    from cardlab.learners.rollouts.opponents.protocol import AgentOf, Opponents
    from cardlab.networks.protocol import Network, NetworkOptions

START_KEY = "trainer.start_from"
TRAINING_FILE = "training.ckpt"  # in the folder runs/NAME/latest/training
TOTALS_OVER_PROCESSES = ("decisions_per_iteration", "minibatch_size", "buffer_size")
"""Options of learners that are totals over all processes."""
_SMALLEST_SHARE = 2  # advantages are standardised, which takes two


class OpponentOptions(Protocol):
    """Options of one kind of opponents."""

    def build(self, game: Game, agent_of: "AgentOf", network: "Network") -> "Opponents":
        """The opponents of a training."""
        ...


@dataclass(frozen=True)
class Experiment:
    """A composed configuration as objects."""

    name: str
    seed: int
    game: Game  # with its training-only options
    agent: "LearnerOptions"
    network: "NetworkOptions"
    opponents: OpponentOptions
    trainer: TrainerOptions
    arena: ArenaOptions
    config: Mapping[str, Any]  # the plain configuration that it was built from
    builder: str = __name__  # module that built it: part of the code that decides the result
    code: str = ""  # digest of the code in the process that starts the training

    def __post_init__(self) -> None:
        processes = self.trainer.processes
        for name in ("online", "update_per_game", "zero_other_actions"):  # each step needs all its decisions
            if processes > 1 and getattr(self.agent, name, False):
                raise invalid(self.trainer, "processes", f"1 with agent.{name}")
        rollout, seats = self.agent.decisions_per_iteration, self.game.spec.num_players
        most = (rollout - _SMALLEST_SHARE * processes) // seats  # the last decision of each player waits
        if getattr(self.agent, "cut_games", False) and self.trainer.parallel_games > most:
            allowed = f"at most {most} with agent.cut_games and agent.decisions_per_iteration={rollout}"
            raise invalid(self.trainer, "parallel_games", allowed)
        for name in TOTALS_OVER_PROCESSES if processes > 1 else ():
            whole = getattr(self.agent, name, None)
            if whole is not None and whole < _SMALLEST_SHARE * processes:
                allowed = (
                    f"at most {max(1, whole // _SMALLEST_SHARE)} with agent.{name}={whole}, which the processes share"
                )
                raise invalid(self.trainer, "processes", allowed)

    @property
    def agent_name(self) -> str:
        """The word for the learner in tables: the `name` of its group."""
        return str(self.config.get("agent", {}).get(NAME) or target_of(self.agent))

    @property
    def total_iterations(self) -> int:
        """Iterations of the whole budget."""
        return max(1, round(self.trainer.decisions / self.agent.decisions_per_iteration))

    @property
    def last_iteration(self) -> int:
        """The iteration after which training ends: that of the budget, or of `stop_after`."""
        stop = self.trainer.stop_after or self.trainer.decisions
        return min(self.total_iterations, -(-stop // self.agent.decisions_per_iteration))

    def rollout_decisions(self, iteration: int) -> int:
        """Decisions of the iteration with this number, counted from 0; the last one has the rest of the budget."""
        rollout, last = self.agent.decisions_per_iteration, self.total_iterations - 1
        return rollout if iteration < last else self.trainer.decisions - rollout * last


def training_code(experiment: Experiment) -> str:
    """Digest of the code of a training in this process. Raises CodeChanged."""
    code = code_digest((experiment.builder, f"{__package__}.run"), experiment.config)
    if experiment.code:
        check_unchanged(experiment.code, code)
    return code


def check_start(trainer: TrainerOptions) -> None:
    """Raise InvalidOption when there is nothing to start from in the folder `trainer.start_from`."""
    given = trainer.start_from
    if given is not None and not any((Path(given) / name).exists() for name in (TRAINING_FILE, *POLICY_FILES)):
        allowed = f"a folder with a {TRAINING_FILE}, as runs/NAME/latest/training, or a policy{policy_hint(given)}"
        raise invalid(trainer, "start_from", allowed)


def check_device(trainer: TrainerOptions) -> None:
    """Raise InvalidOption when a training needs a GPU and this machine has none."""
    if trainer.device != "gpu":
        return
    import torch  # noqa: PLC0415 (other values are refused without importing torch)

    if not torch.accelerator.is_available():
        raise invalid(trainer, "device", "cpu: torch finds no GPU on this machine")
