"""Open-face Chinese Poker as a Game."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import option, options
from cardlab.games.array_checks import checked
from cardlab.games.cards.deck import NUM_CARDS, card_text, cards_text, shuffled_decks
from cardlab.games.cards.hands import front_table, strength_table
from cardlab.games.open_face import observation as features
from cardlab.games.open_face import rules
from cardlab.games.open_face.opening_list import opening_rows
from cardlab.games.open_face.royalties import MAX_PAYOFF
from cardlab.games.protocol import Actions, AnyStates, Bools, Floats, GameSpec, InfoStates, Players, States
from cardlab.games.record_arrays import copied


@checked
@options("game")
class OpenFace:
    """Open-face Chinese poker: the plain 13-card game for two, without fantasyland (Tan and Xiao 2018)."""

    agents: ClassVar[Mapping[str, str]] = {
        "greedy_start": ".agents:GreedyStart",
        "random_fills": ".agents:RandomFills",
        "hindsight_fills": ".agents:hindsight_fills",
    }
    abilities: ClassVar[Mapping[str, str]] = {
        "playouts": ".playouts",
        "endgame": ".endgame",
        "outcomes": ".outcomes",
    }

    features: Literal["rows", "paper"] = option(
        "rows", "observation: rows (what each row holds, may become and risks) or paper (27 one-hot slots)"
    )

    state_dtype: ClassVar[np.dtype[np.void]] = rules.STATE

    @cached_property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        return GameSpec(
            name="open_face",
            num_players=2,
            num_cards=NUM_CARDS,
            num_actions=rules.NUM_ROWS,
            max_decisions=rules.NUM_DEALT,
            payoff_range=(-MAX_PAYOFF, MAX_PAYOFF),
            payoff_scale=5.0,
            zero_sum=True,
            decision_kinds=("place",),
            action_kinds=(0,) * rules.NUM_ROWS,
            blocks=features.BLOCKS if self.features == "rows" else features.PAPER_BLOCKS,
            options={"features": self.features},
        )

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] games before the first placement; `seeds` is unused, as the deck is the only chance."""
        return States(rules.deal_records(shuffled_decks(num_games, rng) if decks is None else decks))

    def current_player(self, states: AnyStates) -> Players:
        """[G] the player who places the next card; NO_PLAYER when the game is over or the card is unknown."""
        return states["mover"].copy()

    def are_valid(self, states: AnyStates) -> Bools:
        """[G] whether each record can occur."""
        return rules.are_valid(states, strength_table(), front_table())

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] zeros: every decision places a card."""
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, 3] rows of the player to move that are not full."""
        return rules.legal_rows(states)

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Place the next card in rows `actions` [G], in place.

        In an InfoState the following card stays unknown: the player is NO_PLAYER until `determinize` draws it.
        """
        rules.place(states, actions, strength_table(), front_table())

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether all 26 cards have been placed."""
        return states["step"] == rules.NUM_DEALT

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, 2] points; 0 before the end."""
        return states["scores"].astype(np.float32)

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] copies without the hidden cards; both players have equal information."""
        known = InfoStates(copied(states))
        rules.hide(known)
        return known

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] states with the rest of the deck drawn uniformly; `weights` is unused: no player holds hidden cards."""
        states = States(copied(info_states))
        rules.fill(states, shuffled_decks(len(states), rng))
        return states

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] observations of `players` [G] in the blocks of the spec."""
        if self.features == "paper":
            return features.observe_paper(info_states, players)
        return features.observe_rows(info_states, players)

    def places_more(self, info_states: InfoStates) -> Bools:
        """[G] whether the player to move places one more card of the opening after this one."""
        steps = info_states["step"]
        return (steps < 2 * rules.NUM_OPENING) & (steps % rules.NUM_OPENING < rules.NUM_OPENING - 1)

    def listed_actions(self, info_states: InfoStates) -> Actions:
        """[G] rows by the opening list of Tan and Xiao (2018); -1 after the opening, or where the row is full."""
        listed = opening_rows(info_states)
        fits = (listed >= 0) & self.legal_actions(info_states)[np.arange(len(listed)), listed]
        return np.where(fits, listed, np.int16(-1))

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, 52] the player who has each face-up card; -1 for the cards in the deck."""
        return rules.card_holders(states)

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """Text of an action, such as `As to the back`."""
        card = info_state["deck"][min(int(info_state["step"]), rules.NUM_DEALT - 1)]
        return f"{card_text(int(card))} to the {rules.ROW_NAMES[action]}"

    def render(self, info_state: InfoStates) -> str:
        """Both boards row by row, the cards to place, and the points once the game is over."""
        step = int(info_state["step"])
        lines = [_board_text(info_state, player) for player in range(2)]
        if step == rules.NUM_DEALT:
            lines.append(f"points {info_state['scores'][0]:+d} {info_state['scores'][1]:+d}")
        else:
            turned = range(step, rules.num_turned(step))
            to_place = cards_text(info_state["deck"][index] for index in turned)
            lines.append(f"player {rules.owner(step)} to place {to_place}")
        return "\n".join(lines)


def _board_text(info_state: InfoStates, player: int) -> str:
    lines: list[str] = []
    for row, name in enumerate(rules.ROW_NAMES):
        held = [
            card
            for index, (card, place) in enumerate(zip(info_state["deck"], info_state["rows"], strict=True))
            if place == row and rules.owner(index) == player
        ]
        empty = ["--"] * (rules.capacity(row) - len(held))
        lines.append(f"player {player} {name:<6}  " + " ".join([*map(card_text, map(int, held)), *empty]))
    return "\n".join(lines)
