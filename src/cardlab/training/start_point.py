"""What a training starts from: fresh weights, those of a policy, or the end of an earlier training."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

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
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.learners.base import Learner
from cardlab.learners.rollouts.collector import Collector
from cardlab.networks.protocol import Network
from cardlab.training.continuation import Continuation, read_continuation
from cardlab.training.experiment import START_KEY, TRAINING_FILE, Experiment


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
                    raise InvalidOption(START_KEY, given, f"a policy with {key}={value}: this one has {found.get(key)}")
            return PolicyStartPoint(load_network(game, folder))
        except PolicyError as error:
            raise InvalidOption(START_KEY, given, f"a policy that fits ({error})") from error


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
