"""From the values of a trial to its experiment, in any process."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardlab.experiments.config.build import build_experiment
from cardlab.experiments.config.values import with_values
from cardlab.training.experiment import Experiment


@dataclass(frozen=True)
class TrialComposer:
    """Gives other values to one experiment; it can be pickled."""

    config: Mapping[str, Any]

    def __call__(self, values: Mapping[str, Any]) -> Experiment:
        """The experiment with `values` by key; InvalidOption for one that cannot be."""
        return build_experiment(with_values(self.config, values))
