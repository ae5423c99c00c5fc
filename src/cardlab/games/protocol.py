"""The Game protocol: all that other packages know about games.

Shape letters, used everywhere: `G` parallel games, `P` players, `A` actions, `F` features, `Fa` features of an
action, `Fp` privileged features, `N` decisions, `K` pairs of (game, legal action).
"""

# pyright: reportReturnType=false
# The body of a method here is its docstring.

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NewType, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

NO_PLAYER = -1  # current_player of a game that is over or UNRESOLVED

States = NewType("States", NDArray[np.void])
"""[G] records of `Game.state_dtype`: the truth. Only the loop, the arena and training's critics hold it."""

InfoStates = NewType("InfoStates", NDArray[np.void])
"""[G] records of the same dtype, with all that one player cannot know blanked. What agents get."""

AnyStates = States | InfoStates

Actions = NDArray[np.int16]
Players = NDArray[np.int8]
Starts = NDArray[np.int64]
"""[G + 1] offsets into concatenated lists: game g has the entries starts[g] to starts[g + 1] - 1."""
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Block:
    """A named part of a feature vector: columns `start` to `stop`, laid out as `shape` in C order."""

    name: str
    start: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of columns."""
        return prod(self.shape)

    @property
    def stop(self) -> int:
        """First column after the block."""
        return self.start + self.size


def layout(**shapes: tuple[int, ...]) -> tuple[Block, ...]:
    """Consecutive blocks of these names and shapes, from column 0."""
    blocks: list[Block] = []
    start = 0
    for name, shape in shapes.items():
        blocks.append(Block(name, start, shape))
        start = blocks[-1].stop
    return tuple(blocks)


def width(blocks: tuple[Block, ...]) -> int:
    """Number of columns of a vector with these blocks."""
    return blocks[-1].stop if blocks else 0


@dataclass(frozen=True)
class GameSpec:
    """Constants of one game with fixed options: its sizes, ranges and vector layouts."""

    name: str
    num_players: int
    num_actions: int
    max_decisions: int  # of all players together, in one game (match)
    payoff_range: tuple[float, float]
    zero_sum: bool
    decision_kinds: tuple[str, ...]  # names; `Game.decision_kind` gives indices into it
    action_kinds: tuple[int, ...]  # [A]: the kind of decision in which each action may be legal
    blocks: tuple[Block, ...]  # of `observe`
    action_blocks: tuple[Block, ...] = ()  # of `action_features`
    privileged_blocks: tuple[Block, ...] = ()  # of `privileged`
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The options that a trained policy depends on: it only plays games with equal values."""
    num_codes: int = 0  # size of the vocabulary of the observation block `codes`
    payoff_scale: float = 1.0  # typical difference between payoffs: the default reward scale of learners
    num_cards: int = 0  # of the deck, whose order `deal` can be given; 0: there is none

    @property
    def num_features(self) -> int:
        """F."""
        return width(self.blocks)

    @property
    def num_action_features(self) -> int:
        """Fa."""
        return width(self.action_blocks)

    @property
    def num_privileged(self) -> int:
        """Fp."""
        return width(self.privileged_blocks)

    def block(self, name: str) -> Block:
        """The block of the observation with this name; KeyError when there is none."""
        return find_block(self.blocks, name)


def find_block(blocks: tuple[Block, ...], name: str) -> Block:
    """The block with this name; KeyError when there is none."""
    for block in blocks:
        if block.name == name:
            return block
    raise KeyError(name)


