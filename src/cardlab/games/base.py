"""A base class for games with the parts of the protocol that most small games leave at their defaults."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.messages import InvalidOption
from cardlab.games.protocol import NO_PLAYER, AnyStates, Bools, Floats, Game, GameSpec, InfoStates, Players, States


def determinizes(game: Game) -> bool:
    """Whether a game has a `determinize` of its own, which searches and sampled successors need.

    A class that has it for some of its options only says so by an attribute `determinizes`.
    """
    own = getattr(type(game), "determinize", BaseGame.determinize) is not BaseGame.determinize
    return bool(getattr(game, "determinizes", own))


class BaseGame:
    """Defaults of `cardlab.games.protocol.Game`.

    A game writes `spec`, `state_dtype`, `deal`, `current_player`, `legal_actions`, `apply`, `payoffs`, `observe` and
    `information`; `is_over` too where an InfoState can wait for a card that its owner cannot see.
    """

    @property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        raise NotImplementedError

    def current_player(self, states: AnyStates) -> Players:
        """[G] who decides next; NO_PLAYER when the game is over."""
        raise NotImplementedError

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] zeros: all decisions are of one kind."""
        return np.zeros(len(states), dtype=np.int8)

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether no one decides."""
        return self.current_player(states) == NO_PLAYER

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """Raise InvalidOption: searches and sampled successors need this method."""
        raise InvalidOption("game", self.spec.name, "a game with `determinize`, which searches and successors need")

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, C] of -1: no card of a deck is known to be held."""
        return np.full((len(states), self.spec.num_cards), -1, dtype=np.int8)

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """The number of the action."""
        return f"action {action}"

    def render(self, info_state: InfoStates) -> str:
        """The fields of the record, one a line."""
        return "\n".join(f"{name}: {info_state[name]}" for name in info_state.dtype.names or ())
