"""What a training starts from: fresh weights, those of a policy, or the end of an earlier training."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import lightning
import torch
from lightning.pytorch.callbacks import Callback

from cardlab.agents.policy_descriptions import (
    BELIEF,
    POLICY_FILES,
    PolicyDescription,
    PolicyError,
    policy_digest,
    read_description,
)
from cardlab.agents.policy_files import describe, load_network
from cardlab.agents.registry import named_folders
from cardlab.core.files import short_path
from cardlab.core.messages import InvalidOption
from cardlab.core.parts import target_of
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.learners.base import Learner
from cardlab.learners.rollouts.collector import Collector
from cardlab.networks.protocol import Network
from cardlab.training.checkpoint_files import CheckpointError, read_checkpoint
from cardlab.training.experiment import START_KEY, TRAINING_FILE, Experiment

_FORMAT = 2
_FIXED_AGENT_OPTIONS = ("decisions_per_iteration", "critic", "critic_widths", "ema_decay", "optimizer")
_FIXED_OPPONENT_OPTIONS = ("size",)  # the other opponents may change
_CALLBACKS = ("LearningCurve", "ResourceUsage")  # their state is restored


@dataclass(frozen=True)
class Continuation:
    """State that an earlier training saved."""

    content: Mapping[str, Any]

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return int(self.content["iterations_done"])

    def restore_learner(self, learner: Learner) -> None:
        """Set weights and counters; `callback` restores the optimiser, which Lightning creates later."""
        learner.load_state_dict(self.content["weights"])
        learner.iterations_done = self.iterations
        learner.decisions_done = int(self.content["decisions_done"])

    def restore_opponents(self, collector: Collector) -> None:
        """Set the checkpoints of the opponent pool."""
        collector.opponents.load_state_dict(self.content["opponents"])

    def callback(self, others: list[Callback]) -> Callback:
        """A callback that restores the optimiser and the state of `others` when the training starts."""
        return _RestoreAtStart(self.content, others)


class _RestoreAtStart(Callback):
    def __init__(self, content: Mapping[str, Any], others: list[Callback]) -> None:
        self.content = content
        self.others = others

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Restore before the first iteration."""
        assert isinstance(pl_module, Learner)
        pl_module.optimizer.load_state_dict(cast(dict[str, Any], self.content["optimizer"]))
        for other in self.others:
            state = self.content["callbacks"].get(other.state_key)
            if state is not None:
                other.load_state_dict(state)


def write_continuation(checkpoint: Path, experiment: Experiment, folder: Path) -> None:
    """Write to `folder` what a longer training needs of a finished run's `checkpoint`. Raises CheckpointError."""
    content = read_checkpoint(checkpoint)
    callbacks: Mapping[str, Any] = content["callbacks"]
    content_kept = {
        "format": _FORMAT,
        "training": _identity(experiment),
        "iterations_done": content["learner"]["iterations_done"],
        "decisions_done": content["learner"]["decisions_done"],
        "weights": content["state_dict"],
        "optimizer": content["optimizer_states"][0],
        "opponents": callbacks["CollectorState"]["collector"]["opponents"],
        "callbacks": {name: callbacks[name] for name in _CALLBACKS if name in callbacks},
    }
    whole = BytesIO()  # torch's own error for a full disk does not mention the disk
    torch.save(content_kept, whole)
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


def read_continuation(experiment: Experiment, given: str) -> Continuation:
    """Read the folder `given`. Raises InvalidOption for another folder or another training."""
    path = Path(given) / TRAINING_FILE
    try:
        content = read_checkpoint(path)
        continuation, identity = Continuation(content), dict(content["training"])
        has_format = content["format"] == _FORMAT
    except Exception as error:
        allowed = f"a folder with a {TRAINING_FILE} written by a training, or a policy"
        raise _unfit(given, allowed) from error
    if not has_format:
        raise _unfit(given, f"a training of format {_FORMAT}; {path} has another, train again")
    for key, value in _identity(experiment).items():
        if identity.get(key) != value:
            raise _unfit(given, f"a training with {key}={value}: this one has {identity.get(key)}")
    if continuation.iterations >= experiment.last_iteration:
        done = int(content["decisions_done"])
        raise _unfit(
            given, f"a training of fewer decisions than trainer.decisions and trainer.stop_after; it has {done}"
        )
    return continuation


def _unfit(given: str, allowed: str) -> InvalidOption:
    """The error for a folder from which this training cannot start."""
    return InvalidOption(START_KEY, given, allowed)


