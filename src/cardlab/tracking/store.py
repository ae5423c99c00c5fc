"""The store of runs: where it is, and how a run in it begins or is resumed."""

import getpass
import json
import logging
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.tracking.address import artifact_folder, project_root, sqlite_file, store_address
from cardlab.tracking.client import StoreDamaged, TrackingUnavailable, connect, first_line
from cardlab.tracking.lineage import lineage
from cardlab.tracking.parameters import flatten, legal_name
from cardlab.tracking.run import Run
from cardlab.tracking.run_state import RunState, delete_run_state, killed_runs, load_run_state

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as StoredRun

_logger = logging.getLogger(__name__)
_LAUNCH = "launch"
_LARGEST_TABLE = 100  # parameters in one request: MLflow's limit
_ATTEMPTS = 3
_MISSING = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")


class Store:
    """An MLflow store: by default `mlflow.db` at the root of the project, else what MLFLOW_TRACKING_URI names.

    MLflow is imported and the store touched when the first run starts. Raises InvalidOption for an address that
    cannot be one.
    """

    def __init__(self, address: str | None = None, root: Path | None = None) -> None:
        self.root = root or project_root()
        self.address = address or store_address(self.root)
        self._inode: int | None = None  # of the sqlite file that the client has opened

    @cached_property
    def client(self) -> "MlflowClient":
        """MLflow's own client, for what has no method here. Raises TrackingUnavailable."""
        client = connect(self.address, self.root)
        self._inode = self._inode_now()
        return client

    def connected(self) -> "MlflowClient":
        """The client; StoreDamaged when the file was deleted or replaced: what it is sent would go nowhere."""
        client = self.client
        if self._inode_now() != self._inode:
            raise StoreDamaged(f"{sqlite_file(self.address, self.root)} was deleted or replaced while in use")
        return client

    def check(self) -> None:
        """Raise TrackingUnavailable unless the store answers."""
        with self.asked():
            self.connected().search_experiments(max_results=1)

    @contextmanager
    def asked(self) -> Generator[None]:
        """Inside, any error is a TrackingUnavailable of one line."""
        try:
            yield
        except TrackingUnavailable:
            raise
        except Exception as error:
            raise TrackingUnavailable(self.address, error) from error

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
        """Begin a run, or resume the run of id `resume`. Raises TrackingUnavailable.

        `params` is the nested configuration, kept flat as parameters and whole as `config.json`. `parent` is the id
        of the run that the new one is shown under; `stopped_by` are exceptions that stop a run on purpose. Every run
        carries its lineage as tags. A run to resume that the store does not know is begun again; one that was
        interrupted before all its parameters had arrived gets those that are missing.
        """
        with self.asked():
            stored = self._reopen(resume) if resume is not None else None
            run_id = stored.info.run_id if stored else self._create(experiment, name, parent, tags or {})
            steps = {metric.key: metric.step for metric in stored.data.to_proto().metrics} if stored else None
        with ExitStack() as until_returned:  # stopped before the caller has it, no one else would end it
            run = until_returned.enter_context(Run(self.connected, run_id, last_steps=steps, stopped_by=stopped_by))
            if stored:
                run.set_tags(tags or {})
            if params:
                with self.asked():
                    self._log_params(run, params, stored.data.params if stored else ())
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
        """Resume the unfinished run of this `folder`, or begin one there, as start_run does.

        `run.json` in the folder names the run until it is finished; training once more is a run of its own. The file is
        written before the store knows the run, so that a kill at any moment leaves no second one.
        """
        unfinished = load_run_state(folder)
        resume = unfinished and (unfinished.run_id or self._find_launch(experiment, unfinished.launch))
        state = unfinished or RunState.begin(params or {})
        state.save(folder)
        run = self.start_run(
            experiment, name, tags={_LAUNCH: state.launch, **(tags or {})}, params=params, resume=resume
        )
        run.resumed = unfinished is not None  # also where the store has lost the run
        state.save(folder, run.id)
        run.when_finished = partial(delete_run_state, folder)
        return run

    def mark_killed(self) -> None:
        """Set the runs of this project to KILLED whose training was killed with -9. Never raises."""
        try:
            for run_id, ended in killed_runs(self.root / "runs"):
                stored = self._find(run_id)
                if stored and stored.info.status == "RUNNING":
                    self.client.set_terminated(run_id, "KILLED", int(ended * 1000))
        except Exception as error:
            _logger.debug("not marked as killed: %s", error)

    def experiment_id(self, name: str) -> str:
        """The id of the experiment with this name, made or brought back from deletion when needed."""
        client = self.client
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  with the client it is imported already

        with suppress(MlflowException):  # there is one, or another process is quicker
            if client.get_experiment_by_name(name) is None:
                return client.create_experiment(name, artifact_folder(self.address, self.root, name))
        found = client.get_experiment_by_name(name)
        assert found is not None
        if found.lifecycle_stage == "deleted":
            client.restore_experiment(found.experiment_id)
        return found.experiment_id

    def attach_files(self, experiment: str, digest: str, files: Sequence[Path], folder: str) -> str | None:
        """Keep `files` in `folder` of the latest evaluation of the policy with this digest; the run's id.

        None when the store has no such run, as in a clone that took its results from a cache, or fails. Never raises.
        """
        try:
            condition = f"tags.kind = 'evaluation' and tags.`policy.digest` = '{digest}'"
            found = self.client.get_experiment_by_name(experiment)
            ids, order = [found.experiment_id] if found else [], ["attributes.start_time DESC"]
            runs = self.client.search_runs(ids, condition, max_results=1, order_by=order) if ids else []
            for run, file in product(runs, files):
                self.client.log_artifact(run.info.run_id, str(file), folder)
            return runs[0].info.run_id if runs else None
        except Exception as error:
            _logger.warning("%s: pictures are not kept in the store (%s)", experiment, first_line(error))
            return None

    def _inode_now(self) -> int | None:
        file = sqlite_file(self.address, self.root)
        return file.stat().st_ino if file and file.exists() else None

    def _find(self, run_id: str) -> "StoredRun | None":
        """The run; None when the store has none of this id, or it was deleted."""
        client = self.connected()
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  as above

        try:
            stored = client.get_run(run_id)
        except MlflowException as error:
            if error.error_code in _MISSING:
                return None
            raise
        return None if stored.info.lifecycle_stage == "deleted" else stored

    def _reopen(self, run_id: str) -> "StoredRun | None":
        """Set a run to RUNNING again; None, with a warning, when the store has no such run."""
        stored = self._find(run_id)
        if stored:
            self.client.update_run(run_id, status="RUNNING")
        else:
            _logger.warning("run %s is not in the store: a new run begins", run_id)
        return stored

    def _create(self, experiment: str, name: str, parent: str | None, tags: Mapping[str, object]) -> str:
        made_by = lineage()
        known: dict[str, object] = {
            "mlflow.user": _user(),
            "mlflow.source.type": "LOCAL",
            "mlflow.source.name": Path(sys.argv[0]).name or "python",
            "mlflow.source.git.commit": made_by.get("git.commit"),
            "mlflow.parentRunId": parent,
            **made_by,
            **tags,
        }
        texts = {legal_name(key): str(value) for key, value in known.items() if value is not None}
        client = self.connected()
        for attempt in range(_ATTEMPTS):  # many processes may create runs in one sqlite file
            try:
                return client.create_run(self.experiment_id(experiment), tags=texts, run_name=name).info.run_id
            except Exception:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.2 * 2**attempt)
        raise AssertionError("unreachable")

    def _log_params(self, run: Run, params: Mapping[str, Any], known: Mapping[str, str] | tuple[()]) -> None:
        """Log the configuration, whole first: a run that has its parameters has that too."""
        from mlflow.entities import Param  # noqa: PLC0415  as above

        missing = [Param(key, value) for key, value in flatten(params).items() if key not in known]
        if missing:
            self.client.log_text(run.id, json.dumps(params, indent=2, default=str), "config.json")
        for start in range(0, len(missing), _LARGEST_TABLE):
            self.client.log_batch(run.id, params=missing[start : start + _LARGEST_TABLE])

    def _find_launch(self, experiment: str, launch: str) -> str | None:
        """The id of the run that has this tag."""
        with self.asked():
            condition = f"tags.{_LAUNCH} = '{launch}'"
            found = self.client.search_runs([self.experiment_id(experiment)], condition, max_results=1)
        return found[0].info.run_id if found else None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"