@runtime_checkable
class Game(Protocol):
    """Rules and encodings of one game, over arrays of games. Holds options, never the state of a game.

    Chance happens in `deal` and `determinize` only; `apply` is deterministic. The array of records is the whole
    state: its bytes are copied, compared and checkpointed. `legal_actions`, `decision_kind`, `current_player`,
    `is_over` and `payoffs` accept States and InfoStates.
    """

    @property
    def spec(self) -> GameSpec:
        """The constants of the game."""

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """The record of one game."""

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] fresh games. `decks` [G, C] fixes the cards, `seeds` [G] all later chance; else both come from `rng`."""

    def current_player(self, states: AnyStates) -> Players:
        """[G] who decides next; NO_PLAYER when the game is over or UNRESOLVED."""

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] index into `spec.decision_kinds`; 0 where there is no current player."""

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, A] legal actions of the current player; all False where there is none."""

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Play `actions` [G] in place; rows without a current player do not change.

        On InfoStates unknown cards stay unknown. Where settling needs a card that the owner cannot see, the row
        becomes UNRESOLVED: not over, no current player, payoffs unchanged. Raises InvalidArray for an illegal action.
        """

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether the game has ended."""

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, P] what each player has been paid so far."""

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] copies with all that `players` [G] cannot know blanked, in one canonical way."""

    def determinize(
        self, info_states: InfoStates, players: Players, rng: np.random.Generator, weights: Floats | None = None
    ) -> States:
        """[G] full states consistent with what `players` [G] know: uniform, or drawn by `weights` [G, P, C].

        information(determinize(x, p), p) equals x, byte for byte, for every x that is not UNRESOLVED.
        """

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] observations of `players` [G], numbers of order one, in the blocks of the spec."""

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, C] who holds each card, -1 for no one; targets of a belief network, training only."""

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """A short description of `action`; `info_state` is one record, shape []."""

    def render(self, info_state: InfoStates) -> str:
        """The table as its owner sees it, in a few lines of text; one record, shape []."""


@runtime_checkable
class HasActionFeatures(Protocol):
    """A game whose legal actions have features, `GameSpec.action_blocks`; several threads ask for them at once."""

    def action_features(self, info_states: InfoStates, players: Players) -> tuple[NDArray[np.intp], Actions, Floats]:
        """Rows [K], actions [K], features [K, Fa] of the legal actions, ordered by row, then action."""


@runtime_checkable
class HasPrivilegedFeatures(Protocol):
    """A game with features of its hidden cards, `GameSpec.privileged_blocks`, for a critic in training."""

    def privileged(self, states: States, players: Players) -> Floats:
        """[G, Fp] hidden information that the critic adds to the observation of `players` [G]."""


@runtime_checkable
class HasSymmetries(Protocol):
    """A game whose states have equivalent forms, with equal payoffs under equivalent play."""

    def augment(
        self, info_states: InfoStates, actions: Actions, rng: np.random.Generator
    ) -> tuple[InfoStates, Actions]:
        """[G] an equivalent form of each state, drawn uniformly, and its action in that form; players stay.

        `apply` of the results is an equivalent form of `apply` of the originals, so afterstates can be augmented too.
        """


@runtime_checkable
class ObservesAfterstates(Protocol):
    """A game with a cheaper encoding of afterstates than `apply` and `observe`."""

    def observe_afterstates(self, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
        """[G, F] observations of the afterstates of `actions` [G], in the blocks of `observe`."""


@runtime_checkable
class ListsLegalActions(Protocol):
    """A game with so many actions that a list of the legal ones is cheaper than a mask."""

    def list_legal_actions(self, states: AnyStates) -> tuple[Actions, Starts]:
        """Legal actions [K], ascending in each game, and their starts [G + 1]."""


def lists_legal_actions(game: Game) -> TypeGuard[ListsLegalActions]:
    """Whether `game` is a ListsLegalActions; `isinstance` of a protocol is too slow for every step."""
    return hasattr(game, "list_legal_actions")


@runtime_checkable
class HasEmptySeats(Protocol):
    """A game in which some seats can stay empty."""

    def occupied_seats(self, states: States) -> Bools:
        """[G, P] which seats are occupied, in games that have just been dealt."""


@runtime_checkable
class HasOpening(Protocol):
    """A game whose opening places several cards in sight, with a published list of openings."""

    def places_more(self, info_states: InfoStates) -> Bools:
        """[G] whether the player to move places one more card of the opening after this one."""

    def listed_actions(self, info_states: InfoStates) -> Actions:
        """[G] the action of the list; -1 after the opening, or where the listed action is not legal."""


@runtime_checkable
class HasHiddenChoices(Protocol):
    """A game where `legal_actions` of an InfoState can depend on hidden cards."""

    def hidden_choices(self, states: AnyStates) -> Bools:
        """[G] whether cards of the current player are hidden, so that any action may be legal."""


@runtime_checkable
class ChecksStates(Protocol):
    """A game that recognises records from elsewhere that no play leads to, which could break its kernels."""

    def are_valid(self, states: AnyStates) -> Bools:
        """[G] whether each State or InfoState can occur: cards once, counts, indices, phase. Any bytes are accepted."""


@runtime_checkable
class HasHistory(Protocol):
    """A game whose states hold all moves that were made."""

    def history(self, states: States) -> tuple[NDArray[np.int8], Actions]:
        """Decks [G, C] and actions [G, T], behind the last -1: `deal` with the deck, then `apply`, gives the state."""
