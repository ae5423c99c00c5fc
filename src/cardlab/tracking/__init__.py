"""Runs and their lineage. The only door to MLflow, which is imported when the first run starts."""

from cardlab.tracking.client import TrackingUnavailable
from cardlab.tracking.lineage import lineage
from cardlab.tracking.run import Run, Status
from cardlab.tracking.store import Store

__all__ = ["Run", "Status", "Store", "TrackingUnavailable", "lineage"]
