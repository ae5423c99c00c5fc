"""A game that is over, move by move, with what an agent makes of the person's moves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import InfoStates
from cardlab.games.rows import join
from cardlab_play.advice import Thoughts, option_messages, rounded, think
from cardlab_play.table import Step, Table

WORST = 5  # moves that are pointed out


@dataclass(frozen=True)
class Judged:
    """A move of the person and what it was worth, in payoffs."""

    number: int
    value: float  # what could be expected before it
    dropped: float  # how far that fell until the next decision, or the result
    cost: float | None  # value of the best option less that of the chosen one
    best: int  # the action that the agent prefers
    row: int  # of the thoughts


def review(table: Table, agent: Agent) -> tuple[list[dict[str, Any]], list[int]]:
    """The frames of the replay of a `table` that is over, and the numbers of the moves after which most was lost."""
    own = [step for step in table.steps if step.player == table.seat]
    thoughts, judged = _judge(table, agent, own) if own else (None, {})
    hands = table.open_hands()
    frames: list[dict[str, Any]] = []
    for step, open_hands in zip(table.steps, hands, strict=True):
        for event in table.events(step):
            frame = {**event, "hands": open_hands, "judged": None}
            if thoughts is not None and step.number in judged and event["kind"] != "showdown":
                frame["judged"] = _judged_message(table, step, judged[step.number], thoughts)
            frames.append(frame)
    return frames, _worst(list(judged.values()))


def _judge(table: Table, agent: Agent, own: list[Step]) -> tuple[Thoughts, dict[int, Judged]]:
    known = InfoStates(join([step.before for step in own]))
    players = np.full(len(own), table.seat, dtype=np.int8)
    thoughts = think(table.game, agent, known, players)
    best = np.where(np.isfinite(thoughts.values), thoughts.values, -np.inf).max(axis=1)
    expected = best if thoughts.positions is None else thoughts.positions
    judged: dict[int, Judged] = {}
    after = float(table.payoffs()[table.seat])
    for row, step in reversed(list(enumerate(own))):
        chosen = float(thoughts.values[row, step.action])
        cost = max(float(best[row]) - chosen, 0.0) if np.isfinite(chosen) else None
        value = float(expected[row])
        if not np.isfinite(value):  # nobody looks at a move without a choice: it is worth what follows it
            value = after
        judged[step.number] = Judged(step.number, value, value - after, cost, thoughts.chosen[row], row)
        after = value
    return thoughts, judged


def _judged_message(table: Table, step: Step, judged: Judged, thoughts: Thoughts) -> dict[str, Any]:
    options = option_messages(table.game, step.before, thoughts, judged.row)
    return {
        "value": rounded(judged.value),
        "dropped": rounded(judged.dropped),
        "cost": None if judged.cost is None else rounded(judged.cost),
        "best": {"action": judged.best, "text": table.action_text(step.before, judged.best)},
        "options": [{**option, "chosen": option["action"] == step.action} for option in options],
    }


def _worst(judged: list[Judged]) -> list[int]:
    """Numbers of the moves with the largest drop, the worst first; none where nothing dropped."""
    fallen = sorted((move for move in judged if move.dropped > 0), key=lambda move: (-move.dropped, move.number))
    return [move.number for move in fallen[:WORST]]
