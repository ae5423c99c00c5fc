"""Options of each search, as in conf/search/."""

from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from cardlab.agents.specs import SEARCHES, split_name
from cardlab.core.messages import InvalidOption
from cardlab.core.options import NUMERIC, Flag, Number, Positive, Text, Whole, check_choice, invalid, option, options
from cardlab.core.parts import find_place, target_of
from cardlab.games.agent_protocol import Agent, agent_text
from cardlab.games.protocol import Game

Resolve = Callable[[Game, str], Agent]
"""Makes the agent that a text names."""

LeafKind = Literal["rollout", "value"]

PolicyText = Annotated[Text | None, Field(description="agent that the search improves")]
Seconds = Annotated[
    Annotated[float, Field(gt=0, allow_inf_nan=False), NUMERIC] | None,
    Field(description="seconds per decision, instead of a count; null: the count holds"),
]
Rollout = Annotated[
    Text | None, Field(description="agent that plays rollouts; null: the policy, or else fast random playouts")
]
Endgame = Annotated[
    Flag, Field(description="play endgames exactly, or by a mean over hidden cards, where the game can solve them")
]
BeliefText = Annotated[
    Text | None, Field(description="belief network or policy by which hidden cards are sampled; null: uniformly")
]
Seed = Annotated[int, Field(ge=0, description="seed of the search"), NUMERIC]
Simulations = Annotated[int, Field(ge=1, description="simulations per decision"), NUMERIC]
TreeDepth = Annotated[Positive | None, Field(description="maximum decisions in the tree; null: no limit")]
Batch = Annotated[int, Field(ge=1, le=4096, description="parallel descents, separated by virtual losses"), NUMERIC]
Leaf = Annotated[LeafKind, Field(description="value of a leaf: rollout (one playout) or value (of the policy)")]


class _Buildable:
    """Base of the searches below."""

    def build(self, game: Game, resolve: Resolve) -> Agent:
        """The agent that searches; `resolve` makes the agents that the options name."""
        return find_place(__name__, "..search_agent:SearchAgent")(game, self, resolve)


@options("search")
class NoSearch:
    """The policy plays as it is."""

    name: ClassVar[str] = "none"


@options("search")
class MonteCarloOptions(_Buildable):
    """Monte Carlo rollouts over sampled deals, shared by all candidates, by sequential halving."""

    name: ClassVar[str] = "monte_carlo"
    policy: PolicyText = None
    simulations: Simulations = 1000
    seconds: Seconds = None
    per_action: Flag = option(False, "`seconds` are for each legal action: more time where there is more choice")
    rollout: Rollout = None
    leaf: Leaf = "rollout"
    depth: Whole = option(0, "decisions played before the value of the policy is taken", ge=0)
    candidates: Whole | None = option(
        None, "number of candidates, the best of the policy; null: every legal action", ge=1
    )
    raw_weight: Number = option(0.0, "weight of the policy's own action values in the choice", ge=0, le=1)
    raw_playouts: Number = option(
        0.0, "playouts that the policy's own action values count as, in place of raw_weight", ge=0
    )
    learn: Number = option(
        0.0, "rate at which the policy's network learns from each search; moves then depend on earlier ones", ge=0, le=1
    )
    learned_policy: Text | None = option(
        None, "new folder that the policy is saved to whenever it has learned; null: it is not saved", min_length=1
    )
    endgame: Endgame = False
    belief: BeliefText = None
    threads: Whole = option(1, "parallel batches of rollouts; moves do not depend on the number", ge=1, le=256)
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check_leaf(self.leaf, self.depth, self.policy)
        for key in ("candidates", "raw_weight", "raw_playouts", "learn"):
            if getattr(self, key) and self.policy is None:
                raise invalid(self, key, "left out where there is no search.policy")
        if self.raw_weight and self.raw_playouts:
            raise invalid(self, "raw_playouts", "0 with search.raw_weight")
        if self.learned_policy is not None and not self.learn:
            raise invalid(self, "learned_policy", "left out unless search.learn is above 0")
        if self.per_action and self.seconds is None:
            raise invalid(self, "per_action", "false without search.seconds")


@options("search")
class ExpectimaxOptions(_Buildable):
    """Alpha-beta to a depth on sampled open decks; the decks vote, or their values are averaged."""

    name: ClassVar[str] = "expectimax"
    policy: PolicyText = None
    decks: Whole = option(30, "decks sampled per decision", ge=1)
    seconds: Seconds = None
    depth: Whole = option(2, "decisions looked ahead", ge=1)
    leaf: Leaf = "rollout"
    rollout: Rollout = None
    choose: Literal["votes", "mean"] = option("votes", "how decks are combined: votes or mean")
    endgame: Endgame = False
    belief: BeliefText = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check_leaf(self.leaf, 0, self.policy)


@options("search")
class TreeOptions(_Buildable):
    """Information-set UCT with rollouts."""

    name: ClassVar[str] = "tree"
    policy: PolicyText = None
    simulations: Simulations = 200
    seconds: Seconds = None
    depth: TreeDepth = None
    batch: Batch = 8
    leaf: Leaf = "rollout"
    rollout: Rollout = None
    endgame: Endgame = False
    belief: BeliefText = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check_leaf(self.leaf, 0, self.policy)


@options("search")
class PuctOptions(_Buildable):
    """Information-set tree search guided by the policy's prior, with its values at the leaves."""

    name: ClassVar[str] = "puct"
    policy: PolicyText = None
    simulations: Simulations = 200
    seconds: Seconds = None
    temperature: Number = option(1.0, "temperature of the prior; above 1 it is flatter", gt=0)
    depth: TreeDepth = None
    batch: Batch = 8
    leaf: Leaf = "value"
    rollout: Rollout = None
    endgame: Endgame = False
    belief: BeliefText = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.policy is None:
            raise invalid(self, "policy", "an agent with a prior, as in puct:policy:models/NAME")


SearchOptions = MonteCarloOptions | ExpectimaxOptions | TreeOptions | PuctOptions


def invalid_search(key: str, value: object, allowed: str) -> InvalidOption:
    """The refusal of the option `key` of a search."""
    return InvalidOption(f"search.{key}", value, allowed)


def _check_leaf(leaf: LeafKind, depth: int, policy: str | None) -> None:
    if leaf == "value" and policy is None:
        raise invalid_search("leaf", leaf, "rollout where there is no search.policy to give values")
    if leaf == "rollout" and depth:
        raise invalid_search("depth", depth, "0 with search.leaf=rollout: playouts go to the end")


def search_name(search: object) -> str:
    """The name of a search in the text of an agent: `monte_carlo`, or the `_target_` of a class of another package."""
    return getattr(search, "name", None) or target_of(search)


def search_text(search: Any, policy: str) -> str:
    """The text of the agent that searches with `policy`; `policy` itself for the search `none`."""
    if isinstance(search, NoSearch) or search == NoSearch.name:
        return policy
    if isinstance(search, str):
        name, given = split_name(search)
        check_choice("search", name, [NoSearch.name, *SEARCHES])
    else:
        defaults = {entry.name: entry.default for entry in fields(search)}
        name = search_name(search)
        given = {key: value for key, value in asdict(search).items() if value != defaults[key]}
    return agent_text(name, {**given, "policy": policy})
