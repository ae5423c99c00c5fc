"""What a training says of itself: what its budget buys before it starts, and whether it has learned at its end."""

from collections.abc import Mapping, Sequence

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.specs import metric_name
from cardlab.evaluation.deals import Purpose, purpose_seed
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.scores import play_matches
from cardlab.games.loop import play
from cardlab.games.make_game import without_training_options
from cardlab.networks.auto_options import AutoOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.training.experiment import Experiment

NOT_IN_DIGEST = "says what a training will do and has done, and decides nothing of it"

NOT_LEARNED = "not_learned"  # tag of a run whose policy does not beat the weakest reference: the sentence that says so

_GAMES = 64  # random games that show how many decisions one has
_MAX_MOVES = 500
_FEW_STEPS = 1000
_OLD = 2.0  # iterations
_MINIBATCH, _ROLLOUT = 256, 2048  # decisions, as in the learners' defaults


def plan(experiment: Experiment) -> str:
    """One line: decisions, gradient steps and the age of old rollouts, with the option that mends what is unusual."""
    trainer = experiment.trainer
    parts, hints = [f"{trainer.decisions:,} decisions"], list[str]()
    steps = gradient_steps(experiment)
    if steps is not None:
        parts.append(f"about {steps:,} gradient steps")
        if steps < _FEW_STEPS:
            hints.append(f"{_more_steps(experiment)} makes more steps")
    age = rollout_age(experiment)
    if age > _OLD:
        parts.append(f"{age:.1f} iterations pass on average from a decision to the gradient step that learns from it")
        games = max(1, int(trainer.parallel_games / age))
        hints.append(f"trainer.parallel_games={games} keeps them younger")
    return "; ".join([", ".join(parts), *hints])


def gradient_steps(experiment: Experiment) -> int | None:
    """Gradient steps of the whole budget; None where the learner's options do not say."""
    agent = experiment.agent
    if getattr(agent, "update_per_game", False):
        return None
    per_iteration = getattr(agent, "updates_per_iteration", None)
    if per_iteration is None:
        size = getattr(agent, "minibatch_size", None)
        if size is None:
            return None
        per_iteration = getattr(agent, "epochs", 1) * max(1, round(agent.decisions_per_iteration / size))
    return per_iteration * experiment.total_iterations


def rollout_age(experiment: Experiment) -> float:
    """Iterations between a decision and learning from it, on average, as random games in self-play have them."""
    if getattr(experiment.agent, "cut_games", False):
        return 0.0
    game, rng, decisions = experiment.game, np.random.default_rng(0), 0
    states = game.deal(_GAMES, rng)
    for number, moves in enumerate(
        play(game, states, [RandomAgent(game)], rng, ask_forced=experiment.trainer.ask_forced)
    ):
        decisions += int(moves.queried.sum())
        if number == _MAX_MOVES:
            break
    waiting = decisions / _GAMES / 2  # decisions of its own game that a decision waits for
    return waiting * experiment.trainer.parallel_games / experiment.agent.decisions_per_iteration


def not_learned(experiment: Experiment, rows: Sequence[Mapping[str, float]]) -> str | None:
    """A sentence when the last point of the curve does not beat the weakest reference, with what to try; else None."""
    last = rows[-1] if rows else {}
    single = experiment.game.spec.num_players == 1
    bars = _points(experiment) if single else dict.fromkeys(experiment.arena.references or DEFAULT_REFERENCES, 0.0)
    found = {text: "score/self" if single else f"score/{metric_name(text)}" for text in bars}
    known = [text for text, name in found.items() if name in last]
    if not known:
        return None
    weakest = max(known, key=lambda text: last[found[text]] - bars[text])
    name, bar = found[weakest], bars[weakest]
    low, high = (last[f"interval/{name}_{end}"] for end in ("low", "high"))
    if low > bar:
        return None
    than = f"{weakest} ({bar:.2f})" if single else weakest
    verdict = "not better" if last[name] <= bar else "not clearly better"
    return f"{verdict} than {than}: {last[name]:.2f} ({low:.2f} to {high:.2f}); {_try_first(experiment)}"


def _points(experiment: Experiment) -> dict[str, float]:
    """Each reference of a game for one player → its own points."""
    game, trainer = without_training_options(experiment.game), experiment.trainer
    seed = purpose_seed(experiment.arena.seed, Purpose.CURVE)
    options = ArenaOptions(deals=trainer.evaluation_deals, seed=seed, processes=1)
    entries = {text: [text] for text in experiment.arena.references or DEFAULT_REFERENCES}
    return {text: match.points.mean for text, match in play_matches(game, entries, options).items()}


def _try_first(experiment: Experiment) -> str:
    values_only = getattr(experiment.agent, "values_only", False)
    fitting = AutoOptions().chosen(experiment.game.spec, values_only=values_only)
    steps = gradient_steps(experiment)
    if isinstance(experiment.network, MLPOptions) and not isinstance(fitting, MLPOptions):
        return "try network=auto first"
    if steps is not None and steps < _FEW_STEPS:
        return f"try {_more_steps(experiment)} first: there were {steps} gradient steps"
    return f"try trainer.decisions={4 * experiment.trainer.decisions} first, then cardlab sweep"


def _more_steps(experiment: Experiment) -> str:
    agent = experiment.agent
    if getattr(agent, "updates_per_iteration", None) is None and getattr(agent, "minibatch_size", 0) > _MINIBATCH:
        return f"agent.minibatch_size={_MINIBATCH}"
    if agent.decisions_per_iteration > _ROLLOUT:
        return f"agent.decisions_per_iteration={_ROLLOUT}"
    return f"trainer.decisions={4 * experiment.trainer.decisions}"
