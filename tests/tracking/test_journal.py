"""The journal: one writer, whole lines, nothing left behind."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardlab.tracking import Run, Store
from cardlab.tracking.journal import Journal, JournalInUse


def test_two_processes_cannot_write_one_run(store: Store, tmp_path: Path) -> None:
    run = store.start_run("thirty_one", "ppo")
    with pytest.raises(JournalInUse, match="in use by another process"):
        Run(store.desk, run.id, store.spool, wait=0.0)
    assert store.send_leftovers() == 0  # nor is a run that goes on taken for one that is gone
    run.finish()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 200), spoil=st.booleans())
def test_a_torn_journal_gives_its_whole_lines(tmp_path: Path, cut: int, spoil: bool) -> None:
    path = tmp_path / "run.jsonl"
    entries = [{"step": step, "time": 1, "metrics": {"loss": 0.5}} for step in range(4)]
    journal = Journal(tmp_path, "run", wait=0.0)
    for entry in entries:
        journal.append(entry)
    journal._file.close()  # pyright: ignore  # as a kill leaves it
    journal._lock.release()
    data = path.read_bytes()[:cut]
    path.write_bytes(b"\x00garbage\n" * spoil + data)
    again = Journal(tmp_path, "run", wait=0.0)
    assert again.entries == entries[: data.count(b"\n")]
    again.append({"tags": {}})
    again.close()
    final = Journal(tmp_path, "run", wait=0.0)
    assert final.entries == [*entries[: data.count(b"\n")], {"tags": {}}]
    final.confirm(len(final.entries))
    final.close()
    assert not path.exists()
