"""The registry of policies: MLflow's registered models cardlab-GAME. The alias `champion` leads to the strongest."""

import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.agents.policies import POLICY_FILES, policy_digest
from cardlab.tracking.address import sqlite_file
from cardlab.tracking.policy_lookup import DIGEST
from cardlab.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

CHAMPION = "champion"
CARD = "model_card.md"
_ADDRESS = "models:/"
_PARTS = re.compile(r"models:/([^/@]+)(?:@([^/@]+)|/(\d+))")
_PYFUNC = "cardlab.tracking.pyfunc"
_DATA = "policy"
_MISSING = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")


class NotRegistered(ValueError):
    """The registry has no such policy; the message is one line that names it."""


@dataclass(frozen=True)
class Registered:
    """One version of a registered model."""

    name: str
    version: str
    digest: str

    @property
    def address(self) -> str:
        """What `load_agent` and `mlflow.pyfunc.load_model` take."""
        return f"{_ADDRESS}{self.name}/{self.version}"


def model_name(game: str) -> str:
    """The registered model that holds the policies of `game`."""
    return f"cardlab-{game}"


class Registry:
    """The registered models of a store. Every method raises TrackingUnavailable when the store cannot be used."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def champion(self, game: str) -> Registered | None:
        """What the alias `champion` of `game` names."""
        return self._resolve(f"{_ADDRESS}{model_name(game)}@{CHAMPION}")

    def find(self, digest: str) -> Registered | None:
        """The latest version that holds the policy of this digest."""
        condition = f"tags.`{DIGEST}` = '{digest}'"
        with self.store.asked():
            found = self.store.client.search_model_versions(condition, order_by=["version_number DESC"], max_results=1)
        return _registered(found[0]) if found else None

    def register(
        self,
        folder: Path,
        game: str,
        *,
        run_id: str,
        card: str,
        files: Mapping[str, str],
        tags: Mapping[str, object],
    ) -> Registered:
        """Make the policy in `folder` a version of its game's model; one that is there already gets `card` and `tags`.

        `files` are texts that lie beside the policy; `run_id` is the run that made it, or that offers it.
        """
        digest = policy_digest(folder)
        texts = {key: str(value) for key, value in tags.items()} | {DIGEST: digest}
        known = self.find(digest)
        with self.store.asked():
            client = self.store.client
            from mlflow.exceptions import MlflowException  # noqa: PLC0415  with the client it is imported already

            if known is not None:
                for key, value in texts.items():
                    client.set_model_version_tag(known.name, known.version, key, value)
                client.update_model_version(known.name, known.version, card)
                return known
            model_id, place = self._log_model(folder, game, run_id, card, files, texts)
            with suppress(MlflowException):  # there is one already
                about = f"Policies of {game}. The alias `{CHAMPION}` names the strongest; `cardlab promote` moves it."
                client.create_registered_model(model_name(game), {"game": game}, about)
            made = client.create_model_version(
                model_name(game),
                place,
                run_id=run_id,
                model_id=model_id,
                tags=texts,
                description=card,
                await_creation_for=0,  # its files are there already
            )
        return _registered(made)

    def crown(self, registered: Registered) -> None:
        """Let the alias `champion` name this version."""
        with self.store.asked():
            self.store.client.set_registered_model_alias(registered.name, CHAMPION, registered.version)

    def fetch(self, address: str) -> Path:
        """The folder of the policy at `models:/…`, copied here once; NotRegistered when there is none."""
        found = self._resolve(address)
        if found is None:
            raise NotRegistered(f"{address}: there is no such model or alias in the registry")
        if not found.digest:
            raise NotRegistered(f"{address}: has no tag {DIGEST}: it was not registered by cardlab")
        target = self.store.root / "runs" / "registry" / found.name / found.digest
        if not target.is_dir():
            self._download(found, target)
        return target

    def _resolve(self, address: str) -> Registered | None:
        """The version that `models:/NAME@ALIAS` or `models:/NAME/VERSION` names; None when there is none."""
        parts = _PARTS.fullmatch(address)
        if parts is None:
            raise NotRegistered(f"{address}: must be {_ADDRESS}NAME@ALIAS or {_ADDRESS}NAME/VERSION")
        name, alias, version = parts.groups()
        with self.store.asked():
            client = self.store.client
            from mlflow.exceptions import MlflowException  # noqa: PLC0415  with the client it is imported already

            try:
                found = (
                    client.get_model_version_by_alias(name, alias) if alias else client.get_model_version(name, version)
                )
            except MlflowException as error:
                if error.error_code not in _MISSING:
                    raise
                return None
        return _registered(found)

    def _log_model(
        self, folder: Path, game: str, run_id: str, card: str, files: Mapping[str, str], tags: Mapping[str, str]
    ) -> tuple[str, str]:
        """A logged model with the python_function flavour: its id and place. MLflow's own for torch would pickle it."""
        client, experiment = self.store.client, self.store.experiment_id(game)
        model = client.create_logged_model(experiment, _DATA, source_run_id=run_id, tags=dict(tags), model_type=game)
        with tempfile.TemporaryDirectory() as scratch:
            data = Path(scratch, _DATA)
            data.mkdir()
            for name in POLICY_FILES:
                shutil.copyfile(folder / name, data / name)
            for name, text in files.items():
                (data / name).write_text(text, encoding="utf-8")
            made = Path(scratch, "model")
            _save_pyfunc(data, made, model.model_id)
            (made / CARD).write_text(card, encoding="utf-8")
            client.log_model_artifacts(model.model_id, str(made))
        client.finalize_logged_model(model.model_id, "READY")
        return model.model_id, model.artifact_location

    def _download(self, registered: Registered, target: Path) -> None:
        from mlflow.artifacts import download_artifacts  # noqa: PLC0415  as above

        target.parent.mkdir(parents=True, exist_ok=True)
        address = self.store.address
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            with self.store.asked():
                download_artifacts(
                    artifact_uri=registered.address, dst_path=scratch, tracking_uri=address, registry_uri=address
                )
            data = Path(scratch, "data", _DATA)
            digest = policy_digest(data)
            if digest != registered.digest:
                raise NotRegistered(f"{registered.address}: its files are not those that were registered ({digest})")
            try:
                data.replace(target)
            except OSError:
                if not target.is_dir():  # else another process was quicker
                    raise


def fetch(address: str) -> Path:
    """The folder of the policy at `models:/…` in this project's store; NotRegistered or TrackingUnavailable."""
    return Registry(Store()).fetch(address)


def fetch_champion(game: str) -> Path | None:
    """The champion that the registry names; None where there is none, or no store: nothing is made by asking."""
    store = Store()
    file = sqlite_file(store.address, store.root)
    if file is not None and not file.exists():
        return None
    registry = Registry(store)
    found = registry.champion(game)
    return None if found is None else registry.fetch(found.address)


def _save_pyfunc(data: Path, target: Path, model_id: str) -> None:
    """Write the folder `target` of a model whose python_function reads the policy in `data`."""
    from mlflow.models import Model  # noqa: PLC0415  as above
    from mlflow.pyfunc import save_model  # noqa: PLC0415

    needs = [f"cardlab=={installed('cardlab')}"]  # given, or MLflow would load the model to find out
    model = Model(model_id=model_id)
    save_model(target, loader_module=_PYFUNC, data_path=data, mlflow_model=model, pip_requirements=needs)


def _registered(version: "ModelVersion") -> Registered:
    tags: Mapping[str, Any] = version.tags
    return Registered(version.name, str(version.version), tags.get(DIGEST, ""))
