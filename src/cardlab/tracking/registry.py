"""Policies in MLflow's model registry: models cardlab-GAME, whose alias `champion` names the strongest version."""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.agents.policy_descriptions import DESCRIPTION, GAME_FILE, PolicyError, policy_digest, policy_game
from cardlab.agents.specs import ADDRESS, CHAMPION, RUN_ADDRESS, champion_folder
from cardlab.core.parts import NAME
from cardlab.games.make_game import game_data
from cardlab.tracking.champion_runs import CARD, DECISION, restore_runs
from cardlab.tracking.lineage import DIGEST
from cardlab.tracking.policy_models import (
    DATA,
    POLICY,
    SNAPSHOT,
    PolicyToLog,
    find_model,
    is_of_game,
    log_policy,
    model_legal_name,
)
from cardlab.tracking.store import Store, none_if_missing

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

_ADDRESS = re.compile(ADDRESS + r"([^/@]+)(?:@([^/@]+)|/(\d+))")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MODEL_PREFIX = "cardlab-"


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
        options: Mapping[str, Any],
        *,
        run_id: str,
        card: str,
        tags: Mapping[str, object],
    ) -> "ModelVersion":
        """Register the policy in `folder` as a version of its game's model, or update `card` and `tags` of its version.

        `options`: `game_data` of the game that it plays. `run_id`: the run that made or promoted it. The model that its
        training logged becomes the version, if it plays this game.
        """
        game = str(options[NAME])
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
            given = PolicyToLog(folder, model_legal_name(texts.get("name", POLICY)), options, texts, card)
            experiment = self.store.experiment_id(game)
            logged = find_model(client, experiment, digest)
            if logged is None or not is_of_game(logged, options):
                logged = log_policy(client, experiment, run_id, given)
            with suppress(MlflowException):  # it exists
                about = f"Policies of {game}. The alias `{CHAMPION}` names the strongest; `cardlab promote` moves it."
                client.create_registered_model(model_name(game), {"game": game}, about)
            return client.create_model_version(
                model_name(game),
                logged.artifact_location,
                run_id=run_id,
                model_id=logged.model_id,
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
        version = self.register_folder(folder)
        self.set_champion(version)
        return version

    def register_folder(self, folder: Path) -> "ModelVersion":
        """Register a folder of champions/ with its card and name; its runs are made again."""
        card, decision = (_read(folder / name) for name in (CARD, DECISION))
        name = json.loads(decision)["challenger"]["name"] if decision else CHAMPION
        options = json.loads(_read(folder / GAME_FILE) or "{}") or game_data(policy_game(folder))
        run_id = restore_runs(self.store, folder, str(options[NAME]), name)
        return self.register(folder, options, run_id=run_id, card=card, tags={"name": name})

    def model_id(self, folder: Path, options: Mapping[str, Any], name: str, run_id: str | None) -> str:
        """The id of the logged model of the policy in `folder`; it is logged as `name` if need be.

        `options` as in `register`. `run_id`: the run that made the policy, if it is known.
        """
        with self.store.wrap_errors():
            client, experiment = self.store.client, self.store.experiment_id(str(options[NAME]))
            known = find_model(client, experiment, policy_digest(folder), run_id)
            given = PolicyToLog(folder, model_legal_name(POLICY if run_id else name), options, {"name": name})
            return (known or log_policy(client, experiment, run_id, given)).model_id

    def set_champion(self, version: "ModelVersion") -> None:
        """Move the alias `champion` to this version."""
        with self.store.wrap_errors():
            self.store.client.set_registered_model_alias(version.name, CHAMPION, str(version.version))

    def fetch(self, address: str) -> Path:
        """The folder of the policy at `models:/…` or `runs:/ID/policy`, downloaded once.

        Raises NotRegistered for an unknown one. A champion of champions/ that the registry lacks is registered first.
        """
        folder = self.store.root / "runs" / "registry"
        if address.startswith(RUN_ADDRESS):
            target = folder / re.sub(r"\W", "_", address.removeprefix(RUN_ADDRESS))
            if not target.is_dir():
                self._download(address, address.replace("/snapshots/", f"/{SNAPSHOT}"), target)  # as 1.0 stored them
            return target
        found = self._find_version(address)
        if found is None and address.endswith(f"@{CHAMPION}"):
            found = self.register_champion(address.removeprefix(ADDRESS + _MODEL_PREFIX).removesuffix(f"@{CHAMPION}"))
        if found is None:
            raise NotRegistered(f"{address}: the registry has no such model, version or alias")
        digest = found.tags.get(DIGEST, "")
        if _DIGEST.fullmatch(digest) is None or found.name in (".", ".."):  # they name a folder
            raise NotRegistered(f"{address}: has no digest of a policy as {DIGEST}; register it with cardlab promote")
        target = folder / found.name / digest
        if target.is_dir() and not _has_digest(target, digest):
            shutil.rmtree(target)  # edited, or cut off
        if not target.is_dir():
            with self.store.wrap_errors():  # by the files' address: for models:/… MLflow would make its default store
                uri = self.store.client.get_model_version_download_uri(found.name, found.version)
            self._download(version_address(found), uri, target, digest)
        return target

    def fetch_champion(self, game: str) -> Path | None:
        """The folder of the registered champion, downloaded once; None without one. Makes no store."""
        if self.store.file is not None and not self.store.file.exists():
            return None
        found = self.champion(game)
        return None if found is None else self.fetch(version_address(found))

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

    def _download(self, address: str, uri: str, target: Path, digest: str = "") -> None:
        """Download the policy at `uri` to `target`. Raises NotRegistered where there is none with this digest."""
        from mlflow.artifacts import download_artifacts  # noqa: PLC0415  slow import

        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            given = {"artifact_uri": uri, "dst_path": scratch, "tracking_uri": self.store.address}
            with self.store.wrap_errors():
                folder = none_if_missing(lambda: download_artifacts(**given))
            places = [Path(folder, place) for place in (DATA, "")] if folder else []
            policy = next((place for place in places if (place / DESCRIPTION).is_file()), None)
            if policy is None:
                raise NotRegistered(f"{address}: no policy; that of a training is {RUN_ADDRESS}ID/policy")
            if digest and (found := policy_digest(policy)) != digest:
                text = f"its files differ from those that were registered (digest {found})"
                raise NotRegistered(f"{address}: {text}")
            try:
                policy.replace(target)
            except OSError:
                if not target.is_dir():  # otherwise another process was faster
                    raise


def _has_digest(folder: Path, digest: str) -> bool:
    try:
        return policy_digest(folder) == digest
    except PolicyError:
        return False


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
