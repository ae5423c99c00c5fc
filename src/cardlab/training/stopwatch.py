"""What a training cost, cut off and taken up again or not."""

import time
from dataclasses import dataclass
from typing import Any

from lightning.pytorch.callbacks import Callback

from cardlab.training.resource_usage import Gauges


@dataclass(frozen=True)
class Spent:
    """Seconds of a training, measuring its strength included."""

    cpu: float  # of all threads of all processes
    wall: float


class Stopwatch(Callback):
    """Counts from when it is made, and on from what a checkpoint had counted."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges
        self._before = Spent(0.0, 0.0)
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def spent(self) -> Spent:
        """Until now."""
        cpu = time.process_time() - self._cpu + self._gauges.cpu_of_others
        wall = time.perf_counter() - self._wall
        return Spent(self._before.cpu + cpu, self._before.wall + wall)

    def state_dict(self) -> dict[str, Any]:
        """What was spent until the checkpoint."""
        spent = self.spent
        return {"cpu": spent.cpu, "wall": spent.wall}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from it."""
        self._before = Spent(float(state_dict["cpu"]), float(state_dict["wall"]))
