"""Draw docs/images/parts.svg, the diagram of the README: `python tools/parts_diagram.py`."""

import argparse
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "images" / "parts.svg"
FILLS = {"input": "#e8eef7", "run": "#e3f1ea", "result": "#fbeedd", "record": "#f1e8f5"}


class Box(NamedTuple):
    """One part: lower left corner, size, kind, title, and a line below it."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str
    text: str


BOXES = {
    "conf": Box(0, 6, 3.2, 1.3, "input", "conf/", "Hydra: game, agent,\nnetwork, trainer, …"),
    "train": Box(4.2, 7.6, 3.2, 1.1, "input", "cardlab train", "one experiment"),
    "sweep": Box(4.2, 6.1, 3.2, 1.1, "input", "cardlab sweep", "Optuna: many trials"),
    "dvc": Box(4.2, 4.6, 3.2, 1.1, "input", "dvc repro", "DVC: the benchmark"),
    "training": Box(8.4, 4.6, 4.6, 4.1, "run", "training", ""),
    "policy": Box(14, 7.4, 3.4, 1.3, "result", "policy", "weights.safetensors,\npolicy.json"),
    "evaluation": Box(14, 5.0, 3.4, 1.5, "run", "evaluation", "duplicate matches,\nintervals over seeds\nand deals"),
    "mlflow": Box(4.2, 2.6, 8.8, 1.1, "record", "MLflow", "every training, trial and evaluation is a run"),
    "compare": Box(14, 2.6, 3.4, 1.1, "result", "compare, report", "which method is better"),
    "champion": Box(18.4, 5.0, 3.2, 1.5, "result", "champion", "cardlab promote:\ninterval above zero"),
    "play": Box(18.4, 2.6, 3.2, 1.1, "result", "cardlab play", "the web table"),
}
INSIDE = {  # parts of a training
    "learner": Box(8.7, 7.1, 4.0, 0.9, "result", "learner", "PPO, DQN, TD: Lightning, torch"),
    "agents": Box(8.7, 5.95, 4.0, 0.9, "result", "agents", "networks, search, scripted"),
    "games": Box(8.7, 4.8, 4.0, 0.9, "result", "games", "numba kernels over arrays"),
}
ARROWS = [
    ((3.2, 6.9), (4.2, 8.1)),
    ((3.2, 6.65), (4.2, 6.65)),
    ((3.2, 6.4), (4.2, 5.2)),
    ((7.4, 8.1), (8.4, 8.1)),
    ((7.4, 6.65), (8.4, 6.65)),
    ((7.4, 5.2), (8.4, 5.2)),
    ((13, 8.05), (14, 8.05)),
    ((15.7, 7.4), (15.7, 6.5)),
    ((15.7, 5.0), (15.7, 3.7)),
    ((17.4, 5.75), (18.4, 5.75)),
    ((20, 5.0), (20, 3.7)),
    ((10.7, 4.6), (10.7, 3.7)),
    ((14, 5.15), (13, 3.6)),
]
ARROW = {"arrowstyle": "-|>", "color": "#34495e", "shrinkA": 0, "shrinkB": 0}


def draw_box(axes: "mpl.axes.Axes", box: Box, fill: str) -> None:
    """A rounded box with its title, and its text below."""
    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(FancyBboxPatch((box.x, box.y), box.width, box.height, style, facecolor=fill, edgecolor="#5b6b7b"))
    middle = box.x + box.width / 2
    axes.text(middle, box.y + box.height - 0.12, box.title, weight="bold", ha="center", va="top", fontsize=10)
    axes.text(middle, box.y + box.height - 0.47, box.text, ha="center", va="top", fontsize=8, linespacing=1.1)


def draw(path: Path) -> None:
    """Write the diagram; the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": "parts", "svg.fonttype": "path", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(11, 3.4), facecolor="white")
        axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
        axes.set(xlim=(-0.1, 21.7), ylim=(2.4, 8.9))
        axes.axis("off")
        for box in BOXES.values():
            draw_box(axes, box, FILLS[box.kind])
        for box in INSIDE.values():
            draw_box(axes, box, "white")
        for start, end in ARROWS:
            axes.annotate("", end, start, arrowprops=ARROW)
        FigureCanvasSVG(figure).print_svg(path, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=PATH)
    draw(parser.parse_args().output)
