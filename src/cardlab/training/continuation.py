"""A long training in stretches: what one leaves, small enough for git, and the next goes on from, on any machine.

Kept are weights, optimiser, past selves, the curve and how far the budget is spent. Games under way and a DQN's memory
are not: the next stretch deals its own games.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import lightning
import torch
from lightning.pytorch.callbacks import Callback

from cardlab.core.options import InvalidOption
from cardlab.learners.base import RoundLearner
from cardlab.learners.rollouts.collector import Collector
from cardlab.training.callbacks import CheckpointError
from cardlab.training.experiment import Experiment

TRAINING_FILE = "training.ckpt"
START_KEY = "trainer.start_from"
_FORMAT = 1
_SHAPING = ("decisions_per_iteration", "critic", "critic_widths", "ema_decay", "optimizer")
"""Options of a learner that decide what it keeps, and what a round is."""
_FIELD = ("size",)
"""Options of a field of opponents that decide what it keeps; whom the learner meets beside its past may change."""
_CALLBACKS = ("Curve", "Stopwatch")  # whose state goes on, beside the learner's


@dataclass(frozen=True)
class Stretch:
    """What an earlier stretch left."""

    content: Mapping[str, Any]

    @property
    def rounds(self) -> int:
        """Rounds done."""
        return int(self.content["rounds_done"])

    def set_learner(self, learner: RoundLearner) -> None:
        """Set weights and counters; the optimiser's turn comes when Lightning has made it."""
        learner.load_state_dict(self.content["weights"])
        learner.rounds_done = self.rounds
        learner.decisions_done = int(self.content["decisions_done"])

    def set_field(self, collector: Collector) -> None:
        """Set past selves."""
        collector.opponents.load_state_dict(self.content["opponents"])

    def callback(self, others: list[Callback]) -> Callback:
        """What sets the optimiser and the state of the `others` that go on when the training begins."""
        return _Begin(self.content, others)


class _Begin(Callback):
    def __init__(self, content: Mapping[str, Any], others: list[Callback]) -> None:
        self.content = content
        self.others = others

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Before the first round."""
        assert isinstance(pl_module, RoundLearner)
        pl_module.optimizer.load_state_dict(cast(dict[str, Any], self.content["optimizer"]))
        for other in self.others:
            state = self.content["callbacks"].get(other.state_key)
            if state is not None:
                other.load_state_dict(state)


def write_stretch(checkpoint: Path, experiment: Experiment, folder: Path) -> None:
    """Write to `folder` what of the finished run's `checkpoint` a later stretch needs; or raise CheckpointError."""
    content: Mapping[str, Any] = torch.load(checkpoint, map_location="cpu", weights_only=True)
    callbacks: Mapping[str, Any] = content["callbacks"]
    kept = {
        "format": _FORMAT,
        "training": _identity(experiment),
        "rounds_done": content["learner"]["rounds_done"],
        "decisions_done": content["learner"]["decisions_done"],
        "weights": content["state_dict"],
        "optimizer": content["optimizer_states"][0],
        "opponents": callbacks["Field"]["collector"]["opponents"],
        "callbacks": {name: callbacks[name] for name in _CALLBACKS if name in callbacks},
    }
    whole = BytesIO()  # torch's own words for a full disk say nothing of the disk
    torch.save(kept, whole)
    path = folder / TRAINING_FILE
    part = path.with_suffix(".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_bytes(whole.getbuffer())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise CheckpointError(f"{path}: cannot be written ({error.strerror or error})") from error


def read_stretch(experiment: Experiment, given: str) -> Stretch:
    """What the folder `given` holds; InvalidOption for another folder, or for one of another training."""
    path = Path(given) / TRAINING_FILE
    try:
        content: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        stretch, began = Stretch(content), dict(content["training"])
        has_format = content["format"] == _FORMAT
    except Exception as error:
        allowed = f"a folder with the {TRAINING_FILE} that a training left, or with a policy"
        raise InvalidOption(START_KEY, given, allowed) from error
    if not has_format:
        raise InvalidOption(START_KEY, given, f"a training of format {_FORMAT}: {path} has another")
    for key, value in _identity(experiment).items():
        if began.get(key) != value:
            raise InvalidOption(START_KEY, given, f"a training with {key}={value}: this one has {began.get(key)}")
    if stretch.rounds >= experiment.last_round:
        done = int(content["decisions_done"])
        raise InvalidOption(START_KEY, given, f"short of trainer.decisions or trainer.stop_after: {done} are done")
    return stretch


def _identity(experiment: Experiment) -> dict[str, str]:
    """What may not change from one stretch to the next, flat, as text."""
    spec, network, field = experiment.game.spec, experiment.network, experiment.opponents
    shape: dict[str, Any] = asdict(network)  # pyright: ignore[reportArgumentType] - options are dataclasses
    facts = {
        "game": spec.name,
        **{f"game.{key}": value for key, value in spec.options.items()},
        "agent.name": experiment.agent.name,
        **{f"agent.{key}": getattr(experiment.agent, key) for key in _SHAPING if hasattr(experiment.agent, key)},
        "network.name": network.name,
        **{f"network.{key}": value for key, value in shape.items()},
        "opponents.name": experiment.opponents.name,
        **{f"opponents.{key}": getattr(field, key) for key in _FIELD if hasattr(field, key)},
    }
    return {key: str(value) for key, value in facts.items()}
