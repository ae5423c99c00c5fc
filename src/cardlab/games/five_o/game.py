"""Five-O Poker as a Game: options, and one kernel call for each method."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import Whole, option, options
from cardlab.games.array_checks import checked
from cardlab.games.cards.deck import NUM_CARDS, card_text, draw_seeds, shuffled_decks
from cardlab.games.cards.hands import strength_table
from cardlab.games.five_o import observation as features
from cardlab.games.five_o import prospects, rules
from cardlab.games.protocol import (
    Actions,
    AnyStates,
    Bools,
    Floats,
    GameSpec,
    InfoStates,
    Players,
    States,
)
from cardlab.games.record_arrays import copied


@checked
@options("game")
class FiveO:
    """Five-O Poker: two players build five columns of five cards in turn; three poker hands won win the game."""

    agents: ClassVar[Mapping[str, str]] = {
        "reflex_1": ".agents:reflex_1",
        "reflex_2": ".agents:reflex_2",
        "reflex_3": ".agents:reflex_3",
        "greedy_1": ".agents:greedy_1",
        "greedy_1_described": ".agents:greedy_1_described",
        "greedy_2": ".agents:greedy_2",
        "fast_greedy_2": ".agents:fast_greedy_2",
        "column_monte_carlo": ".agents:ColumnMonteCarlo",
        "expectiminimax": ".agents:Expectiminimax",
    }
    abilities: ClassVar[Mapping[str, str]] = {
        "playouts": ".playouts",
        "endgame": ".endgame",
        "outcomes": ".outcomes",
    }

    hidden_round: Literal[4, 5] = option(5, "round whose cards the opponent does not see before the end: 4 or 5")
    features: Literal["columns", "prospects"] = option(
        "columns", "observation: columns, or prospects (columns and win probabilities)"
    )
    completions: Whole = option(
        prospects.NUM_COMPLETIONS,
        "random completions of two columns that estimate a win probability; any policy plays with any number",
        ge=1,
        le=1_000_000,
    )

    @cached_property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        return GameSpec(
            name="five_o",
            num_players=rules.NUM_PLAYERS,
            num_cards=NUM_CARDS,
            num_actions=rules.NUM_COLUMNS,
            max_decisions=rules.NUM_TURNS,
            payoff_range=(-1.0, 1.0),
            zero_sum=True,
            decision_kinds=("place",),
            action_kinds=(0,) * rules.NUM_COLUMNS,
            blocks=features.BLOCKS if self.features == "columns" else prospects.BLOCKS,
            action_blocks=features.ACTION_BLOCKS,
            privileged_blocks=features.PRIVILEGED_BLOCKS,
            options={"hidden_round": self.hidden_round, "features": self.features},
        )

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """rules.STATE."""
        return rules.STATE

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] new games from decks [G, 52], of which 50 cards are played; `seeds` is unused."""
        order = shuffled_decks(num_games, rng) if decks is None else decks
        states = np.empty(num_games, dtype=rules.STATE)
        rules.deal_records(order, states)
        return States(states)

    def current_player(self, states: AnyStates) -> Players:
        """[G] the player who places the next card; NO_PLAYER when the game is over or the next card is not drawn."""
        return rules.current_players(states, self.hidden_round)

    def are_valid(self, states: AnyStates) -> Bools:
        """[G] whether each record can occur."""
        return rules.are_valid(strength_table(), states)

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] zeros: the game has one kind of decision."""
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, 5] columns that lack the card of this round."""
        return rules.legal_columns(states, self.hidden_round)

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Place the next cards on the columns `actions` [G]."""
        rules.place(strength_table(), states, actions, self.hidden_round)

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether the columns have been compared."""
        return states["phase"] == rules.OVER

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, 2] ±1 for three columns or more; 0 for a draw and before the end."""
        return rules.compute_payoffs(states)

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] copies without the deck and the opponent's cards of the hidden round; at the end all cards are shown."""
        known = copied(states)
        rules.hide(known, players, self.hidden_round)
        return InfoStates(known)

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] states with the unknown cards drawn uniformly; `weights` is unused.

        An afterstate also gets its next card. An UNRESOLVED state is resolved.
        """
        states = copied(info_states)
        rules.fill(strength_table(), states, draw_seeds(len(states), rng), self.hidden_round)
        return States(states)

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] in the blocks of `spec`, for decisions, afterstates and finished games."""
        if self.features == "columns":
            return features.observe(strength_table(), info_states, players)
        return prospects.observe(strength_table(), info_states, players, self.completions)

    def action_features(self, info_states: InfoStates, players: Players) -> tuple[NDArray[np.intp], Actions, Floats]:
        """Rows [K], actions [K], features [K, Fa]: the column with the card, the opposite column, and the changes."""
        legal = rules.legal_columns(info_states, self.hidden_round)
        return features.observe_actions(strength_table(), info_states, legal, self.hidden_round)

    def privileged(self, states: States, players: Players) -> Floats:
        """[G, Fp] the opponent's hidden cards and the future cards."""
        return features.observe_hidden(states, players, self.hidden_round)

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, 52] the player who has each card in a column or to place; -1 for the cards in the deck."""
        return rules.card_holders(states, self.hidden_round)

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """Text of an action, such as `7h to column 2`; counts from 1."""
        turn = int(info_state["turn"])
        card = int(info_state["deck"][turn]) if turn < rules.NUM_TURNS else -1
        return f"{card_text(card)} to column {action + 1}"

    def render(self, info_state: InfoStates) -> str:
        """Both players' columns, one row per card, and the card to place or the result."""
        turn, phase = int(info_state["turn"]), int(info_state["phase"])
        lines = [f"player {player}:\n{_columns_text(info_state, player)}" for player in range(rules.NUM_PLAYERS)]
        if phase == rules.OVER:
            won = info_state["won"]
            lines.append(f"over: columns {int(won[0])} to {int(won[1])}")
        elif phase == rules.UNRESOLVED:
            lines.append("waiting for the showdown")
        else:
            card = card_text(int(info_state["deck"][turn]))
            lines.append(f"round {rules.round_of(turn)}: player {turn % 2} places {card}")
        return "\n".join(lines)


def _columns_text(info_state: InfoStates, player: int) -> str:
    columns, sizes = info_state["columns"][player], info_state["sizes"][player]
    rows = [
        " ".join(card_text(int(columns[c, slot])) if slot < sizes[c] else "--" for c in range(rules.NUM_COLUMNS))
        for slot in range(int(sizes.max()))
    ]
    return "\n".join(f"  {row}" for row in rows)
