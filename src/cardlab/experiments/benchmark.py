"""Checks of the benchmark: every experiment of params.yaml, before it is written and before a stage runs."""

from collections.abc import Generator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from cardlab.core.messages import ConfigurationError, InvalidOption, combined
from cardlab.core.options import invalid
from cardlab.experiments.config.build_experiment import PARTS, check_experiment, read_experiment
from cardlab.experiments.config.build_parts import check_pinned
from cardlab.experiments.config.seed_options import SEEDS, check_launcher, experiment_part, parse_seeds
from cardlab.experiments.stage_code import check_names
from cardlab.experiments.sweep.group_option import ABSENT, invalid_entry, value_at
from cardlab.experiments.sweep.options import SweepOptions, build_sweep
from cardlab.training.experiment import Experiment


def check_benchmark(config: Mapping[str, Any], *, elsewhere: bool = False) -> None:
    """Build each experiment of `config`, the data of params.yaml, and the options of the sweep `tune`.

    A policy in models/NAME of another experiment, which its stage has not made yet, is left out of what needs it.
    Raises InvalidOption with the key in params.yaml; also for a device that this machine lacks, unless the trainings
    run `elsewhere`. Imports torch unless a value is wrong.
    """
    check_names(config)
    errors: list[ConfigurationError] = []
    experiments: dict[str, Experiment] = {}
    for name, experiment in config["experiments"].items():
        with _inside(f"experiments.{name}", errors):
            check_pinned(experiment)
            _check_groups(name, experiment)
            made_later = {f"models/{other}" for other in config["experiments"]} - {f"models/{name}"}
            experiments[f"experiments.{name}"] = _read(_without(made_later, experiment_part(experiment)))
            parse_seeds(experiment.get(SEEDS, "(left out)"), experiment["seed"])
    tuned: Experiment | None = None
    if "tune" in config:
        with _inside("tune.experiment", errors):
            tuned = experiments["tune.experiment"] = _read(config["tune"]["experiment"])
        with _inside("tune", errors):
            _check_tune(build_sweep(config["tune"]["sweep"]), config["tune"]["experiment"], tuned)
    for key, experiment in experiments.items() if not errors else ():  # slower: torch is imported
        with _inside(key, errors):
            check_experiment(experiment, elsewhere=elsewhere)
    if errors:
        raise combined(errors)


def _without(made_later: Set[str], value: Any) -> Any:
    """A configuration without the folders of policies below `made_later` that do not exist yet."""

    def is_missing(text: object) -> bool:
        is_named = isinstance(text, str) and "/".join(text.split("/")[:2]) in made_later
        return is_named and not Path(str(text)).exists()

    if isinstance(value, Mapping):
        entries = cast(Mapping[str, Any], value).items()
        return {key: _without(made_later, entry) for key, entry in entries if not is_missing(key)}
    if isinstance(value, list):
        return [_without(made_later, entry) for entry in cast(list[Any], value) if not is_missing(entry)]
    return None if is_missing(value) else value


def _check_groups(name: str, experiment: Mapping[str, Any]) -> None:
    """Raise InvalidOption for the name of an option in the place of a group."""
    for key in PARTS:
        if isinstance(value := experiment.get(key), str):
            raise InvalidOption(key, value, f"written {key}@experiments.{name}.{key}={value}, as it is a group")


def _read(config: Mapping[str, Any]) -> Experiment:
    experiment = read_experiment(config)
    check_launcher(experiment.trainer)
    return experiment


def _check_tune(options: SweepOptions, config: Mapping[str, Any], experiment: Experiment | None) -> None:
    """Raise InvalidOption for a sweep that its stage would refuse, or whose option `apply` it would ignore."""
    if options.apply is not None:
        raise invalid(options, "apply", "null: the stage writes studies/tuning/")
    for key, entry in options.space.items():
        if (value := value_at(config, key)) is ABSENT or isinstance(value, Mapping):
            raise invalid_entry(key, entry, "for a key of tune.experiment that is no group")
    if experiment is not None:
        options.check_experiment(experiment.game, experiment.trainer)


@contextmanager
def _inside(key: str, errors: list[ConfigurationError]) -> Generator[None]:
    """Inside, errors are added to `errors`, with keys that begin with `key`."""
    try:
        yield
    except InvalidOption as refusal:
        found = [each for each in (refusal, *refusal.others) if isinstance(each, InvalidOption)]
        errors += [InvalidOption(f"{key}.{each.key}", each.value, each.allowed) for each in found]
