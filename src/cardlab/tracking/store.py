"""The store of runs: where it is, and how a run in it begins or goes on."""

import getpass
import hashlib
import json
import logging
import sys
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.tracking.address import project_root, store_address
from cardlab.tracking.apart import desk_apart
from cardlab.tracking.client import TrackingUnavailable, connect
from cardlab.tracking.desk import Desk, OwnDesk
from cardlab.tracking.lineage import lineage
from cardlab.tracking.memory import Memory, forget, remembered
from cardlab.tracking.parameters import flatten
from cardlab.tracking.run import Run

if TYPE_CHECKING:
    from mlflow import MlflowClient

_logger = logging.getLogger(__name__)
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
    def desk(self) -> Desk:
        """Through which runs speak to MLflow: that of another process where one was started, else this one's own."""
        return desk_apart(self.address, self.root) or self._own

    @cached_property
    def _own(self) -> OwnDesk:
        return OwnDesk(lambda: self.client, self.address, self.root)

    @property
    def spool(self) -> Path:
        """Folder of what is still to be sent to this store; it outlives the temporary copies of DVC's experiments."""
        return self.root / "runs" / "tracking" / hashlib.sha256(self.address.encode()).hexdigest()[:12]

    def check(self) -> None:
        """Raise TrackingUnavailable unless the store answers."""
        with self.asked():
            self.desk.check()

    @contextmanager
    def asked(self) -> Generator[None]:
        """What the store cannot do is TrackingUnavailable, in one line."""
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
        """Begin a run, or go on with the run of id `resume`. Raises TrackingUnavailable.

        `params` is the nested configuration, kept flat as parameters and whole as `config.json`. `parent` is the id
        of the run that the new one is shown under; `stopped_by` are exceptions that stop a run on purpose. Every run
        carries its lineage as tags. A run to resume that the store does not know is begun anew; one that was cut off
        before all its parameters had arrived gets those that are missing.
        """
        with self.asked():
            known = resume is not None and self._reopen(resume)
            run_id = resume if resume is not None and known else self._create(experiment, name, parent, tags or {})
            run = Run(self.desk, run_id, self.spool, stopped_by=stopped_by)
        with ExitStack() as until_handed_over:  # stopped before the caller has it, nobody else would end it
            until_handed_over.push(run)
            if known:
                run.set_tags(tags or {})
                run.resumed = True
            if params:
                self._log_params(run, params)
            self.send_leftovers()
            until_handed_over.pop_all()
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
            return self.desk.send_leftovers(self.spool) if self.spool.is_dir() else 0
        except Exception as error:
            _logger.debug("left for later: %s", error)
            return 0

    def experiment_id(self, name: str) -> str:
        """The id of the experiment with this name, made or brought back from deletion when needed."""
        return self._own.experiment_id(name)

    def _reopen(self, run_id: str) -> bool:
        """Set a run going again; False when the store has no such run, which is told."""
        known = self.desk.reopen(run_id)
        if not known:
            _logger.warning("run %s is not in the store: a new run begins", run_id)
        return known

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
        return self.desk.begin(experiment, name, {key: str(value) for key, value in told.items()})

    def _log_params(self, run: Run, params: Mapping[str, Any]) -> None:
        """Log the configuration, whole first: a run that has its parameters has that too."""
        flat = flatten(params)
        try:
            has = self.desk.stored_params(run.id) if run.resumed else []
            missing = {key: value for key, value in flat.items() if key not in has}
            if missing:
                run.log_text(json.dumps(params, indent=2, default=str), "config.json")
                self.desk.log_params(run.id, missing)
        except Exception as error:
            raise TrackingUnavailable(self.address, error) from error

    def _find_launch(self, experiment: str, launch: str) -> str | None:
        """The id of the run that has this tag."""
        with self.asked():
            return self.desk.find(experiment, _LAUNCH, launch)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"
