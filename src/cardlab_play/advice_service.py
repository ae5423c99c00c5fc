"""Asking agents what they think: who is asked, and what of a table they are shown."""

from dataclasses import dataclass
from typing import Any

from cardlab_play.advice import How, advice
from cardlab_play.beliefs import Beliefs
from cardlab_play.errors import Conflict
from cardlab_play.players import Player
from cardlab_play.review import review
from cardlab_play.serializers import result_message
from cardlab_play.table_store import Held, House

RANDOM = Player("random")


@dataclass
class Consulting:
    """Advice in a game and the review after it."""

    house: House
    beliefs: Beliefs

    def _advisor(self, held: Held, agent: str | None, search: str | None) -> Player:
        """Who is asked: the one named, else the game's advisor."""
        players = self.house.players
        advisor = Player(agent, search or None) if agent else Player(players.advisor(held.game).agent, search or None)
        players.check(held.game, advisor, "query")
        return advisor

    def advise(self, held: Held, agent_name: str | None, search: str | None) -> dict[str, Any]:
        """What the agent of that name, else the game's advisor, would do now; Conflict unless the person is to move."""
        table, players = held.table, self.house.players
        advisor = self._advisor(held, agent_name, search)
        number, known = len(table.actions), table.known()
        if not table.waits:
            raise Conflict("advice is for your turn, and the game is over")
        quick = Player(advisor.agent)
        agent = players.load(held.game, advisor)
        companion = players.load(held.game, RANDOM if players.is_slow(quick) else quick)
        how = How(self.house.options.advice_deals, self.beliefs.of(held.game))
        message = advice(held.game, agent, companion, known, table.seats, how)
        return {"agent": self._agent_message(advisor), "number": number, **message}

    def review(self, held: Held, agent_name: str | None) -> dict[str, Any]:
        """The replay, judged by the agent of that name, else by the game's advisor; Conflict before the end."""
        advisor = self._advisor(held, agent_name, None)
        if not held.table.over:
            raise Conflict("the replay is for games that are over")
        frames, worst = review(held.table, self.house.players.load(held.game, advisor))
        return {
            "id": held.row.id,
            "game": held.game.spec.name,
            "seat": held.table.seat,
            "agent": self._agent_message(advisor),
            "result": result_message(held, self.house.players),
            "frames": frames,
            "worst": worst,
        }

    def _agent_message(self, player: Player) -> dict[str, Any]:
        return {"agent": player.agent, "search": player.search, "title": self.house.players.title(player)}
