"""Files that belong to runs which have ended, such as pictures drawn from what they left."""

import logging
from collections.abc import Sequence
from pathlib import Path

from cardlab.tracking.client import first_line
from cardlab.tracking.store import Store

_logger = logging.getLogger(__name__)


def attach_files(store: Store, experiment: str, digest: str, files: Sequence[Path], folder: str) -> str | None:
    """Keep `files` in `folder` of the latest evaluation of the policy with this digest; the run's id.

    None when the store has no such run, as in a clone that took its results from a cache, or cannot be used: what was
    drawn is complete without it. Never raises.
    """
    try:
        found = store.client.get_experiment_by_name(experiment)
        if found is None:
            return None
        condition = f"tags.kind = 'evaluation' and tags.`policy.digest` = '{digest}'"
        runs = store.client.search_runs(
            [found.experiment_id], condition, max_results=1, order_by=["attributes.start_time DESC"]
        )
        if not runs:
            return None
        for file in files:
            store.client.log_artifact(runs[0].info.run_id, str(file), folder)
        return runs[0].info.run_id
    except Exception as error:
        _logger.warning("%s: pictures are not kept in the store (%s)", experiment, first_line(error))
        return None
