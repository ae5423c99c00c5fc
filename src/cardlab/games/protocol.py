"""What a game is. Everything above this layer knows games only through what stands here.

Shape letters, used everywhere: `G` games side by side, `P` players, `A` actions, `F` features, `Fa` features of an
action, `Fp` privileged features, `N` decisions, `K` pairs of (game, legal action).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NewType, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

NO_PLAYER = -1  # current_player of a game that is over, or that waits for cards its owner cannot see

States = NewType("States", NDArray[np.void])
"""[G] records of `Game.state_dtype`: the truth. Only the loop, the arena and training's critics hold it."""

InfoStates = NewType("InfoStates", NDArray[np.void])
"""[G] records of the same dtype, with all that one player cannot know blanked. What agents get."""

AnyStates = States | InfoStates

Actions = NDArray[np.int16]
Players = NDArray[np.int8]
Starts = NDArray[np.int64]
"""[G + 1] of lists one behind the other: that of game g has the places from starts[g] up to starts[g + 1]."""
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
        """First column behind the block."""
        return self.start + self.size


def layout(**shapes: tuple[int, ...]) -> tuple[Block, ...]:
    """Blocks of these names and shapes, one behind the other from column 0."""
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
    """The constants of one game with its options fixed: what networks and agents are sized by."""

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
    """The options that a trained policy depends on: another value means another game to it."""
    num_codes: int = 0  # vocabulary of a block `codes` of the observation, whose numbers are entries of it
    payoff_scale: float = 1.0  # by how much results typically differ: learners divide by it, unless told otherwise

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

    Chance happens in `deal` and `determinize` only; `apply` is deterministic. The whole state is the array of
    records, so a copy, a comparison and a checkpoint are those of its bytes. `legal_actions`, `decision_kind`,
    `current_player`, `is_over` and `payoffs` take States and InfoStates alike.
    """

    @property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        ...

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """The record of one game."""
        ...

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] fresh games. `decks` [G, 52] fixes the cards, `seeds` [G] all later chance; else both come from `rng`."""
        ...

    def current_player(self, states: AnyStates) -> Players:
        """[G] who decides next; NO_PLAYER when the game is over or UNRESOLVED."""
        ...

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] index into `spec.decision_kinds`; 0 where nobody decides."""
        ...

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, A] what the current player may do; all False where nobody decides."""
        ...

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Play `actions` [G] in place; rows where nobody decides are left alone.

        On InfoStates what is unknown stays unknown; where settling needs a card that the owner cannot see, the row
        stops UNRESOLVED: not over, nobody to move, payoffs as before. Raises InvalidArray for an illegal action.
        """
        ...

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether the game has ended."""
        ...

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, P] what each player has been paid so far."""
        ...

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] copies with all that `players` [G] cannot know blanked, in one canonical way."""
        ...

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] full states consistent with what `players` [G] know: uniform, or drawn by `weights` [G, P, 52].

        information(determinize(x, p), p) equals x, byte for byte, for every x that is not UNRESOLVED.
        """
        ...

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] what `players` [G] see, as numbers of order one, in the blocks of the spec."""
        ...

    def action_features(self, info_states: InfoStates, players: Players) -> tuple[NDArray[np.intp], Actions, Floats]:
        """Rows [K], actions [K], features [K, Fa] of the legal actions, ordered by row, then action."""
        ...

    def privileged(self, states: States, players: Players) -> Floats:
        """[G, Fp] what a critic that sees all may add to the observation of `players` [G]; training only."""
        ...

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, 52] who holds each card, -1 for nobody; targets of a belief network, training only."""
        ...

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """What `action` means, in a few words; `info_state` is one record, shape []."""
        ...

    def render(self, info_state: InfoStates) -> str:
        """The table as its owner sees it, in a few lines of text; one record, shape []."""
        ...


@runtime_checkable
class HasSymmetries(Protocol):
    """What a game has beside `Game` when its states have equivalent forms, which pay the same under the same play."""

    def augment(
        self, info_states: InfoStates, actions: Actions, rng: np.random.Generator
    ) -> tuple[InfoStates, Actions]:
        """[G] each in an equivalent form of its own, drawn uniformly, and what its action is there; players stay.

        `apply` of the two is a form of `apply` of the originals, so afterstates may be varied as decisions are.
        """
        ...


@runtime_checkable
class ObservesAfterstates(Protocol):
    """What a game has beside `Game` when it shows what actions lead to in a way of its own: one that costs less."""

    def observe_afterstates(self, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
        """[G, F] what the afterstates of `actions` [G] are valued by, laid out as by `observe`."""
        ...


@runtime_checkable
class ListsLegalActions(Protocol):
    """What a game has beside `Game` when so few of its many actions are legal that a list is cheaper to read."""

    def list_legal_actions(self, states: AnyStates) -> tuple[Actions, Starts]:
        """Actions [K] and starts [G + 1] of what `legal_actions` marks, ascending in each game."""
        ...


def lists_legal_actions(game: Game) -> TypeGuard[ListsLegalActions]:
    """Whether `game` is such a one; asked at each step, for which `isinstance` of a protocol takes too long."""
    return hasattr(game, "list_legal_actions")


@runtime_checkable
class HasEmptySeats(Protocol):
    """What a game has beside `Game` when not all of its seats need be taken in a game."""

    def occupied_seats(self, states: States) -> Bools:
        """[G, P] which seats are taken in games that have just been dealt."""
        ...


@runtime_checkable
class HasHiddenChoices(Protocol):
    """What a game has beside `Game` when `legal_actions` of an InfoState depends on cards that it lacks."""

    def hidden_choices(self, states: AnyStates) -> Bools:
        """[G] where the current player's cards are not all known: any action may be legal there."""
        ...


def has_hidden_choices(game: Game) -> TypeGuard[HasHiddenChoices]:
    """Whether `game` is such a one."""
    return hasattr(game, "hidden_choices")
