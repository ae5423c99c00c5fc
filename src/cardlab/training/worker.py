"""A further process of a training: python -m cardlab.training.worker, sent its job through stdin."""

import os
import pickle
import signal
import sys
import threading

from cardlab.learners.base import TrainingDiverged
from cardlab.training.process_loop import Learning
from cardlab.training.processes import Job, connected, join


def main() -> None:
    """Learn with the others until the training is done; what goes wrong alike in all is told by the first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the first process's to handle
    job: Job = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    with connected(join(job), job.ranks):
        try:
            Learning(job.experiment, job.checkpoint, job.ranks).fit(job.resume)
        except TrainingDiverged:
            return


def _end_with_the_first() -> None:
    """The pipe ends when the first process does, however it does: nothing may then go on learning alone."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
