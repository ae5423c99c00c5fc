"""Five-O: which hands the columns became, and how many of them won."""

from cardlab.evaluation.outcomes.outcome import Outcome, one_hot
from cardlab.games.cards.hands import CATEGORIES, STRENGTH_CATEGORIES, strengths_of_keys
from cardlab.games.five_o.rules import NUM_COLUMNS
from cardlab.games.protocol import States


def read(states: States) -> list[Outcome]:
    """Of finished games [G]."""
    keys = states["keys"]
    hands = STRENGTH_CATEGORIES[strengths_of_keys(keys.ravel())].reshape(keys.shape)
    columns = tuple(map(str, range(NUM_COLUMNS + 1)))
    return [
        Outcome("columns of each hand", CATEGORIES, one_hot(hands, len(CATEGORIES)).sum(axis=2)),
        Outcome("columns won", columns, one_hot(states["won"], len(columns))),
    ]
