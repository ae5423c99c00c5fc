"""What several clones and several experiments share: a remote, a queue, champions. As a user does it."""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from failures.test_killed_matches import workers

pytestmark = pytest.mark.slow

Clone = Any  # of conftest.py, which cannot be imported
Snapshot = Callable[[], dict[str, bytes]]
REFERENCES = ("for-each-ref", "--format=%(refname)", "refs/exps")  # git: to ask DVC takes seconds
PROMOTE = "champions/dvc.yaml:promote@squares"


def test_two_clones_share_a_remote(clone: Clone, tmp_path: Path) -> None:
    clone.dvc("remote", "add", "--local", "--default", "shared", f"{tmp_path}/shared")
    clone.dvc("push")
    assert clone.git("status", "--porcelain") == "", "the address is in no file of git"
    other = type(clone)(tmp_path / "other")
    clone.git("clone", "-q", str(clone.root), str(other.root))
    # The report depends on a folder of which git has a part: it alone cannot be told without the data.
    assert other.stages("--allow-missing") <= {"report"}, "nothing is stale, as git alone says"
    source = other.root / "src" / "cardlab" / "learners" / "dqn" / "learner.py"
    text = source.read_text()
    source.write_text(text + "\nassert True\n")
    other.dvc("repro", "code")
    # By name: DVC cannot go on to its evaluation, which is stale, too, without the policy.
    assert other.stages("--allow-missing", "train@duel", "train@squares") == {"train@duel"}
    source.write_text(text)
    other.dvc("repro", "code")
    assert not (other.root / "models").exists()
    other.dvc("remote", "add", "--local", "--default", "shared", f"{tmp_path}/shared")
    other.dvc("pull")
    assert "Running stage" not in other.dvc("repro")
    for name in ("models/duel/seed_7/weights.safetensors", "results/squares/curve.csv", "report/index.html"):
        assert (other.root / name).read_bytes() == (clone.root / name).read_bytes()
    assert other.git("status", "--porcelain") == ""


def test_queued_experiments_run_side_by_side(clone: Clone) -> None:
    """Two at a time; each varies the evaluation only, so that nothing is trained."""
    for name, deals in {"more": 24, "fewer": 16}.items():
        clone.dvc("exp", "run", "--queue", "-n", name, "-S", f"experiments.duel.arena.deals={deals}")
    assert clone.dvc("queue", "status").count("Queued") == 2
    # Its workers hold its output: a pipe would be waited for until they exit, and DVC asks them to exit only once.
    clone.run("sh", "-c", "dvc queue start -j 2 >queue.log 2>&1")
    try:
        deadline = time.monotonic() + 400
        while not {"more", "fewer"} <= {name.rpartition("/")[2] for name in clone.git(*REFERENCES).splitlines()}:
            assert time.monotonic() < deadline, clone.dvc("queue", "status")
            time.sleep(0.5)
        while (status := clone.dvc("queue", "status")).count("Success") < 2:
            assert "Failed" not in status, clone.dvc("queue", "logs", "more", check=False)
            assert time.monotonic() < deadline, status
            time.sleep(1)
    finally:
        for worker in workers(clone.root):
            with suppress(ProcessLookupError):
                os.kill(int(worker.name), signal.SIGKILL)
    shown = clone.dvc("exp", "show", "--csv")
    assert {"more", "fewer"} <= {line.split(",")[0] for line in shown.splitlines()} | set(shown.split(","))
    changed = json.loads(clone.dvc("metrics", "diff", "more", "fewer", "--json"))
    assert set(changed) <= {"results/duel/metrics.json"}, "the score may be the same"
    assert "learning_curves" in clone.dvc("plots", "diff", "more", "fewer", "--json")
    tagged = clone.run("cardlab", "runs", "game=thirty_one", "kind=evaluation", "limit=2")
    assert tagged.count("duel vs ") == 2


def test_the_stage_promote_plays_only_when_it_is_asked_for(clone: Clone) -> None:
    params = clone.root / "params.yaml"
    params.write_text(params.read_text().replace("deals: 20\n", "deals: 100\n"))
    champion = clone.root / "champions" / "poker_squares"
    assert not [stage for stage in clone.stages() if "promote" in stage], "the default leaves it alone"
    assert not champion.exists()
    told = clone.dvc("repro", "-s", PROMOTE)
    assert "squares against random, as there is no champion yet: difference +" in told
    assert "promoted: champions/poker_squares" in told
    decision = json.loads((clone.root / "promotions" / "squares.json").read_text())
    assert decision == json.loads((champion / "decision.json").read_text())
    assert decision["difference"]["low"] > 0
    lineage = json.loads((champion / "lineage.json").read_text())
    assert lineage["tags"]["dvc.stage"] == "train@squares"
    assert lineage["tags"]["git.commit"] == clone.git("rev-parse", "HEAD~1").strip()
    assert lineage["config"]["name"] == "squares"
    assert sum(path.stat().st_size for path in champion.iterdir()) < 5_000_000
    assert "Running stage" not in clone.dvc("repro", "-s", PROMOTE), "the decision is remembered"
    listed = clone.run("cardlab", "runs", "policy=champions/poker_squares")
    assert listed.count("training") == 1
    assert listed.count("promotion") == 2  # the name and the kind
    assert lineage["run"][:8] in listed
    shown = clone.run("cardlab", "runs", f"run={lineage['run']}")
    for place in ("models/squares/seed_7", "champions/poker_squares", "models:/cardlab-poker_squares/1"):
        assert place in shown
    clone.git("add", "champions")
    assert "champions/poker_squares/weights.safetensors" in clone.git("status", "--porcelain")
