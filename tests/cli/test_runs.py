"""`cardlab runs`: what its table shows, how it is filtered and sorted, and its JSON."""

import json
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cardlab.cli import main
from cardlab.tracking import Store
from shared_folders import make_once
from stores import truncate_log

PARAMS = {"name": "thirty_one_dqn", "seed": 7, "agent": {"name": "dqn"}}


def write_runs(root: Path) -> None:
    """Three trainings of two games, a trial that was pruned, and a run whose process was killed."""
    store = Store(f"sqlite:///{root}/mlflow.db", root)
    for name, score, steps in (("weak", 0.25, 2_500_000), ("strong", 0.75, 256_000)):
        tags = {"kind": "training", "against": "greedy:level:30"}
        with store.start_run("thirty_one", name, tags=tags, params=PARAMS) as run:
            intervals = {"interval/score/evaluation_low": score - 0.1, "interval/score/evaluation_high": score + 0.1}
            run.log_metrics({"score/mean": 0.9, "score/evaluation": score, **intervals}, steps)
            run.log_metrics({"train/return": 0.0, "usage/cpu_seconds": 7300.0}, steps)
    with store.start_run("big2", "curve", tags={"kind": "training"}, params=PARAMS) as run:
        run.log_metrics({"score/mean": -3.5, "score/random": -3.0, "score/greedy": -4.0}, 10)
    with store.start_run(
        "thirty_one", "trial 4", tags={"kind": "trial", "sweep.pruned": "behind"}, params=PARAMS
    ) as run:
        run.log_metrics({"sweep/objective": 0.5, "interval/sweep/points_low": 0.0}, 0)
    killed = store.start_run("thirty_one", "killed", tags={"kind": "sweep"}, params=PARAMS)
    host, pid, _ = store.client.get_run(killed.id).data.tags["process"].rsplit(":", 2)
    store.client.set_tag(killed.id, "process", f"{host}:{pid}:1")  # a process that had this number before
    truncate_log(root)


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A copy of the store of `write_runs`, in the working directory."""
    shutil.copyfile(make_once(tmp_path_factory, "runs", write_runs) / "mlflow.db", tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return Store()


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["runs", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_table_shows_trainings_and_sweeps(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    columns = [
        "name",
        "kind",
        "game",
        "agent",
        "score",
        "of",
        "against",
        "deals",
        "seeds",
        "decisions",
        "CPU",
        "state",
        "age",
    ]
    assert heading.split() == [*columns, "run"]
    assert [line.split()[0] for line in lines] == ["killed", "curve", "strong", "weak"]
    words = ["weak", "training", "thirty_one", "dqn", "0.250", "±", "0.100", "evaluation", "greedy:level:30", "7"]
    assert lines[-1].split()[:14] == [*words, "2.5M", "2", "h", "finished"]
    assert lines[1].split()[4:7] == ["-4.000", "training", "greedy"], "a curve is compared by its strongest reference"
    assert " killed " in lines[0].removeprefix("killed"), "a killed process is not shown as running"
    assert all(len(line.rstrip()) <= 140 for line in [heading, *lines])


def test_a_narrow_terminal_shows_whole_names(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal for rich
    monkeypatch.setenv("TERM", "dumb")
    name = "thirty_one_dqn vs greedy_stock_only, greedy"
    with store.start_run("thirty_one", name, tags={"kind": "training"}, params=PARAMS) as run:
        run.log_metrics({"score/mean": 0.5, "score/greedy": 0.5}, 10)
    assert main(["runs"]) == 0
    printed = capsys.readouterr()
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in printed.out.splitlines()]
    assert any(line.startswith(name) and " 0.500" in line for line in lines)
    assert all(len(line) <= 80 for line in lines)
    assert "without deals, of, kind, " in printed.err


def test_an_empty_store_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    assert main(["runs"]) == 0
    first = "cardlab train experiment=poker_squares/td trainer=smoke"
    assert capsys.readouterr().err == f"no runs in sqlite:///{tmp_path}/mlflow.db; {first} makes one\n"


def test_all_fields_are_in_the_json(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = listed(capsys, "name=stron")
    (stored,) = store.client.search_runs([store.experiment_id("thirty_one")], "attributes.run_name = 'strong'")
    assert row["id"] == stored.info.run_id
    assert (row["score"], row["score_low"], row["score_high"], row["score_of"]) == (0.75, 0.65, 0.85, "evaluation")
    assert (row["decisions"], row["cpu_seconds"], row["seeds"], row["experiment"]) == (
        256_000,
        7300.0,
        "7",
        "thirty_one_dqn",
    )
    assert row["started"][:4].isdigit()


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["sort=score"], ["curve", "strong", "weak", "killed"]),
        (["sort=score", "game=thirty_one", "limit=1"], ["strong"]),
        (["sort=decisions", "limit=2"], ["weak", "strong"]),
        (["kind=trial"], ["trial 4"]),
        (["kind=all", "state=pruned"], ["trial 4"]),
        (["kind=training", "name=thirty_one_dqn", "sort=name"], ["curve", "strong", "weak"]),
        (["state=killed"], ["killed"]),
        (["state=running"], []),
    ],
)
def test_runs_are_filtered_and_sorted(
    store: Store, capsys: pytest.CaptureFixture[str], arguments: list[str], names: list[str]
) -> None:
    assert [row["name"] for row in listed(capsys, *arguments)] == names


def test_trials_name_their_sweep_and_the_searched_values(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for study, score in (("dqn_1", {"sweep/objective": 0.5}), ("dqn_2", {"score/mean": 0.5, "score/greedy": 0.5})):
        tags = {"kind": "trial", "sweep.study": study, "changed": "agent.gamma=0.9"}
        with store.start_run("thirty_one", "trial 0", tags=tags, params=PARAMS) as run:
            run.log_metrics(score, 0)
    assert main(["runs", "kind=trial", "name=dqn_"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert "changed" in heading
    assert [line.split("  ")[0] for line in lines] == ["trial 0 of dqn_2", "trial 0 of dqn_1"]
    assert all("agent.gamma=0.9" in line for line in lines)
    assert "0.500" not in lines[0], "a trial without a value shows no other score"
    assert [row["name"] for row in listed(capsys, "kind=trial", "name=dqn_1")] == ["trial 0 of dqn_1"]


def test_one_run_is_shown_with_its_lineage(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = listed(capsys, "name=weak")
    assert main(["runs", row["id"][:8]]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert rows["run"] == row["id"]
    assert rows["score"] == "0.250 ± 0.100"
    assert rows["versions"].startswith("{")
    assert rows["command"] == row["command"] != ""
    assert not {"launch", "process"} & set(rows)
    assert main(["runs", f"run={row['id'][:8]}", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {key: shown[key] for key in row} == row
    assert shown["tags"]["versions"] == rows["versions"]
    assert main(["runs", row["id"], row["id"]]) == 2
    assert "must be one; cardlab runs diff A B compares two" in capsys.readouterr().err


def test_runs_of_a_champion_are_listed_when_they_are_asked_for(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    store.start_run("big2", "champion", tags={"kind": "training", "restored_from": "0"}).finish()
    assert "champion" not in [row["name"] for row in listed(capsys)]
    assert "champion" in [row["name"] for row in listed(capsys, "kind=training")]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("run", ["12345678", "12e45678", "1_000_000", "null0", "'12345678'"])
def test_an_id_that_looks_like_a_number_is_text(capsys: pytest.CaptureFixture[str], run: str) -> None:
    assert main(["runs", f"run={run}"]) == 2
    said, shown = capsys.readouterr().err, run.strip("'")
    assert said.startswith(f"cardlab: error: run={shown}: must be the beginning of one run's id (0 match)")


def test_runs_of_other_tools_are_listed_in_one_line_each(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Names with line breaks, escapes, markup and marks of direction; values that are no numbers; unknown parents."""
    client, experiment = store.client, store.experiment_id("others [red]\x1b[31m")
    names = ["two\nlines", "\x1b[2Jclear", "[/bold]", "right\u202eleft", "\x00", "漢" * 200, ""]
    parent = {"mlflow.parentRunId": "f" * 32}
    for name in names:
        run = client.create_run(experiment, run_name=name, tags={"kind": "training", **parent, "seed": "\n"})
        for value in (float("nan"), float("inf"), float("-inf")):
            client.log_metric(run.info.run_id, "score/evaluation", value)
        client.log_metric(run.info.run_id, "score/mean", float("nan"))
        client.set_terminated(run.info.run_id)
    before = (tmp_path / "mlflow.db").read_bytes()
    for sort in ("age", "name", "score", "decisions", "cpu"):
        assert main(["runs", f"sort={sort}"]) == 0
        out = capsys.readouterr().out
        assert len(out.splitlines()) == 1 + 4 + len(names)
        assert all(sign.isprintable() or sign == "\n" for sign in out)
        assert max(map(len, out.splitlines())) < 700
    assert "[/bold]" in out
    for row in listed(capsys):
        json.dumps(row, allow_nan=False)
        assert main(["runs", f"run={row['id']}"]) == 0
        assert all(sign.isprintable() or sign == "\n" for sign in capsys.readouterr().out)
    assert (tmp_path / "mlflow.db").read_bytes() == before


