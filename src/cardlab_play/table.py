"""A table: the state of one game, its agents, and its history as the player saw it.

The full state (`States`) never leaves this module. Callers get InfoStates of the player's seat, and those of all
players where the rules reveal all hands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import Moves, play
from cardlab.games.protocol import Actions, Game, InfoStates, Players, States
from cardlab.games.rows import copied, join
from cardlab_play.deals import Deal
from cardlab_play.views.catalogue import make_view
from cardlab_play.views.protocol import GameView, Json, Revealed


class IllegalMove(ValueError):
    """The action is not legal."""


@dataclass
class _UserAgent:
    """The player's seat: plays the action that was set."""

    action: int = -1

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        return np.array([self.action], dtype=np.int16)


@dataclass
class _SeededAgent:
    """An agent whose random numbers depend on the deal, the seat and the number of the move only.

    The same moves on the same deal get the same replies, after a restart and for another user.
    """

    agent: Agent
    deal: Deal
    table: "Table"

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        return self.agent.act(info_states, players, self.deal.rng(len(self.table.actions), int(players[0])))


@dataclass(frozen=True)
class GameStep:
    """One decision, as the player saw it."""

    number: int  # of the action, from 1; 0: the deal
    player: int | None
    before: InfoStates  # [1]
    after: InfoStates  # [1]
    revealed: Revealed  # InfoStates of all players where the rules reveal all hands, else empty
    action: int = -1


