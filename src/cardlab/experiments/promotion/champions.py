"""Champions as folders and their model cards: champions/GAME/."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from cardlab.agents.policy_descriptions import GAME_FILE, POLICY_FILES, read_description
from cardlab.core.files import load_json
from cardlab.experiments.promotion.gate import PromotionDecision
from cardlab.games.make_game import game_data, without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking.champion_runs import DECISION
from cardlab.tracking.policy_lookup import Origin

TRAINING = "training"  # folder with the state of a training, kept when the champion changes
_TEMPLATES = Path(__file__).parent / "templates"


def composed_game(game: Game) -> dict[str, Any]:
    """The name of the game and every option."""
    return game_data(without_training_options(game))


def champion_name(folder: Path) -> str:
    """The name under which the champion in `folder` was promoted; `champion` if unknown."""
    try:
        return str(load_json(folder / DECISION)["challenger"]["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return "champion"


def write_champion(champions: Path, game: Game, policy: Path, files: Mapping[str, object]) -> Path:
    """Replace the champion of `game` by the policy with `files` (name → text, or data for JSON).

    A kill leaves the old champion or the new one, or the old one under another name, which the next call restores.
    """
    target = champions / game.spec.name
    draft, old = (champions / f".{game.spec.name}.{part}" for part in ("new", "old"))
    if old.exists() and not target.exists():
        old.rename(target)
    for folder in (draft, old):
        shutil.rmtree(folder, ignore_errors=True)
    draft.mkdir(parents=True)
    for name in POLICY_FILES:
        shutil.copyfile(policy / name, draft / name)
    for name, content in {GAME_FILE: composed_game(game), **files}.items():
        (draft / name).write_text(as_text(content), encoding="utf-8")
    if (target / TRAINING).is_dir():
        shutil.copytree(target / TRAINING, draft / TRAINING)
    if target.exists():
        target.rename(old)
    draft.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    return target


def as_text(content: object) -> str:
    """Text unchanged, other data as JSON."""
    return content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"


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
