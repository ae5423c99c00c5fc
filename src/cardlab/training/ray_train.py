"""A training in processes on the nodes of a Ray cluster, by Ray Train, which starts it again when a node is lost."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from cardlab.core.options import invalid
from cardlab.evaluation.ray_pool import connected, working_directory
from cardlab.training.external_launch import TIMEOUT, ProcessLost, environment_group, run_in_group
from cardlab.training.options import TrainerOptions

NOT_IN_DIGEST = "decides where processes run, not how they train"

_KEY = "trainer.launcher"
_RESTARTS = 3  # after lost processes or nodes
_SENT = ("MLFLOW_", "AWS_", "OPTUNA_", "CARDLAB_", "DVC_")  # prefixes of environment variables that the nodes get


@dataclass(frozen=True)
class _Command:
    """What each process runs; Ray sends it pickled, and logs none of it."""

    run: Callable[[], int]
    device: str
    folder: str
    arguments: list[str]
    environment: Mapping[str, str]

    def __call__(self) -> int | Exception:
        """The exit status, or an error that another start would not mend. Raises ProcessLost."""
        os.environ.update(self.environment)
        sys.argv = self.arguments  # for the description of the run
        with working_directory(self.folder):
            try:
                return run_in_group(environment_group(), self.device, self.run)
            except RuntimeError as error:
                if isinstance(error, ProcessLost) or not type(error).__module__.startswith("cardlab."):
                    raise
                return error
            except ValueError as error:
                return error


def run_on_ray(run: Callable[[], int], trainer: TrainerOptions) -> int:
    """Run the command `run` in rank 0 of `trainer.processes` processes of the cluster, and its trainings in all.

    Raises InvalidOption for more processes than the cluster has cores or GPUs for, ProcessLost after three restarts,
    and what `run` raises.
    """
    os.environ.setdefault("RAY_TRAIN_ENABLE_PRINT_PATCH", "0")  # it prints each line twice
    os.environ.setdefault("RAY_TRAIN_WORKER_HEALTH_CHECK_TIMEOUT_S", "120")  # not 600: some nodes say nothing
    with connected(_KEY) as ray, TemporaryDirectory() as storage:
        gpu = trainer.device == "gpu"
        _check_resources(ray.cluster_resources(), trainer)
        from ray import train  # noqa: PLC0415  of an extra
        from ray.train.torch import TorchConfig, TorchTrainer  # noqa: PLC0415

        environment = {name: value for name, value in os.environ.items() if name.startswith(_SENT)}
        command = _Command(run, trainer.device, os.getcwd(), sys.argv, environment)
        fit: Any = TorchTrainer(
            lambda: command(),  # noqa: PLW0108  Ray wants a function
            torch_config=TorchConfig("cpu:gloo,cuda:nccl" if gpu else "gloo", timeout_s=int(TIMEOUT.total_seconds())),
            scaling_config=train.ScalingConfig(
                num_workers=trainer.processes,
                use_gpu=gpu,
                resources_per_worker={"CPU": trainer.threads} | ({"GPU": 1} if gpu else {}),
                placement_strategy="SPREAD",
            ),
            run_config=train.RunConfig(
                storage_path=storage, failure_config=train.FailureConfig(max_failures=_RESTARTS)
            ),
        ).fit
        try:
            result = fit().return_value
        except train.TrainingFailedError as error:
            reason = str(error).strip().splitlines()[-1][:200]
            raise ProcessLost(f"{_KEY}=ray: {_RESTARTS} restarts failed ({reason})") from error
    if isinstance(result, Exception):
        raise result
    return result


def _check_resources(found: Mapping[str, float], trainer: TrainerOptions) -> None:
    """Raise InvalidOption for what Ray would wait for forever."""
    if trainer.device == "gpu" and found.get("GPU", 0) < trainer.processes:
        allowed = f"cpu: the Ray cluster has {found.get('GPU', 0):.0f} GPUs for {trainer.processes} processes"
        raise invalid(trainer, "device", allowed)
    most = int(found.get("CPU", 0)) // trainer.threads
    if trainer.processes > most:
        allowed = f"at most {most}, by the cores of the Ray cluster and trainer.threads={trainer.threads}"
        raise invalid(trainer, "processes", allowed)
