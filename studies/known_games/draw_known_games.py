"""Draws GAME.svg of each results/GAME.json and writes the tables of tables.md: means over seeds with 95 % intervals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, ScalarFormatter
from omegaconf import OmegaConf

from cardlab.core.files import load_json
from cardlab.evaluation.seed_statistics import Band, Curve, band_over_seeds, score_at
from cardlab.experiments.report.drawing import COLOURS, MARKERS, inline_svg, report_style

STUDY = Path(__file__).parent
TITLES = {
    "leduc_poker": "Leduc poker",
    "kuhn_poker": "Kuhn poker",
    "liars_dice": "liar's dice",
    "tic_tac_toe": "tic-tac-toe",
    "connect_four": "connect four",
}
NAMES = {
    "recipe": "cardlab: `open_spiel/ppo`",
    "ppo": "cardlab: PPO",
    "dqn": "cardlab: DQN",
    "td": "cardlab: TD",
    "open_spiel_ppo": "OpenSpiel: PPO",
    "open_spiel_nfsp": "OpenSpiel: NFSP",
    "open_spiel_rpg": "OpenSpiel: RPG",
}
Row = dict[str, float]
Results = dict[str, dict[str, dict[str, list[Row]]]]
"""Game → learner → seed → points."""
AFTER = {10: 30_000, 30: 80_000}  # CPU seconds of a training: decisions that all have made
BOUNDS = {"exploitability": (0.0, np.inf), "mcts": (-1.0, 1.0), "random": (-1.0, 1.0)}
GAMES: Any = OmegaConf.load(STUDY / "params.yaml").games


def read_results() -> Results:
    """Of all games that have a file, in the order of the pages.

    `cpu_seconds` are the decisions at the rate of speeds.json: those in the files hold the load of the machine, too.
    """
    speeds: dict[str, dict[str, float]] = load_json(STUDY / "speeds.json")
    results: Results = {}
    for name in TITLES:
        path = STUDY / "results" / f"{name}.json"
        results[name] = load_json(path) if path.exists() else {}
        for learner, seeds in results[name].items():
            for row in (row for rows in seeds.values() for row in rows):
                row["cpu_seconds"] = row["decisions"] / speeds[name][learner]
    return {name: rows for name, rows in results.items() if rows}


def metric_of(rows: dict[str, dict[str, list[Row]]]) -> str:
    """`exploitability`, or `mcts`: points against the tree search."""
    first = next(iter(next(iter(rows.values())).values()))[0]
    return "exploitability" if "exploitability" in first else "mcts"


def curves(seeds: dict[str, list[Row]], place: str, metric: str) -> list[Curve]:
    """One curve for each seed, over `place`: decisions or cpu_seconds."""
    return [(column(rows, place), column(rows, metric)) for rows in seeds.values()]


def column(rows: list[Row], key: str) -> np.ndarray:
    """The values of `key` at all points."""
    return np.array([row[key] for row in rows], dtype=np.float64)


def shown(band: Band, metric: str, place: int = 0) -> str:
    """Mean at one place, and its interval within the bounds of the metric."""
    mean, low, high = (float(values[place]) for values in (band.mean, band.low, band.high))
    digits = 3 if abs(mean) < 0.1 and high - low < 0.1 else 2
    if band.seeds < 2:
        return f"{mean:.{digits}f}"
    low, high = np.clip((low, high), *BOUNDS[metric]).tolist()
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def by_point(seeds: dict[str, list[Row]], metric: str) -> Band:
    """The band at the points themselves, each at the mean of the seeds' decisions."""
    found = [column(rows, metric) for rows in seeds.values()]
    places = np.arange(len(found[0]), dtype=np.float64)
    return band_over_seeds([(places, values) for values in found])


def short_table(results: Results) -> Iterator[str]:
    """The last points of all games."""
    counts = [len(next(iter(rows.values()))) for rows in results.values()]
    titles = [
        f"{TITLES[name]}, {seeds} seed{'s' if seeds > 1 else ''}" for name, seeds in zip(results, counts, strict=True)
    ]
    yield f"| learner | {' | '.join(titles)} |"
    yield "|---" * (1 + len(results)) + "|"
    for learner, title in NAMES.items():
        cells = [shown(by_point(rows[learner], metric_of(rows)), metric_of(rows), -1) for rows in results.values()]
        yield f"| {title} | {' | '.join(cells)} |"


