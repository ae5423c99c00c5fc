"""Which commands can start the processes of a training by Ray."""

from cardlab.core.messages import InvalidOption
from cardlab.training.options import TrainerOptions


def check_launcher(trainer: TrainerOptions) -> None:
    """Raise InvalidOption for `launcher=ray`, which only `cardlab train` can use."""
    if trainer.launcher != "processes":
        raise InvalidOption("trainer.launcher", trainer.launcher, "processes; only cardlab train uses ray")
