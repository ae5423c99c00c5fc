"""Figures 1 to 4 of the Five-O paper, and Tables II and III as a Markdown page, from the results of `experiments`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from cardlab.experiments.report.drawing import COLOURS, GREY, inline_svg, new_figure, report_style

CAPTIONS = {
    "figure_1": "Figure 1: the simulated chance of winning by each column for the card, by simulations; dotted: exact",
    "figure_2": "Figure 2: games won by depth of the search, with 95 % intervals",
    "figure_3": "Figure 3: mean strength of the columns, best to worst",
    "figure_4": "Figure 4: games won for each game lost",
}


def write_page(results: Mapping[str, Any], folder: Path) -> None:
    """Write figure_1.svg to figure_4.svg and tables.md into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    drawings = {"figure_1": _draw_1, "figure_2": _draw_2, "figure_3": _draw_3, "figure_4": _draw_4}
    with report_style():
        for name, draw in drawings.items():
            text = inline_svg(draw(results[name]), CAPTIONS[name])
            (folder / f"{name}.svg").write_text(text + "\n", encoding="utf-8")
    (folder / "tables.md").write_text(page_text(results), encoding="utf-8")


def page_text(results: Mapping[str, Any]) -> str:
    """The tables in Markdown, with links to the figures."""
    parts = ["# Five-O: the tables and figures of the paper", ""]
    titles = {
        "put": "(a) the chance that a column wins with the card in it",
        "wait": "(b) the chance that a column wins if the card goes elsewhere",
        "win": "(c) the chance to win the game by each column for the card, equation (3)",
    }
    for key, title in titles.items():
        columns = results["table_2"][key]
        parts += [f"Table II {title}, by number of simulations:", "", *_chances(columns), ""]
    parts += ["Table III: games won, lost and drawn by the row against the column:", ""]
    parts += [*_crosstable(results["table_3"]), ""]
    if results["table_3_slow"]:
        parts += ["Slow agents: games won, lost and drawn by the row against the column:", ""]
        parts += [*_crosstable(results["table_3_slow"]), ""]
    for name, caption in CAPTIONS.items():
        parts += [f"![{caption}]({name}.svg)", ""]
    return "\n".join(parts)


def _chances(columns: Mapping[str, list[float]]) -> list[str]:
    rows = zip(*columns.values(), strict=True)
    body = ["| " + " | ".join(f"{chance:.5f}" for chance in row) + " |" for row in rows]
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), *body]


def _crosstable(table: Mapping[str, Mapping[str, list[int]]]) -> list[str]:
    columns = list(dict.fromkeys(other for row in table.values() for other in row))
    if set(columns) == set(table):
        columns = list(table)
    lines = ["| | " + " | ".join(columns) + " | all |", "|" + "---|" * (len(columns) + 2)]
    for name, row in table.items():
        cells = ["–" if other == name else "-".join(map(str, row[other])) for other in columns]
        total = [sum(numbers) for numbers in zip(*row.values(), strict=True)]
        lines.append(f"| {name} | " + " | ".join(cells) + " | " + "-".join(map(str, total)) + " |")
    return lines


def _draw_1(results: Mapping[str, Any]) -> Figure:
    figure, axes = new_figure(3.2)
    win = results["win"]
    numbers = [name for name in win if name != "exact"]
    for column, exact in enumerate(win["exact"]):
        if exact >= 0:  # else the column cannot take the card
            colour = COLOURS[column]
            axes.axhline(exact, color=colour, linewidth=1, linestyle=":")
            chances = [win[name][column] for name in numbers]
            axes.plot([int(name) for name in numbers], chances, color=colour, marker="o", label=f"column {column + 1}")
    axes.set_xscale("log")
    axes.set_xlabel("simulations")
    axes.set_ylabel("chance of winning")
    axes.legend()
    return figure


def _draw_2(results: list[Mapping[str, float]]) -> Figure:
    figure, axes = new_figure(3.0)
    depths = [point["depth"] for point in results]
    shares = [point["share"] for point in results]
    axes.errorbar(depths, shares, [point["half_width"] for point in results], color=COLOURS[0], marker="o", capsize=3)
    axes.axhline(50, color=GREY, linewidth=1, linestyle=":")
    axes.set_xlabel("cards looked ahead")
    axes.set_ylabel("games won, %")
    return figure


def _draw_3(results: Mapping[str, list[float]]) -> Figure:
    figure, axes = new_figure(4.2)
    for index, (name, strengths) in enumerate(results.items()):
        colour, dashed = COLOURS[index % len(COLOURS)], "--" if index >= len(COLOURS) else "-"
        axes.plot(range(1, len(strengths) + 1), strengths, color=colour, linestyle=dashed, marker="o", label=name)
    axes.set_xticks(range(1, 6))
    axes.set_xlabel("column, best to worst")
    axes.set_ylabel("strength, 1 to 7462")
    axes.legend(fontsize="small")
    return figure


def _draw_4(results: Mapping[str, Mapping[str, int]]) -> Figure:
    figure, axes = new_figure(1.0 + 0.36 * len(results))
    ratios = [row["won"] / max(row["lost"], 1) for row in results.values()]
    axes.barh(list(results), ratios, color=COLOURS[0])
    axes.axvline(1, color=GREY, linewidth=1, linestyle=":")
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("games won / games lost")
    return figure
