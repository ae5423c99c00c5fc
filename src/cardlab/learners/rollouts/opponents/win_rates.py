"""How the learner has fared lately against each of its opponents, and what follows for whom it should meet."""

import numpy as np
from numpy.typing import NDArray

from cardlab.games.protocol import Floats
from cardlab.learners.rollouts.opponents.protocol import Seats

HALF_LIFE = 100  # games against an opponent, after which what was known before counts half
PRIOR = 0.5  # the share against an opponent that was never met
FLOOR = 0.05  # of the share that the learner does not win, so that nobody whom it always beats is forgotten


class WinShares:
    """x [n]: the share of the games against each opponent that the learner wins, a mean that forgets the old ones.

    n games at which the learner won the share m take x to 2^(−n/h)·x + (1 − 2^(−n/h))·m, with h = HALF_LIFE.
    """

    def __init__(self, num_opponents: int) -> None:
        self.shares = np.full(num_opponents, PRIOR)

    def count(self, payoffs: Floats, seats: Seats) -> None:
        """Add games [M, P]: a win at the table is to be paid more than that opponent, as much is half a win."""
        wins, games = _tally(payoffs, seats, len(self.shares))
        means = np.divide(wins, games, out=self.shares.copy(), where=games > 0)
        old = 0.5 ** (games / HALF_LIFE)
        self.shares = old * self.shares + (1.0 - old) * means

    def forget(self, place: int) -> None:
        """Another opponent has taken the place, of which nothing is known yet."""
        self.shares[place] = PRIOR

    def priorities(self, exponent: float) -> NDArray[np.float64]:
        """[n] f(x) = (1 − x)^p, at which those who still beat the learner are met most; 1 for all with p = 0.

        Prioritised fictitious self-play, f_hard of Vinyals et al. 2019 (Grandmaster level in StarCraft II, methods).
        """
        return np.maximum(1.0 - self.shares, FLOOR) ** exponent


def _tally(payoffs: Floats, seats: Seats, num_opponents: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[n] games that the learner won against each opponent, and [n] those it played; each seat of one counts."""
    pairs = (seats[:, :, None] == 0) & (seats[:, None, :] > 0)  # [M, P, P] the learner's seat, an opponent's
    ahead = np.sign(payoffs[:, :, None] - payoffs[:, None, :])[pairs]
    places = np.broadcast_to(seats[:, None, :], pairs.shape)[pairs] - 1
    wins = np.bincount(places, (1.0 + ahead) / 2.0, num_opponents).astype(np.float64)
    return wins, np.bincount(places, minlength=num_opponents).astype(np.float64)
