"""A table: the state of one game, its agents, and its history as the player saw it.

The full state (`States`) never leaves this module. Callers get InfoStates of the player's seat, and those of all
players where the rules reveal all hands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.record_arrays import copied, join
from cardlab_play.agent_catalog import AgentChoice
from cardlab_play.database import GameRow
from cardlab_play.deals import Deal
from cardlab_play.errors import RequestError
from cardlab_play.views import make_view
from cardlab_play.views.game_view import GameView, Json, Revealed


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
    """A game of one player, at `seat`, against `agents` at the other seats in order.

    Random numbers of an agent depend on the deal, the seat and the number of the move only. The same moves on the same
    deal get the same replies, after a restart and for another user.
    """

    game: Game
    deal: Deal
    seat: int
    agents: Sequence[Agent]
    actions: list[int] = field(default_factory=list[int], init=False)
    steps: list[GameStep] = field(default_factory=list[GameStep], init=False)

    def __post_init__(self) -> None:
        self._game_view: GameView = make_view(self.game)
        self._states: States = self.deal.states(self.game)
        others = [player for player in range(self.game.spec.num_players) if player != self.seat]
        self._opponents = dict(zip(others, self.agents, strict=True))
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
        return self._current_player() == self.seat

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
        return _legal_actions(self.game, self.info_state()) if self.user_to_move else []

    def play_action(self, action: int) -> None:
        """Play `action` of the player, or a recorded one of an agent. Raises RequestError unless it is legal."""
        first_recent = len(self.steps) if self.user_to_move else self._first_recent
        self._apply(action)
        self._first_recent = first_recent

    def play_agents(self) -> None:
        """Let the agents move until the player is to move or the game is over."""
        self._play(self._opponents)

    def finish(self, agent: Agent) -> None:
        """Play to the end with `agent` at the player's seat."""
        if self.user_to_move:
            self._first_recent = len(self.steps)
        self._play({**self._opponents, self.seat: agent})

    def view(self) -> Json:
        """The table as the player may see it."""
        return self._view(self.steps[-1])

    def legal_moves(self) -> list[Json]:
        """The legal actions with their texts."""
        info_state = self.info_state()
        return [self.move_message(info_state, action) for action in self.legal_actions()]

    def move_message(self, info_state: InfoStates, action: int) -> Json:
        """An action of the player with its text and what the view needs to show it."""
        text = self.action_text(info_state, action)
        return {"action": action, "text": text, **self._game_view.action_message(info_state, action)}

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
        if not move["text"]:  # a view of text knows what the viewer sees
            move["text"] = self.action_text(step.before, step.action) if step.player == self.seat else "a move"
        if self.is_over:
            move = self._game_view.opened(move, step.player, self.steps[-1].after)
        event = {"number": step.number, "player": step.player, **move}
        if not self._game_view.reveals_hands(step.before, step.after):
            return [{**event, **after}]
        showdown = self._game_view.showdown(step.before, step.after, step.revealed)
        shown = self._game_view.hands_shown(step.player, step.revealed)
        return [{**event, "view": shown}, {"number": step.number, **showdown, **after}]

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

    def _current_player(self) -> int:
        return int(self.game.current_player(self._states)[0])

    def _all_info_states(self, states: States | None = None) -> list[InfoStates]:
        """[P] the InfoState of each player."""
        num_players = self.game.spec.num_players
        truth = self._states if states is None else states
        everyone = np.arange(num_players, dtype=np.int8)
        info_state = self.game.information(States(join([truth] * num_players)), everyone)
        return [InfoStates(info_state[player : player + 1]) for player in range(num_players)]

    def _play(self, agents: Mapping[int, Agent]) -> None:
        """Let `agents`, by seat, move while one of them is to move. Forced moves are played without asking."""
        while (player := self._current_player()) in agents:
            players = np.array([player], dtype=np.int8)
            info_state = self.game.information(self._states, players)
            legal = _legal_actions(self.game, info_state)
            if len(legal) > 1:
                rng = self.deal.rng(len(self.actions), player)
                legal = agents[player].act(info_state, players, rng).tolist()
            self._apply(legal[0])

    def _apply(self, action: int) -> None:
        """Play `action` for the player to move and record it."""
        player = self._current_player()
        info_state = self.game.information(self._states, np.array([player], dtype=np.int8))
        if action not in _legal_actions(self.game, info_state):
            raise RequestError(422, f"action {action} is not legal here", "action")
        states_before, before = copied(self._states), self.steps[-1].after
        self.game.apply(self._states, np.array([action], dtype=np.int16))
        after = self.info_state()
        revealed: Revealed = ()
        if self.is_over or self._game_view.reveals_hands(before, after):
            revealed = self._all_info_states(states_before)
            self.game.apply(revealed[player], np.array([action], dtype=np.int16))
        self.actions.append(action)
        self.steps.append(GameStep(len(self.actions), player, before, after, revealed, action))


def _legal_actions(game: Game, info_states: InfoStates) -> list[int]:
    """The legal actions of the current player, from its InfoState [1]."""
    return np.flatnonzero(game.legal_actions(info_states)[0]).tolist()


@dataclass
class LiveTable:
    """A table in memory and its database row."""

    row: GameRow
    table: Table
    par_failed: bool = False  # the par agent failed: the game has no par
    agents_replaced: bool = False  # by random agents because one failed to load: the result does not count

    @property
    def opponents(self) -> list[AgentChoice]:
        """The agents by seat, without the player's."""
        return [AgentChoice(**opponent) for opponent in self.row.deal.opponents]

    @property
    def par(self) -> AgentChoice:
        """The agent that plays the same deal for comparison."""
        return AgentChoice(**self.row.deal.par)


def check_practice(live: LiveTable, what: str) -> None:
    """Raise a 409 in a game that counts."""
    if live.row.counts:
        raise RequestError(409, f"this game counts: {what} is for practice games")
