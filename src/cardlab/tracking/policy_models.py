"""Trained policies as MLflow's logged models: python_functions without a pickle, each once in its run."""

import json
import platform
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version as installed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from cardlab import agents
from cardlab.agents.policy_descriptions import GAME_FILE, POLICY_FILES, policy_digest, read_description
from cardlab.core.parts import NAME
from cardlab.tracking.lineage import DIGEST

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Dataset, LoggedModel, Metric

POLICY = "policy"  # name of the model of a training's policy, and folder of the files in each model
SNAPSHOT = "snapshot_"  # beginning of the names of models on the way to it; the number of decisions follows
DATA = f"data/{POLICY}"  # folder of the policy's files in a model
CARD = "model_card.md"
_GAME = "game"  # tag of a model: the game with all its options
_LOADER = f"{agents.__name__}.mlflow_model"
_ENVIRONMENT = "python: {}\nbuild_dependencies: []\ndependencies:\n- -r requirements.txt\n"


@dataclass(frozen=True)
class PolicyToLog:
    """A policy that becomes a model of a run."""

    folder: Path
    name: str
    game: Mapping[str, Any]  # with all its options
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    card: str = ""  # Markdown; empty: a short one
    scored_at: int | None = None  # step of the run's scores that are the model's
    deals: "DealsOf | None" = None  # of these scores

    @property
    def known_by(self) -> dict[str, str]:
        """The tags by which the model is found again."""
        return {DIGEST: policy_digest(self.folder), _GAME: json.dumps(self.game, sort_keys=True)}


@dataclass(frozen=True)
class DealsOf:
    """Deals on which something was measured, as MLflow's dataset."""

    game: Mapping[str, Any]
    deals: int
    seed: int

    def dataset(self) -> "Dataset":
        """The dataset; equal deals have equal digests."""
        from mlflow.entities import Dataset  # noqa: PLC0415  imported with the client

        text = json.dumps({"game": self.game, "deals": self.deals, "seed": self.seed}, sort_keys=True)
        name = f"{self.deals} deals of {self.game[NAME]}, seed {self.seed}"
        return Dataset(name, sha256(text.encode()).hexdigest()[:8], "code", text)


def log_policies(client: "MlflowClient", run_id: str, policies: Iterable[PolicyToLog]) -> None:
    """Log the policies of a run that has their scores; what a killed process has begun is finished."""
    scores: dict[int, list[Metric]] = {}
    for key in [key for key in client.get_run(run_id).data.metrics if key.startswith("score/")]:
        for row in client.get_metric_history(run_id, key):
            scores.setdefault(row.step, []).append(row)
    experiment = client.get_run(run_id).info.experiment_id
    for policy in policies:
        found = [] if policy.scored_at is None else scores.get(policy.scored_at, [])
        log_policy(client, experiment, run_id, policy, found)


def log_policy(
    client: "MlflowClient",
    experiment: str,
    run_id: str | None,
    policy: PolicyToLog,
    scores: Iterable[Any] = (),
) -> "LoggedModel":
    """The complete model of the policy; `run_id` is the run that made it, if it is known. `scores` are of that run."""
    known = _find(client, experiment, run_id, policy)
    if known is not None and known.status == "READY":
        return known
    tags = {**policy.tags, **policy.known_by}
    logged = known or client.create_logged_model(
        experiment, policy.name, source_run_id=run_id, tags=tags, model_type=policy.game[NAME]
    )
    if run_id is not None:
        _link_output(client, run_id, logged.model_id, int(policy.tags.get("decisions", 0)))
    with TemporaryDirectory() as scratch:
        write_model(Path(scratch), policy, logged.model_id, run_id)
        client.log_model_artifacts(logged.model_id, scratch)
    if run_id is not None and policy.deals is not None:
        log_scores(client, run_id, logged.model_id, scores, policy.deals)
    return client.finalize_logged_model(logged.model_id, "READY")


def log_scores(client: "MlflowClient", run_id: str, model_id: str, scores: Iterable[Any], deals: DealsOf) -> None:
    """Log rows of a run's metrics as metrics of a model too; they keep their times, so that the run has them once.

    Rows that the model has are left out: the store refuses a second one.
    """
    from mlflow.entities import Metric  # noqa: PLC0415  imported with the client

    data = deals.dataset()
    of = {"model_id": model_id, "dataset_name": data.name, "dataset_digest": data.digest, "run_id": run_id}
    known = {(row.key, row.timestamp, row.step) for row in client.get_logged_model(model_id).metrics or ()}
    new = [row for row in scores if (row.key, row.timestamp, row.step) not in known]
    client.log_batch(run_id, [Metric(row.key, row.value, row.timestamp, row.step, **of) for row in new])


