"""`cardlab sweep worker`: runs trials of a study that `cardlab sweep` has started, on this machine or another."""

from typing import Any

from cardlab.cli.verbs import Request
from cardlab.core.options import Text, Whole, check_range
from cardlab.experiments.config.options import convert
from cardlab.experiments.sweep.compose_trials import TrialComposer
from cardlab.experiments.sweep.options import check_storage, check_study
from cardlab.experiments.sweep.sweep import join_sweep
from cardlab.experiments.sweep.worker import joined_plan
from cardlab.tracking import Store


def run(request: Request) -> int:
    """Run trials until the study has as many as its sweep needs."""
    config: dict[str, Any] = dict(request.config["sweep"])
    name = convert("sweep.study", config["study"], Text)
    address = convert("sweep.storage", config["storage"], Text | None)
    workers = convert("sweep.workers", config["workers"], Whole)
    check_study(name)
    check_storage(address)
    check_range("sweep.workers", workers, 1, 256, whole=True)
    count = join_sweep(joined_plan(name, address, workers, TrialComposer, Store()))
    print(f"study:  {name}, {count} trials")
    return 0
