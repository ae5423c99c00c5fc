"""Advice during a game and the review after it: selects the agent and builds the messages."""

from dataclasses import dataclass
from typing import Any

from cardlab_play.advice import AdviceSettings, advice
from cardlab_play.agent_catalog import AgentChoice
from cardlab_play.belief_networks import BeliefNetworks
from cardlab_play.errors import Conflict
from cardlab_play.review import review
from cardlab_play.serializers import result_message
from cardlab_play.table_store import LiveTable, TableStore

RANDOM = AgentChoice("random")


@dataclass
class AdviceService:
    """Advice for the player to move, and reviews of finished games."""

    store: TableStore
    belief_networks: BeliefNetworks

    def _advisor(self, live: LiveTable, agent: str | None, search: str | None) -> AgentChoice:
        """The requested agent, or the default advisor of the game."""
        agents = self.store.agents
        advisor = AgentChoice(agent or agents.advisor(live.game).agent, search or None)
        agents.check(live.game, advisor, "query")
        return advisor

    def advise(self, live: LiveTable, agent_name: str | None, search: str | None) -> dict[str, Any]:
        """The advice of an agent. Raises Conflict unless the player is to move."""
        table, agents = live.table, self.store.agents
        advisor = self._advisor(live, agent_name, search)
        number, info_state = len(table.actions), table.info_state()
        if not table.user_to_move:
            raise Conflict("the game is over: advice is available during the game only")
        without_search = AgentChoice(advisor.agent)
        agent = agents.load(live.game, advisor)
        rollout_agent = agents.load(live.game, RANDOM if agents.is_slow(without_search) else without_search)
        settings = AdviceSettings(self.store.options.advice_deals, self.belief_networks.for_game(live.game))
        message = advice(live.game, agent, rollout_agent, info_state, table.players, settings)
        return {"agent": self._agent_message(advisor), "number": number, **message}

    def review(self, live: LiveTable, agent_name: str | None) -> dict[str, Any]:
        """The replay with an agent's review. Raises Conflict before the end of the game."""
        advisor = self._advisor(live, agent_name, None)
        if not live.table.is_over:
            raise Conflict("the replay is available after the end of the game only")
        frames, largest_drops = review(live.table, self.store.agents.load(live.game, advisor))
        return {
            "id": live.row.id,
            "game": live.game.spec.name,
            "seat": live.table.seat,
            "agent": self._agent_message(advisor),
            "result": result_message(live, self.store.agents),
            "frames": frames,
            "largest_drops": largest_drops,
        }

    def _agent_message(self, choice: AgentChoice) -> dict[str, Any]:
        return {"agent": choice.agent, "search": choice.search, "title": self.store.agents.title(choice)}
