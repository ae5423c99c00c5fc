"""All wrong values of a configuration at once, for the message about the first."""

from collections.abc import Mapping
from typing import Any

from cardlab.core.messages import ConfigurationError, collected
from cardlab.experiments.config.build_experiment import PARTS, build_groups
from cardlab.experiments.config.build_parts import build_arena, build_game, build_search
from cardlab.experiments.sweep.options import build_sweep

NOT_IN_DIGEST = "formats error messages"


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
