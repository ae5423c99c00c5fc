"""Champions as folders and their model cards: champions/GAME/ small enough for git."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from cardlab.agents.policy_descriptions import GAME_FILE, POLICY_FILES, read_description
from cardlab.core.files import load_json, write_atomically, write_json
from cardlab.core.messages import InvalidOption
from cardlab.experiments.promotion.gate import PromotionDecision
from cardlab.games.make_game import game_data, without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking.policy_lookup import Origin

EXPLOITABILITY = "exploitability.json"
FORMAT = 1
_HEADING = "## How exploitable it is"
Exploitability = Mapping[str, Any]
"""`policy_digest` of the champion and `responses`: what the best response of each learner won, and by which command."""


def add_response(champion: Path, digest: str, response: Mapping[str, Any]) -> None:
    """Add what a response won to the file and to the card in the folder `champion`, whose policy has this `digest`.

    It replaces the response of the same `learner`; figures of another policy are removed.
    """
    path, card = champion / EXPLOITABILITY, champion / "README.md"
    found: dict[str, Any] = {"format": FORMAT, "policy_digest": digest, "responses": []}
    if path.exists() and (content := load_json(path))["policy_digest"] == digest:
        found = content
    by_learner = {each["learner"]: each for each in found["responses"]} | {response["learner"]: response}
    found["responses"] = [*by_learner.values()]
    write_json(path, found, indent=2)
    if card.exists():
        write_atomically(card, with_section(card.read_text(encoding="utf-8"), found))


def with_section(card: str, found: Exploitability) -> str:
    """The text of a card with the section on `found`: in the place of the one that it has, else before the last."""
    if f"\n{_HEADING}\n" in card:
        return re.sub(rf"\n{_HEADING}\n.*?(?=\n## )", lambda _: f"\n{section(found)}", card, flags=re.DOTALL)
    before, mark, last = card.rpartition("\n## ")
    return f"{before}\n{section(found)}{mark}{last}"


def section(found: Exploitability) -> str:
    """The section in Markdown."""
    rows = [
        f"| {each['learner']} | {', '.join(map(str, each['seeds']))} | {each['decisions']:,} | {each['deals']:,} "
        f"| {each['mean']:+.3f} | {each['low']:+.3f} to {each['high']:+.3f} |"
        for each in found["responses"]
    ]
    wins = any(each["low"] > 0 for each in found["responses"])
    verdict = (
        "An interval above 0 is a lower bound on what can be won."
        if wins
        else "None of them wins, so these budgets give no lower bound above 0. A longer training may find one."
    )
    lines = [
        _HEADING,
        "",
        "Learners trained against the frozen champion. The best seed was chosen on other deals, and then",
        "played unseen deals.",
        "",
        "| learner | seeds | decisions | deals | points per game | 95 % interval |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        verdict,
        *found.get("notes", ()),
        "",
        "```bash",
        *(each["command"] for each in found["responses"]),
        "```",
    ]
    return "\n".join(lines) + "\n"


CARD, DECISION, EVALUATION, LINEAGE = "README.md", "decision.json", "evaluation.json", "lineage.json"
TRAINING = "training"  # folder with the state of a training, kept when the champion changes
_MEGABYTE = 1_000_000
_TEMPLATES = Path(__file__).parent / "templates"


def check_size(policy: Path, most: float) -> None:
    """Raise InvalidOption for a policy of more than `most` MB, before anything is played."""
    size = sum((policy / name).stat().st_size for name in POLICY_FILES) / _MEGABYTE
    if size > most:
        raise InvalidOption("policy", policy, f"small enough for git: {most:g} MB (max_megabytes), it has {size:.1f}")


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
