"""Big 2 as a `Game`."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import option, options
from cardlab.games.array_checks import InvalidArray, checked
from cardlab.games.big2 import hidden_cards, rules
from cardlab.games.big2 import observation as features
from cardlab.games.big2.action_features import ACTION_BLOCKS, BLOCKS_WITH_PLANS, describe_actions, describe_plans
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, DECK_CARD, KINDS, NUM_ACTIONS, PASS, classify
from cardlab.games.cards.deck import NUM_CARDS, cards_text, draw_seeds, shuffled_decks
from cardlab.games.protocol import (
    Actions,
    AnyStates,
    Bools,
    Floats,
    GameSpec,
    InfoStates,
    Players,
    Starts,
    States,
)
from cardlab.games.record_arrays import copied


@checked
@options("game")
class Big2:
    """Big 2: four players shed thirteen cards each; a hand is followed by a better one of as many cards."""

    agents: ClassVar[Mapping[str, str]] = {
        "lowest": ".agents:Big2LowestAgent",
        "greedy": ".agents:Big2GreedyAgent",
        "planner": ".agents:Big2PlannerAgent",
    }
    abilities: ClassVar[Mapping[str, str]] = {
        "playouts": ".playouts",
        "endgame": ".endgame",
        "outcomes": ".outcomes",
    }

    opening: Literal["forced", "choose"] = option(
        "forced", "forced: the 3 of diamonds is led as a single; choose: its holder leads any hand that contains it"
    )
    penalty: Literal["plain", "doubled"] = option(
        "plain", "plain: one point for each card left; doubled: two each from 10 cards left, three each at 13"
    )
    straight_flush: Literal["ranked", "unbeatable"] = option(
        "ranked", "ranked: a higher one beats a lower one; unbeatable: nothing beats one, as in the published code"
    )
    features: Literal["published", "full", "plans"] = option(
        "published",
        "observation: published (412 numbers), full (761: every play and pass), plans (full, with action outcomes)",
    )

    @cached_property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        loss = 39.0 if self.penalty == "doubled" else 13.0
        return GameSpec(
            name="big2",
            num_players=rules.NUM_PLAYERS,
            num_cards=NUM_CARDS,
            num_actions=NUM_ACTIONS,
            # At most 49 plays, with one card left to each loser, and three passes before each play but the first.
            max_decisions=192 if self.opening == "forced" else 193,
            payoff_range=(-loss, 3 * loss),
            payoff_scale=5.0,
            zero_sum=True,
            decision_kinds=("play",),
            action_kinds=(0,) * NUM_ACTIONS,
            blocks=features.PUBLISHED if self.features == "published" else features.FULL,
            action_blocks=BLOCKS_WITH_PLANS if self.features == "plans" else ACTION_BLOCKS,
            privileged_blocks=features.PRIVILEGED,
            options=asdict(self),
        )

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """The record of one game, 66 bytes."""
        return rules.STATE_DTYPE

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] fresh games; `seeds` is unused, since no chance follows the deal."""
        states = States(np.empty(num_games, dtype=rules.STATE_DTYPE))
        decks = shuffled_decks(num_games, rng) if decks is None else decks
        rules.deal(states, decks, self.opening == "forced")
        return states

    def current_player(self, states: AnyStates) -> Players:
        """[G] who decides next; NO_PLAYER when the game is over or UNRESOLVED."""
        return rules.current_player(states)

    def are_valid(self, states: AnyStates) -> Bools:
        """[G] whether each record can occur."""
        return hidden_cards.are_valid(states, self.opening == "forced", self.straight_flush == "unbeatable")

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] zeros: there is one kind of decision."""
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, 1695] legal actions of the current player."""
        return rules.legal_actions(states, self.straight_flush == "unbeatable")

    def list_legal_actions(self, states: AnyStates) -> tuple[Actions, Starts]:
        """Legal actions [K], ascending in each game, and their starts [G + 1]."""
        return rules.list_legal_actions(states, self.straight_flush == "unbeatable")

    def hidden_choices(self, states: AnyStates) -> Bools:
        """[G] whether cards of the current player are hidden: an opponent's turn in an InfoState."""
        return rules.hidden_choices(states)

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Play `actions` [G] in place; an opponent's play of hidden cards makes an InfoState UNRESOLVED."""
        rules.apply(states, actions)

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether a player has shed all cards."""
        return states["phase"] == rules.OVER

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, 4] payments at the end of the game, zeros before."""
        return rules.payoffs(states, self.penalty == "doubled")

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] copies without the opponents' cards; their counts and all played cards stay."""
        info_states = InfoStates(copied(states))
        hidden_cards.hide(info_states, players)
        return info_states

    def history(self, states: States) -> tuple[NDArray[np.int8], Actions]:
        """Decks [G, 52] and actions [G, T], behind the last -1: `deal` with the deck, then `apply`, gives the state.

        Raises InvalidArray for states with hidden cards.
        """
        if (states["place"] == rules.HIDDEN).any():
            raise InvalidArray("states: must be complete; these hide cards, as InfoStates do")
        return rules.history(states, self.opening == "forced")

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] full states: the unseen cards dealt to the opponents by their counts.

        Deals are uniform, or have exactly the probability given by the product of `weights` [G, 4, 52] (at least 0, at
        [g, p, c] for player p with card c of the deck). They are uniform in rows where all deals have weight 0.
        """
        states = copied(info_states)
        seeds = draw_seeds(len(states), rng)
        if weights is None:
            hidden_cards.deal_unseen(states, seeds)
        else:
            hidden_cards.deal_by_weights(states, weights, seeds)
        return States(states)

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] observations in the blocks of the spec."""
        if self.features == "published":
            return features.observe_published(info_states, players)
        return features.observe_full(info_states, players)

    def action_features(self, info_states: InfoStates, players: Players) -> tuple[NDArray[np.intp], Actions, Floats]:
        """Rows [K], actions [K], features [K, Fa] of the legal actions."""
        actions, starts = self.list_legal_actions(info_states)
        rows = np.repeat(np.arange(len(info_states)), np.diff(starts))
        described = describe_actions(info_states, rows, actions)
        if self.features == "plans":
            described = np.concatenate((described, describe_plans(info_states, rows, actions)), axis=1)
        return rows, actions, described

    def privileged(self, states: States, players: Players) -> Floats:
        """[G, 156] the hands of the next three players."""
        return features.write_hands(states, players)

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, 52] who has each card in hand, -1 for no one."""
        return rules.holders(states)

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """`pass`, or the kind and the cards, as in `pair 3d 3c`; positions if the cards are hidden."""
        if action == PASS:
            return "pass"
        positions = ACTION_POSITIONS[action, : ACTION_SIZES[action]]
        player = (int(info_state["opener"]) + int(info_state["moves"])) % rules.NUM_PLAYERS
        held = _held(info_state, player)
        if positions[-1] >= held.size:
            return "cards at " + " ".join(str(position) for position in positions)
        cards = held[positions]
        kind, _ = classify(cards, cards.size)
        return f"{KINDS[kind]} {cards_text(DECK_CARD[cards])}"

    def render(self, info_state: InfoStates) -> str:
        """One line per player, with the known cards in hand, and one line for the hand to beat."""
        mover = int(rules.current_player(InfoStates(info_state.reshape(1)))[0])
        lines = [_player_line(info_state, player, mover) for player in range(rules.NUM_PLAYERS)]
        return "\n".join([*lines, _trick_line(info_state)])


def _held(info_state: InfoStates, player: int) -> NDArray[np.int8]:
    return np.flatnonzero(info_state["place"] == player).astype(np.int8)


def _cards_of_move(info_state: InfoStates, move: int) -> NDArray[np.intp]:
    return np.flatnonzero(info_state["place"] == rules.PLAYED + move)


def _player_line(info_state: InfoStates, player: int, mover: int) -> str:
    marker = ">" if player == mover else " "
    known = cards_text(DECK_CARD[_held(info_state, player)])
    hidden = int(info_state["counts"][player]) - _held(info_state, player).size
    cards = " ".join(part for part in (known, "?? " * hidden) if part).rstrip()
    return f"{marker} {player}: {cards or '-'}"


def _trick_line(info_state: InfoStates) -> str:
    phase = int(info_state["phase"])
    if phase != rules.PLAYING:
        return "over" if phase == rules.OVER else "waits for cards that are not known"
    if info_state["kind"] < 0:
        return "control"
    move = int(info_state["moves"]) - 1 - int(info_state["passes"])
    player = (int(info_state["opener"]) + move) % rules.NUM_PLAYERS
    cards = cards_text(DECK_CARD[_cards_of_move(info_state, move)])
    return f"to beat: {KINDS[int(info_state['kind'])]} {cards} by {player}, {int(info_state['passes'])} passes"
