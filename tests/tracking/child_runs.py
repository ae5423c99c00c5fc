"""What child processes do to a store: runs that begin together, and processes that are killed at work."""

import json
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from cardlab.tracking import Store


def kill_itself(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def log_together(arguments: Sequence[str]) -> int:
    """Begin, feed and end the run NAME once the file GO is there."""
    go, name = arguments
    while not Path(go).exists():
        time.sleep(0.005)
    with Store().start_run("thirty_one", name, params={"seed": name}) as run:
        for step in range(20):
            run.log_metrics({"loss": float(step)}, step)
            run.flush()
    return 0


def log_until_killed(arguments: Sequence[str]) -> int:
    """Forty steps with a checkpoint after each ten; MOMENT is the kill: `step 5`, `before 9` (sending) or `after 9`.

    `commit 3`: between the statements of the third write to the database and its commit.
    """
    checkpoint, moment = Path(arguments[0]), arguments[1]
    if moment.startswith("commit"):
        left = iter(range(int(moment.split()[1]) - 1))
        event.listen(Engine, "commit", lambda _: next(left, None) is None and kill_itself())
    state = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"step": 0}
    run = Store().start_or_resume(checkpoint.parent, "thirty_one", "ppo")
    run.in_checkpoints = True
    if state["step"]:
        run.load_state_dict(state["run"])
    for step in range(state["step"], 40):
        if moment == f"step {step}":
            kill_itself()
        run.log_metrics({"loss": float(step), "other": 1.0}, step)
        if step % 10 == 9:
            checkpoint.write_text(json.dumps({"step": step + 1, "run": run.state_dict()}))
            if moment == f"before {step}":
                kill_itself()
            run.flush()
            if moment == f"after {step}":
                kill_itself()
    run.finish()
    return 0


def die_making_a_store(arguments: Sequence[str]) -> int:
    """Make a fresh store and be killed before its `first tables`, in its `migrations`, or before its `moving`."""
    from alembic.runtime.migration import HeadMaintainer  # noqa: PLC0415
    from mlflow.store.db import utils  # noqa: PLC0415  after the environment that Store sets

    if arguments[0] == "first tables":
        utils._upgrade_db = kill_itself
    elif arguments[0] == "migrations":
        update, steps = HeadMaintainer.update_to_step, []

        def count(self: Any, step: Any) -> None:
            steps.append(step)
            update(self, step)
            if len(steps) == 20:
                kill_itself()

        HeadMaintainer.update_to_step = count
    else:
        Path.replace = kill_itself  # type: ignore[method-assign]
    assert Store().client
    return 0
