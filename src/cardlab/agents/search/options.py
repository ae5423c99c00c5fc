"""What a search is told: one frozen class of options for each kind, as in conf/search/."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from cardlab.agents.specs import agent_text, split_name
from cardlab.core.options import NUMERIC, Flag, InvalidOption, Number, Text, Whole, check_choice, option, options

LeafKind = Literal["rollout", "value"]
Policy = Annotated[Text | None, Field(description="agent that the search improves")]
Seconds = Annotated[
    Annotated[float, Field(gt=0, allow_inf_nan=False), NUMERIC] | None,
    Field(description="seconds per decision, instead of a count; null: the count holds"),
]
Simulations = Annotated[int, Field(ge=1, description="simulations per decision"), NUMERIC]
Rollout = Annotated[
    Text | None, Field(description="agent that plays rollouts; null: the policy, or else fast random playouts")
]
Endgame = Annotated[
    Flag, Field(description="play endgames exactly, or by a mean over hidden cards, where the game can solve them")
]
BeliefFolder = Annotated[
    Text | None, Field(description="folder of a belief by which hidden cards are sampled; null: uniformly")
]
Seed = Annotated[int, Field(ge=0, description="seed of the search"), NUMERIC]
TreeDepth = Annotated[
    Annotated[int, Field(ge=1), NUMERIC] | None, Field(description="maximum decisions in the tree; null: no limit")
]
DealBatch = Annotated[int, Field(ge=1, le=4096, description="parallel descents, separated by virtual losses"), NUMERIC]
Exploration = Annotated[
    float,
    Field(ge=0, allow_inf_nan=False, description="weight of exploration; payoffs are scaled to the range 0 to 1"),
    NUMERIC,
]


@options("search")
class NoSearch:
    """The policy plays as it is."""

    name: ClassVar[str] = "none"


@options("search")
class MonteCarloOptions:
    """Monte Carlo rollouts over sampled deals, shared by all candidates, by sequential halving."""

    name: ClassVar[str] = "monte_carlo"
    policy: Policy = None
    simulations: Simulations = 1000
    seconds: Seconds = None
    rollout: Rollout = None
    opponent: Text | None = option(
        None, "agent that plays rollouts for known opponents; null: the one that plays the other rollouts"
    )
    leaf: LeafKind = option("rollout", "value of a leaf: rollout, or value (of the policy, after `depth` decisions)")
    depth: Whole = option(0, "decisions played before the value of the policy is taken", ge=0)
    candidates: Whole | None = option(
        None, "number of candidates, the best of the policy; null: every legal action", ge=1
    )
    raw_weight: Number = option(0.0, "weight of the policy's own action values in the choice", ge=0, le=1)
    learn: Number = option(
        0.0, "rate at which the policy's network learns from each search; moves then depend on earlier ones", ge=0, le=1
    )
    endgame: Endgame = False
    belief: BeliefFolder = None
    threads: Whole = option(1, "parallel batches of rollouts; moves do not depend on the number", ge=1, le=256)
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check_leaf(self.leaf, self.depth, self.policy)
        for key in ("candidates", "raw_weight", "learn"):
            if getattr(self, key) and self.policy is None:
                raise InvalidOption(f"search.{key}", getattr(self, key), "left out where there is no search.policy")
        if self.opponent is not None and self.policy is None and self.rollout is None:
            expected = "left out unless search.policy or search.rollout names the agent of the searching player"
            raise InvalidOption("search.opponent", self.opponent, expected)


@options("search")
class ExpectimaxOptions:
    """Alpha-beta to a depth on sampled open decks; the decks vote, or their values are averaged."""

    name: ClassVar[str] = "expectimax"
    policy: Policy = None
    decks: Whole = option(30, "decks sampled per decision", ge=1)
    seconds: Seconds = None
    depth: Whole = option(2, "decisions looked ahead", ge=1)
    width: Whole | None = option(None, "actions per position, the best of the policy; null: all", ge=1)
    leaf: LeafKind = option("rollout", "value of a leaf: rollout (one playout) or value (of the policy)")
    rollout: Rollout = None
    choose: Literal["votes", "mean"] = option("votes", "how decks are combined: votes or mean")
    endgame: Endgame = False
    belief: BeliefFolder = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check_leaf(self.leaf, 0, self.policy)
        if self.width is not None and self.policy is None:
            raise InvalidOption("search.width", self.width, "left out where there is no search.policy")


@options("search")
class TreeOptions:
    """Information-set UCT with rollouts."""

    name: ClassVar[str] = "tree"
    policy: Policy = None
    simulations: Simulations = 200
    seconds: Seconds = None
    c_uct: Exploration = 0.7
    depth: TreeDepth = None
    batch: DealBatch = 8
    leaf: LeafKind = option("rollout", "value of a leaf: rollout or value (of the policy)")
    rollout: Rollout = None
    endgame: Endgame = False
    belief: BeliefFolder = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check_leaf(self.leaf, 0, self.policy)


@options("search")
class PuctOptions:
    """Information-set tree search guided by the policy's prior, with its values at the leaves."""

    name: ClassVar[str] = "puct"
    policy: Policy = None
    simulations: Simulations = 200
    seconds: Seconds = None
    c_puct: Exploration = 1.25
    temperature: Number = option(1.0, "temperature of the prior; above 1 it is flatter", gt=0)
    depth: TreeDepth = None
    batch: DealBatch = 8
    leaf: LeafKind = option("value", "value of a leaf: value (of the policy) or rollout")
    rollout: Rollout = None
    endgame: Endgame = False
    belief: BeliefFolder = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.policy is None:
            raise InvalidOption("search.policy", self.policy, "an agent with a prior, as in puct:policy:models/NAME")


SearchOptions = MonteCarloOptions | ExpectimaxOptions | TreeOptions | PuctOptions

SEARCHES: Mapping[str, type[SearchOptions] | type[NoSearch]] = {
    options.name: options for options in (NoSearch, MonteCarloOptions, ExpectimaxOptions, TreeOptions, PuctOptions)
}


def _check_leaf(leaf: LeafKind, depth: int, policy: str | None) -> None:
    if leaf == "value" and policy is None:
        raise InvalidOption("search.leaf", leaf, "rollout where there is no search.policy to give values")
    if leaf == "rollout" and depth:
        raise InvalidOption("search.depth", depth, "0 with search.leaf=rollout: playouts go to the end")


def search_text(search: str | SearchOptions | NoSearch, policy: str) -> str:
    """The text of the agent that searches with `policy`; `policy` itself for the search `none`."""
    if isinstance(search, str):
        name, given = split_name(search)
        check_choice("search", name, list(SEARCHES))
    else:
        name, given = search.name, _changed(search)
    if name == NoSearch.name:
        return policy
    return agent_text(name, {**given, "policy": policy})


def _changed(options: SearchOptions | NoSearch) -> Mapping[str, Any]:
    """The options that differ from their defaults."""
    defaults = {entry.name: entry.default for entry in fields(options)}
    return {key: value for key, value in asdict(options).items() if value != defaults[key]}
