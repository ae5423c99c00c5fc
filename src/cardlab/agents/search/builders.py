"""Builds searches from options: rollout agents, leaf evaluators, determinizers and endgame solvers."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.policy_descriptions import BELIEF, read_description
from cardlab.agents.policy_inference import PolicyInference
from cardlab.agents.search.expectimax import Expectimax
from cardlab.agents.search.leaves import AgentPlayouts, KernelPlayouts, LeafEvaluator, PolicyValues
from cardlab.agents.search.monte_carlo import MonteCarlo
from cardlab.agents.search.options import (
    ExpectimaxOptions,
    MonteCarloOptions,
    PuctOptions,
    Resolve,
    SearchOptions,
    TreeOptions,
    invalid_search,
)
from cardlab.agents.search.search_io import Determinizer, Estimates, Search
from cardlab.agents.search.tree import PUCT, UCT, TreeSearch
from cardlab.agents.specs import is_policy_folder, policy_folder
from cardlab.core.files import check_folder
from cardlab.games.abilities import find_ability
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.protocol import Floats, Game, HasHistory, InfoStates, Players, States

if TYPE_CHECKING:
    from cardlab.agents.beliefs import Belief
    from cardlab.agents.search.online_learning import OnlineLearner
    from cardlab.networks.protocol import Network

ENDGAME_SAMPLES = 32  # deals averaged over in an endgame with hidden cards

EndgameSolver = Callable[[InfoStates, int, np.random.Generator], NDArray[np.float64] | None]
"""Exact action values [A] of one decision [1] of a player; None where it is not solvable."""


@runtime_checkable
class HasFusedRollouts(Protocol):
    """An agent that may play out a game in one kernel."""

    def fused_rollouts(self, game: Game) -> Callable[[States], Floats] | None:
        """Returns the payoffs [G, P] of its play from states [G]; None where there is no kernel."""
        ...


def load_searched_policy(game: Game, options: SearchOptions, resolve: Resolve) -> Agent | None:
    """The policy named by `options.policy`; None without one. InvalidOption or PolicyError where it does not fit."""
    return None if options.policy is None else resolve(game, str(options.policy))


def build_search(game: Game, options: SearchOptions, policy: Agent | None, resolve: Resolve) -> Search:
    """The search that `options` describe, with `policy`; InvalidOption or PolicyError for what does not fit."""
    if isinstance(options, PuctOptions):
        _policy(policy, "policy")
    leaf = _leaf(game, options, policy, resolve)
    if isinstance(options, MonteCarloOptions):
        return _monte_carlo(game, options, leaf, policy, resolve)
    if isinstance(options, ExpectimaxOptions):
        return Expectimax(game, leaf, options, determinizer(game, options.belief, resolve))
    return _tree(game, options, leaf, policy, resolve)


def determinizer(game: Game, belief: str | None, resolve: Resolve) -> Determinizer:
    """Samples hidden cards uniformly, or by a belief network or a policy; PolicyError where it does not fit."""
    if belief is None:
        return game.determinize
    if not _is_policy(game, belief):
        return _belief(game, belief).determinize
    if not isinstance(game, HasHistory):
        raise invalid_search("belief", belief, f"a belief network: states of {game.spec.name} hold no history")
    return PolicyInference(game, _policy(resolve(game, belief), "belief")).determinize


def _is_policy(game: Game, belief: str) -> bool:
    folder = policy_folder(belief, game.spec.name)
    return folder is not None and is_policy_folder(folder)


def _belief(game: Game, folder: str) -> "Belief":
    from cardlab.agents.beliefs import load_belief  # noqa: PLC0415  torch is needed for a network only

    if not Path(folder, BELIEF).is_file():
        raise invalid_search("belief", folder, "the folder of a belief network, or of a policy")
    return load_belief(game, Path(folder))


def make_online_learner(game: Game, policy: Agent | None, options: SearchOptions) -> "OnlineLearner | None":
    """The online learner for `learn`; None when it is 0. InvalidOption for a policy without afterstate values."""
    if not isinstance(options, MonteCarloOptions) or not options.learn:
        return None
    from cardlab.agents.network_agents import AfterstateAgent  # noqa: PLC0415  torch is needed for a network only
    from cardlab.agents.search.online_learning import OnlineLearner  # noqa: PLC0415

    if not isinstance(policy, AfterstateAgent):
        raise invalid_search("learn", options.learn, "0 unless search.policy is a network of agent=td")
    return OnlineLearner(policy, options.learn, _save_learned(game, options))


def _save_learned(game: Game, options: MonteCarloOptions) -> "Callable[[Network], object] | None":
    """Saves the network of `policy` in the folder `learned_policy`; None without one. InvalidOption for one in use."""
    from cardlab.agents.policy_files import save_policy  # noqa: PLC0415  torch is needed for a network only

    source = policy_folder(str(options.policy), game.spec.name)
    if options.learned_policy is None or source is None:
        return None
    folder = check_folder("search.learned_policy", options.learned_policy)
    if any(folder.iterdir()):
        raise invalid_search("learned_policy", options.learned_policy, "a new or an empty folder")
    return partial(save_policy, folder, read_description(source))


def _monte_carlo(
    game: Game, options: MonteCarloOptions, leaf: LeafEvaluator, policy: Agent | None, resolve: Resolve
) -> MonteCarlo:
    estimates: Estimates | None = None
    if options.raw_weight or options.raw_playouts:
        if not isinstance(policy, ActionValues):
            key = "raw_weight" if options.raw_weight else "raw_playouts"
            raise invalid_search(key, getattr(options, key), "0 for a policy without action values")
        estimates = policy.action_values
    elif options.candidates is not None:
        estimates = _estimates(policy, "candidates")
    return MonteCarlo(game, leaf, options, determinizer(game, options.belief, resolve), estimates)


def _tree(
    game: Game, options: TreeOptions | PuctOptions, leaf: LeafEvaluator, policy: Agent | None, resolve: Resolve
) -> TreeSearch:
    if isinstance(options, TreeOptions):
        return TreeSearch(game, leaf, options, UCT, determinizer(game, options.belief, resolve))
    prior = partial(prior_of, _policy(policy, "policy"), options.temperature)
    return TreeSearch(game, leaf, options, PUCT, determinizer(game, options.belief, resolve), prior)


def _leaf(game: Game, options: SearchOptions, policy: Agent | None, resolve: Resolve) -> LeafEvaluator:
    """The leaf evaluator for `leaf`, `rollout` and `policy`."""
    player = policy if options.rollout is None else resolve(game, str(options.rollout))
    if options.leaf == "value":
        depth = options.depth if isinstance(options, MonteCarloOptions) else 0
        valuer = _policy(policy, "leaf")
        return PolicyValues(game, valuer, player or valuer, depth)
    if player is None and (module := find_ability(game, "playouts")):
        return KernelPlayouts(partial(module.play_out, options=dict(game.spec.options)))
    fused = player.fused_rollouts(game) if isinstance(player, HasFusedRollouts) else None
    if fused is not None:
        return KernelPlayouts(partial(_play_out, fused))
    return AgentPlayouts(game, player or RandomAgent(game))


def _policy(agent: Agent | None, key: str) -> Policy:
    if not isinstance(agent, Policy):
        raise invalid_search(key, type(agent).__name__, "an agent with a prior and values: a trained policy")
    return agent


def _estimates(agent: Agent | None, key: str) -> Estimates:
    """The policy's action values where it has them, else its log-probabilities."""
    if isinstance(agent, ActionValues):
        return agent.action_values
    return partial(_log_probabilities, _policy(agent, key))


def _log_probabilities(policy: Policy, info_states: InfoStates, players: Players) -> Floats:
    return policy.evaluate(info_states, players)[0]


def prior_of(policy: Policy, temperature: float, info_states: InfoStates, players: Players) -> Floats:
    """[N, A] probabilities, 0 where illegal: the policy's own, or the softmax of its action values.

    Action values are first divided by their standard deviation over the legal actions.
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


def _play_out(fused: Callable[[States], Floats], states: States, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return fused(states)


def make_endgame_solver(
    game: Game, belief: str | None = None, num_samples: int = ENDGAME_SAMPLES
) -> EndgameSolver | None:
    """The endgame solver of `game`, over deals sampled by the `belief` folder if given; None without one."""
    module = find_ability(game, "endgame")
    if module is None:
        return None
    if belief is not None and _is_policy(game, belief):
        raise invalid_search("belief", belief, "a belief network where endgames are solved")
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
    if not np.isfinite(values).any():  # an option of this game that the solver does not cover
        return None
    return cast(NDArray[np.float64], values[0].astype(np.float64))
