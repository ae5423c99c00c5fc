"""Names of policies, the files in which `cardlab train` leaves them, and overrides to be typed again."""

import os
import re
import shlex
from pathlib import Path

from cardlab.agents.specs import ADDRESS, SEED

LATEST = "latest"  # link to the last finished training
POLICY = "policy"
_TRAINING = re.compile(rf"{LATEST}|[0-9a-f]{{16}}")
SUMMARY = "training.json"  # beside the policy: what its training cost and was made from


def policy_name(folder: Path) -> str:
    """NAME for models/NAME, NAME/policy and runs/NAME/HASH/policy, NAME_seed_7 for models/NAME/seed_7."""
    if folder.name == POLICY and len(folder.parts) > 2:
        return folder.parents[1 if _TRAINING.fullmatch(folder.parent.name) else 0].name
    return f"{folder.parent.name}_{folder.name}" if folder.name.startswith(SEED) else folder.name


def policy_title(text: str) -> str:
    """The name of the policy whose folder or address in the registry is `text`; other texts as they are."""
    return policy_name(Path(text)) if text.startswith(ADDRESS) or os.path.isdir(text) else text


def quoted(key: str, value: object) -> str:
    """`key=value` for a command line, quoted for Hydra and the shell where they need it."""
    text = str(value)
    if not re.fullmatch(r"[\w./:+%@-]+( [\w./:+%@-]+)*", text):
        text = '"' + re.sub(r'(\\*)"', r'\1\1\\"', text) + '"'
    return shlex.quote(f"{key}={text}")
