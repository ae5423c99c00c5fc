"""Policies in MLflow's model registry: models cardlab-GAME, whose alias `champion` names the strongest version."""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING

from cardlab.agents.policy_descriptions import DESCRIPTION, POLICY_FILES, policy_digest
from cardlab.agents.specs import ADDRESS, CHAMPION, RUN_ADDRESS, champion_folder
from cardlab.tracking.policy_lookup import DIGEST
from cardlab.tracking.store import Store, none_if_missing

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

_ADDRESS = re.compile(ADDRESS + r"([^/@]+)(?:@([^/@]+)|/(\d+))")
_PYFUNC = "cardlab.agents.mlflow_model"
_DATA = "policy"  # folder of the policy in a logged model
_MODEL_PREFIX = "cardlab-"
_CARD, _DECISION, _GAME = "README.md", "decision.json", "game.json"  # files of a champion's folder


class NotRegistered(ValueError):
    """The registry does not have the policy; the message is one line that names its address."""


def model_name(game: str) -> str:
    """The registered model with the policies of `game`."""
    return f"{_MODEL_PREFIX}{game}"


def version_address(version: "ModelVersion") -> str:
    """The address for `load_agent` and `mlflow.pyfunc.load_model`."""
    return f"{ADDRESS}{version.name}/{version.version}"


