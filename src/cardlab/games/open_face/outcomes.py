"""Open-face Chinese Poker: fouls, royalties and hands of the rows."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.abilities import OutcomeCounts, one_hot
from cardlab.games.cards.hands import CATEGORIES, FRONT_SHIFT, STRENGTH_CATEGORIES, THREE
from cardlab.games.open_face.rules import BACK, FRONT, MIDDLE, ROW_NAMES, is_foul, royalty_sum
from cardlab.games.protocol import States

_BOARDS = ("foul", "no royalties", "1 to 4", "5 to 9", "10 or more")


@kernel
def _royalties(ranks: NDArray[np.int32]) -> NDArray[np.int32]:
    """[N] royalties of the boards with `ranks` [N, 3], -1 for a foul."""
    points = np.empty(ranks.shape[0], dtype=np.int32)
    for n in range(ranks.shape[0]):
        front, middle, back = ranks[n, 0], ranks[n, 1], ranks[n, 2]
        points[n] = -1 if is_foul(front, middle, back) else royalty_sum(front, middle, back)
    return points


def read(states: States) -> list[OutcomeCounts]:
    """Outcomes of finished games [G]."""
    ranks = np.ascontiguousarray(states["ranks"])
    points = _royalties(ranks.reshape(-1, len(ROW_NAMES))).reshape(ranks.shape[:2])
    hands = one_hot(STRENGTH_CATEGORIES[ranks >> FRONT_SHIFT], len(CATEGORIES))  # [G, 2, 3, 10]
    return [
        OutcomeCounts("boards by royalties", _BOARDS, one_hot(np.digitize(points, [0, 1, 5, 10]), len(_BOARDS))),
        OutcomeCounts("front row", CATEGORIES[: THREE + 1], hands[:, :, FRONT, : THREE + 1]),
        OutcomeCounts("middle row", CATEGORIES, hands[:, :, MIDDLE]),
        OutcomeCounts("back row", CATEGORIES, hands[:, :, BACK]),
    ]
