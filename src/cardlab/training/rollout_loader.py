"""The data loader of a training: it plays a rollout whenever Lightning asks for the next batch."""

from collections.abc import Iterator

import torch

from cardlab.learners.base import Learner
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import Experience


class RolloutLoader:
    """One item per iteration: a rollout by the current network.

    Its length is known, so Lightning prefetches nothing: a rollout played early would be off-policy.
    """

    def __init__(
        self,
        learner: Learner,
        collector: Collector,
        decisions: int,
        last_iteration: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.learner = learner
        self.collector = collector
        self.decisions = decisions
        self.last_iteration = last_iteration
        self.dtype = dtype  # of matrix products during rollouts; Lightning sets that of the updates

    def __len__(self) -> int:
        return self.last_iteration

    def __iter__(self) -> Iterator[Experience]:
        while self.learner.iterations_done < self.last_iteration:
            self.learner.network.eval()
            self.collector.agent = self.learner.behaviour_agent()
            with torch.autocast(self.learner.device.type, self.dtype, enabled=self.dtype != torch.float32):
                experience = self.collector.collect(self.decisions)
            yield experience
