"""Evaluation against fixed references on unseen deals, of one agent or of the policies of a method's seeds."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text  # a name may look like markup

from cardlab.agents.policy_descriptions import policy_digest as digest_of_policy
from cardlab.core.files import write_json
from cardlab.evaluation.intervals import SELF, SHARE, Evaluation, estimate
from cardlab.evaluation.match import Match, paired
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.scores import ScoreTable, from_part, play_scores
from cardlab.evaluation.seating import Entry
from cardlab.evaluation.seed_statistics import mean_over_seeds
from cardlab.games.protocol import Game

FORMAT = 1


def evaluate(
    game: Game,
    agent: Entry,
    options: ArenaOptions,
    *,
    policy_digest: str,
    experiment: str,
    progress: ProgressCallback = no_progress,
    played: Path | None = None,
) -> Evaluation:
    """Measure `agent` against each of `options.references` (`random` when there are none).

    Two or more players: the agent plays P − 1 copies of the reference; the figures are the agent's. One player: the key
    "self" holds the agent's mean; each reference has its own mean and `difference`, the agent's mean minus the
    reference's, paired by deal. `deals` of a reference is the number played. Ctrl-C raises Interrupted with the
    evaluation of the deals so far, which are kept in `played`.
    """

    def figures(table: ScoreTable[int]) -> Evaluation:
        references = {name: match_figures(match, table.row(0).get(SELF)) for name, match in table.row(0).items()}
        return _evaluation(game, options, experiment, policy_digest) | {"references": references}

    references = options.references or DEFAULT_REFERENCES
    return from_part(
        lambda: play_scores(game, {0: agent}, references, options, progress=progress, played=played), figures
    )


def evaluate_seeds(
    game: Game,
    policies: Mapping[int, Path],
    options: ArenaOptions,
    *,
    experiment: str,
    progress: ProgressCallback = no_progress,
    played: Path | None = None,
) -> Evaluation:
    """Measure the policy of each seed as `evaluate` does; the figures of `references` are means over seeds.

    Their intervals hold for seeds and deals (`seed_statistics`); those of one seed are over deals. `by_seed`: seed →
    `policy_digest` and `references` as `evaluate` gives them. `policy_digest` is that of the first seed.
    """
    digests = {seed: digest_of_policy(folder) for seed, folder in policies.items()}

    def figures(table: ScoreTable[int]) -> Evaluation:
        own = table.column(SELF) if SELF in table.references else []
        rows = {
            seed: {name: match_figures(match, table.row(seed).get(SELF)) for name, match in table.row(seed).items()}
            for seed in policies
        }
        return _evaluation(game, options, experiment, next(iter(digests.values()))) | {
            "seeds": list(policies),
            "references": {name: _mean_figures(table.column(name), own) for name in table.references},
            "by_seed": {
                str(seed): {"policy_digest": digest, "references": rows[seed]} for seed, digest in digests.items()
            },
        }

    agents = {seed: str(folder) for seed, folder in policies.items()}
    references = options.references or DEFAULT_REFERENCES
    return from_part(lambda: play_scores(game, agents, references, options, progress=progress, played=played), figures)


def _evaluation(game: Game, options: ArenaOptions, experiment: str, digest: str) -> Evaluation:
    return {
        "format": FORMAT,
        "experiment": experiment,
        "game": game.spec.name,
        "num_players": game.spec.num_players,
        "policy_digest": digest,
        "deals": options.deals,
        "seed": options.seed,
    }


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


def match_figures(match: Match, own: Match | None) -> dict[str, float]:
    """One entry of `references`; `own`: the match of SELF in a game of one player."""
    figures = match.points.named("mean")
    if match.wins is not None:
        figures |= match.wins.named("win_rate", "win_rate_")
    if own is not None and own is not match:
        differences = paired(own.per_deal(), match.per_deal())
        figures |= estimate(differences, match.lineup.difference_range).named("difference", "difference_")
    return {**figures, "deals": match.num_deals}


def _mean_figures(matches: Sequence[Match], own: Sequence[Match]) -> dict[str, float]:
    """One entry of `references`; `own` are the matches of SELF, empty for several players."""
    if len(matches) == 1:
        return match_figures(matches[0], own[0] if own else None)
    fewest, lineup = min(match.num_deals for match in matches), matches[0].lineup
    if own and matches[0] is not own[0]:
        figures = match_figures(matches[0], None)  # of a reference, which has no seeds
        differences = [paired(mine.per_deal(), match.per_deal()) for mine, match in zip(own, matches, strict=True)]
        mean = mean_over_seeds(differences, lineup.difference_range)
        return figures | mean.named("difference", "difference_") | {"deals": fewest}
    figures = mean_over_seeds([match.per_deal() for match in matches], lineup.payoff_range).named("mean")
    if matches[0].wins is not None:
        rates = mean_over_seeds([match.tally.shares[:, match.lineup.groups[0]] for match in matches], SHARE)
        figures |= rates.named("win_rate", "win_rate_")
    return figures | {"deals": fewest}


def _cells(figures: Mapping[str, float], name: str, scale: int) -> tuple[str, str]:
    """A figure and its interval as text, in per cent for `scale` 100; empty where it is missing."""
    if name not in figures:
        return "", ""
    stem = "" if name == "mean" else f"{name}_"
    mean, low, high = (scale * figures[key] for key in (name, f"{stem}low", f"{stem}high"))
    if scale == 100:
        return f"{mean:.1f} %", f"{low:.1f} to {high:.1f}"
    return f"{mean:.3f}", f"{low:.3f} to {high:.3f}"
