"""The parts of a game's page that are facts of the code: the columns of its vectors, and the benchmark's results."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import cardlab
from cardlab.core.messages import InvalidOption
from cardlab.games.protocol import Block, Game

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
SELF = "self"  # the agent's own figures, in a game of one player


def generated_sections(game: str) -> str:
    """Markdown for the end of the page of `game`."""
    return f"\n\n## Columns\n\n{columns(game)}\n\n## Results of the benchmark\n\n{results(game)}\n"


def feature_choices(game: str) -> Sequence[str | None]:
    """What the option `features` takes, as the game says it itself; [None] without such an option."""
    try:
        cardlab.make_game(game, features="")
    except InvalidOption as error:
        choices = error.allowed.removeprefix("one of ")
        return [None] if choices == error.allowed else choices.split(", ")
    raise AssertionError(f"{game}: takes features= without a name")


def columns(game: str) -> str:
    """A table for each vector of `game`, made from `GameSpec` when the pages are built."""
    parts = ["Made from `GameSpec` when this page was built: the columns of each block, and its shape."]
    made: Game | None = None
    for features in feature_choices(game):
        made = cardlab.make_game(game, **({} if features is None else {"features": features}))
        title = "`observe`" if features is None else f"`observe`, `features: {features}`"
        parts.append(_block_table(f"{title}: {made.spec.num_features:,} numbers", made.spec.blocks))
    assert made is not None
    spec = made.spec
    if spec.action_blocks:
        parts.append(_block_table(f"`action_features`: {spec.num_action_features:,} numbers", spec.action_blocks))
    if spec.privileged_blocks:
        parts.append(_block_table(f"`privileged`: {spec.num_privileged:,} numbers", spec.privileged_blocks))
    return "\n\n".join(parts)


def results(game: str, folder: Path = RESULTS) -> str:
    """The figures of results/*/evaluation.json of `game`, as they are in this working tree."""
    rows = list(_result_rows(game, folder))
    if not rows:
        return "There are none in `results/` yet."
    head = "| experiment | against | points a game | 95 % | games won | deals |\n|---|---|---|---|---|---|\n"
    source = "Read from `results/*/evaluation.json` when this page was built."
    return f"{source} Their commands: [what to expect](../index.md#what-to-expect).\n\n{head}{''.join(rows)}"


def _result_rows(game: str, folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*/evaluation.json")):
        evaluation = json.loads(path.read_text(encoding="utf-8"))
        if evaluation["game"] != game:
            continue
        for reference, figures in evaluation["references"].items():
            yield _result_row(evaluation["experiment"], reference, figures)


def _result_row(experiment: str, reference: str, figures: Mapping[str, Any]) -> str:
    against = "its own score" if reference == SELF else f"`{reference}`"
    if "difference" in figures:  # a game of one player: the reference's own score stands here
        against = f"score of `{reference}`"
    won = f"{100 * figures['win_rate']:.1f} %" if "win_rate" in figures else ""
    low, high = figures["low"], figures["high"]
    return (
        f"| `{experiment}` | {against} | {figures['mean']:.3f} | {low:.3f} to {high:.3f} | {won} "
        f"| {figures['deals']:,} |\n"
    )


def _block_table(title: str, blocks: Sequence[Block]) -> str:
    rows = [
        f"| `{block.name}` | {block.start} to {block.stop - 1} | {' × '.join(map(str, block.shape))} |"
        for block in blocks
    ]
    return "\n".join([f"**{title}**", "", "| block | columns | shape |", "|---|---|---|", *rows])
