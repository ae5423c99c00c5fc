"""A worker process of a training: python -m cardlab.training.worker reads its job from stdin."""

import os
import pickle
import signal
import sys
import threading

from cardlab.learners.base import TrainingDiverged
from cardlab.training.launch_processes import Job, connect, join_process_group
from cardlab.training.training_process import TrainingProcess


def main() -> None:
    """Train with the other processes until the end; the main process reports errors that all have."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    job: Job = pickle.load(sys.stdin.buffer)  # noqa: S301  from the process that started this one
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with join_process_group(connect(job), job.group, job.experiment.trainer.device):
        try:
            TrainingProcess(job.experiment, job.checkpoint, job.group).fit(job.resume)
        except TrainingDiverged:
            return


def _exit_with_parent() -> None:
    """Exit when the parent process exits, which closes the pipe."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