def game_table(rows: dict[str, dict[str, list[Row]]], seconds: int) -> Iterator[str]:
    """One game: after equal decisions, and after a tenth, a third and all of the CPU seconds."""
    after = (seconds // 10, round(seconds / 3), seconds)
    metric = metric_of(rows)
    random = metric == "mcts"
    yield (
        f"| learner | seeds | decisions, thousands | decisions per CPU s | at {AFTER[seconds]:,} decisions | "
        + " | ".join(f"at {place} CPU s" for place in after)
        + (" | against random, at the end |" if random else " |")
    )
    yield "|---" * (9 if random else 8) + "|"
    for learner, title in NAMES.items():
        seeds = rows[learner]
        last = [points[-1] for points in seeds.values()]
        made = f"{np.mean([row['decisions'] for row in last]) / 1000:,.0f}"
        rate = f"{last[0]['decisions'] / last[0]['cpu_seconds']:,.0f}"
        cells = [shown(score_at(curves(seeds, "decisions", metric), AFTER[seconds]), metric)]
        cells += [shown(score_at(curves(seeds, "cpu_seconds", metric), place), metric) for place in after]
        cells += [shown(by_point(seeds, "random"), "random", -1)] if random else []
        yield f"| {title} | {len(seeds)} | {made} | {rate} | {' | '.join(cells)} |"


def page_text(results: Results) -> str:
    """All of tables.md."""
    parts = ["# Known games: all figures", ""]
    for name, rows in results.items():
        exact = metric_of(rows) == "exploitability"
        what = "exploitability, points per game" if exact else "points per game against MCTS with 100 simulations"
        parts += [f"## {TITLES[name].capitalize()}: {what}", "", *game_table(rows, GAMES[name].seconds), ""]
        parts += [f"![{TITLES[name]}: {what}]({name}.svg)", ""]
    return "\n".join(parts)


def draw(rows: dict[str, dict[str, list[Row]]]) -> Figure:
    """The metric over decisions and over CPU seconds."""
    figure, metric = Figure(figsize=(7.4, 3.6), layout="constrained"), metric_of(rows)
    over_decisions, over_seconds = figure.subplots(1, 2, sharey=True)
    for index, (learner, title) in enumerate(NAMES.items()):
        band = by_point(rows[learner], metric)
        for axes, key in ((over_decisions, "decisions"), (over_seconds, "cpu_seconds")):
            places = np.mean([column(points, key) for points in rows[learner].values()], axis=0)
            low, high = np.clip((band.low, band.high), *BOUNDS[metric]) if band.seeds > 1 else (band.mean, band.mean)
            style = "-" if title.startswith("cardlab") else "--"
            axes.fill_between(places, low, high, color=COLOURS[index], alpha=0.1, linewidth=0)
            axes.plot(
                places,
                band.mean,
                color=COLOURS[index],
                marker=MARKERS[index],
                linestyle=style,
                label=title.replace("`", ""),
            )
    for axes in (over_decisions, over_seconds):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    over_decisions.set_xlabel("decisions")
    over_seconds.set_xlabel("CPU seconds")
    if metric == "exploitability":
        means = np.concatenate([line.get_ydata() for line in over_decisions.get_lines()])
        over_decisions.set_yscale("log")
        over_decisions.set_ylim(0.7 * means.min(), 1.4 * means.max())
        over_decisions.yaxis.set_major_formatter(ScalarFormatter())
        over_decisions.yaxis.set_minor_formatter(ScalarFormatter())
        over_decisions.set_ylabel("exploitability")
    else:
        over_decisions.set_ylim(-1, 1)
        over_decisions.set_ylabel("points against MCTS")
    handles, labels = over_decisions.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4)
    return figure


def main() -> None:
    """Write the pictures and tables.md; print the table of README.md."""
    results = read_results()
    with report_style():
        for name, rows in results.items():
            svg = inline_svg(draw(rows), f"{TITLES[name]}: {metric_of(rows)} over decisions and over CPU seconds")
            (STUDY / f"{name}.svg").write_text(
                svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + "\n", encoding="utf-8"
            )
    (STUDY / "tables.md").write_text(page_text(results), encoding="utf-8")
    print(*short_table(results), sep="\n")


if __name__ == "__main__":
    main()
