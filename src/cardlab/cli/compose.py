"""`cardlab compose`: conf/config.yaml to params.yaml, which DVC's stages read; --check says whether it is stale."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from cardlab.cli.verbs import Request
from cardlab.core.files import write_atomically
from cardlab.core.options import InvalidOption
from cardlab.experiments.config.options import InvalidConfiguration

PARAMS = Path("params.yaml")
_HEADER = "# Written by `cardlab compose` from conf/config.yaml: edit conf/, not this file.\n"


def run(request: Request) -> int:
    """Check the experiments and write params.yaml; with --check, say where it holds other data than conf/ gives."""
    config = dict(request.config)
    check_names(config)
    if "--check" in request.flags:
        difference = first_difference(config, read_params(PARAMS))
        if difference:
            raise InvalidConfiguration(f"{PARAMS} is stale at {difference}: run `cardlab compose`")
        print(f"{PARAMS} is what conf/ gives")
        return 0
    check_experiments(config)
    write_atomically(PARAMS, _HEADER + OmegaConf.to_yaml(OmegaConf.create(config)))
    print(f"{PARAMS}: {', '.join(config['experiments'])}")
    return 0


def check_names(config: Mapping[str, Any]) -> None:
    """InvalidOption when an experiment is called otherwise than its entry: they share folders by that name."""
    experiments = config.get("experiments", "(left out)")
    if not isinstance(experiments, Mapping):
        raise InvalidOption("experiments", experiments, "experiments by name, as in benchmark=quick")
    for key, experiment in cast(Mapping[str, Any], experiments).items():
        if not isinstance(experiment, Mapping):
            raise InvalidOption(f"experiments.{key}", experiment, "an experiment")
        name = cast(Mapping[str, Any], experiment).get("name", "(left out)")
        if name != key:
            raise InvalidOption(f"experiments.{key}.name", name, f"{key}, as its entry")


def check_experiments(config: Mapping[str, Any]) -> None:
    """Build each experiment once; InvalidOption names the key as it stands in conf/config.yaml."""
    from cardlab.experiments.config.build import build_experiment  # noqa: PLC0415  Lightning takes seconds; --check needs none
    from cardlab.experiments.config.groups import check_pinned  # noqa: PLC0415  as above

    for key, experiment in config["experiments"].items():
        try:
            check_pinned(experiment)
            build_experiment(experiment, elsewhere=True)
        except InvalidOption as refusal:
            raise InvalidOption(f"experiments.{key}.{refusal.key}", refusal.value, refusal.allowed) from refusal


def read_params(path: Path) -> Any:
    """The data of a params.yaml; InvalidConfiguration when there is none or it is no YAML."""
    try:
        return OmegaConf.to_container(OmegaConf.load(path))
    except (OSError, YAMLError, OmegaConfBaseException) as error:
        raise InvalidConfiguration(f"{path} cannot be read ({error}): run `cardlab compose`") from error


def first_difference(wanted: object, found: object, key: str = "") -> str | None:
    """The first key at which two nested mappings differ, None when they are the same data."""
    if not isinstance(wanted, Mapping) or not isinstance(found, Mapping):
        return None if wanted == found else key or "its top"
    for name in dict.fromkeys([*wanted, *found]):
        inner = f"{key}.{name}" if key else str(name)
        if name not in wanted or name not in found:
            return inner
        difference = first_difference(wanted[name], found[name], inner)
        if difference:
            return difference
    return None
