"""Picture: cross table of the agents of a game, best first."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cardlab.experiments.report.heat_map import draw_heat_map

TITLE: str = "Cross table"


def caption(tournament: Mapping[str, Any]) -> str:
    """One sentence that explains the picture."""
    others = tournament["num_players"] - 1
    what = "more points per game on the same deals than" if not others else "points per game against"
    copies = f" ({others} copies of it)" if others > 1 else ""
    text = (
        f"The row's agent makes so many {what} the column's{copies}, on {tournament['deals']:,} deals; bold where the "
        "95 % interval excludes a tie. Strongest first, by rating."
    )
    for cycle in tournament["cycles"]:
        if cycle["sure"]:
            names = [short_name(agent) for agent in (*cycle["agents"], cycle["agents"][0])]
            text += f" Not transitive: {' beats '.join(names)}."
    return text


def draw(tournament: Mapping[str, Any]) -> Figure:
    """A cell for each agent and opponent."""
    agents = [standing["agent"] for standing in tournament["standings"]]
    place = {agent: index for index, agent in enumerate(agents)}
    margins = np.full((len(agents), len(agents)), np.nan)
    sure = np.zeros(margins.shape, dtype=np.bool_)
    for cell in tournament["cells"]:
        at = place[cell["agent"]], place[cell["opponent"]]
        margins[at] = cell["points"]
        sure[at] = cell["low"] > 0 or cell["high"] < 0
    names = [short_name(agent) for agent in agents]
    return draw_heat_map(names, names, margins, sure)


def short_name(agent: str) -> str:
    """The agent's text; the last part of a policy's folder."""
    return agent.rsplit("/", maxsplit=1)[-1]
