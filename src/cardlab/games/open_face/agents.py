"""Scripted agents for Open-face: the paper's greedy start, and Monte Carlo with random or hindsight fills."""

from dataclasses import dataclass

import numpy as np

from cardlab.core.options import Positive
from cardlab.games.choices import choose_uniformly
from cardlab.games.open_face.opening_list import opening_rows
from cardlab.games.open_face.random_fills import choose_rows
from cardlab.games.protocol import Actions, Game, InfoStates, Players


@dataclass(frozen=True)
class GreedyStart:
    """Opens by the list of Tan and Xiao (2018), section 5.1, then plays uniformly at random.

    The first of these hands among the five cards goes to the back: four of a kind, full house, flush, straight, four of
    a suit, two pair, three of a kind, four in sequence, three of a suit, three in sequence (the ace is high or low).
    Other cards from 8 up go to the middle, lower cards to the front. The paper does not define a fourth low card; here
    it goes to the middle.
    """

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        legal = self.game.legal_actions(info_states)
        actions = choose_uniformly(legal, rng.random(len(legal), dtype=np.float32))
        listed = opening_rows(info_states)
        fits = (listed >= 0) & legal[np.arange(len(legal)), listed]  # a search may have filled the row
        return np.where(fits, listed, actions)


@dataclass(frozen=True)
class RandomFills:
    """Plays the row with the highest mean points when both boards are completed with random cards.

    All plans of one decision share the random cards. A plan places every visible card: up to 232 plans in the opening,
    evaluated again after each card; later one plan for each row. The cards of a simulation are placed in `tries` random
    orders, of which the best counts: with several tries the value of a plan assumes knowledge of the future cards, for
    the opponent's board as well.
    """

    game: Game
    openings: Positive = 100  # simulations per plan in the opening
    simulations: Positive = 500  # simulations per row after the opening
    tries: Positive = 1

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return choose_rows(info_states, rng, openings=self.openings, simulations=self.simulations, tries=self.tries)


def hindsight_fills(
    game: Game, openings: Positive = 100, simulations: Positive = 500, tries: Positive = 16
) -> RandomFills:
    """RandomFills with the best of several orders of each simulation's cards."""
    return RandomFills(game, openings, simulations, tries)