class Registry:
    """The registered models of a store. All methods raise TrackingUnavailable if the store cannot be used."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def champion(self, game: str) -> "ModelVersion | None":
        """The version with the alias `champion`."""
        return self._find_version(f"{ADDRESS}{model_name(game)}@{CHAMPION}")

    def find(self, digest: str) -> "ModelVersion | None":
        """The latest version of the policy with this digest."""
        condition = f"tags.`{DIGEST}` = '{digest}'"
        with self.store.wrap_errors():
            found = self.store.client.search_model_versions(condition, order_by=["version_number DESC"], max_results=1)
        return found[0] if found else None

    def register(
        self,
        folder: Path,
        game: str,
        *,
        run_id: str,
        card: str,
        files: Mapping[str, str],
        tags: Mapping[str, object],
    ) -> "ModelVersion":
        """Register the policy in `folder` as a version of its game's model, or update `card` and `tags` of its version.

        `files`: name → text, stored beside the policy. `run_id`: the run that made or promoted it.
        """
        digest = policy_digest(folder)
        texts = {key: str(value) for key, value in tags.items()} | {DIGEST: digest}
        known = self.find(digest)
        with self.store.wrap_errors():
            client = self.store.client
            from mlflow.exceptions import MlflowException  # noqa: PLC0415  imported with the client

            if known is not None:
                for key, value in texts.items():
                    client.set_model_version_tag(known.name, known.version, key, value)
                return client.update_model_version(known.name, known.version, card)
            model_id, source = self._log_model(folder, game, run_id, card, files, texts)
            with suppress(MlflowException):  # it exists
                about = f"Policies of {game}. The alias `{CHAMPION}` names the strongest; `cardlab promote` moves it."
                client.create_registered_model(model_name(game), {"game": game}, about)
            return client.create_model_version(
                model_name(game),
                source,
                run_id=run_id,
                model_id=model_id,
                tags=texts,
                description=card,
                await_creation_for=0,  # its files are complete
            )

    def register_champion(self, game: str) -> "ModelVersion | None":
        """Register the champion in champions/ with its alias if the registry has none; returns the new version.

        A fresh clone has champions, and no registry.
        """
        folder = champion_folder(game)
        if folder is None or self.champion(game) is not None:
            return None
        version = self.register_folder(folder, game)
        self.set_champion(version)
        return version

    def register_folder(self, folder: Path, game: str) -> "ModelVersion":
        """Register a folder of champions/ with its card and name, in a run of its own."""
        texts = {name: _read(folder / name) for name in (_CARD, _DECISION, _GAME)}
        name = json.loads(texts[_DECISION])["challenger"]["name"] if texts[_DECISION] else CHAMPION
        files, tags = ({_GAME: texts[_GAME]} if texts[_GAME] else {}), {"kind": "registration", "experiment": name}
        with self.store.start_run(game, f"{name} · registration", tags=tags) as run:
            version = self.register(folder, game, run_id=run.id, card=texts[_CARD], files=files, tags={"name": name})
            run.set_tags({DIGEST: version.tags[DIGEST]})
        return version

    def model_id(self, folder: Path, game: str, name: str, run_id: str | None) -> str:
        """The id of the logged model of the policy in `folder`; it is logged as `name` if need be.

        `run_id`: the run that made the policy, if it is known.
        """
        digest = policy_digest(folder)
        version = self.find(digest)
        if version is not None and version.model_id:
            return version.model_id
        with self.store.wrap_errors():
            experiment, condition = self.store.experiment_id(game), f"tags.`{DIGEST}` = '{digest}'"
            for logged in self.store.client.search_logged_models([experiment], condition):
                if logged.status == "READY":  # else a process was killed while it logged the model
                    return logged.model_id
            return self._log_model(folder, game, run_id, "", {}, {"name": name, DIGEST: digest})[0]

    def set_champion(self, version: "ModelVersion") -> None:
        """Move the alias `champion` to this version."""
        with self.store.wrap_errors():
            self.store.client.set_registered_model_alias(version.name, CHAMPION, str(version.version))

    def fetch(self, address: str) -> Path:
        """The folder of the policy at `models:/…` or `runs:/ID/policy`, downloaded once.

        Raises NotRegistered for an unknown one. A champion of champions/ that the registry lacks is registered first.
        """
        if address.startswith(RUN_ADDRESS):
            return self._fetch_artifacts(address)
        found = self._find_version(address)
        if found is None and address.endswith(f"@{CHAMPION}"):
            found = self.register_champion(address.removeprefix(ADDRESS + _MODEL_PREFIX).removesuffix(f"@{CHAMPION}"))
        if found is None:
            raise NotRegistered(f"{address}: the registry has no such model, version or alias")
        if DIGEST not in found.tags:
            raise NotRegistered(f"{address}: has no tag {DIGEST}; register it with cardlab promote")
        target = self.store.root / "runs" / "registry" / found.name / found.tags[DIGEST]
        if not target.is_dir():
            self._download(found, target)
        return target

    def fetch_champion(self, game: str) -> Path | None:
        """The folder of the registered champion, downloaded once; None without one. Makes no store."""
        if self.store.file is not None and not self.store.file.exists():
            return None
        found = self.champion(game)
        return None if found is None else self.fetch(version_address(found))

    def _fetch_artifacts(self, address: str) -> Path:
        """The folder of a policy among the artifacts of a run."""
        from mlflow.artifacts import download_artifacts  # noqa: PLC0415  slow import

        target = self.store.root / "runs" / "registry" / re.sub(r"\W", "_", address.removeprefix(RUN_ADDRESS))
        if not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
                given = {"artifact_uri": address, "dst_path": scratch, "tracking_uri": self.store.address}
                with self.store.wrap_errors():
                    folder = none_if_missing(lambda: download_artifacts(**given))
                if folder is None or not (Path(folder) / DESCRIPTION).is_file():
                    raise NotRegistered(f"{address}: no policy; that of a training is {RUN_ADDRESS}ID/policy")
                _move(Path(folder), target)
        return target

    def _find_version(self, address: str) -> "ModelVersion | None":
        """The version at `models:/NAME@ALIAS` or `models:/NAME/VERSION`; None without one."""
        parts = _ADDRESS.fullmatch(address)
        if parts is None:
            raise NotRegistered(f"{address}: must be {ADDRESS}NAME@ALIAS or {ADDRESS}NAME/VERSION")
        name, alias, version = parts.groups()
        with self.store.wrap_errors():
            client = self.store.client
            if alias:
                return none_if_missing(lambda: client.get_model_version_by_alias(name, alias))
            return none_if_missing(lambda: client.get_model_version(name, version))

    def _log_model(
        self, folder: Path, game: str, run_id: str | None, card: str, files: Mapping[str, str], tags: Mapping[str, str]
    ) -> tuple[str, str]:
        """Log the policy as a python_function; returns id and location. MLflow's flavour for torch needs a pickle."""
        from mlflow.models import Model  # noqa: PLC0415  slow import
        from mlflow.pyfunc import save_model  # noqa: PLC0415  slow import

        client, experiment = self.store.client, self.store.experiment_id(game)
        name = re.sub(r"[^\w-]", "_", tags.get("name", _DATA))
        logged = client.create_logged_model(experiment, name, source_run_id=run_id, tags=dict(tags), model_type=game)
        with tempfile.TemporaryDirectory() as scratch:
            data, target = Path(scratch, _DATA), Path(scratch, "model")
            data.mkdir()
            for name in POLICY_FILES:
                shutil.copyfile(folder / name, data / name)
            for name, text in files.items():
                (data / name).write_text(text, encoding="utf-8")
            needs = [f"cardlab=={installed('cardlab')}"]  # without it MLflow would load the model to find out
            model = Model(model_id=logged.model_id)
            save_model(target, loader_module=_PYFUNC, data_path=data, mlflow_model=model, pip_requirements=needs)
            (target / "model_card.md").write_text(card, encoding="utf-8")
            client.log_model_artifacts(logged.model_id, str(target))
        client.finalize_logged_model(logged.model_id, "READY")
        return logged.model_id, logged.artifact_location

    def _download(self, version: "ModelVersion", target: Path) -> None:
        from mlflow.artifacts import download_artifacts  # noqa: PLC0415  slow import

        target.parent.mkdir(parents=True, exist_ok=True)
        address = self.store.address
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            with self.store.wrap_errors():  # by the files' address: for models:/… MLflow would make its default store
                uri = self.store.client.get_model_version_download_uri(version.name, version.version)
                folder = download_artifacts(artifact_uri=uri, dst_path=scratch, tracking_uri=address)
            data = Path(folder, "data", _DATA)
            digest = policy_digest(data)
            if digest != version.tags[DIGEST]:
                found = f"its files differ from those that were registered (digest {digest})"
                raise NotRegistered(f"{version_address(version)}: {found}")
            _move(data, target)


def _move(folder: Path, target: Path) -> None:
    try:
        folder.replace(target)
    except OSError:
        if not target.is_dir():  # otherwise another process was faster
            raise


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