@dataclass
class Table:
    """A game of one player, at `seat`, against `agents` at the other seats in order."""

    game: Game
    deal: Deal
    seat: int
    agents: Sequence[Agent]
    actions: list[int] = field(default_factory=list[int], init=False)
    steps: list[GameStep] = field(default_factory=list[GameStep], init=False)

    def __post_init__(self) -> None:
        self._game_view: GameView = make_view(self.game)
        self._states: States = self.deal.states(self.game)
        self._user_agent = _UserAgent()
        others = iter(self.agents)
        players = range(self.game.spec.num_players)
        agents: list[Agent] = [
            self._user_agent if player == self.seat else _SeededAgent(next(others), self.deal, self)
            for player in players
        ]
        self._moves: Iterator[Moves] = play(self.game, self._states, agents, np.random.default_rng(0))
        opening = self.info_state()
        self.steps.append(GameStep(0, None, opening, opening, self._all_info_states() if self.is_over else ()))
        self._first_recent = 0  # index of the first step since the player's last move

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.game.is_over(self._states)[0])

    @property
    def user_to_move(self) -> bool:
        """Whether the player is to move."""
        return int(self.game.current_player(self._states)[0]) == self.seat

    @property
    def players(self) -> Players:
        """[1] the player's seat, in the form that games take."""
        return np.array([self.seat], dtype=np.int8)

    def info_state(self) -> InfoStates:
        """[1] the player's current InfoState."""
        return self.game.information(self._states, self.players)

    def payoffs(self) -> list[float]:
        """[P] payoffs of a finished game."""
        return [float(payoff) for payoff in self.game.payoffs(self._states)[0]]

    def legal_actions(self) -> list[int]:
        """The player's legal actions, empty unless the player is to move."""
        return np.flatnonzero(self.game.legal_actions(self.info_state())[0]).tolist() if self.user_to_move else []

    def play_action(self, action: int) -> None:
        """Play `action` for the player. Raises IllegalMove unless it is legal."""
        if action not in self.legal_actions():
            raise IllegalMove(f"action {action} is not legal here")
        self._first_recent = len(self.steps)
        self._user_agent.action = action
        self._step()

    def play_agents(self) -> None:
        """Let the agents move until the player is to move or the game is over."""
        while not self.is_over and not self.user_to_move:
            self._step()

    def replay_actions(self, actions: Sequence[int]) -> None:
        """Replay recorded `actions` of all players."""
        for action in actions:
            if self.user_to_move:
                self.play_action(action)
            else:
                self._apply(action)

    def finish(self, agent: Agent) -> None:
        """Play to the end with `agent` at the player's seat."""
        seeded = _SeededAgent(agent, self.deal, self)
        if self.user_to_move:
            self._first_recent = len(self.steps)
        while not self.is_over:
            if self.user_to_move:
                self._user_agent.action = int(seeded.act(self.info_state(), self.players, np.random.default_rng(0))[0])
            self._step()

    def view(self) -> Json:
        """The table as the player may see it."""
        return self._view(self.steps[-1])

    def legal_moves(self) -> list[Json]:
        """The legal actions with their texts."""
        info_state = self.info_state()
        return [
            {
                "action": action,
                "text": self.action_text(info_state, action),
                **self._game_view.action_message(info_state, action),
            }
            for action in self.legal_actions()
        ]

    def action_text(self, info_states: InfoStates, action: int) -> str:
        """The text of a player's action."""
        return self.game.action_text(InfoStates(info_states[0]), action)

    def recent_events(self) -> list[Json]:
        """The events since the player's last move, this move included."""
        return [event for step in self.steps[self._first_recent :] for event in self.events(step)]

    def history(self, limit: int) -> list[Json]:
        """The last `limit` events of the game, without views."""
        events = [event for step in self.steps[-limit:] for event in self.events(step)][-limit:]
        return [{key: value for key, value in event.items() if key != "view"} for event in events]

    def events(self, step: GameStep) -> list[Json]:
        """The events of a step with the view after it. A showdown is a second event."""
        after = {"view": self._view(step)}
        if step.player is None:
            opening = self._game_view.opening(step.after)
            return [{"number": 0, "player": None, "kind": "deal", "text": "deal", **opening, **after}]
        move = self._game_view.event(step.before, step.after, step.player, step.revealed)
        events: list[Json] = [{"number": step.number, "player": step.player, **move, **after}]
        if step.revealed and self._game_view.reveals_hands(step.before, step.after):
            showdown = self._game_view.showdown(step.before, step.after, step.revealed)
            if showdown is not None:
                events[0] = {**events[0], "view": None}
                events.append({"number": step.number, **showdown, **after})
        return events

    def hands_by_step(self) -> list[list[list[str]] | None]:
        """[steps] the hands of all players after each step of a finished game."""
        if not self.is_over:
            raise RuntimeError("hands are available when the game is over")
        states = self.deal.states(self.game)
        hands = [self._game_view.hands(self._all_info_states(states))]
        for action in self.actions:
            self.game.apply(states, np.array([action], dtype=np.int16))
            hands.append(self._game_view.hands(self._all_info_states(states)))
        return hands

    def _view(self, step: GameStep) -> Json:
        return self._game_view.table(step.after, step.revealed if step is self.steps[-1] and self.is_over else ())

    def _all_info_states(self, states: States | None = None) -> list[InfoStates]:
        """[P] the InfoState of each player."""
        num_players = self.game.spec.num_players
        truth = self._states if states is None else states
        everyone = np.arange(num_players, dtype=np.int8)
        info_state = self.game.information(States(join([truth] * num_players)), everyone)
        return [InfoStates(info_state[player : player + 1]) for player in range(num_players)]

    def _apply(self, action: int) -> None:
        """Apply a recorded `action` of an agent."""
        player = int(self.game.current_player(self._states)[0])
        legal_actions = self.game.legal_actions(self.game.information(self._states, np.array([player], dtype=np.int8)))[
            0
        ]
        if player < 0 or not legal_actions[action]:
            raise IllegalMove(f"action {action} is not legal here")
        before = copied(self._states)
        self.game.apply(self._states, np.array([action], dtype=np.int16))
        self._record(before, player, action)

    def _step(self) -> None:
        """Play one decision of the player to move."""
        before = copied(self._states)
        moves = next(self._moves)
        self._record(before, int(moves.players[0]), int(moves.actions[0]))

    def _record(self, before: States, player: int, action: int) -> None:
        info_state = self.steps[-1].after
        after = self.info_state()
        revealed: Revealed = ()
        if self.is_over or self._game_view.reveals_hands(info_state, after):
            revealed = self._all_info_states(before)
            self.game.apply(revealed[player], np.array([action], dtype=np.int16))
        self.actions.append(action)
        self.steps.append(GameStep(len(self.actions), player, info_state, after, revealed, action))
