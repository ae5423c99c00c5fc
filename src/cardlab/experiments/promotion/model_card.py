"""The model card of a policy: summary, origin, results, use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from cardlab.agents.policy_descriptions import POLICY_FILES, read_description
from cardlab.experiments.promotion.gate import PromotionDecision
from cardlab.tracking.policy_lookup import Origin

_TEMPLATES = Path(__file__).parent / "templates"


def model_card(
    policy: Path,
    game: Mapping[str, Any],
    decision: PromotionDecision,
    origin: Origin | None,
    evaluation: Mapping[str, Any] | None = None,
) -> str:
    """The card in Markdown. `game` is composed; `evaluation` as from `evaluate`, if there is one."""
    environment = jinja2.Environment(  # noqa: S701  Markdown
        loader=jinja2.FileSystemLoader(_TEMPLATES), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.get_template("model_card.md.j2").render(
        vars(decision),
        accepted=decision.accepted,
        policy=read_description(policy),
        size=sum((policy / name).stat().st_size for name in POLICY_FILES),
        game=game,
        origin=origin,
        evaluation=evaluation,
    )