def _identity(experiment: Experiment) -> dict[str, str]:
    """Options that a continued training may not change, as text by key."""
    spec, network, opponents = experiment.game.spec, experiment.network, experiment.opponents
    shape: dict[str, Any] = asdict(network)  # pyright: ignore[reportArgumentType] - options are dataclasses
    facts = {
        "game": spec.name,
        **{f"game.{key}": value for key, value in spec.options.items()},
        "agent": target_of(experiment.agent),
        **{
            f"agent.{key}": getattr(experiment.agent, key)
            for key in _FIXED_AGENT_OPTIONS
            if hasattr(experiment.agent, key)
        },
        "network": target_of(network),
        **{f"network.{key}": value for key, value in shape.items()},
        "opponents": target_of(experiment.opponents),
        **{f"opponents.{key}": getattr(opponents, key) for key in _FIXED_OPPONENT_OPTIONS if hasattr(opponents, key)},
    }
    return {key: str(value) for key, value in facts.items()}


@dataclass(frozen=True)
class PolicyStartPoint:
    """A policy's weights, for a new training with its own budget, schedules and opponent pool."""

    network: Network
    iterations: int = 0

    def restore_learner(self, learner: Learner) -> None:
        """Set the weights of the network and of its EMA; a policy has no training-only critic."""
        for network in (learner.network, learner.ema_network):
            network.load_state_dict(self.network.state_dict())

    def restore_opponents(self, collector: Collector) -> None:
        """Do nothing: the pool's first checkpoint is the policy already."""

    def callback(self, others: list[Callback]) -> Callback:
        """A callback that does nothing: the optimiser is new."""
        return Callback()


StartPoint = PolicyStartPoint | Continuation
"""State from which a training starts, in place of fresh weights."""


def read_start_point(experiment: Experiment) -> StartPoint | None:
    """The content of `trainer.start_from`, if set. Raises InvalidOption for a folder that does not fit."""
    given = experiment.trainer.start_from
    if given is None:
        return None
    return _read_policy(experiment, given) if _is_policy(Path(given)) else read_continuation(experiment, given)


def start_digest(folder: Path) -> bytes:
    """Digest of what a training starts from. Raises OSError or PolicyError when it is missing."""
    if _is_policy(folder):
        return bytes.fromhex(policy_digest(folder))
    return hashlib.sha256((folder / TRAINING_FILE).read_bytes()).digest()


def named_policies(config: Any, game: Game) -> Iterator[Path]:
    """Folders of the policies and beliefs that a configuration names: opponents (as keys), references, in searches."""
    if isinstance(config, Mapping):
        entries = cast(Mapping[str, Any], config)
        for key in sorted(entries):
            yield from named_policies(key, game)
            yield from named_policies(entries[key], game)
    elif isinstance(config, list | tuple):
        for entry in cast(Iterable[Any], config):
            yield from named_policies(entry, game)
    elif isinstance(config, str):
        with suppress(InvalidOption):  # a text that is no agent
            yield from filter(_is_policy, named_folders(game, config))


def linked_policies(experiment: Experiment) -> dict[str, str]:
    """Folder → digest of each policy that a training starts from or meets: `champion` or `latest` may move later."""
    given = experiment.trainer.start_from
    folders = [*named_policies(experiment.config, experiment.game), *([] if given is None else [Path(given)])]
    return {str(short_path(folder.absolute())): start_digest(folder).hex() for folder in sorted(set(folders))}


def _is_policy(folder: Path) -> bool:
    return not (folder / TRAINING_FILE).exists() and any((folder / name).exists() for name in (*POLICY_FILES, BELIEF))


def _read_policy(experiment: Experiment, given: str) -> PolicyStartPoint:
    game, folder = without_training_options(experiment.game), Path(given)
    with torch.random.fork_rng(devices=[]):  # the discarded network draws no numbers from the run's generator
        network = experiment.network.build(game.spec)
        learner = experiment.agent.build(experiment.game, network, 1, 0)
        expected = describe(game, experiment.network, learner.trained_agent(game, network), learner.policy_options())
        try:
            found = _facts(read_description(folder), type(experiment.network)())
            for key, value in _facts(expected).items():
                if found.get(key) != value:
                    raise _unfit(given, f"a policy with {key}={value}: this one has {found.get(key)}")
            return PolicyStartPoint(load_network(game, folder))
        except PolicyError as error:
            raise _unfit(given, f"a policy that fits ({error})") from error


def _facts(description: PolicyDescription, defaults: Any = None) -> dict[str, Any]:
    """Properties of a policy that a training cannot change; `defaults` fill in options that it lacks."""
    options: Mapping[str, Any] = {**(asdict(defaults) if defaults else {}), **description.network_options}
    facts = {
        "game": description.game,
        "network": description.network,
        **{f"network.{key}": value for key, value in options.items()},
        "policy": description.policy,
        "reward_scale": description.policy_options.get("reward_scale"),
    }
    return json.loads(json.dumps(facts))  # tuples and lists compare alike
