"""Prints the prices of fouls and royalties and draws placements.svg, both from placements.csv.

Usage: draw.py.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import CenteredNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from cardlab.experiments.report.drawing import COLOURS, GREY, inline_svg, new_grid, report_style

HERE = Path(__file__).parent
FOUL_SHOWN, ROYALTIES_SHOWN, POINTS_SHOWN = 0.5, 5.0, 4.0  # where the axes end
PARTS = 12  # of equally many positions, by what the risk is worth


def draw_placements() -> Figure:
    """Value of bolder placements by risk and promised royalties, and how often the champion chooses them."""
    risks = read_columns()
    bolder = (risks["foul_more"] > 0) & (risks["royalties_more"] > 0)
    risks = {column: figures[bolder] for column, figures in risks.items()}
    print_prices("all", risks)
    for fewest in (1, 3, 5, 7):
        rows = np.isin(risks["cards_left"], (fewest, fewest + 1))
        print_prices(f"{fewest} or {fewest + 1} left", {column: figures[rows] for column, figures in risks.items()})
    foul, royalties, points, taken = (risks[key] for key in ("foul_more", "royalties_more", "points_more", "taken"))
    (a_foul, a_royalty), _ = prices(risks)
    figure, (by_risk, by_worth) = new_grid([3.4, 2.4])
    picture = by_risk.scatter(
        100 * foul, royalties, c=points, s=9, cmap="RdBu", norm=CenteredNorm(0, POINTS_SHOWN), linewidths=0
    )
    even = np.array([0.0, foul.max()])
    by_risk.plot(100 * even, -a_foul / a_royalty * even, color="black", linewidth=1.2, label="worth as much")
    by_risk.set_ylim(0, ROYALTIES_SHOWN)
    by_risk.set_xlim(0, 100 * FOUL_SHOWN)
    by_risk.set_xlabel("more risk of a foul, percentage points")
    by_risk.set_ylabel("more royalties promised")
    by_risk.legend(loc="upper right")
    figure.colorbar(picture, ax=by_risk, label="more points")
    worth = a_foul * foul + a_royalty * royalties
    edges = np.quantile(worth, np.linspace(0, 1, PARTS + 1))
    part = np.clip(np.searchsorted(edges, worth, side="right") - 1, 0, PARTS - 1)
    counts = np.bincount(part, minlength=PARTS)
    share = np.bincount(part, weights=taken == 1, minlength=PARTS) / counts
    error = 1.96 * np.sqrt(share * (1 - share) / counts)
    middle = np.bincount(part, weights=worth, minlength=PARTS) / counts
    by_worth.errorbar(middle, 100 * share, yerr=100 * error, color=COLOURS[0], marker="o", linewidth=1.4)
    by_worth.axvline(0, color=GREY, linewidth=1, linestyle=":")
    by_worth.set_ylim(0, 100)
    by_worth.set_xlabel("points that the bolder placement is worth")
    by_worth.set_ylabel("taken, %")
    return figure


def prices(risks: dict[str, NDArray[np.float64]]) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """Points per additional foul and per promised royalty by least squares; half-widths of their 95 % intervals."""
    given = np.stack([risks["foul_more"], risks["royalties_more"]], axis=1)
    found, *_ = np.linalg.lstsq(given, risks["points_more"], rcond=None)
    left = risks["points_more"] - given @ found
    return found, 1.96 * np.sqrt(left.var() * np.diag(np.linalg.inv(given.T @ given)))


def print_prices(name: str, risks: dict[str, NDArray[np.float64]]) -> None:
    """Print one line of the README's table."""
    (foul, royalty), (foul_error, royalty_error) = prices(risks)
    print(
        f"{name}: {risks['taken'].size} positions, a foul {foul:.2f} ± {foul_error:.2f}, "
        f"a royalty {royalty:.2f} ± {royalty_error:.2f}, "
        f"worth {risks['points_more'].mean():+.2f}, taken {(risks['taken'] == 1).mean():.0%}"
    )


def read_columns() -> dict[str, NDArray[np.float64]]:
    """Column → its values in placements.csv."""
    with (HERE / "placements.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}


if __name__ == "__main__":
    with report_style():
        (HERE / "placements.svg").write_text(inline_svg(draw_placements(), "open_face") + "\n")
