"""How strong a policy is right now, against the references of its experiment."""

import re
from collections.abc import Mapping, Sequence

from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Game

CURVE_SEED_OFFSET = 1_000_003  # curve deals are neither those of training nor those of the final evaluation


def measure_strength(
    game: Game, agent: Agent, arena: ArenaOptions, deals: int, table: Sequence[str] = ()
) -> Mapping[str, float]:
    """Points and win rates against each reference with 95 % intervals, by metric name; alone: `score/self`.

    A reference sits at all other seats; `table` names one agent for each of them, for one more match.
    """
    seed = arena.seed + CURVE_SEED_OFFSET
    if game.spec.num_players == 1:
        return _bounded("score/self", play_match(game, [agent], deals, seed).points)
    metrics: dict[str, float] = {}
    fields = {reference: [reference] * (game.spec.num_players - 1) for reference in arena.references or ("random",)}
    if table:
        fields[" and ".join(table)] = list(table)
    for text, field in fields.items():
        match = play_match(game, [agent, *field], deals, seed)
        name = metric_name(text)
        metrics |= _bounded(f"score/{name}", match.points)
        if match.wins is not None:
            metrics |= _bounded(f"win_rate/{name}", match.wins)
    return metrics


def metric_name(text: str) -> str:
    """An agent's text as a part of a metric's name; MLflow takes none that a path would resolve otherwise."""
    return re.sub(r"[^\w\-. /]", ".", text).strip("./")


def _bounded(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.mean, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
