"""Runs, their lineage and the registry in MLflow. Nothing else imports MLflow, and it is loaded on first use."""

from cardlab.tracking.connection import TrackingUnavailable
from cardlab.tracking.lineage import lineage
from cardlab.tracking.run import RecordIncomplete, Run, Status
from cardlab.tracking.store import Store

NOT_IN_DIGEST = "records runs in MLflow"

__all__ = ["RecordIncomplete", "Run", "Status", "Store", "TrackingUnavailable", "lineage"]
