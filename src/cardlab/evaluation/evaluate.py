"""Evaluation of one agent against fixed references on unseen deals."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rich.table import Table
from rich.text import Text  # a name may look like markup

from cardlab.core.files import write_json
from cardlab.evaluation.intervals import estimate
from cardlab.evaluation.main_score import SELF, Evaluation
from cardlab.evaluation.match import InterruptedLineups, Match, paired, play_lineup
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.seating import Entry, make_lineup
from cardlab.evaluation.workers import Workers
from cardlab.games.protocol import Game

FORMAT = 1


class InterruptedEvaluation(KeyboardInterrupt):
    """Ctrl-C, with the evaluation of the games played so far."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__()
        self.evaluation = evaluation


def evaluate(
    game: Game,
    agent: Entry,
    options: ArenaOptions,
    *,
    policy_digest: str,
    experiment: str,
    progress: ProgressCallback = no_progress,
) -> Evaluation:
    """Measure `agent` against each of `options.references` (`random` when there are none).

    Two or more players: the agent plays P − 1 copies of the reference; the figures are the agent's. One player: the key
    "self" holds the agent's mean; each reference has its own mean and `difference`, the agent's mean minus the
    reference's, paired by deal. `progress` is called with (reference, deals played, deals at most). Ctrl-C raises
    InterruptedEvaluation; `deals` of each reference is the number played.
    """
    references = tuple(dict.fromkeys(options.references)) or DEFAULT_REFERENCES
    others = game.spec.num_players - 1
    if others:
        names, lineups = references, [make_lineup(game, [agent, *[name] * others]) for name in references]
    else:
        names, lineups = (SELF, *references), [make_lineup(game, [entry]) for entry in (agent, *references)]
    matches: dict[str, Match] = {}
    stopped = False
    try:
        with Workers(game, lineups, options) as workers:
            for place, name in enumerate(names):
                matches[name] = play_lineup(workers, place, options, partial(progress, name))
    except KeyboardInterrupt as stop:
        if isinstance(stop, InterruptedLineups):
            place = len(matches)
            matches[names[place]] = Match(lineups[place], options.seed, stop.tallies[0])
        if not matches:
            raise
        stopped = True
    evaluation = {
        "format": FORMAT,
        "experiment": experiment,
        "game": game.spec.name,
        "num_players": game.spec.num_players,
        "policy_digest": policy_digest,
        "deals": options.deals,
        "seed": options.seed,
        "references": {name: match_figures(match, matches.get(SELF)) for name, match in matches.items()},
    }
    if stopped:
        raise InterruptedEvaluation(evaluation)
    return evaluation


def write_evaluation(evaluation: Evaluation, path: Path) -> None:
    """Write `evaluation` as JSON, atomically; equal figures give equal bytes."""
    write_json(path, evaluation, indent=2)


def evaluation_table(evaluation: Evaluation) -> Table:
    """The evaluation as a table for `rich.console.Console.print`."""
    seeds = evaluation.get("seeds", ())
    means = f"means over seeds {', '.join(map(str, seeds))}, " if len(seeds) > 1 else ""
    title = f"{evaluation['experiment']}: {evaluation['game']}, {means}arena.seed={evaluation['seed']}"
    table = Table(title=Text(title), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    alone = SELF in evaluation["references"]
    table.add_column("agent" if alone else "against", overflow="fold")
    for heading in ("points", "95 %", "difference" if alone else "wins", "95 %", "deals"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, figures in evaluation["references"].items():
        other = _cells(figures, "difference", 1) if alone else _cells(figures, "win_rate", 100)
        cells = [*_cells(figures, "mean", 1), *other]
        table.add_row(Text(name), *cells, f"{figures['deals']:,}")
    return table


def match_figures(match: Match, own: Match | None) -> dict[str, float | int]:
    """One entry of `references`; `own`: the match of SELF in a game of one player."""
    figures = match.points.named("mean")
    if match.wins is not None:
        figures |= match.wins.named("win_rate", "win_rate_")
    if own is not None and own is not match:
        figures |= estimate(paired(own.per_deal(), match.per_deal())).named("difference", "difference_")
    return {**figures, "deals": match.num_deals}


def _cells(figures: Mapping[str, float], name: str, scale: int) -> tuple[str, str]:
    """A figure and its interval as text, in per cent for `scale` 100; empty where it is missing."""
    if name not in figures:
        return "", ""
    stem = "" if name == "mean" else f"{name}_"
    mean, low, high = (scale * figures[key] for key in (name, f"{stem}low", f"{stem}high"))
    if scale == 100:
        return f"{mean:.1f} %", f"{low:.1f} to {high:.1f}"
    return f"{mean:.3f}", f"{low:.3f} to {high:.3f}"
