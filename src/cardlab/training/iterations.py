"""What Lightning iterates over: rounds of experience, gathered when they are asked for."""

from collections.abc import Iterator

import torch

from cardlab.learners.base import RoundLearner
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import Experience


class Rounds:
    """One item is one round: games of the network as it is at that moment.

    Its length is known, so Lightning fetches nothing ahead: a round gathered early would be off-policy.
    """

    def __init__(
        self,
        learner: RoundLearner,
        collector: Collector,
        decisions: int,
        last_round: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.learner = learner
        self.collector = collector
        self.decisions = decisions
        self.last_round = last_round
        self.dtype = dtype  # of the matrix products while games are played; the updates' is Lightning's

    def __len__(self) -> int:
        return self.last_round

    def __iter__(self) -> Iterator[Experience]:
        while self.learner.rounds_done < self.last_round:
            self.learner.network.eval()
            self.collector.agent = self.learner.learning_agent()
            with torch.autocast(self.learner.device.type, self.dtype, enabled=self.dtype != torch.float32):
                experience = self.collector.collect(self.decisions)
            yield experience
