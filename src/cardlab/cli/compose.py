"""`cardlab compose`: writes params.yaml, which the DVC stages read, from conf/config.yaml; --check compares them."""

from collections.abc import Mapping
from pathlib import Path
from shlex import join
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from cardlab.cli.verbs import Request
from cardlab.core.files import short_path, write_atomically
from cardlab.core.messages import InvalidConfiguration
from cardlab.experiments.benchmark import check_benchmark
from cardlab.experiments.config.part_source import write_options
from cardlab.experiments.stage_code import PARAMS, check_names

HEADER = "# Written by `cardlab compose` from conf/config.yaml: edit conf/, not this file.\n"


def run(request: Request) -> int:
    """Check the experiments and write params.yaml, or with --options the files of parts.

    With --check, write nothing and raise InvalidConfiguration if the data of params.yaml differ.
    """
    if "--options" in request.flags:
        added = [f"{short_path(path)}: options added" for path in write_options()]
        print(*(added or ["no file of conf/ leaves an option out"]), sep="\n")
        return 0
    config = dict(request.config)
    check_names(config)
    if "--check" in request.flags:
        difference = first_difference(config, written_params())
        if difference:
            hint = f"`{join(['cardlab', 'compose', *request.overrides])}` writes it from conf/"
            raise InvalidConfiguration(f"{PARAMS} differs from conf/ at {difference}; {hint}")
        print(f"{PARAMS} is up to date")
        return 0
    check_benchmark(config, elsewhere=True)
    write_atomically(PARAMS, HEADER + OmegaConf.to_yaml(OmegaConf.create(config)))
    print(f"{PARAMS}: {', '.join(config['experiments'])}")
    return 0


def first_difference(wanted: object, found: object, key: str = "") -> str | None:
    """The first key at which two nested mappings differ; None if they are equal."""
    if not isinstance(wanted, Mapping) or not isinstance(found, Mapping):
        return None if wanted == found else key or "the top level"
    pairs = ((name, wanted.get(name, ...), found.get(name, ...)) for name in dict.fromkeys([*wanted, *found]))
    differences = (first_difference(one, other, f"{key}.{name}".lstrip(".")) for name, one, other in pairs)
    return next(filter(None, differences), None)


def written_params(path: Path = PARAMS) -> Any:
    """The data of params.yaml; none if it cannot be read."""
    try:
        return OmegaConf.to_container(OmegaConf.load(path))
    except (OSError, YAMLError, OmegaConfBaseException):
        return {}
