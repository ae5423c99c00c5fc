"""Thirty-One as a `Game`."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import Whole, option, options
from cardlab.games.array_checks import checked
from cardlab.games.cards.deck import NUM_CARDS, card_text, cards_text, draw_seeds, shuffled_decks
from cardlab.games.protocol import Actions, AnyStates, Bools, Floats, GameSpec, InfoStates, Players, States
from cardlab.games.thirty_one.hidden_cards import are_valid, fill_hidden, find_holders, hide
from cardlab.games.thirty_one.observation import BLOCKS, observe_table
from cardlab.games.thirty_one.other_observations import (
    OPPONENT_STATISTICS_BLOCKS,
    PAPER_BLOCKS,
    observe_opponent_statistics,
    observe_paper,
)
from cardlab.games.thirty_one.record import (
    ACTION_KINDS,
    CALL,
    DECISION_KINDS,
    DRAW,
    KEEP_HAND,
    MAX_PLAYERS,
    NUM_ACTIONS,
    OVER,
    STATE_DTYPE,
    SWAP,
    SWAP_FIRST,
    TAKE,
    TURN,
    UNRESOLVED,
    Record,
    RuleOptions,
)
from cardlab.games.thirty_one.rules import apply_actions, deal_matches, mark_legal
from cardlab.games.thirty_one.showdown import score_of


def table_text(state: Record, num_players: int) -> str:
    """One line for the round, one for the piles and one for each player."""
    return "\n".join([_phase_text(state), _piles_text(state), *_players_text(state, num_players)])


def move_text(state: Record, action: int) -> str:
    """A short description of `action` of the player to move."""
    if action == DRAW:
        return "draw"
    if action == TAKE:
        return f"take {card_text(state['top'])}"
    if action == CALL:
        return "call"
    drawn = card_text(state["drawn"])
    if action == KEEP_HAND:
        return f"don't swap, discard {drawn}"
    return f"swap {card_text(state['hands'][state['player'], action - SWAP_FIRST])} for {drawn}"


def _phase_text(state: Record) -> str:
    text = f"Round {state['round']}, turn {state['turns'] + 1}"
    if state["caller"] >= 0:
        text += f", player {state['caller']} called"
    return (
        text
        + {
            TURN: f": player {state['player']} to draw, take or call",
            SWAP: f": player {state['player']} to swap",
            OVER: ": the match is over",
            UNRESOLVED: ": all show their hands",
        }[int(state["phase"])]
    )


def _piles_text(state: Record) -> str:
    pile = int(state["discards"]).bit_count()
    top = "" if state["taken"] else f" {card_text(state['top'])}"
    text = f"Discard{top} (of {pile}), stock of {state['stock_left']}"
    if state["reshuffles"]:
        text += f" (reshuffle {state['reshuffles']})"
    if state["phase"] == SWAP:
        text += f", {'taken' if state['taken'] else 'drawn'} {card_text(state['drawn'])}"
    return text


def _players_text(state: Record, num_players: int) -> list[str]:
    lines: list[str] = []
    for player in range(num_players):
        hand = state["hands"][player]
        lives = int(state["lives"][player])
        name = f"player {player}" + (" (you)" if player == state["owner"] else "")
        line = f"{name}: {lives} {'life' if lives == 1 else 'lives'}"
        if lives > 0 or state["phase"] == OVER:
            line += f", {cards_text(hand)}" + (f", scores {score_of(state, player)}" if (hand >= 0).all() else "")
        lines.append(line)
    if state["phase"] == OVER:
        paid = " ".join(f"{payoff:+.2f}" for payoff in np.asarray(state["paid"])[:num_players])
        lines.append(f"paid: {paid}")
    return lines


MAX_TURNS = 10_000  # counters of turns and rounds are 16 bits wide
MAX_LIVES = 100  # lives are 8 bits wide
_BLOCKS = {"table": BLOCKS, "opponent_statistics": OPPONENT_STATISTICS_BLOCKS, "paper": PAPER_BLOCKS}


@checked
@options("game")
class ThirtyOne:
    """Thirty-One: a match of 2 to 9 players; in each round the lowest hand loses a life."""

    agents: ClassVar[Mapping[str, str]] = {
        "greedy": ".agents:greedy",
        "greedy_stock_only": ".agents:greedy_stock_only",
        "threshold": ".agents:threshold",
    }
    abilities: ClassVar[Mapping[str, str]] = {
        "outcomes": ".outcomes",
    }

    num_players: Whole = option(2, "players of a match", ge=2, le=MAX_PLAYERS)
    lives: Whole = option(3, "lives at the start of a match", ge=1, le=MAX_LIVES)
    max_turns: Whole = option(100, "turns of a round without a call, after which hands are shown", ge=1, le=MAX_TURNS)
    max_rounds: Whole = option(
        100, "rounds of a match, after which the players with the most lives share the win", ge=1, le=MAX_TURNS
    )
    play: Literal["match", "round"] = option(
        "match", "match, or for training: round (one round, each player with 1 to `lives` lives)", training_only=True
    )
    active_players: Literal["all", "some"] = option(
        "all", "all, or for training: some (2 to num_players, small tables more often)", training_only=True
    )
    reward: Literal["plain", "shaped"] = option(
        "plain",
        "plain (shares of the match), or for training: shaped (reward of the paper, each round)",
        training_only=True,
    )
    features: Literal["table", "opponent_statistics", "paper"] = option(
        "table",
        "observation: table, opponent_statistics (table and what each opponent did so far) or paper (46 numbers)",
    )

    state_dtype: ClassVar[np.dtype[np.void]] = STATE_DTYPE  # equal for every number of players

    @cached_property
    def _options(self) -> RuleOptions:
        one_round = self.play == "round"
        rounds = 1 if one_round else self.max_rounds
        return RuleOptions(
            num_players=self.num_players,
            lives=self.lives,
            max_turns=self.max_turns,
            max_rounds=rounds,
            shaped=self.reward == "shaped",
            one_round=one_round,
            some_active=self.active_players == "some",
        )

    @cached_property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        return GameSpec(
            name="thirty_one",
            num_players=self.num_players,
            num_cards=NUM_CARDS,
            num_actions=NUM_ACTIONS,
            max_decisions=self._max_decisions(),
            payoff_range=self._payoff_range(),
            payoff_scale=5.0 if self.reward == "shaped" else 1.0,
            zero_sum=self.reward == "plain",
            decision_kinds=DECISION_KINDS,
            action_kinds=ACTION_KINDS,
            blocks=_BLOCKS[self.features],
            options={"features": self.features},
        )

    def _max_decisions(self) -> int:
        # the longest round ends with a call in its last turn, then every other player draws and swaps
        return self._options.max_rounds * (2 * self.max_turns + 2 * self.num_players - 3)

    def _payoff_range(self) -> tuple[float, float]:
        if self.reward == "plain":
            return -1.0 / (self.num_players - 1), 1.0
        rounds = self._options.max_rounds
        # a player gains only in a round that costs another a life; 25 is a score of 31 against 2
        gains = min(rounds, self.lives * (self.num_players - 1))
        return -(7.0 + 0.3 * self.lives) * rounds, 25.0 * gains

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] fresh matches; `decks` [G, 52] order round one, `seeds` [G] all later chance."""
        dealt = shuffled_decks(num_games, rng) if decks is None else decks
        later = draw_seeds(num_games, rng) if seeds is None else np.asarray(seeds, dtype=np.uint64)
        states = np.zeros(num_games, dtype=STATE_DTYPE)
        deal_matches(states, dealt, later, self._options)
        return States(states)

    def occupied_seats(self, states: States) -> Bools:
        """[G, P] which seats are occupied, in matches that have just been dealt."""
        return states["lives"][:, : self.num_players] > 0

    def current_player(self, states: AnyStates) -> Players:
        """[G] who decides next; NO_PLAYER when the match is over or UNRESOLVED."""
        return states["player"].copy()

    def are_valid(self, states: AnyStates) -> Bools:
        """[G] whether each record can occur."""
        return are_valid(states, self._options)

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] 0 for a turn, 1 for a swap."""
        return (states["phase"] == SWAP).astype(np.int8)

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, A] legal actions of the current player."""
        return mark_legal(states)

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Play `actions` [G] in place. In an InfoState actions name hand positions as its owner sees them."""
        apply_actions(states, actions, self._options)

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether the match has ended."""
        return states["phase"] == OVER

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, P] paid so far."""
        return states["paid"][:, : self.num_players].copy()

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] what `players` [G] know."""
        return InfoStates(hide(states, players))

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] full states; with `weights` [G, P, 52] hands are drawn card by card in proportion to them."""
        if weights is None:
            weights = np.zeros((0, self.num_players, 52), dtype=np.float32)
        return States(fill_hidden(info_states, draw_seeds(len(info_states), rng), weights))

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] the blocks of the spec."""
        if self.features == "paper":
            return observe_paper(info_states, players)
        table = observe_table(info_states, players, self.max_turns, self._options.max_rounds)
        if self.features == "table":
            return table
        return observe_opponent_statistics(table, info_states, players)

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, 52] who holds each card; the pending card belongs to the player who drew it."""
        return find_holders(states)

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """A short description of `action`."""
        return move_text(info_state, action)

    def render(self, info_state: InfoStates) -> str:
        """The table as its owner sees it."""
        return table_text(info_state, self.num_players)
