"""Pictures of the learning curves of several seeds: the mean with its band, and a faint line for each seed."""

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING

from cardlab.evaluation.seed_statistics import Band
from cardlab.experiments.learning_curves import Columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_IN_DIGEST = "draws pictures that only MLflow keeps"


def plot_seed_curves(curves: Mapping[int, Columns], bands: Mapping[str, Band]) -> "Generator[tuple[str, Figure]]":
    """Name and figure of each score, over decisions. `curves`: seed → learning curve."""
    from matplotlib.ticker import EngFormatter  # noqa: PLC0415  of several seeds only

    from cardlab.experiments.report.drawing import COLOURS, HEIGHT, draw_mean, new_figure, report_style  # noqa: PLC0415

    for name, band in bands.items():
        if not name.startswith("win_rate/"):
            with report_style():
                figure, axes = new_figure(HEIGHT)
                draw_mean(axes, band, [(curve["decisions"], curve[name]) for curve in curves.values()], COLOURS[0], "_")
                axes.set_title(
                    f"mean over seeds {', '.join(map(str, curves))} with 95 % band; faint: each seed", fontsize=9
                )
                axes.set_xlabel("decisions")
                axes.xaxis.set_major_formatter(EngFormatter(sep=""))
                axes.set_ylabel(f"points per game ({name})")
                yield name.replace("/", "_"), figure
