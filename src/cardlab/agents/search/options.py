"""What a search is told: one frozen class of options for each kind, as in conf/search/."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from cardlab.agents.specs import agent_text, split_name
from cardlab.core.options import InvalidOption, check_choice, check_range

LEAVES = ("rollout", "value")
CHOICES = ("votes", "mean")


@dataclass(frozen=True)
class NoSearch:
    """`search=none`: the policy plays as it is."""

    name: ClassVar[str] = "none"


@dataclass(frozen=True)
class MonteCarloOptions:
    """`search=monte_carlo`: playouts over sampled deals, the weaker half of the candidates dropped again and again."""

    name: ClassVar[str] = "monte_carlo"
    policy: str | None = None  # the agent that is searched around
    simulations: int = 1000  # playouts a decision, over all its candidates
    seconds: float | None = None  # a decision, in the place of `simulations`
    rollout: str | None = None  # who plays on: an agent; none: the policy, or else the game's fast playouts
    opponent: str | None = None  # who plays on for the others, where one knows them; none: whoever plays on
    leaf: str = "rollout"  # or value: the policy's, after `depth` decisions
    depth: int = 0  # decisions that are played before the policy's value is taken
    candidates: int | None = None  # only the policy's best so many; none: every legal action
    raw_weight: float = 0.0  # share of the policy's own action values in the choice
    learn: float = 0.0  # rate at which the policy's network learns from each search; then moves depend on those before
    endgame: bool = False  # where the game knows its endgame, play by that: exact, or a mean over hidden cards
    belief: str | None = None  # folder of a belief that deals are drawn by; none: all alike
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        _check_common(self.simulations, self.seconds, self.seed)
        _check_leaf(self.leaf, self.depth, self.policy)
        check_range("search.raw_weight", self.raw_weight, 0, 1)
        check_range("search.learn", self.learn, 0, 1)
        check_range("search.threads", self.threads, 1, 256, whole=True)
        if self.candidates is not None:
            check_range("search.candidates", self.candidates, 1, whole=True)
        for key, value in (
            ("candidates", self.candidates),
            ("raw_weight", self.raw_weight),
            ("learn", self.learn),
        ):
            if value and self.policy is None:
                raise InvalidOption(f"search.{key}", value, "left out where there is no search.policy")
        if self.opponent is not None and self.policy is None and self.rollout is None:
            expected = "left out unless search.policy or search.rollout says who plays on for the searching player"
            raise InvalidOption("search.opponent", self.opponent, expected)


@dataclass(frozen=True)
class ExpectimaxOptions:
    """`search=expectimax`: alpha-beta to a depth on sampled decks; the decks vote, or their values are averaged."""

    name: ClassVar[str] = "expectimax"
    policy: str | None = None  # the agent that is searched around
    decks: int = 30  # sampled for a decision
    seconds: float | None = None  # a decision, in the place of `decks`
    depth: int = 2  # decisions that are looked ahead
    width: int | None = None  # only the policy's best so many actions of a position; none: all
    leaf: str = "rollout"  # what a position at the depth is worth: rollout (one playout), or value (the policy's)
    rollout: str | None = None  # who plays on: an agent; none: the policy, or else the game's fast playouts
    choose: str = "votes"  # of the decks, or mean
    endgame: bool = False  # where the game knows its endgame, play by that: exact, or a mean over hidden cards
    belief: str | None = None  # folder of a belief that deals are drawn by; none: all alike
    seed: int = 0

    def __post_init__(self) -> None:
        check_range("search.decks", self.decks, 1, whole=True)
        _check_common(1, self.seconds, self.seed)
        check_range("search.depth", self.depth, 1, whole=True)
        _check_leaf(self.leaf, 0, self.policy)
        check_choice("search.choose", self.choose, CHOICES)
        if self.width is not None:
            check_range("search.width", self.width, 1, whole=True)
            if self.policy is None:
                raise InvalidOption("search.width", self.width, "left out where there is no search.policy")


@dataclass(frozen=True)
class TreeOptions:
    """`search=tree`: information-set UCT with playouts."""

    name: ClassVar[str] = "tree"
    policy: str | None = None  # the agent that is searched around
    simulations: int = 200  # descents a decision
    seconds: float | None = None  # a decision, in the place of `simulations`
    c_uct: float = 0.7  # weight of exploration; payoffs are scaled to 0 … 1
    depth: int | None = None  # decisions in the tree at most; none: no limit
    batch: int = 8  # descents side by side, kept apart by virtual losses
    leaf: str = "rollout"  # or value: the policy's
    rollout: str | None = None  # who plays on: an agent; none: the policy, or else the game's fast playouts
    endgame: bool = False  # where the game knows its endgame, play by that: exact, or a mean over hidden cards
    belief: str | None = None  # folder of a belief that deals are drawn by; none: all alike
    seed: int = 0

    def __post_init__(self) -> None:
        _check_common(self.simulations, self.seconds, self.seed)
        _check_tree(self.c_uct, "c_uct", self.depth, self.batch)
        _check_leaf(self.leaf, 0, self.policy)


@dataclass(frozen=True)
class PuctOptions:
    """`search=puct`: the tree of `tree`, led by the policy's prior, its values at the leaves."""

    name: ClassVar[str] = "puct"
    policy: str | None = None  # the agent that is searched around
    simulations: int = 200  # descents a decision
    seconds: float | None = None  # a decision, in the place of `simulations`
    c_puct: float = 1.25  # weight of exploration; payoffs are scaled to 0 … 1
    temperature: float = 1.0  # of the prior: above 1 it is flatter
    depth: int | None = None  # decisions in the tree at most; none: no limit
    batch: int = 8  # descents side by side, kept apart by virtual losses
    leaf: str = "value"  # the policy's, or rollout
    rollout: str | None = None  # who plays on: an agent; none: the policy
    endgame: bool = False  # where the game knows its endgame, play by that: exact, or a mean over hidden cards
    belief: str | None = None  # folder of a belief that deals are drawn by; none: all alike
    seed: int = 0

    def __post_init__(self) -> None:
        _check_common(self.simulations, self.seconds, self.seed)
        _check_tree(self.c_puct, "c_puct", self.depth, self.batch)
        check_choice("search.leaf", self.leaf, LEAVES)
        check_range("search.temperature", self.temperature, 0, open_low=True)
        if self.policy is None:
            raise InvalidOption("search.policy", self.policy, "an agent with a prior, as in puct:policy:models/NAME")


