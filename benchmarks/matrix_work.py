"""What a round's networks cost alone: the forward passes of acting, the forward and backward passes of updates."""

from collections.abc import Sequence
from time import process_time
from typing import Any

import torch
from torch import Tensor

from cardlab.networks.protocol import Network
from stopwatch import Asked


class Replay:
    """The calls of one round again, on the same inputs with the same weights, and nothing around them.

    No games, no encoding, no loss, no step of the optimiser: gradients of the outputs are fixed numbers. The head
    scores legal actions alone where the learner's does.
    """

    def __init__(self, network: Network, calls: Sequence[Asked], dtype: torch.dtype, *, scores_only: bool) -> None:
        self.network = network
        self.dtype = dtype
        self.scores_only = scores_only  # an action value learner's loss does not see the value head
        self.acting = [call for call in calls if not call.learning]
        self.learning = [call for call in calls if call.learning]
        self._gradients = [[torch.ones_like(output) for output in self._outputs(call)] for call in self.learning]

    def seconds(self) -> float:
        """CPU seconds of all of it, once."""
        began = process_time()
        self.network.eval()
        with torch.inference_mode(), self._autocast():
            for call in self.acting:
                getattr(self.network, call.method)(*call.inputs)
        self.network.train()
        for call, gradients in zip(self.learning, self._gradients, strict=True):
            self.network.zero_grad(set_to_none=True)
            torch.autograd.backward(self._outputs(call), gradients)
        return process_time() - began

    def _outputs(self, call: Asked) -> list[Tensor]:
        with self._autocast(cache_enabled=False):
            outputs: Any = getattr(self.network, call.method)(*call.inputs)
        found: list[Tensor] = [outputs] if isinstance(outputs, Tensor) else list(outputs)
        return found[:1] if self.scores_only else found

    def _autocast(self, **options: Any) -> Any:
        device = self.network.device.type
        return torch.autocast(device, self.dtype, enabled=self.dtype != torch.float32, **options)
