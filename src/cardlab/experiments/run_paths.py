"""Names of policies, and the files in which `cardlab train` leaves them: runs/NAME/latest/policy."""

from pathlib import Path

from cardlab.agents.policy_paths import SEED

__all__ = ["CONFIG", "LATEST", "POLICY", "SEED", "policy_name"]

LATEST = "latest"  # link to the last finished training
POLICY = "policy"
CONFIG = "config.json"  # beside the policy: the configuration of its training


def policy_name(folder: Path) -> str:
    """NAME for models/NAME and for runs/NAME/…/policy, NAME_seed_7 for models/NAME/seed_7."""
    if folder.name == POLICY and len(folder.parts) > 2:
        return folder.parents[1].name
    return f"{folder.parent.name}_{folder.name}" if folder.name.startswith(SEED) else folder.name
