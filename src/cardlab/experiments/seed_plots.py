"""Pictures of the learning curves of several seeds: the mean with its band, and a faint line for each seed."""

from collections.abc import Generator, Mapping

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardlab.evaluation.seed_curves import Band
from cardlab.experiments.seed_curves import Curve

NOT_IN_DIGEST = "draws pictures that only MLflow keeps"

_SIZE = (6.4, 3.6)  # inches
_COLOUR = "#0072B2"


def plot_seed_curves(curves: Mapping[int, Curve], bands: Mapping[str, Band]) -> Generator[tuple[str, Figure]]:
    """Name and figure of each score, over decisions. `curves`: seed → learning curve."""
    for name, band in bands.items():
        if name.startswith("score/"):
            with matplotlib.rc_context({"svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False}):
                yield name.replace("/", "_"), _plot(name, curves, band)


def _plot(name: str, curves: Mapping[int, Curve], band: Band) -> Figure:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    for curve in curves.values():
        axes.plot(curve["decisions"], curve[name], color=_COLOUR, alpha=0.3, linewidth=0.8)
    if band.seeds > 1:
        axes.fill_between(band.at, band.low, band.high, color=_COLOUR, alpha=0.15, linewidth=0)
    axes.plot(band.at, band.mean, color=_COLOUR, linewidth=2)
    seeds = ", ".join(map(str, curves))
    axes.set_title(f"mean over seeds {seeds} with 95 % band; faint: each seed", fontsize=9)
    axes.set_xlabel("decisions")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylabel(f"points per game ({name})")
    return figure
