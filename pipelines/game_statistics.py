"""Stage game_statistics: length and outcomes of the games of a trained policy, and calibration of its values.

Usage: game_statistics.py EXPERIMENT.
"""

import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.policy_files import load_policy
from cardlab.core.exit_status import run_program
from cardlab.core.files import write_json
from cardlab.evaluation.evaluate import DEFAULT_REFERENCES
from cardlab.evaluation.game_statistics import measure_games
from cardlab.experiments.config.build_parts import build_arena, build_game
from cardlab.experiments.config.options import build_part
from cardlab.experiments.policy_groups import find_group
from cardlab.experiments.value_calibration import (
    Discount,
    calibration_rows,
    forecast,
    summarize_forecasts,
    write_calibration,
)
from cardlab.games.protocol import Game
from cardlab.learners.rollouts.opponents.options import OPPONENT_OPTIONS

FORMAT = 1
GAMES = 1000  # of the calibration


def main(name: str) -> None:
    """Measure the games of the first seed of the experiment `name`."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments[name]))
    game, arena = build_game(config["game"]), build_arena(config["arena"])
    results = Path("results", name)
    model = find_group(str(Path("models", name)), Path()).policies[0]  # of the first seed
    survey = measure_games(game, str(model), (*DEFAULT_REFERENCES, *arena.references)[-1], arena)
    policy: Any = load_policy(game, model)
    # The opponents of the training; a pool of checkpoints holds the policy itself.
    opponents = build_part("opponents", config["opponents"], OPPONENT_OPTIONS).build(
        game, lambda _: policy, policy.network
    )
    forecasts = forecast(game, policy, opponents, GAMES, arena.seed, _discount(game, config["agent"]))
    write_calibration(calibration_rows(forecasts), results / "calibration.csv")
    facts = {"experiment": name, "game": game.spec.name, "policy_digest": policy_digest(model), "seed": arena.seed}
    statistics = {"format": FORMAT, **facts, **survey, "calibration": summarize_forecasts(forecasts)}
    write_json(results / "game_statistics.json", statistics)


def _discount(game: Game, config: dict[str, Any]) -> Discount:
    """The discount of the learner, whose values predict discounted sums."""
    kinds = tuple(game.spec.decision_kinds.index(kind) for kind in config.get("same_turn_kinds", ()))
    return Discount(float(config["gamma"]), kinds)


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), "run dvc repro again to resume"))
