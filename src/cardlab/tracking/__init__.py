"""Runs, their lineage and registered policies in MLflow, which is imported on first use."""

from cardlab.tracking.connection import TrackingUnavailable
from cardlab.tracking.run import RecordIncomplete, Run
from cardlab.tracking.store import Store

NOT_IN_DIGEST = "records runs in MLflow"

__all__ = ["RecordIncomplete", "Run", "Store", "TrackingUnavailable"]
