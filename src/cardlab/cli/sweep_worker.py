"""`cardlab sweep worker`: runs trials of a study that `cardlab sweep` has started, on this machine or another."""

from typing import Any

from cardlab.cli.verbs import Request
from cardlab.core.options import Text, Whole, check_whole, checked
from cardlab.experiments.sweep.options import check_storage, check_study


def run(request: Request) -> int:
    """Run trials until the study has as many as its sweep needs."""
    config: dict[str, Any] = dict(request.config["sweep"])
    name = checked("sweep.study", config["study"], Text)
    address = checked("sweep.storage", config["storage"], Text | None)
    workers = checked("sweep.workers", config["workers"], Whole)
    check_study(name)
    check_storage(address)
    check_whole("sweep.workers", workers, 1, 256)
    # A wrong value is refused before the imports below, which take seconds.
    from cardlab.experiments.sweep.sweep import join_sweep  # noqa: PLC0415
    from cardlab.experiments.sweep.worker import load_plan  # noqa: PLC0415
    from cardlab.tracking import Store  # noqa: PLC0415

    count = join_sweep(load_plan(name, address, workers, Store()))
    print(f"study:   {name}, {count} trials")
    return 0