SearchOptions = MonteCarloOptions | ExpectimaxOptions | TreeOptions | PuctOptions

SEARCHES: Mapping[str, type[SearchOptions] | type[NoSearch]] = {
    options.name: options for options in (NoSearch, MonteCarloOptions, ExpectimaxOptions, TreeOptions, PuctOptions)
}


def _check_common(simulations: int, seconds: float | None, seed: int) -> None:
    check_range("search.simulations", simulations, 1, whole=True)
    check_range("search.seed", seed, 0, whole=True)
    if seconds is not None:
        check_range("search.seconds", seconds, 0, open_low=True)


def _check_leaf(leaf: str, depth: int, policy: str | None) -> None:
    check_choice("search.leaf", leaf, LEAVES)
    check_range("search.depth", depth, 0, whole=True)
    if leaf == "value" and policy is None:
        raise InvalidOption("search.leaf", leaf, "rollout where there is no search.policy to give values")
    if leaf == "rollout" and depth:
        raise InvalidOption("search.depth", depth, "0 with search.leaf=rollout: playouts go to the end")


def _check_tree(weight: float, key: str, depth: int | None, batch: int) -> None:
    check_range(f"search.{key}", weight, 0)
    check_range("search.batch", batch, 1, 4096, whole=True)
    if depth is not None:
        check_range("search.depth", depth, 1, whole=True)


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
