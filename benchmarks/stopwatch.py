"""Where the CPU time of rounds goes and what their networks are asked, watched from outside by wrapped calls."""

import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import process_time
from typing import Any
from unittest.mock import patch

import torch

from cardlab.agents import network_agents as agents_network
from cardlab.learners.base import Learner
from cardlab.learners.dqn import learner as dqn
from cardlab.learners.rollouts.collector import Collector
from cardlab.networks import encoded_batch as encoded

ENGINE = (
    "deal",
    "current_player",
    "decision_kind",
    "information",
    "legal_actions",
    "list_legal_actions",  # of games that have it
    "apply",
    "is_over",
    "payoffs",
)
ENCODING = ("observe", "action_features")
NETWORK = ("forward", "score_legal", "value")
ENCODERS = (
    (agents_network, ("encode_for", "encode_legal_for")),
    (encoded, ("encode_legal_for",)),
    (dqn, ("encode_for",)),
)


@dataclass(frozen=True)
class Asked:
    """One call of a network, with what it was given."""

    method: str
    inputs: tuple[Any, ...]
    learning: bool  # whether a gradient followed


class Stopwatch:
    """CPU seconds of the parts of two stages, play and updates, and the calls of the network.

    What a part calls belongs to it: a mask that an encoder asks the engine for is encoding.
    """

    def __init__(self, *, keep_calls: bool = False) -> None:
        self.seconds: defaultdict[tuple[str, str], float] = defaultdict(float)  # (stage, part); part "" is the whole
        self.calls: list[Asked] = []
        self._keep_calls = keep_calls
        self._stage = ""
        self._inside = False

    def clear(self) -> None:
        """Begin anew."""
        self.seconds.clear()
        self.calls.clear()

    @contextmanager
    def watching(self, learner: Learner) -> Iterator[None]:
        """While this lasts, what games, encoders, networks and the learner do is timed."""
        game, network = type(learner.game), type(learner.network)
        with ExitStack() as stack:

            def wrap(owner: Any, name: str, around: Callable[..., Any], label: str) -> None:
                original = getattr(owner, name)
                stack.enter_context(patch.object(owner, name, functools.wraps(original)(around(original, label))))

            wrap(Collector, "collect", self._as_stage, "play")
            wrap(type(learner), "update", self._as_stage, "updates")
            for names, label in ((ENGINE, "engine"), (ENCODING, "encoding")):
                for name in names:
                    if hasattr(game, name):
                        wrap(game, name, self._as_part, label)
            for module, names in ENCODERS:
                for name in names:
                    wrap(module, name, self._as_part, "encoding")
            for name in NETWORK:
                wrap(network, name, self._as_part, "network")
            yield

    def _as_stage(self, call: Callable[..., Any], label: str) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            self._stage, began = label, process_time()
            try:
                return call(*arguments, **options)
            finally:
                self.seconds[label, ""] += process_time() - began
                self._stage = ""

        return timed

    def _as_part(self, call: Callable[..., Any], label: str) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            if self._inside or not self._stage:
                return call(*arguments, **options)
            if self._keep_calls and label == "network":
                learning = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
                self.calls.append(Asked(call.__name__, arguments[1:], learning))
            self._inside, began = True, process_time()
            try:
                return call(*arguments, **options)
            finally:
                self.seconds[self._stage, label] += process_time() - began
                self._inside = False

        return timed
