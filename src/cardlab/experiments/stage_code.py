"""Digests of the code of the pipeline's stages: written to code.json by the stage `code`, compared by all others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from cardlab.core.code_digest import Sources
from cardlab.core.config_texts import Config
from cardlab.core.files import load_json, read_text
from cardlab.core.messages import InvalidConfiguration, InvalidOption
from cardlab.core.options import checked
from cardlab.core.parts import project_folder
from cardlab.core.running_code import check_unchanged, code_digest

NOT_IN_DIGEST = "reads code and runs none of it"

_WANTED = "experiments by name, as in benchmark=quick; a file in conf/benchmark/ begins with # @package _global_"

CODE, PARAMS = Path("code.json"), Path("params.yaml")
_CHAMPION = {"agents": ["champion"]}  # an agent that the configuration does not name
_EXPERIMENT_STAGES: dict[str, Config] = {"train": {}, "evaluate": {}, "promote": _CHAMPION}
_PLAYED = ("agent", "arena", "game", "network")  # the learner's code says how its policy plays
_GROUPS = {
    "evaluate": (*_PLAYED, "opponents"),
    "promote": _PLAYED,
    "tournaments": _PLAYED,
    "compare": _PLAYED,
    "report": (),
}  # stage → groups of the configuration whose code it uses; others use all
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
    """The content of params.yaml. InvalidConfiguration for a damaged file, such as one with conflict markers."""
    try:
        content = OmegaConf.to_container(OmegaConf.create(read_text(PARAMS)))
    except (OSError, ValueError, YAMLError, OmegaConfBaseException) as error:
        reason = " ".join(str(error).split())
        raise InvalidConfiguration(f"{PARAMS}: cannot be read ({reason}); `cardlab compose` writes it again") from error
    params = cast(dict[str, Any], content) if isinstance(content, dict) else {}
    check_names(params)
    return params


def check_names(config: Mapping[str, Any]) -> None:
    """Raise InvalidOption unless the name of each experiment is its key, since folders have that name."""
    experiments = config.get("experiments", "(left out)")
    if not isinstance(experiments, Mapping):
        raise InvalidOption("experiments", experiments, _WANTED)
    names = Literal[tuple(map(str, cast(Mapping[Any, Any], experiments))) or ("",)]  # pyright: ignore[reportInvalidTypeForm]
    checked("compare", config.get("compare", {}), Mapping[str, tuple[names, names]])
    tune = checked("tune", config.get("tune", {}), Mapping[str, Any])
    for part in ("experiment", "sweep") if "tune" in config else ():
        checked(f"tune.{part}", tune.get(part), Mapping[str, Any])
    for key, experiment in checked("experiments", experiments, Mapping[str, Mapping[str, Any]]).items():
        name = experiment.get("name", "(left out)")
        if not {"name", "game"} & set(experiment):  # taken out of the defaults, but not here
            allowed = f"a whole experiment: add its line to the defaults, or remove experiments.{key} too"
            raise InvalidOption(f"experiments.{key}", experiment, allowed)
        if name != key:
            raise InvalidOption(f"experiments.{key}.name", name, f"{key}, like its key")


def read_params(stage: str, key: str = "") -> dict[str, Any]:
    """The content of params.yaml, for a stage and the experiment or pair `key`.

    Raises CodeChanged unless this process has imported the code that code.json gives for the stage.
    """
    params = load_params()
    if CODE.is_file():  # else the script runs outside of the pipeline
        given = load_json(CODE)
        entry = given["experiments"][key][stage] if stage in _EXPERIMENT_STAGES else given[stage]
        found = code_digest([_script(stage)], *stage_configs(params, stage, key), experiments=params["experiments"])
        check_unchanged(entry[key] if stage == "compare" else entry, found)
    return params


def _script(stage: str) -> Path:
    return (project_folder() or Path()) / "pipelines" / f"{stage}.py"


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
