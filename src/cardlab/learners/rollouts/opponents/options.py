"""Options of opponents. This module imports no torch, so that invalid values are reported without delay."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from cardlab.core.options import NUMERIC, Flag, InvalidOption, Number, Text, Whole, option, options
from cardlab.games.protocol import Game
from cardlab.learners.rollouts.opponents.catalogue import OPPONENTS

if TYPE_CHECKING:
    from cardlab.learners.rollouts.opponents.protocol import AgentOf, Opponents
    from cardlab.networks.protocol import Network

_MAX_OPPONENTS = 127  # seats are int8
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False), NUMERIC]


@options("opponents")
class SelfPlayOptions:
    """Self-play: the learner plays at every seat and learns from every seat."""

    name: ClassVar[str] = "self_play"

    def build(self, game: Game, agent_of: "AgentOf", network: "Network") -> "Opponents":
        """The opponents for this game."""
        return resolve_name(OPPONENTS[self.name])({}, game, share=0.0)


@options("opponents")
class ScriptedOptions:
    """Fixed opponents, scripted or trained; the learner learns a best response to them."""

    name: ClassVar[str] = "scripted"
    agents: Mapping[Text, Weight] = option(
        {},
        "agent: weight; an agent is a name with options (threshold:level:30), a policy's folder or champion",
        factory=lambda: {"random": 1.0},
    )
    share: Number = option(1.0, "share of games against these agents; the others are self-play", ge=0, le=1)
    distinct: Flag = option(False, "true: no agent has two seats in a game")

    def __post_init__(self) -> None:
        if not sum(self.agents.values()) > 0:
            raise InvalidOption(
                "opponents.agents", dict(self.agents), "agents with weights, at least one of them above 0"
            )
        _check_number(self.agents, _MAX_OPPONENTS, "")

    def build(self, game: Game, agent_of: "AgentOf", network: "Network") -> "Opponents":
        """The opponents for this game; InvalidOption if an agent does not play it."""
        others = game.spec.num_players - 1
        if self.distinct and sum(weight > 0 for weight in self.agents.values()) < others:
            raise InvalidOption("opponents.distinct", True, f"false with fewer than {others} agents of weight above 0")
        return resolve_name(OPPONENTS[self.name])(self.agents, game, self.share, self.distinct)


@options("opponents")
class PoolOptions:
    """Self-play in most games; in the others a pool of checkpoints and other agents."""

    name: ClassVar[str] = "pool"
    size: Whole = option(8, "most recent checkpoints in the pool", ge=1, le=100)
    every: Whole = option(20, "updates between two checkpoints", ge=1)
    current_share: Number = option(0.8, "share of games that are pure self-play", ge=0, le=1)
    agents: Mapping[Text, Weight] = option(
        {}, "agent: weight, beside the checkpoints, which weigh 1 each; e.g. {greedy: 2}", factory=dict[str, float]
    )
    same_agent: Flag = option(False, "true: one agent for all opponents' seats of a game; false: one draw per seat")
    priority: Number = option(
        0.0,
        "exponent p: an agent is drawn by weight · (1 − x)^p, x the learner's recent win rate against it",
        ge=0,
        le=10,
    )

    def __post_init__(self) -> None:
        _check_number(self.agents, _MAX_OPPONENTS - self.size, f" with opponents.size={self.size}")

    def build(self, game: Game, agent_of: "AgentOf", network: "Network") -> "Opponents":
        """The opponents for this game, `network` as first checkpoint; InvalidOption if an agent does not play it."""
        return resolve_name(OPPONENTS[self.name])(self, game, agent_of, network)


def _check_number(agents: Mapping[str, float], most: int, beside: str) -> None:
    if len(agents) > most:
        raise InvalidOption("opponents.agents", f"({len(agents)} agents)", f"at most {most} agents{beside}")


OPPONENT_OPTIONS = {options.name: options for options in (SelfPlayOptions, ScriptedOptions, PoolOptions)}
"""Kinds of opponents by registry key, as in conf/opponents/."""
