"""A table in memory with its database row."""

from dataclasses import dataclass

from cardlab_play.agent_catalog import AgentChoice
from cardlab_play.database import GameRow
from cardlab_play.errors import RequestError
from cardlab_play.table import Table


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
