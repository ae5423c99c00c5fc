"""One table under way: the truth, who sits where, and what its person has seen of it.

The truth (`States`) never leaves this file: everything else gets the InfoState of the person's seat, and, where the
rules show all hands, what each player knows.
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
from cardlab_play.views.protocol import GameView, Json, Shown


class IllegalMove(ValueError):
    """What a person asked for is not among the legal actions."""


@dataclass
class _Hand:
    """The person's seat: plays the action that was put there."""

    action: int = -1

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        return np.array([self.action], dtype=np.int16)


@dataclass
class _Chair:
    """An agent whose chance depends on the deal, the seat and the number of the move alone.

    So the same moves on the same deal get the same answers, also after a restart and at another person's table.
    """

    agent: Agent
    deal: Deal
    table: "Table"

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        return self.agent.act(info_states, players, self.deal.stream(len(self.table.actions), int(players[0])))


@dataclass(frozen=True)
class Step:
    """One decision, as the person saw it."""

    number: int  # of the action, from 1; 0 for the deal
    player: int | None
    before: InfoStates  # [1]
    after: InfoStates  # [1]
    shown: Shown  # what each player knew, where the rules show all hands; else empty
    action: int = -1


@dataclass
class Table:
    """A game between one person, at `seat`, and `agents` at the other seats in their order."""

    game: Game
    deal: Deal
    seat: int
    agents: Sequence[Agent]
    actions: list[int] = field(default_factory=list[int], init=False)
    steps: list[Step] = field(default_factory=list[Step], init=False)

    def __post_init__(self) -> None:
        self._view: GameView = make_view(self.game)
        self._states: States = self.deal.states(self.game)
        self._hand = _Hand()
        others = iter(self.agents)
        players = range(self.game.spec.num_players)
        chairs: list[Agent] = [
            self._hand if player == self.seat else _Chair(next(others), self.deal, self) for player in players
        ]
        self._moves: Iterator[Moves] = play(self.game, self._states, chairs, np.random.default_rng(0))
        opening = self.known()
        self.steps.append(Step(0, None, opening, opening, self._all_known() if self.over else ()))
        self._batch = 0  # index of the first step that the person has not answered yet

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.game.is_over(self._states)[0])

    @property
    def waits(self) -> bool:
        """Whether the person is to move."""
        return int(self.game.current_player(self._states)[0]) == self.seat

    @property
    def seats(self) -> Players:
        """[1] the person's seat, as games ask for players."""
        return np.array([self.seat], dtype=np.int8)

    def known(self) -> InfoStates:
        """[1] what the person knows now."""
        return self.game.information(self._states, self.seats)

    def payoffs(self) -> list[float]:
        """[P] what each player has been paid; of games that are over."""
        return [float(payoff) for payoff in self.game.payoffs(self._states)[0]]

    def legal(self) -> list[int]:
        """The person's legal actions; none unless the table waits."""
        return np.flatnonzero(self.game.legal_actions(self.known())[0]).tolist() if self.waits else []

    def answer(self, action: int) -> None:
        """Play the person's `action`; IllegalMove unless it is legal now."""
        if action not in self.legal():
            raise IllegalMove(f"action {action} is not legal here")
        self._batch = len(self.steps)
        self._hand.action = action
        self._step()

    def play_on(self) -> None:
        """Let the agents move until the person is to, or the game is over."""
        while not self.over and not self.waits:
            self._step()

    def repeat(self, actions: Sequence[int]) -> None:
        """Play `actions` of all players, which were played before."""
        for action in actions:
            if self.waits:
                self.answer(action)
            else:
                self._take(action)

    def finish(self, agent: Agent) -> None:
        """Play on to the end with `agent` at the person's seat."""
        chair = _Chair(agent, self.deal, self)
        if self.waits:
            self._batch = len(self.steps)
        while not self.over:
            if self.waits:
                self._hand.action = int(chair.act(self.known(), self.seats, np.random.default_rng(0))[0])
            self._step()

    def picture(self) -> Json:
        """The table as the person may see it."""
        return self._picture(self.steps[-1])

    def choices(self) -> list[Json]:
        """The legal actions with their texts."""
        known = self.known()
        return [
            {"action": action, "text": self.action_text(known, action), **self._view.choice(known, action)}
            for action in self.legal()
        ]

    def action_text(self, known: InfoStates, action: int) -> str:
        """What an action of the person means."""
        return self.game.action_text(InfoStates(known[0]), action)

    def news(self) -> list[Json]:
        """What happened since and with the person's last move."""
        return [event for step in self.steps[self._batch :] for event in self.events(step)]

    def history(self, most: int) -> list[Json]:
        """What happened so far, at most the last events, as it was told when it did, without the tables."""
        told = [event for step in self.steps[-most:] for event in self.events(step)][-most:]
        return [{key: value for key, value in event.items() if key != "view"} for event in told]

    def events(self, step: Step) -> list[Json]:
        """A step as the person saw it, with the table after it; a showdown is an event of its own behind it."""
        after = {"view": self._picture(step)}
        if step.player is None:
            opening = self._view.opening(step.after)
            return [{"number": 0, "player": None, "kind": "deal", "text": "deal", **opening, **after}]
        seen = self._view.event(step.before, step.after, step.player, step.shown)
        events: list[Json] = [{"number": step.number, "player": step.player, **seen, **after}]
        if step.shown and self._view.shows_hands(step.before, step.after):
            showdown = self._view.showdown(step.before, step.after, step.shown)
            if showdown is not None:
                events[0] = {**events[0], "view": None}
                events.append({"number": step.number, **showdown, **after})
        return events

    def open_hands(self) -> list[list[list[str]] | None]:
        """[steps] everybody's cards after each step of a game that is over, as the replay shows them."""
        if not self.over:
            raise RuntimeError("hands are shown when the game is over")
        states = self.deal.states(self.game)
        hands = [self._view.hands(self._all_known(states))]
        for action in self.actions:
            self.game.apply(states, np.array([action], dtype=np.int16))
            hands.append(self._view.hands(self._all_known(states)))
        return hands

    def _picture(self, step: Step) -> Json:
        return self._view.table(step.after, step.shown if step is self.steps[-1] and self.over else ())

    def _all_known(self, states: States | None = None) -> list[InfoStates]:
        """[P] what each player knows."""
        num_players = self.game.spec.num_players
        truth = self._states if states is None else states
        everybody = np.arange(num_players, dtype=np.int8)
        known = self.game.information(States(join([truth] * num_players)), everybody)
        return [InfoStates(known[player : player + 1]) for player in range(num_players)]

    def _take(self, action: int) -> None:
        """The move `action` of an agent, without asking it."""
        player = int(self.game.current_player(self._states)[0])
        legal = self.game.legal_actions(self.game.information(self._states, np.array([player], dtype=np.int8)))[0]
        if player < 0 or not legal[action]:
            raise IllegalMove(f"action {action} is not legal here")
        before = copied(self._states)
        self.game.apply(self._states, np.array([action], dtype=np.int16))
        self._note(before, player, action)

    def _step(self) -> None:
        """One decision by whoever is to move."""
        before = copied(self._states)
        moves = next(self._moves)
        self._note(before, int(moves.players[0]), int(moves.actions[0]))

    def _note(self, before: States, player: int, action: int) -> None:
        known = self.steps[-1].after
        after = self.known()
        shown: Shown = ()
        if self.over or self._view.shows_hands(known, after):
            shown = self._all_known(before)
            self.game.apply(shown[player], np.array([action], dtype=np.int16))
        self.actions.append(action)
        self.steps.append(Step(len(self.actions), player, known, after, shown, action))
