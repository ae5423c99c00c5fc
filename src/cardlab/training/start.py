"""Where a training begins: with fresh weights, with those of a policy, or where an earlier stretch of it ended."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import torch
from lightning.pytorch.callbacks import Callback

from cardlab.agents.policies import (
    POLICY_FILES,
    PolicyDescription,
    PolicyError,
    describe,
    load_network,
    policy_digest,
    read_description,
)
from cardlab.agents.policy_folders import policy_folder
from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import without_training_options
from cardlab.learners.base import RoundLearner
from cardlab.learners.rollouts.collector import Collector
from cardlab.networks.protocol import Network
from cardlab.training.continuation import START_KEY, TRAINING_FILE, read_stretch
from cardlab.training.experiment import Experiment


class Start(Protocol):
    """What a training begins with that is not fresh."""

    @property
    def rounds(self) -> int:
        """Rounds done before."""
        ...

    def set_learner(self, learner: RoundLearner) -> None:
        """Set weights and counters, before past selves are copied from it."""
        ...

    def set_field(self, collector: Collector) -> None:
        """Set past selves."""
        ...

    def callback(self, others: list[Callback]) -> Callback:
        """What sets the optimiser, and the state of the `others` that go on, when the training begins."""
        ...


@dataclass(frozen=True)
class PolicyStart:
    """A policy's weights: a new training, with its own budget, rates and past selves."""

    network: Network
    rounds: int = 0

    def set_learner(self, learner: RoundLearner) -> None:
        """Set the weights, those of a running mean too; a critic that sees all cards is no part of a policy."""
        for network in (learner.network, learner.settled_network):
            network.load_state_dict(self.network.state_dict())

    def set_field(self, collector: Collector) -> None:
        """Nothing: its one past self is the policy already."""

    def callback(self, others: list[Callback]) -> Callback:
        """One that does nothing: the optimiser is new."""
        return Callback()


def read_start(experiment: Experiment) -> Start | None:
    """What `trainer.start_from` holds, if given; InvalidOption for another folder, or for what does not fit."""
    given = experiment.trainer.start_from
    if given is None:
        return None
    return _read_policy(experiment, given) if _is_policy(Path(given)) else read_stretch(experiment, given)


def start_digest(folder: Path) -> bytes:
    """Of what a training begins with; OSError or PolicyError when it is gone."""
    if _is_policy(folder):
        return bytes.fromhex(policy_digest(folder))
    return hashlib.sha256((folder / TRAINING_FILE).read_bytes()).digest()


def named_policies(config: Any, game: str) -> Iterator[Path]:
    """The policies that a configuration names outright: opponents (as keys), who plays rollouts, references."""
    if isinstance(config, Mapping):
        entries = cast(Mapping[str, Any], config)
        for key in sorted(entries):
            yield from named_policies(key, game)
            yield from named_policies(entries[key], game)
    elif isinstance(config, list | tuple):
        for entry in cast(Iterable[Any], config):
            yield from named_policies(entry, game)
    elif isinstance(config, str):
        folder = policy_folder(config, game)
        if folder is not None and _is_policy(folder):
            yield folder


def _is_policy(folder: Path) -> bool:
    return not (folder / TRAINING_FILE).exists() and any((folder / name).exists() for name in POLICY_FILES)


def _read_policy(experiment: Experiment, given: str) -> PolicyStart:
    game, folder = without_training_options(experiment.game), Path(given)
    with torch.random.fork_rng(devices=[]):  # what is thrown away draws nothing from the run's own generator
        network = experiment.network.build(game.spec)
        learner = experiment.agent.build(experiment.game, network, 1, 0)
        wanted = describe(game, experiment.network, learner.policy_kind, learner.policy_options())
        try:
            has = _facts(read_description(folder), type(experiment.network)())
            for key, value in _facts(wanted).items():
                if has.get(key) != value:
                    raise InvalidOption(START_KEY, given, f"a policy with {key}={value}: this one has {has.get(key)}")
            return PolicyStart(load_network(game, folder))
        except PolicyError as error:
            raise InvalidOption(START_KEY, given, f"a policy that fits ({error})") from error


def _facts(description: PolicyDescription, defaults: Any = None) -> dict[str, Any]:
    """What of a policy a training cannot change, flat; `defaults` for options that it was written without."""
    options: Mapping[str, Any] = {**(asdict(defaults) if defaults else {}), **description.network_options}
    facts = {
        "game": description.game,
        "network.name": description.network,
        **{f"network.{key}": value for key, value in options.items()},
        "policy_kind": description.policy_kind,
        "reward_scale": description.policy_options.get("reward_scale"),
    }
    return json.loads(json.dumps(facts))  # tuples and lists compare alike
