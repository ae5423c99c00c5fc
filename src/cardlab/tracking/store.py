"""The store of runs: where it is, and how a run in it begins or goes on."""

import getpass
import hashlib
import json
import logging
import sys
import time
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.tracking.address import artifact_folder, project_root, store_address
from cardlab.tracking.client import TrackingUnavailable, connect
from cardlab.tracking.delivery import send_leftovers
from cardlab.tracking.lineage import lineage
from cardlab.tracking.memory import Memory, forget, remembered
from cardlab.tracking.parameters import flatten
from cardlab.tracking.run import Run

if TYPE_CHECKING:
    from mlflow import MlflowClient

_logger = logging.getLogger("cardlab.tracking")
_LARGEST_BATCH = 100  # parameters or tags in one request; MLflow's limit
_ATTEMPTS = 3
_LAUNCH = "launch"


class Store:
    """An MLflow store: by default `mlflow.db` at the root of the project, else what MLFLOW_TRACKING_URI names.

    MLflow is imported and the store touched when the first run starts. Raises InvalidOption for an address that
    cannot be one.
    """

    def __init__(self, address: str | None = None, root: Path | None = None) -> None:
        self.root = root or project_root()
        self.address = address or store_address(self.root)

    @cached_property
    def client(self) -> "MlflowClient":
        """MLflow's own client, for what has no method here. Raises TrackingUnavailable."""
        return connect(self.address, self.root)

    @property
    def spool(self) -> Path:
        """Folder of what is still to be sent to this store; it outlives the temporary copies of DVC's experiments."""
        return self.root / "runs" / "tracking" / hashlib.sha256(self.address.encode()).hexdigest()[:12]

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
        """Begin a run, or go on with the run of id `resume`. Raises TrackingUnavailable.

        `params` is the nested configuration, kept flat as parameters and whole as `config.json`. `parent` is the id
        of the run that the new one is shown under; `stopped_by` are exceptions that stop a run on purpose. Every run
        carries its lineage as tags. A run to resume that the store does not know is begun anew; one that was cut off
        before all its parameters had arrived gets those that are missing.
        """
        try:
            known = resume is not None and self._reopen(resume)
            run_id = resume if resume is not None and known else self._create(experiment, name, parent, tags or {})
            run = Run(self.client, run_id, self.spool, stopped_by=stopped_by)
        except TrackingUnavailable:
            raise
        except Exception as error:
            raise TrackingUnavailable(self.address, error) from error
        if known:
            run.set_tags(tags or {})
            run.resumed = True
        if params:
            self._log_params(run, params)
        self.send_leftovers()
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
        """Go on with the run that was begun with this `folder`, or begin one there, as start_run does.

        The folder remembers the run until it is finished; a training done once more is a run of its own. It knows of
        the run before the store does, so that a kill at any moment leaves no second one.
        """
        memory = remembered(folder)
        resume = memory and (memory.run_id or self._find_launch(experiment, memory.launch))
        memory = memory or Memory.begin(params or {})
        memory.keep(folder)
        told = {_LAUNCH: memory.launch, **(tags or {})}
        run = self.start_run(experiment, name, tags=told, params=params, resume=resume)
        memory.known_as(run.id).keep(folder)
        run.when_finished = partial(forget, folder)
        return run

    def send_leftovers(self) -> int:
        """Send what runs that were cut off have kept on disk; the number of runs. Never raises."""
        try:
            return send_leftovers(self.client, self.spool) if self.spool.is_dir() else 0
        except Exception as error:
            _logger.debug("left for later: %s", error)
            return 0

    def experiment_id(self, name: str) -> str:
        """The id of the experiment with this name, made or brought back from deletion when needed."""
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  with the client it is imported already

        found = self.client.get_experiment_by_name(name)
        if found is None:
            try:
                return self.client.create_experiment(name, artifact_folder(self.address, self.root, name))
            except MlflowException:  # another process was quicker
                found = self.client.get_experiment_by_name(name)
                if found is None:
                    raise
        if found.lifecycle_stage == "deleted":
            self.client.restore_experiment(found.experiment_id)
        return found.experiment_id

    def _reopen(self, run_id: str) -> bool:
        """Set a run going again; False when the store has no such run."""
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  as above

        try:
            if self.client.get_run(run_id).info.lifecycle_stage == "deleted":
                return False
            self.client.update_run(run_id, status="RUNNING")
        except MlflowException as error:
            if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                _logger.warning("run %s is not in the store: a new run begins", run_id)
                return False
            raise
        return True

    def _create(self, experiment: str, name: str, parent: str | None, tags: Mapping[str, object]) -> str:
        told = {
            "mlflow.user": _user(),
            "mlflow.source.type": "LOCAL",
            "mlflow.source.name": Path(sys.argv[0]).name or "python",
            **lineage(),
            **tags,
        }
        if parent is not None:
            told["mlflow.parentRunId"] = parent
        if "git.commit" in told:
            told["mlflow.source.git.commit"] = told["git.commit"]
        texts = {key: str(value) for key, value in told.items()}
        for attempt in range(_ATTEMPTS):
            try:
                created = self.client.create_run(self.experiment_id(experiment), tags=texts, run_name=name)
                return created.info.run_id
            except TrackingUnavailable:
                raise
            except Exception:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.2 * 2**attempt)
        raise AssertionError("unreachable")

    def _log_params(self, run: Run, params: Mapping[str, Any]) -> None:
        """Log the configuration, whole first: a run that has its parameters has that too."""
        from mlflow.entities import Param  # noqa: PLC0415  as above

        flat = flatten(params)
        try:
            has = self.client.get_run(run.id).data.params if run.resumed else {}
            missing = [Param(key, value) for key, value in flat.items() if key not in has]
            if missing:
                run.log_text(json.dumps(params, indent=2, default=str), "config.json")
            for start in range(0, len(missing), _LARGEST_BATCH):
                self.client.log_batch(run.id, params=missing[start : start + _LARGEST_BATCH])
        except Exception as error:
            run.finish("FAILED")
            raise TrackingUnavailable(self.address, error) from error

    def _find_launch(self, experiment: str, launch: str) -> str | None:
        """The id of the run that has this tag."""
        try:
            number = self.experiment_id(experiment)
            found = self.client.search_runs([number], f"tags.{_LAUNCH} = '{launch}'", max_results=1)
        except TrackingUnavailable:
            raise
        except Exception as error:
            raise TrackingUnavailable(self.address, error) from error
        return found[0].info.run_id if found else None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"
