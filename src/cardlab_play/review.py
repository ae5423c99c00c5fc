"""The replay of a finished game, with an agent's review of the player's moves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import InfoStates
from cardlab.games.rows import join
from cardlab_play.advice import DecisionAnalysis, analyze, option_messages, rounded
from cardlab_play.table import GameStep, Table

NUM_DROPS = 5  # moves that are listed


@dataclass(frozen=True)
class MoveReview:
    """An evaluated move of the player, in payoffs."""

    number: int
    value: float  # expected payoff before the move
    drop: float  # value minus the value at the next decision, or minus the result
    regret: float | None  # value of the best action minus that of the chosen one
    best: int  # the agent's action
    row: int  # of the analysis


def review(table: Table, agent: Agent) -> tuple[list[dict[str, Any]], list[int]]:
    """The frames of a finished game, and the numbers of the moves with the largest drops."""
    own = [step for step in table.steps if step.player == table.seat]
    analysis, reviews = _review_moves(table, agent, own) if own else (None, {})
    hands = table.hands_by_step()
    frames: list[dict[str, Any]] = []
    for step, step_hands in zip(table.steps, hands, strict=True):
        for event in table.events(step):
            frame = {**event, "hands": step_hands, "review": None}
            if analysis is not None and step.number in reviews and event["kind"] != "showdown":
                frame["review"] = _review_message(table, step, reviews[step.number], analysis)
            frames.append(frame)
    return frames, _largest_drops(list(reviews.values()))


def _review_moves(table: Table, agent: Agent, own: list[GameStep]) -> tuple[DecisionAnalysis, dict[int, MoveReview]]:
    info_states = InfoStates(join([step.before for step in own]))
    players = np.full(len(own), table.seat, dtype=np.int8)
    analysis = analyze(table.game, agent, info_states, players)
    best = np.where(np.isfinite(analysis.values), analysis.values, -np.inf).max(axis=1)
    expected = best if analysis.state_values is None else analysis.state_values
    reviews: dict[int, MoveReview] = {}
    after = float(table.payoffs()[table.seat])
    for row, step in reversed(list(enumerate(own))):
        chosen = float(analysis.values[row, step.action])
        regret = max(float(best[row]) - chosen, 0.0) if np.isfinite(chosen) else None
        value = float(expected[row])
        if not np.isfinite(value):  # a forced move is not evaluated: it has the value of the next decision
            value = after
        reviews[step.number] = MoveReview(step.number, value, value - after, regret, analysis.chosen[row], row)
        after = value
    return analysis, reviews


def _review_message(table: Table, step: GameStep, review: MoveReview, analysis: DecisionAnalysis) -> dict[str, Any]:
    options = option_messages(table.game, step.before, analysis, review.row)
    return {
        "value": rounded(review.value),
        "drop": rounded(review.drop),
        "regret": None if review.regret is None else rounded(review.regret),
        "best": {"action": review.best, "text": table.action_text(step.before, review.best)},
        "options": [{**option, "chosen": option["action"] == step.action} for option in options],
    }


def _largest_drops(reviews: list[MoveReview]) -> list[int]:
    """Numbers of the moves with the largest drops, in descending order."""
    dropped = sorted((move for move in reviews if move.drop > 0), key=lambda move: (-move.drop, move.number))
    return [move.number for move in dropped[:NUM_DROPS]]
