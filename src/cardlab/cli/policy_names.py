"""Where `cardlab train` leaves its policies, and what they are called."""

from pathlib import Path

LATEST = "latest"  # in runs/NAME/: the training that was finished last
POLICY = "policy"  # the policy's folder in that of a training


def known_name(folder: Path) -> str:
    """The name of a policy: of models/NAME its folder's, of runs/NAME/…/policy its training's."""
    return folder.parents[1].name if folder.name == POLICY and len(folder.parts) > 2 else folder.name