def find_model(client: "MlflowClient", experiment: str, digest: str, run_id: str | None = None) -> "LoggedModel | None":
    """The complete model of the policy with this digest: that of `run_id` first, a snapshot last."""
    found = client.search_logged_models([experiment], f"tags.`{DIGEST}` = '{digest}'")
    ready = [model for model in found if model.status == "READY"]  # else a process was killed while it logged the model
    order = {model.model_id: (model.source_run_id != run_id, model.name.startswith(SNAPSHOT)) for model in ready}
    return min(ready, key=lambda model: order[model.model_id], default=None)


def model_legal_name(name: str) -> str:
    """`name` as MLflow accepts it for a model."""
    return re.sub(r"[^\w-]", "_", name)


def is_of_game(model: "LoggedModel", game: Mapping[str, Any]) -> bool:
    """Whether the model plays exactly this game."""
    return model.tags.get(_GAME) == json.dumps(game, sort_keys=True)


def write_model(folder: Path, policy: PolicyToLog, model_id: str, run_id: str | None) -> None:
    """Write the model's files. MLflow's flavour for torch needs a pickle, and `save_model` a second to check versions.

    The signature has outputs only: with inputs, MLflow would refuse lists and drop `seed`.
    """
    from mlflow.models import Model, ModelSignature  # noqa: PLC0415  imported with the client
    from mlflow.pyfunc import add_to_model  # noqa: PLC0415
    from mlflow.types import Schema, TensorSpec  # noqa: PLC0415

    data = folder / DATA
    data.mkdir(parents=True)
    for name in POLICY_FILES:
        shutil.copyfile(policy.folder / name, data / name)
    (data / GAME_FILE).write_text(json.dumps(policy.game, indent=2) + "\n", encoding="utf-8")
    (folder / CARD).write_text(policy.card or _card(policy), encoding="utf-8")
    needs = "".join(f"{package}=={installed(package)}\n" for package in ("cardlab", "mlflow"))
    (folder / "requirements.txt").write_text(needs)
    (folder / "python_env.yaml").write_text(_ENVIRONMENT.format(platform.python_version()))
    signature = ModelSignature(outputs=Schema([TensorSpec(np.dtype(np.int16), (-1,))]))
    model = Model(run_id=run_id, model_id=model_id, model_uuid=model_id, signature=signature)
    add_to_model(model, _LOADER, data=DATA, python_env="python_env.yaml")
    model.save(str(folder / "MLmodel"))


def _find(client: "MlflowClient", experiment: str, run_id: str | None, policy: PolicyToLog) -> "LoggedModel | None":
    """The model of this name that the run has; one of another policy is deleted, since a name leads to one model."""
    if run_id is None:
        return None
    condition = f"name = '{policy.name}' AND source_run_id = '{run_id}'"
    fitting: LoggedModel | None = None
    for model in client.search_logged_models([experiment], condition):
        if fitting is None and policy.known_by.items() <= model.tags.items():
            fitting = model
        else:
            client.delete_logged_model(model.model_id)
    return fitting


def _link_output(client: "MlflowClient", run_id: str, model_id: str, step: int) -> None:
    """Show the model among the outputs of the run, once."""
    from mlflow.entities import LoggedModelOutput  # noqa: PLC0415  imported with the client

    outputs = client.get_run(run_id).outputs
    if outputs is None or model_id not in [each.model_id for each in outputs.model_outputs]:
        client.log_outputs(run_id, [LoggedModelOutput(model_id, step)])


def _card(policy: PolicyToLog) -> str:
    """A short model card."""
    game = ", ".join(f"{key} {value}" for key, value in policy.game.items())
    rows = {"game": game, "network": read_description(policy.folder).words, **policy.tags, **policy.known_by}
    del rows[_GAME]
    lines = "".join(f"| {key} | `{value}` |\n" for key, value in {"game": game, **rows}.items())
    return f"# {policy.name}: a policy for {policy.game[NAME]}\n\n| | |\n|---|---|\n{lines}"
