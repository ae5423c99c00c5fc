from typing import Any

import numpy as np
import pytest


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep draws no pictures: they take longer than its tiny trials."""
    monkeypatch.setattr("cardlab.experiments.sweep.summary.study_plots", lambda *_: ())


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial trains and plays nothing and gets a score: for tests of what stands around trials."""

    def train(self: Any, trial: Any, *_: Any) -> tuple[dict[str, Any], float]:
        return {"random": np.arange(4.0) + trial.number}, 1.0

    monkeypatch.setattr("cardlab.experiments.sweep.trials.TrialRunner._train", train)
