"""The properties of an agent, a network and a learner."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.protocol import (
    Game,
    InfoStates,
)
from cardlab.testing.positions import require, sample

if TYPE_CHECKING:
    from cardlab.learners.base import LearnerOptions
    from cardlab.networks.protocol import NetworkOptions

_OUTPUT_TOLERANCE = 1e-4  # a row alone and in a batch: sums in another order
_LAST = 4  # iterations of a short training


def check_agent(game: Game, agent: Agent, seed: int = 0) -> None:
    """Legal actions at every decision, the same for the same seed; probabilities and values where it has them."""
    for states, movers in sample(game, seed, count=20):
        known = game.information(states, movers)
        given, count, name = known.tobytes(), len(known), type(agent).__name__
        legal = game.legal_actions(known)
        actions, again = (agent.act(known, movers, np.random.default_rng(seed)) for _ in range(2))
        require(known.tobytes() == given, f"{name}.act changes the states that it is given: copy them first")
        require(np.shape(actions) == (count,), f"{name}.act must return {count} actions, not {np.shape(actions)}")
        require(np.issubdtype(np.asarray(actions).dtype, np.integer), f"{name}.act must return whole numbers")
        require(np.array_equal(actions, again), f"{name}.act differs for one seed: take all chance from its `rng`")
        inside = (actions >= 0) & (actions < game.spec.num_actions)
        illegal = ~(inside & legal[np.arange(count), np.where(inside, actions, 0)])
        taken, allowed = actions[illegal.argmax()], legal[illegal.argmax()].nonzero()[0].tolist()
        require(not illegal.any(), f"{name}.act returns {taken}, an action that is not legal: {allowed} are")
        if isinstance(agent, Policy):
            logs, values = agent.evaluate(known, movers)
            masked = np.array_equal(np.isneginf(logs) | legal, np.ones_like(legal))
            require(masked, f"{name}.evaluate must be minus infinity where an action is not legal")
            ones = np.allclose(np.exp(logs).sum(axis=1), 1, atol=1e-3)
            require(ones, f"{name}.evaluate must return logarithms of probabilities that add up to 1")
            require(np.shape(values) == (count,) and np.isfinite(values).all(), f"{name}.evaluate needs finite values")
        if isinstance(agent, ActionValues):
            scores = agent.action_values(known, movers)
            finite = scores.shape == legal.shape and np.isfinite(scores[legal]).all()
            require(finite, f"{name}.action_values must be [N, A] and finite where an action is legal")


def check_network(game: Game, options: "NetworkOptions", seed: int = 0) -> None:
    """Scores of legal actions and values of the right shapes; all weights learn; a copy from its weights is equal."""
    import torch  # noqa: PLC0415  checks of games need none

    from cardlab.networks.protocol import encode_for  # noqa: PLC0415

    options.check(game.spec)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, other = options.build(game.spec), options.build(game.spec)
    states, movers = max(sample(game, seed), key=lambda found: len(found[0]))
    known = game.information(states, movers)
    inputs = encode_for(network, game, known, movers)
    scores, values = network(inputs)
    count, finite = len(states), scores.detach().isfinite()
    require(scores.shape == (count, game.spec.num_actions), "forward must return scores [N, A] first")
    require(values.shape == (count,), "forward must return values [N] second: squeeze the last dimension")
    legal = torch.from_numpy(game.legal_actions(known))
    fits = torch.equal(finite, legal) or network.leaves_actions_out
    require(fits, "scores must be finite where legal and minus infinity elsewhere: use mask_scores")
    shape = network.value(inputs.observations).shape
    require(shape == (count,), "value must return [N]: squeeze the last dimension")
    (scores[finite].sum() + values.sum()).backward()
    idle = [name for name, weight in network.named_parameters() if weight.requires_grad and weight.grad is None]
    require(not idle, f"{', '.join(idle)} takes part in neither scores nor value: remove it or use it")
    if not network.depends_on_batch:
        network.eval()
        one = encode_for(network, game, InfoStates(known[:1]), movers[:1])
        same = torch.allclose(network(one)[1], network(inputs)[1][:1], atol=_OUTPUT_TOLERANCE)
        require(same, "the value of a decision depends on the others of its batch: set depends_on_batch = True")
    other.load_state_dict(network.state_dict())
    same = torch.equal(other.eval()(inputs)[0], network.eval()(inputs)[0])
    require(same, "two networks with the same weights differ: keep all that forward reads in parameters or buffers")


def check_learner(game: Game, learner: "LearnerOptions", network: "NetworkOptions | None" = None) -> None:
    """A short training changes the weights and ends the same when it is repeated or resumed; its policy plays.

    It takes four iterations: give small `decisions_per_iteration`. Without `network` it trains a small MLP.
    """
    import torch  # noqa: PLC0415

    from cardlab.networks.mlp_options import MLPOptions  # noqa: PLC0415

    network = MLPOptions(widths=(16,)) if network is None else network
    with TemporaryDirectory() as scratch:
        short, whole, again = (
            _train(game, learner, network, Path(scratch, str(end)), end) for end in (1, _LAST, _LAST)
        )
        require(whole == again, "two trainings with one seed differ: take all chance from self.rng or torch")
        require(short != whole, "the weights did not change: update must call gradient_step")
        with suppress(_Interrupted):
            _train(game, learner, network, Path(scratch, "resumed"), _LAST, interrupt=2)
        resumed = _train(game, learner, network, Path(scratch, "resumed"), _LAST)
        require(whole == resumed, "a resumed training ends with other weights: return all state by extra_state")
    with torch.random.fork_rng(devices=[]):
        built = learner.build(game, network.build(game.spec), _LAST, 0)
    check_agent(game, built.trained_agent(game, built.ema_network))


class _Interrupted(Exception):
    """Stops a training as a user would."""


class _Interrupter:
    """A log that stops the training after an iteration."""

    def __init__(self, after: int | None) -> None:
        self.after = after

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Raise _Interrupted at the iteration."""
        if metrics["train/iteration"] == self.after:
            raise _Interrupted


def _train(
    game: Game,
    learner: "LearnerOptions",
    network: "NetworkOptions",
    folder: Path,
    iterations: int,
    interrupt: int | None = None,
) -> str:
    """Digest of the policy after so many iterations."""
    from cardlab.evaluation.options import ArenaOptions  # noqa: PLC0415
    from cardlab.learners.rollouts.opponents.fixed import SelfPlayOptions  # noqa: PLC0415
    from cardlab.training.experiment import Experiment  # noqa: PLC0415
    from cardlab.training.options import TrainerOptions  # noqa: PLC0415
    from cardlab.training.run import train  # noqa: PLC0415

    size = learner.decisions_per_iteration
    trainer = TrainerOptions(
        decisions=_LAST * size,
        stop_after=iterations * size,
        parallel_games=min(64, max(1, size // (2 * game.spec.num_players))),
        checkpoint_seconds=0.0,
        evaluations=0,
        snapshots=0,
    )
    parts = (game, learner, network, SelfPlayOptions(), trainer, ArenaOptions(references=("random",)))
    experiment = Experiment("check", 0, *parts, config={"name": "check", "seed": 0})
    log = _Interrupter(interrupt)
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=lambda _: None).digest
