"""Builds and checks an experiment from a composed configuration, before anything is trained or written."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from cardlab.agents.exploration import RandomAgent
from cardlab.core.messages import ConfigurationError, collected, combined, left_out, unknown_key
from cardlab.core.options import check_that, check_whole
from cardlab.core.parts import build_part
from cardlab.experiments.config.build_parts import agent_key, build_arena, build_game, check_agents, group
from cardlab.games.abilities import find_exploitability
from cardlab.games.protocol import Game
from cardlab.training.experiment import Experiment, check_device, check_start
from cardlab.training.options import TrainerOptions

PARTS = ("game", "agent", "network", "opponents", "trainer", "arena")
"""The groups of an experiment, which also has the keys `name` and `seed`."""

_LINEUP = "trainer.evaluation_lineup"
_NAME_LENGTH = 200  # a file name has at most 255 bytes, and files of the run have longer names


def build_experiment(config: Mapping[str, Any], *, elsewhere: bool = False) -> Experiment:
    """The experiment of a configuration: the data of conf/train.yaml, or one entry of params.yaml.

    Raises InvalidOption for what `read_experiment` and `check_experiment` refuse.
    """
    experiment = read_experiment(config)
    check_experiment(experiment, elsewhere=elsewhere)
    return experiment


def read_experiment(config: Mapping[str, Any]) -> Experiment:
    """The experiment of a configuration, checked as far as that needs no torch.

    Raises InvalidOption for an unknown key, a wrong value, an agent or a network that does not fit the game, and for
    nothing to start from.
    """
    _check_keys(config)
    parts = build_groups(config)
    if choose := getattr(parts["network"], "chosen", None):  # options that stand for others, such as `auto`
        parts["network"] = choose(parts["game"].spec, values_only=getattr(parts["agent"], "values_only", False))
    experiment = Experiment(
        name=config["name"], seed=int(config["seed"]), **parts, config=dict(config), builder=__name__
    )
    check_start(experiment.trainer)
    experiment.network.check(experiment.game.spec)
    if experiment.trainer.exploitability:
        find_exploitability(experiment.game, "trainer.exploitability")
    check_agents(experiment.game, "arena.references", experiment.arena.references)
    _check_lineup(experiment.game, experiment.trainer.evaluation_lineup)
    check_agents(experiment.game, "opponents.agents", [*getattr(experiment.opponents, "agents", ())])
    return experiment


def check_experiment(experiment: Experiment, *, elsewhere: bool = False) -> None:
    """Raise InvalidOption for parts that do not fit each other, and for a policy to start from that does not fit.

    Also for a device that this machine lacks, unless the training runs `elsewhere`. Imports torch.
    """
    if not elsewhere:
        check_device(experiment.trainer)
    _check_fit(experiment)
    if experiment.trainer.start_from is not None:
        from cardlab.training.start_point import read_start_point  # noqa: PLC0415 (imports Lightning)

        read_start_point(experiment)


def build_groups(config: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of an experiment by group. The error for a wrong value has those of all groups beside it."""
    builders: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "game": build_game,
        "agent": partial(build_part, "agent"),
        "network": partial(build_part, "network"),
        "opponents": partial(build_part, "opponents"),
        "trainer": lambda data: TrainerOptions(**data),
        "arena": build_arena,
    }
    parts: dict[str, Any] = {}
    errors: list[ConfigurationError] = []
    for name, build in builders.items():
        with collected(errors):
            parts[name] = build(group(name, config[name]))
    if errors:
        raise combined(errors)
    return parts


def _check_keys(config: Mapping[str, Any]) -> None:
    known = [*PARTS, "name", "seed"]
    errors: list[ConfigurationError] = []
    errors += [unknown_key(key, value, known, "an experiment") for key, value in config.items() if key not in known]
    errors += [left_out(key) for key in known if key not in config]
    if errors:
        raise combined(errors)
    check_run_name(config["name"])
    check_whole("seed", config["seed"], 0, 2**63 - 1)


def check_run_name(name: object) -> None:
    """Raise InvalidOption unless the folder of a run can have this name, and filters of MLflow can hold it."""
    allowed = (
        f"text for the name of a folder: no / \\ or quotes in it, no dot before it, at most {_NAME_LENGTH} characters"
    )
    plain = isinstance(name, str) and name.isprintable() and not set("/\\'\"`") & set(name)
    fits = plain and not str(name).startswith(".")
    check_that(fits and 0 < len(str(name).encode()) <= _NAME_LENGTH, "name", name, allowed)  # disks count bytes


def _check_lineup(game: Game, lineup: Sequence[str]) -> None:
    """InvalidOption unless the agents of `trainer.evaluation_lineup` play this game, one at each other seat."""
    others = game.spec.num_players - 1
    check_that(len(lineup) in (0, others), _LINEUP, lineup, f"empty, or {others} agents: one at each other seat")
    check_agents(game, _LINEUP, lineup)


def _check_fit(experiment: Experiment) -> None:
    """Build the parts once, so that parts that do not fit the game are refused before training."""
    game = experiment.game
    import torch  # noqa: PLC0415 (a wrong value is refused without it)

    with torch.random.fork_rng(devices=[]):  # leaves the generator of the run unchanged
        network = experiment.network.build(game.spec)
        experiment.agent.build(game, network, experiment.total_iterations, experiment.seed)
        with agent_key("opponents.agents"):
            experiment.opponents.build(game, lambda _: RandomAgent(game), network)
