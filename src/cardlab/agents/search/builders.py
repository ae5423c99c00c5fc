"""From options to searches: what plays on, what prices the leaves, what solves endgames, found by the game's name."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.random_agent import RandomAgent
from cardlab.agents.search.decisions import Determinizer
from cardlab.agents.search.expectimax import Expectimax
from cardlab.agents.search.leaves import KernelPlayouts, Leaf, Playouts, PolicyValues
from cardlab.agents.search.monte_carlo import MonteCarlo
from cardlab.agents.search.options import ExpectimaxOptions, MonteCarloOptions, PuctOptions, SearchOptions, TreeOptions
from cardlab.agents.search.protocol import Estimates, Search
from cardlab.agents.search.tree import TreeSearch
from cardlab.core.options import InvalidOption
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.catalogue import find_endgame as find_endgame_module
from cardlab.games.catalogue import find_playouts
from cardlab.games.fused_rollouts import Coded, CodeValues
from cardlab.games.protocol import Floats, Game, InfoStates, Players, States

if TYPE_CHECKING:
    from cardlab.agents.beliefs import Belief
    from cardlab.agents.search.online_learning import Pupil

Resolve = Callable[[Game, str], Agent]
"""Makes the agent that a text names."""

ENDGAME_SAMPLES = 32  # deals over which an endgame with hidden cards is averaged

EndgameSolver = Callable[[InfoStates, int, np.random.Generator], NDArray[np.float64] | None]
"""Exact values [A] of the actions of one decision [1] of a player, None where it is not solvable."""


@runtime_checkable
class PatternTable(Protocol):
    """An agent that plays one step ahead by a table of values of patterns."""

    def pattern_values(self) -> Floats:
        """[patterns] in payoffs."""
        ...


@runtime_checkable
class PlaysByPatterns(Protocol):
    """A game that plays itself out by such a table, in one kernel."""

    def play_out_by_patterns(self, states: States, values: Floats) -> Floats:
        """[G, P] payoffs when all play goes by the sum of `values` [patterns], one step ahead."""
        ...


@runtime_checkable
class PlaysByCodes(Protocol):
    """An agent that may play one step ahead by code values."""

    def code_values(self) -> CodeValues | None:
        """Them, in the memory in which the agent learns; None where it plays by something else."""
        ...


def load_searched(game: Game, options: SearchOptions, resolve: Resolve) -> Agent | None:
    """The policy that `options` search around, if there is one; InvalidOption or PolicyError for what does not fit."""
    return None if options.policy is None else resolve(game, str(options.policy))


def build_search(game: Game, options: SearchOptions, policy: Agent | None, resolve: Resolve) -> Search:
    """The search that `options` describe around `policy`; InvalidOption or PolicyError for what does not fit."""
    if isinstance(options, PuctOptions):
        _policy(policy, "policy")
    leaf = _leaf(game, options, policy, resolve)
    if isinstance(options, MonteCarloOptions):
        return _monte_carlo(game, options, leaf, policy)
    if isinstance(options, ExpectimaxOptions):
        estimates = None if options.width is None else _estimates(policy, "width")
        return Expectimax(game, leaf, options, determinizer(game, options.belief), estimates)
    return _tree(game, options, leaf, policy)


def determinizer(game: Game, belief: str | None) -> Determinizer:
    """How hidden cards are dealt: all ways alike, or by the belief in this folder; BeliefError when it does not fit."""
    return game.determinize if belief is None else _belief(game, belief).determinize


def _belief(game: Game, folder: str) -> "Belief":
    from cardlab.agents.beliefs import load_belief  # noqa: PLC0415  torch is needed for a network only

    return load_belief(game, Path(folder))


def make_pupil(policy: Agent | None, options: SearchOptions) -> "Pupil | None":
    """What learns from the search, with `learn`; InvalidOption for a policy that has no values of afterstates."""
    if not isinstance(options, MonteCarloOptions) or not options.learn:
        return None
    from cardlab.agents.network_agents import AfterstateAgent  # noqa: PLC0415  torch is needed for a network only
    from cardlab.agents.search.online_learning import Pupil  # noqa: PLC0415

    if not isinstance(policy, AfterstateAgent):
        raise InvalidOption("search.learn", options.learn, "0 unless search.policy is a network of agent=td")
    return Pupil(policy, options.learn)


def _monte_carlo(game: Game, options: MonteCarloOptions, leaf: Leaf, policy: Agent | None) -> MonteCarlo:
    estimates: Estimates | None = None
    if options.raw_weight:
        if not isinstance(policy, ActionValues):
            raise InvalidOption("search.raw_weight", options.raw_weight, "0 for a policy without action values")
        estimates = policy.action_values
    elif options.candidates is not None:
        estimates = _estimates(policy, "candidates")
    return MonteCarlo(game, leaf, options, determinizer(game, options.belief), estimates)


def _tree(game: Game, options: TreeOptions | PuctOptions, leaf: Leaf, policy: Agent | None) -> TreeSearch:
    if isinstance(options, TreeOptions):
        return TreeSearch(game, leaf, options, options.c_uct, determinizer(game, options.belief))
    prior = partial(prior_of, _policy(policy, "policy"), options.temperature)
    return TreeSearch(game, leaf, options, options.c_puct, determinizer(game, options.belief), prior)


def _leaf(game: Game, options: SearchOptions, policy: Agent | None, resolve: Resolve) -> Leaf:
    """What prices the leaves, by `leaf`, `rollout`, `opponent` and `policy`."""
    player = policy if options.rollout is None else resolve(game, str(options.rollout))
    others = _opponents(game, options, resolve)
    if options.leaf == "value":
        depth = options.depth if isinstance(options, MonteCarloOptions) else 0
        valuer = _policy(policy, "leaf")
        return PolicyValues(game, valuer, [player or valuer, *others], depth)
    if player is not None and others:
        return Playouts(game, [player, *others])
    if player is None:
        kernel = _own_playouts(game)
        return KernelPlayouts(kernel) if kernel else Playouts(game, [RandomAgent(game)])
    kernel = _fused_playouts(game, player)
    return KernelPlayouts(kernel) if kernel else Playouts(game, [player])


def _opponents(game: Game, options: SearchOptions, resolve: Resolve) -> list[Agent]:
    """Who plays on for all others, where the options name somebody."""
    if not isinstance(options, MonteCarloOptions) or options.opponent is None:
        return []
    if game.spec.num_players == 1:
        raise InvalidOption(
            "search.opponent", options.opponent, f"left out at {game.spec.name}, where nobody else plays"
        )
    return [resolve(game, options.opponent)]


def _policy(agent: Agent | None, key: str) -> Policy:
    if not isinstance(agent, Policy):
        raise InvalidOption(f"search.{key}", type(agent).__name__, "an agent with a prior and values: a trained policy")
    return agent


def _estimates(agent: Agent | None, key: str) -> Estimates:
    """What the policy thinks of actions: their values where it has some, or else their log-probabilities."""
    if isinstance(agent, ActionValues):
        return agent.action_values
    return partial(_log_probabilities, _policy(agent, key))


def _log_probabilities(policy: Policy, info_states: InfoStates, players: Players) -> Floats:
    return policy.evaluate(info_states, players)[0]


def prior_of(policy: Policy, temperature: float, info_states: InfoStates, players: Players) -> Floats:
    """[N, A] probabilities, 0 where illegal: the policy's own, or the softmax of its action values.

    Action values are divided by their standard deviation over the legal actions first: greedy policies say too little.
    """
    if isinstance(policy, ActionValues):
        values = policy.action_values(info_states, players)
        legal = np.isfinite(values)
        spread = np.array([row[mask].std() for row, mask in zip(values, legal, strict=True)], dtype=np.float32)
        logits = values / np.maximum(spread, 1e-6)[:, None]
    else:
        logits = policy.evaluate(info_states, players)[0]
    logits = logits / np.float32(temperature)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _own_playouts(game: Game) -> Any:
    """The game's fast playouts by its default policy: (states, rng) → payoffs [G, P]."""
    module = find_playouts(game.spec.name)
    return None if module is None else partial(module.play_out, options=dict(game.spec.options))


