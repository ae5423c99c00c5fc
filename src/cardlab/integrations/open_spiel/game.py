"""A game of OpenSpiel as a Game: what its players know is in the record, all else is found by the history."""

from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import Text, invalid, option, options
from cardlab.games.base import BaseGame
from cardlab.games.protocol import (
    NO_PLAYER,
    Actions,
    AnyStates,
    Bools,
    Floats,
    GameSpec,
    InfoStates,
    Players,
    States,
    layout,
)
from cardlab.games.record_arrays import copied, put, take
from cardlab.integrations.open_spiel.facts import Facts, read_facts
from cardlab.integrations.open_spiel.positions import HIDDEN, NONE, Positions, positions_of

VERSION = "2.0.2"  # that of the extra open_spiel


@options("game")
class OpenSpiel(BaseGame):
    """A game of OpenSpiel. Simultaneous moves are made in turn, unseen by the players who have still to move."""

    abilities: ClassVar[Mapping[str, str]] = {"exploitability": ".exploitability"}

    text: Text = option("leduc_poker", "game of OpenSpiel with its parameters, e.g. leduc_poker(players=3)")
    version: Text = option(VERSION, "version of OpenSpiel that is installed: results belong to it")

    def __post_init__(self) -> None:
        read_facts(self.text)
        installed = metadata.version("open_spiel")
        if self.version != installed:
            raise invalid(self, "version", f"{installed}, which is installed")

    @property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        return _spec(self.text, self.version)

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """Facts.record."""
        return self._facts.record

    @property
    def determinizes(self) -> bool:
        """Whether `determinize` is there: in games whose moves all players see, with few deals."""
        return self._facts.determinizes

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] new games; all chance is from `seeds`."""
        states = np.zeros(num_games, dtype=self.state_dtype)
        states["seed"] = rng.integers(2**64, size=num_games, dtype=np.uint64) if seeds is None else seeds
        states["history"] = NONE
        return self._positions.settle(States(states), np.ones(num_games, dtype=np.bool_))

    def states_of(self, records: States) -> States:
        """[G] full states of the histories and seeds of `records`."""
        return self._positions.settle(records, np.zeros(len(records), dtype=np.bool_))

    def current_player(self, states: AnyStates) -> Players:
        """[G] who decides next; NO_PLAYER when the game is over, or where chance or another player decides unseen."""
        return states["mover"].copy()

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether the game has ended."""
        return states["over"].copy()

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, P] returns so far."""
        return states["payoffs"].copy()

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, A] legal actions; none in an InfoState whose owner is not to move."""
        legal = np.unpackbits(states["legal"], axis=1, count=self.spec.num_actions, bitorder="little")
        return legal.view(np.bool_)

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Play in place. On InfoStates of games with hidden moves or deals the action is kept as `pending`."""
        moving = states["mover"] != NO_PLAYER
        waits = moving & (states["owner"] != NO_PLAYER) & (not self._facts.perfect)
        if waits.any():
            states["pending"][waits] = actions[waits]
            states["mover"][waits] = NO_PLAYER
            states["legal"][waits] = 0
            moving &= ~waits
        rows = np.flatnonzero(moving)
        if not rows.size:
            return
        before = take(states, rows)
        before["history"][np.arange(rows.size), before["length"]] = actions[rows]
        before["length"] += 1
        owners = before["owner"]
        after = self._positions.settle(States(before), owners == NO_PLAYER)
        if (owners != NO_PLAYER).any():
            after = self._seen(after, owners, owners == NO_PLAYER)
        put(states, rows, after)

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] what `players` know: seed and hidden moves are blank, and the legal actions of others."""
        return InfoStates(self._seen(copied(states), players, states["owner"] != NO_PLAYER))

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] full states, by the probabilities of the deals that agree; `weights` are not used."""
        if not self.determinizes:
            return super().determinize(info_states, players, rng, weights)
        states, seeds = copied(info_states), rng.integers(2**64, size=len(info_states), dtype=np.uint64)
        if not self._facts.perfect:
            for row, uniform in enumerate(rng.random(len(states)).tolist()):
                found, sums = self._positions.deals(info_states[row])
                drawn = int(np.searchsorted(sums, uniform * sums[-1], side="right"))
                states[row] = found[min(drawn, len(sums) - 1)]
        states["seed"] = seeds
        return self.states_of(States(states))

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] OpenSpiel's tensor, and the action whose result the player cannot see."""
        size = self.spec.blocks[0].size
        features = np.zeros((len(info_states), self.spec.num_features), dtype=np.float32)
        tensors = info_states["tensor"]
        bits = self._facts.bits
        features[:, :size] = np.unpackbits(tensors, axis=1, count=size, bitorder="little") if bits else tensors
        if not self._facts.perfect:
            rows = np.flatnonzero(info_states["pending"] != NONE)
            features[rows, size + info_states["pending"][rows]] = 1
        return features

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """OpenSpiel's name of the action."""
        state = self._positions.state(info_state)
        player = max(0, int(info_state["mover"]))
        source = self._facts.game if state is None or state.current_player() != player else state
        return source.action_to_string(player, int(action))

    def render(self, info_state: InfoStates) -> str:
        """What the owner sees, in OpenSpiel's words."""
        state, facts = self._positions.state(info_state), self._facts
        if state is None:
            return super().render(info_state)
        player = max(0, int(info_state["owner"]))
        if facts.perfect:
            return str(state)
        kind = facts.game.get_type()
        if facts.has_recall and kind.provides_information_state_string:
            return state.information_state_string(player)
        return state.observation_string(player)

    def _seen(self, states: Any, players: Players, ready: Bools) -> Any:
        """`states` [G], changed in place to what `players` know; rows that are `ready` are InfoStates already."""
        hide = ~ready
        owners = np.where(ready, states["owner"], players)
        others = np.flatnonzero(hide & (states["mover"] != owners))
        if others.size:
            rows = take(states, others)
            states["tensor"][others] = self._positions.tensors(rows, owners[others])
            states["legal"][others] = 0
        states["owner"] = owners
        states["seed"][hide] = 0
        if self._facts.perfect:
            return states
        if self._facts.public:
            states["history"][states["history"] < NONE] = HIDDEN
        else:
            states["history"][hide], states["length"][hide] = NONE, 0
        return states

    @property
    def _facts(self) -> Facts:
        return read_facts(self.text)

    @property
    def _positions(self) -> Positions:
        return positions_of(self.text)


@cache
def _spec(text: str, version: str) -> GameSpec:
    facts, game = read_facts(text), read_facts(text).game
    actions = game.num_distinct_actions()
    pending = {} if facts.perfect else {"pending": (actions,)}
    return GameSpec(
        name=facts.name,
        num_players=game.num_players(),
        num_actions=actions,
        max_decisions=game.max_game_length(),
        payoff_range=(game.min_utility(), game.max_utility()),
        zero_sum=facts.is_zero_sum,
        decision_kinds=("move",),
        action_kinds=(0,) * actions,
        blocks=layout(tensor=facts.shape, **pending),
        options={"text": text, "version": version},
        payoff_scale=facts.payoff_scale,
    )
