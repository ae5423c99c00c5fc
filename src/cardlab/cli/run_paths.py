"""Names of policies, and the files in which `cardlab train` leaves them: runs/NAME/latest/policy."""

from pathlib import Path

LATEST = "latest"  # link to the last finished training
POLICY = "policy"
CONFIG = "config.json"  # beside the policy: the configuration of its training


def policy_name(folder: Path) -> str:
    """NAME for models/NAME and for runs/NAME/…/policy."""
    return folder.parents[1].name if folder.name == POLICY and len(folder.parts) > 2 else folder.name
