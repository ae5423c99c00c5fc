"""The MLflow store of the project: starts, resumes and finds runs."""

import json
import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, TypeVar

from cardlab.core.child_processes import is_alive, process_name
from cardlab.core.messages import without_password, without_passwords
from cardlab.tracking.connection import (
    StoreDamaged,
    TrackingUnavailable,
    artifact_folder,
    connect,
    project_root,
    sqlite_file,
    store_address,
)
from cardlab.tracking.lineage import (
    CONFIG,
    NOTE,
    PARENT,
    RESTORED,
    UNCOMMITTED,
    VERSIONS,
    describe_run,
    lineage,
    uncommitted,
)
from cardlab.tracking.parameters import flatten, legal_name
from cardlab.tracking.run import Run
from cardlab.tracking.run_state import STATE_FILE, RunState, load_run_state

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as StoredRun

T = TypeVar("T")

_logger = logging.getLogger(__name__)
_LAUNCH = "launch"
_PROCESS = "process"  # tag: the process that writes the run
OWN_TAGS = (_LAUNCH, _PROCESS)  # tags by which the store finds the process of a run; they say nothing about the run
_MOST_RUNS = 50_000  # of one search: MLflow's limit


class Store:
    """An MLflow store: by default `mlflow.db` in the root of the project, else the one of MLFLOW_TRACKING_URI.

    MLflow is imported when the client is first used. `tags` are those of every run that is started, beside its own.
    Raises InvalidOption for an invalid address.
    """

    def __init__(
        self, address: str | None = None, root: Path | None = None, tags: Mapping[str, str] | None = None
    ) -> None:
        self.root = root or project_root()
        self.tags = tags or {}
        self.address = address or store_address(self.root)
        self.file = sqlite_file(self.address, self.root)  # None if the store is not a sqlite file
        self._opened: int | None = None  # inode of the file that the client has opened

    @cached_property
    def client(self) -> "MlflowClient":
        """MLflow's own client. Raises TrackingUnavailable."""
        client = connect(self.address, self.file)
        self._opened = self._inode()
        return client

    def connected(self) -> "MlflowClient":
        """The client; raises StoreDamaged if the file was deleted or replaced, since writes would be lost."""
        client = self.client
        if self._inode() != self._opened:
            raise StoreDamaged(f"{self.file} was deleted or replaced while in use")
        return client

    @contextmanager
    def wrap_errors(self) -> Generator[None]:
        """Turn any error in the block into a TrackingUnavailable, whose message is one line; Ctrl-C keeps no lock."""
        try:
            yield
        except TrackingUnavailable:
            raise
        except Exception as error:
            raise TrackingUnavailable(self.address, error) from error
        except BaseException as stop:  # Ctrl-C in mid-write: the frames hold a cursor, which keeps sqlite's lock
            clear_frames(stop.__traceback__)
            raise

    def check(self) -> None:
        """Raise TrackingUnavailable unless the store answers."""
        with self.wrap_errors():
            self.connected().search_experiments(max_results=1)

    def start_run(
        self,
        experiment: str,
        name: str,
        *,
        parent: str | None = None,
        tags: Mapping[str, object] | None = None,
        params: Mapping[str, Any] | None = None,
        resume: str | None = None,
        stopped_by: tuple[type[BaseException], ...] = (),
    ) -> Run:
        """Start a run, or resume the one with the id `resume`. Raises TrackingUnavailable.

        `params` is the nested configuration: logged flat as parameters and whole as `config.json`. `parent` is the id
        of the parent run. `stopped_by`: exceptions that stop a run on purpose. The run has its tags from the start:
        `tags`, the lineage, a description, and `game`, `agent`, `experiment` and `seed` of `params`. A run to resume
        that is not in the store is replaced by a new one; missing parameters are added.
        """
        with self.wrap_errors():
            stored = self._reopen(resume) if resume is not None else None
            tags = {**self.tags, "game": experiment, **_group_tags(params or {}), **(tags or {})}
            run_id = stored.info.run_id if stored else self._create(experiment, name, parent, tags)
            steps = {metric.key: metric.step for metric in stored.data.to_proto().metrics} if stored else None
        with ExitStack() as until_returned:  # finishes the run if this method is interrupted
            new = Run(self.connected, run_id, last_steps=steps, stopped_by=stopped_by)
            run = until_returned.enter_context(new)
            run.monitor_system(self.address)
            if stored:
                versions = lineage()[VERSIONS]
                same = versions == stored.data.tags.get(VERSIONS)
                run.set_tags(tags if same else {**tags, f"{VERSIONS}.resumed": versions})
            if params:
                with self.wrap_errors():
                    self._log_params(run, params, stored.data.params if stored else ())
            is_own = tags.get("kind") != "trial" and RESTORED not in tags
            if not stored and is_own and (diff := uncommitted(Path.cwd())):
                run.log_text(diff, UNCOMMITTED)
            until_returned.pop_all()
        return run

    def start_or_resume(
        self,
        folder: Path,
        experiment: str,
        name: str,
        *,
        tags: Mapping[str, object] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Run:
        """Resume the unfinished run of the training's `folder`, or start one; otherwise as `start_run`.

        `run.json` in the folder identifies the run until it is finished. It is written before the run is created, so
        that a kill at any moment leads to no second run.
        """
        unfinished = load_run_state(folder)
        resume = unfinished and unfinished.run_id
        if unfinished and not resume:
            found = self.search_runs(f"tags.{_LAUNCH} = '{unfinished.launch}'", experiment, 1)
            resume = found[0][1].info.run_id if found else None
        state = unfinished or RunState.begin(params or {})
        state.save(folder)
        tags = {_LAUNCH: state.launch, **(tags or {})}
        run = self.start_run(experiment, name, tags=tags, params=params, resume=resume)
        run.resumed = unfinished is not None  # also if the store has lost the run
        state.save(folder, run.id)
        run.when_finished = partial((folder / STATE_FILE).unlink, missing_ok=True)
        return run

    def search_runs(
        self, condition: str = "", experiment: str | None = None, limit: int = _MOST_RUNS, *, deleted: bool = False
    ) -> "list[tuple[str, StoredRun]]":
        """(experiment, run) for the newest runs that match MLflow's filter `condition`. Raises TrackingUnavailable.

        With `deleted` only deleted runs are searched, else none of them. A missing sqlite file is not made.
        """
        if self.file and not self.file.exists():
            return []
        with self.wrap_errors():
            experiments = self.client.search_experiments()
            names = {entry.experiment_id: entry.name for entry in experiments if experiment in (None, entry.name)}
            view, order = 2 if deleted else 1, ["start_time DESC"]  # ViewType.DELETED_ONLY, ACTIVE_ONLY
            found = self.client.search_runs([*names], condition, view, limit, order) if names else []
        return [(names[run.info.experiment_id], run) for run in found]

    def runs_by_id(self, prefix: str) -> "list[tuple[str, StoredRun]]":
        """(experiment, run) for the runs whose id starts with `prefix`. Raises TrackingUnavailable."""
        is_hex = set(prefix) <= set("0123456789abcdef")
        return self.search_runs(f"attributes.run_id LIKE '{prefix}%'") if is_hex else []

    def mark_killed(self, parent: str | None = None) -> None:
        """Set the runs that `was_killed` finds to KILLED; they end with their last metric. Raises nothing.

        `parent`: also those below the run with this id that this process was interrupted in making.
        """
        try:
            for _, stored in self.search_runs("attributes.status = 'RUNNING'"):
                origin = [stored.data.tags.get(key) for key in (PARENT, _PROCESS)]
                if was_killed(stored) or (parent and origin == [parent, process_name()]):
                    times = [stored.info.start_time, *(row.timestamp for row in stored.data.to_proto().metrics)]
                    self.client.set_terminated(stored.info.run_id, "KILLED", max(times))
        except Exception as error:
            _logger.debug("killed runs are not marked: %s", error)

    def experiment_id(self, name: str) -> str:
        """The id of the experiment; it is created or restored if need be."""
        client = self.client
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  imported with the client

        with suppress(MlflowException):  # another process may create it at the same time
            if client.get_experiment_by_name(name) is None:
                from cardlab.tracking.experiment_tags import experiment_tags  # noqa: PLC0415  imports the games

                folder = artifact_folder(self.address, self.root, name)
                return client.create_experiment(name, folder, dict(experiment_tags(name)))
        found = client.get_experiment_by_name(name)
        assert found is not None
        if found.lifecycle_stage == "deleted":
            _logger.warning("the experiment %s was deleted in MLflow: it is restored, with its runs", name)
            client.restore_experiment(found.experiment_id)
        return found.experiment_id

    def _inode(self) -> int | None:
        return self.file.stat().st_ino if self.file and self.file.exists() else None

    def _reopen(self, run_id: str) -> "StoredRun | None":
        """Set a run to RUNNING; None, with a warning, if the store does not have it."""
        client = self.connected()
        stored = none_if_missing(lambda: client.get_run(run_id))
        if stored is None or stored.info.lifecycle_stage == "deleted":
            _logger.warning("run %s is not in the store: a new run is started", run_id)
            return None
        client.set_tag(run_id, _PROCESS, process_name())  # first: a dead process would be marked
        client.update_run(run_id, status="RUNNING")
        return stored

    def _create(self, experiment: str, name: str, parent: str | None, tags: Mapping[str, object]) -> str:
        from mlflow.tracking.context.registry import resolve_tags  # noqa: PLC0415  imported with the client

        origin = lineage()
        if "dvc.experiment" in origin and "mlflow.runName" not in tags:
            name = f"{name} · {origin['dvc.experiment']}"
        known: dict[str, object] = {
            **resolve_tags(),  # MLflow's own: user and source
            "mlflow.source.git.commit": origin.get("git.commit"),
            PARENT: parent,
            NOTE: describe_run(_about(tags)),
            _PROCESS: process_name(),
            **origin,
            **tags,
        }
        texts = {legal_name(key): without_password(str(value)) for key, value in known.items() if value is not None}
        client = self.connected()
        return client.create_run(self.experiment_id(experiment), tags=texts, run_name=name).info.run_id

    def _log_params(self, run: Run, params: Mapping[str, Any], known: Mapping[str, str] | tuple[()]) -> None:
        """Log the missing parameters, after the file with all of them: a run with parameters has the file too."""
        from mlflow.entities import Param  # noqa: PLC0415  imported with the client

        params = without_passwords(params)
        missing = [Param(key, value) for key, value in flatten(params).items() if key not in known]
        if missing:
            self.client.log_text(run.id, json.dumps(params, indent=2, default=str), CONFIG)
            self.client.log_batch(run.id, params=missing)


def was_killed(stored: "StoredRun") -> bool:
    """Whether the store has the run as RUNNING although its process, on this machine, was killed with -9."""
    process = stored.data.tags.get(_PROCESS, "")
    return stored.info.status == "RUNNING" and process.count(":") > 1 and is_alive(process) is False


def none_if_missing(read: Callable[[], T]) -> T | None:
    """The result of `read`, a call of MLflow's client; None if what it reads does not exist."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  imported with the client

    try:
        return read()
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            return None
        raise


def _group_tags(params: Mapping[str, Any]) -> dict[str, object]:
    """Tags by which runs are filtered and grouped."""
    agent = params.get("agent", {}).get("name")
    values = {"agent": agent, "experiment": params.get("name"), "seed": params.get("seed")}
    return {key: value for key, value in values.items() if value is not None}


def _about(tags: Mapping[str, object]) -> str:
    """One line on what a run is, e.g. `training of dqn on thirty_one, experiment thirty_one_dqn, seed 7`."""
    what = " of ".join(str(tags[key]) for key in ("kind", "agent") if key in tags) or "run"
    named = [f"{key} {tags[key]}" for key in ("experiment", "seed") if key in tags]
    note = f": {tags['note']}" if "note" in tags else ""
    return ", ".join([f"{what} on {tags['game']}", *named]) + note
