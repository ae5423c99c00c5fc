"""All wrong values of a configuration at once, for the message about the first."""

from collections.abc import Mapping
from typing import Any

from cardlab.core.options import ConfigurationError, collected
from cardlab.experiments.config.build_experiment import PARTS, build_groups
from cardlab.experiments.config.build_parts import build_arena, build_game, build_search, group
from cardlab.experiments.config.options import build_options, convert
from cardlab.experiments.config.values import flat_space
from cardlab.experiments.sweep.options import SweepOptions

NOT_IN_DIGEST = "words errors"


def build_sweep(data: Any) -> SweepOptions:
    """The options of the group `sweep`; raises InvalidOption."""
    given = group("sweep", data)
    space = convert("sweep.space", given.get("space", {}), Mapping[str, Any])
    return build_options(SweepOptions, {**given, "space": flat_space(space)})


def wrong_values(config: Mapping[str, Any]) -> list[ConfigurationError]:
    """The errors for the values in the groups of a composed configuration, of an experiment or of another command."""
    errors: list[ConfigurationError] = []
    if config.keys() >= set(PARTS):
        with collected(errors):
            build_groups(config)
        if "sweep" in config:
            with collected(errors):
                build_sweep(config["sweep"])
        return errors
    for name, build in (("game", build_game), ("arena", build_arena), ("search", lambda data: build_search(data, ""))):
        if config.get(name) is not None:
            with collected(errors):
                build(config[name])
    return errors
