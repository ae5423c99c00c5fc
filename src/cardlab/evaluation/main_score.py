"""The score of an evaluation that is reported first: against the strongest reference."""

from typing import Any

from cardlab.evaluation.intervals import Estimate

SELF = "self"  # the evaluated agent itself, in a game of one player

Evaluation = dict[str, Any]
"""The content of evaluation.json; see `cardlab.evaluation.evaluate.evaluate`."""


def main_score(evaluation: Evaluation) -> tuple[str, Estimate]:
    """The strongest reference and the score against it, in points per game.

    The strongest reference is the one against which the agent scores least. A single player's score is its own, and its
    reference is "self".
    """
    references = evaluation["references"]
    name = SELF if SELF in references else min(references, key=lambda each: references[each]["mean"])
    row = references[name]
    return name, Estimate(row["mean"], row["low"], row["high"], row["deals"])
