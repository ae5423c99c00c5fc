"""Five-O: hands of the columns, and columns won."""

from cardlab.games.abilities import OutcomeCounts, one_hot
from cardlab.games.cards.hands import CATEGORIES, STRENGTH_CATEGORIES, strengths_of_keys
from cardlab.games.five_o.rules import NUM_COLUMNS
from cardlab.games.protocol import States


def read(states: States) -> list[OutcomeCounts]:
    """Outcomes of finished games [G]."""
    keys = states["keys"]
    hands = STRENGTH_CATEGORIES[strengths_of_keys(keys.ravel())].reshape(keys.shape)
    columns = tuple(map(str, range(NUM_COLUMNS + 1)))
    return [
        OutcomeCounts("columns of each hand", CATEGORIES, one_hot(hands, len(CATEGORIES)).sum(axis=2)),
        OutcomeCounts("columns won", columns, one_hot(states["won"], len(columns))),
    ]
