import pytest


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep draws no pictures: they take longer than its tiny trials."""
    monkeypatch.setattr("cardlab.experiments.sweep.summary.study_plots", lambda *_: ())
