"""Stage evaluate: scores of the policies of all seeds; of the first seed, also of its snapshots, and its games.

Usage: evaluate.py EXPERIMENT. All is played on deals that nothing was trained on.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import sys
from pathlib import Path
from typing import Any

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.policy_files import load_policy
from cardlab.core.files import write_json
from cardlab.core.parts import build_part
from cardlab.evaluation.game_statistics import measure_games
from cardlab.evaluation.intervals import main_score
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, progress_bars
from cardlab.evaluation.snapshot_matches import Snapshot, find_snapshots, play_snapshots, write_snapshot_scores
from cardlab.experiments.config.build_parts import build_arena, build_game, check_pinned
from cardlab.experiments.group_evaluation import evaluate_group, experiment_metrics
from cardlab.experiments.learning_curves import read_columns
from cardlab.experiments.policy_groups import find_group
from cardlab.experiments.stage_code import read_params
from cardlab.experiments.value_calibration import (
    Discount,
    calibration_rows,
    forecast,
    summarize_forecasts,
    write_calibration,
)
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking import Store

FORMAT = 1  # of game_statistics.json
GAMES = 1000  # of the calibration


def main(name: str) -> None:
    """Evaluate the experiment `name`."""
    config = read_params("evaluate", name)["experiments"][name]
    check_pinned(config)
    game, arena, results = build_game(config["game"]), build_arena(config["arena"]), Path("results", name)
    policy = find_group(str(Path("models", name)), Path()).policies[0]
    with progress_bars() as progress:
        _evaluate(name, without_training_options(game), arena, results, progress)
        _play_snapshots(name, without_training_options(game), arena, results, progress)
    survey = measure_games(game, str(policy), (*DEFAULT_REFERENCES, *arena.references)[-1], arena)
    facts = {"experiment": name, "game": game.spec.name, "policy_digest": policy_digest(policy), "seed": arena.seed}
    statistics = {"format": FORMAT, **facts, **survey, "calibration": _calibrate(game, config, policy, arena, results)}
    write_json(results / "game_statistics.json", statistics)


def _evaluate(name: str, game: Game, arena: ArenaOptions, results: Path, progress: ProgressCallback) -> None:
    """Score the policies of all seeds against the references."""
    store = Store()
    group = find_group(str(Path("models", name)), store.root)
    output = results / "evaluation.json"
    evaluation = evaluate_group(group, arena, store, game=game, output=output, progress=progress)
    metrics = experiment_metrics(evaluation, read_columns(results / "curve.csv"))
    write_json(results / "metrics.json", metrics, indent=2)
    against, score = main_score(evaluation)
    print(f"{score} points per game against {against}, seeds {', '.join(map(str, metrics['seeds']))}")


def _play_snapshots(name: str, game: Game, arena: ArenaOptions, results: Path, progress: ProgressCallback) -> None:
    """Score the snapshots against references and against each other."""
    folders = find_snapshots(Path("snapshots", name))
    snapshots = [Snapshot(int(folder.name), str(folder), policy_digest(folder)) for folder in folders]
    history = play_snapshots(game, snapshots, arena, experiment=name, progress=progress)
    write_json(results / "snapshot_matches.json", history)
    write_snapshot_scores(history, results / "snapshot_scores.csv")


def _calibrate(game: Game, config: dict[str, Any], path: Path, arena: ArenaOptions, results: Path) -> dict[str, Any]:
    """Compare the policy's values with what its games return, and write the table."""
    policy: Any = load_policy(game, path)
    # The opponents of the training; a pool of checkpoints holds the policy itself.
    opponents = build_part("opponents", config["opponents"]).build(game, lambda _: policy, policy.network)
    # The learner's values predict sums that are discounted by its rules.
    kinds = tuple(game.spec.decision_kinds.index(kind) for kind in config["agent"].get("same_turn_kinds", ()))
    discount = Discount(float(config["agent"].get("gamma", 1.0)), kinds)
    forecasts = forecast(game, policy, opponents, GAMES, arena.seed, discount)
    write_calibration(calibration_rows(forecasts), results / "calibration.csv")
    return dict(summarize_forecasts(forecasts))


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), REPRO))
