"""Checks of the benchmark: every experiment of params.yaml, before it is written and before a stage runs."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from cardlab.core.messages import ConfigurationError, InvalidOption, combined
from cardlab.core.options import checked
from cardlab.experiments.config.build_experiment import check_experiment, read_experiment
from cardlab.experiments.config.build_parts import check_pinned
from cardlab.experiments.config.seed_options import SEEDS, check_launcher, experiment_part, parse_seeds
from cardlab.experiments.sweep.options import SweepOptions, build_sweep
from cardlab.training.experiment import Experiment

_WANTED = "experiments by name, as in benchmark=quick; a file in conf/benchmark/ begins with # @package _global_"


def check_benchmark(config: Mapping[str, Any], *, elsewhere: bool = False) -> None:
    """Build each experiment of `config`, the data of params.yaml, and the options of the sweep `tune`.

    Raises InvalidOption with the key in params.yaml; also for a device that this machine lacks, unless the trainings
    run `elsewhere`. Imports torch unless a value is wrong.
    """
    check_names(config)
    errors: list[ConfigurationError] = []
    experiments: dict[str, Experiment] = {}
    for name, experiment in config["experiments"].items():
        with _inside(f"experiments.{name}", errors):
            check_pinned(experiment)
            experiments[f"experiments.{name}"] = _read(experiment_part(experiment))
            parse_seeds(experiment.get(SEEDS, "(left out)"), experiment["seed"])
    if "tune" in config:
        with _inside("tune.experiment", errors):
            experiments["tune.experiment"] = _read(config["tune"]["experiment"])
        with _inside("tune", errors):
            tuned = {key: one for key, one in experiments.items() if key.startswith("tune.")}
            _check_tune(build_sweep(config["tune"]["sweep"]), config["tune"]["experiment"], tuned)
    for key, pair in config.get("compare", {}).items():
        if not isinstance(pair, list) or len(pair) != 2 or not set(pair) <= set(config["experiments"]):
            errors.append(InvalidOption(f"compare.{key}", pair, "two names of experiments, as in benchmark=quick"))
    for key, experiment in experiments.items() if not errors else ():  # slower: torch is imported
        with _inside(key, errors):
            check_experiment(experiment, elsewhere=elsewhere)
    if errors:
        raise combined(errors)


def _read(config: Mapping[str, Any]) -> Experiment:
    experiment = read_experiment(config)
    check_launcher(experiment.trainer)
    return experiment


def _check_tune(options: SweepOptions, config: Mapping[str, Any], experiments: Mapping[str, Experiment]) -> None:
    """Raise InvalidOption for a sweep that its stage would refuse, or whose option `apply` it would ignore."""
    if options.apply is not None:
        raise InvalidOption("sweep.apply", options.apply, "null: the stage writes tuning/")
    for key, entry in options.space.items():
        node: Any = config
        for name in key.split("."):
            if not isinstance(node, Mapping) or name not in node:
                raise InvalidOption(f"sweep.space.{key}", entry, "for a key of tune.experiment")
            node = cast(Any, node[name])
    for experiment in experiments.values():
        options.check_experiment(experiment.game, experiment.trainer)


def check_names(config: Mapping[str, Any]) -> None:
    """Raise InvalidOption unless the name of each experiment is its key, since folders have that name."""
    experiments = config.get("experiments", "(left out)")
    if not isinstance(experiments, Mapping):
        raise InvalidOption("experiments", experiments, _WANTED)
    for key, experiment in checked("experiments", experiments, Mapping[str, Mapping[str, Any]]).items():
        name = experiment.get("name", "(left out)")
        if not {"name", "game"} & set(experiment):  # taken out of the defaults, but not here
            allowed = f"a whole experiment: add its line to the defaults, or remove experiments.{key} too"
            raise InvalidOption(f"experiments.{key}", experiment, allowed)
        if name != key:
            raise InvalidOption(f"experiments.{key}.name", name, f"{key}, like its key")


@contextmanager
def _inside(key: str, errors: list[ConfigurationError]) -> Generator[None]:
    """Inside, errors are added to `errors`, with keys that begin with `key`."""
    try:
        yield
    except InvalidOption as refusal:
        found = [each for each in (refusal, *refusal.others) if isinstance(each, InvalidOption)]
        errors += [InvalidOption(f"{key}.{each.key}", each.value, each.allowed) for each in found]
