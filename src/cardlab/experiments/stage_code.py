"""Digests of the code of the pipeline's stages: written to code.json by the stage `code`, compared by all others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.code_digest import Sources
from cardlab.core.config_texts import Config
from cardlab.core.files import load_json
from cardlab.core.running_code import check_unchanged, code_digest

NOT_IN_DIGEST = "reads code and runs none of it"

CODE = Path("code.json")
_CHAMPION = {"agents": ["champion"]}  # an agent that the configuration does not name
_EXPERIMENT_STAGES: dict[str, Config] = {"train": {}, "evaluate": {}, "promote": _CHAMPION}
_PLAYED = ("agent", "arena", "game", "network")  # the learner's code says how its policy plays
_GROUPS = {
    "evaluate": (*_PLAYED, "opponents"),
    "promote": _PLAYED,
    "tournaments": _PLAYED,
    "compare": _PLAYED,
    "report": (),
}
"""Stage → groups of the configuration whose code it uses; others use all."""
_BENCHMARK_STAGES = ("tournaments", "report")  # one for all experiments


def stage_digests(params: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    """The content of code.json for the content of params.yaml."""

    def digest(stage: str, key: str = "") -> str:
        return sources.digest([_script(stage)], stage_configs(params, stage, key))

    digests: dict[str, Any] = {stage: digest(stage) for stage in _BENCHMARK_STAGES}
    digests["experiments"] = {
        name: {stage: digest(stage, name) for stage in _EXPERIMENT_STAGES} for name in params["experiments"]
    }
    digests["compare"] = {key: digest("compare", key) for key in params.get("compare", {})}
    if "tune" in params:
        digests["tune"] = digest("tune")
    return digests


def load_params() -> dict[str, Any]:
    """The content of params.yaml."""
    return cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml")))


def read_params(stage: str, key: str = "") -> dict[str, Any]:
    """The content of params.yaml, for a stage and the experiment or pair `key`.

    Raises CodeChanged unless this process has imported the code that code.json gives for the stage.
    """
    params = load_params()
    if CODE.is_file():  # else the script runs outside of the pipeline
        _check(params, stage, key)
    return params


def _check(params: Mapping[str, Any], stage: str, key: str) -> None:
    given = load_json(CODE)
    entry = given["experiments"][key][stage] if stage in _EXPERIMENT_STAGES else given[stage]
    found = code_digest([_script(stage)], *stage_configs(params, stage, key), experiments=params["experiments"])
    check_unchanged(entry[key] if stage == "compare" else entry, found)


def _script(stage: str) -> Path:
    return Path("pipelines", f"{stage}.py")


def stage_configs(params: Mapping[str, Any], stage: str, key: str = "") -> list[Config]:
    """The configurations that a stage uses: of one experiment, of a pair, of the sweep, or of all experiments."""
    groups = _GROUPS.get(stage)
    experiments: dict[str, Config] = {
        name: {group: value for group, value in config.items() if groups is None or group in groups}
        for name, config in params["experiments"].items()
    }
    if stage == "compare":
        return [experiments[name] for name in params["compare"][key]]
    if stage == "tune":
        return [{**params["tune"]["experiment"], "sweep": params["tune"]["sweep"]}]
    return [{**experiments[key], **_EXPERIMENT_STAGES[stage]}] if key else [*experiments.values()]
