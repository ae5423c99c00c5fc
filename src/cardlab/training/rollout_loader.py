"""The data loader of a training: it plays a rollout whenever Lightning asks for the next batch, or one ahead."""

import copy
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch
from lightning.pytorch.callbacks import Callback

from cardlab.agents.exploration import ExploringAgent
from cardlab.learners.base import Learner
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import Experience
from cardlab.training.experiment import Experiment


class RolloutLoader:
    """One item per iteration: a rollout by the current network.

    Its length is known, so Lightning prefetches nothing: a rollout played early would be off-policy.
    """

    def __init__(
        self,
        learner: Learner,
        collector: Collector,
        experiment: Experiment,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.learner = learner
        self.collector = collector
        self.experiment = experiment
        self.last_iteration = experiment.last_iteration
        self.dtype = dtype  # of matrix products during rollouts; Lightning sets that of the updates

    def __len__(self) -> int:
        return self.last_iteration

    def __iter__(self) -> Iterator[Experience]:
        while self.learner.iterations_done < self.last_iteration:
            self.learner.network.eval()
            yield self.play(self.learner.behaviour_agent(), self.learner.iterations_done)

    def play(self, agent: ExploringAgent, iteration: int) -> Experience:
        """The rollout of an iteration by `agent`."""
        self.collector.agent = agent
        with torch.autocast(self.learner.device.type, self.dtype, enabled=self.dtype != torch.float32):
            return self.collector.collect(self.learner.group.share_of(self.experiment.rollout_decisions(iteration)))


class OverlappedRollouts(RolloutLoader, Callback):
    """Plays the next rollout in a thread during the update, by a copy of the network before it.

    All rollouts but the first are thus by the network of one update before. A rollout is ready when an iteration ends,
    so a checkpoint holds it, and opponents do not change while it is played.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_flush_denormal, initargs=(True,))
        self._playing: Future[Experience] | None = None
        self._ready: Experience | None = None

    def __iter__(self) -> Iterator[Experience]:
        while self.learner.iterations_done < self.last_iteration:
            self.learner.network.eval()
            agent = self.learner.behaviour_agent()
            iteration = self.learner.iterations_done
            rollout, self._ready = self._ready or self.play(agent, iteration), None
            if iteration + 1 < self.last_iteration:
                fixed = copy.deepcopy(agent, {id(self.learner.game): self.learner.game})
                self._playing = self._thread.submit(self.play, fixed, iteration + 1)
            yield rollout

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Wait for the next rollout."""
        self.wait()

    def wait(self) -> None:
        """Wait for the rollout that is played, if any."""
        if self._playing is not None:
            self._ready, self._playing = self._playing.result(), None

    def state_dict(self) -> dict[str, Any]:
        """The rollout that no update has used, of all processes."""
        ready = {} if self._ready is None else self._ready.state_dict()
        return {"rollout": self.learner.group.gather_state(ready)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore it."""
        state = self.learner.group.own_state(state_dict["rollout"])
        self._ready = Experience.of_state(state, self.learner.game) if "actions" in state else None