@pytest.mark.slow
def test_five_thousand_runs_are_listed_in_seconds(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    experiment = store.experiment_id("others")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection, connection:
        ids = [f"{number:032x}" for number in range(5000)]
        connection.executemany(
            "INSERT INTO runs (run_uuid, name, user_id, status, start_time, lifecycle_stage, experiment_id,"
            " artifact_uri)"
            " VALUES (?, 'run', 'me', 'FINISHED', 1, 'active', ?, 'x')",
            [(run, experiment) for run in ids],
        )
        connection.executemany("INSERT INTO tags VALUES ('kind', 'training', ?)", [(run,) for run in ids])
    began = time.process_time()
    assert len(listed(capsys, "limit=10")) == 10
    assert main(["runs", f"run={ids[-1]}"]) == 0
    assert time.process_time() - began < 30


def test_seeds_of_one_group_that_were_trained_differently_are_named(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed, torch, code in ((7, "2.13.0+cpu", "aa"), (8, "2.13.0", "aa"), (9, "2.12.1", "bb")):
        tags = {"kind": "training", "group": "g", "code": code, "versions": json.dumps({"torch": torch})}
        with store.start_run("big2", "one", tags=tags, params={**PARAMS, "seed": seed}):
            pass
    assert main(["runs", "game=big2"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "warning: thirty_one_dqn: its seeds were trained differently: seed 7 code aa, torch 2.13.0; "
        "seed 8 code aa, torch 2.13.0; seed 9 code bb, torch 2.12.1"
    )