def _fused_playouts(game: Game, player: Agent) -> Any:
    """Playouts by `player` in one kernel, where it plays by patterns or by codes: (states, rng) → payoffs [G, P]."""
    if isinstance(game, PlaysByPatterns) and isinstance(player, PatternTable):
        return partial(_by_patterns, game, player.pattern_values())
    values = player.code_values() if isinstance(player, PlaysByCodes) else None
    if isinstance(game, Coded) and values is not None:
        return partial(_by_codes, game, values)
    return None


def _by_patterns(game: PlaysByPatterns, values: Floats, states: States, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return game.play_out_by_patterns(states, values)


def _by_codes(game: Coded, values: CodeValues, states: States, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return game.play_out_by_codes(states, values)


def find_endgame(game: Game, belief: str | None = None, num_samples: int = ENDGAME_SAMPLES) -> EndgameSolver | None:
    """The game's endgames, over deals drawn by the `belief` in a folder if one is given; None without any."""
    module = find_endgame_module(game.spec.name)
    if module is None:
        return None
    return partial(_solve, game, module, None if belief is None else _belief(game, belief), num_samples)


def _solve(
    game: Game,
    module: ModuleType,
    belief: "Belief | None",
    num_samples: int,
    info_states: InfoStates,
    player: int,
    rng: np.random.Generator,
) -> NDArray[np.float64] | None:
    players = np.array([player], dtype=np.int8)
    known = dict(game.spec.options)
    if not module.solvable(info_states, players)[0]:
        return None
    by_belief = {} if belief is None else {"weights": belief.weights(info_states, players)}
    values = module.action_values(info_states, players, rng, num_samples, options=known, **by_belief)
    if not np.isfinite(values).any():  # an option of this game takes it out of reach
        return None
    return cast(NDArray[np.float64], values[0].astype(np.float64))
