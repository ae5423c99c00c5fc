"""The evaluation of a group: the policies of one method, one for each seed, on the same deals."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cardlab.agents.policy_descriptions import policy_game
from cardlab.agents.specs import metric_name
from cardlab.evaluation.evaluate import evaluate_seeds, write_evaluation
from cardlab.evaluation.intervals import SELF, Evaluation
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.played_deals import played_scores
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.experiments.learning_curves import Columns
from cardlab.experiments.policy_groups import PolicyGroup, policies_by_seed
from cardlab.experiments.recorded_matches import record_evaluation
from cardlab.games.protocol import Game
from cardlab.tracking import Store
from cardlab.tracking.connection import project_root


def evaluate_group(
    group: PolicyGroup,
    options: ArenaOptions,
    store: Store | None,
    *,
    game: Game | None = None,
    output: Path | None = None,
    scores_training: bool = True,
    progress: ProgressCallback = no_progress,
) -> Evaluation:
    """Evaluate the policies of a group, write the result to `output`, and record it in `store` as one run.

    `game`: by default the one that the policies were trained for. `scores_training`: the score is also one of the runs
    of the trainings. Raises PolicyError. Ctrl-C raises Interrupted with the evaluation of the deals so far.
    """
    game = game or policy_game(group.policies[0])
    policies = policies_by_seed(group.policies)
    played = played_scores(project_root())
    evaluation = evaluate_seeds(game, policies, options, experiment=group.name, progress=progress, played=played)
    if output is not None:
        write_evaluation(evaluation, output)
    if store is not None:
        files = [output] if output else []
        record_evaluation(
            store, game, evaluation, policy=[*policies.values()], scores_training=scores_training, files=files
        )
    return evaluation


def experiment_metrics(evaluation: Evaluation, curve: Columns) -> dict[str, Any]:
    """The content of metrics.json: `score_REFERENCE` for each reference, and the decisions of one training.

    Points per game; below `interval` their 95 % intervals [low, high] over seeds and deals. The tables of DVC leave out
    lists: `seeds` and intervals. `curve` is the mean learning curve.
    """
    rows: Mapping[str, Mapping[str, float]] = evaluation["references"]
    own = [SELF] if SELF in rows else [*rows]  # the others of one player are the references' own scores
    names = {f"score_{metric_name(reference)}": rows[reference] for reference in own}
    ends = {name: [round(row["low"], 4), round(row["high"], 4)] for name, row in names.items()}
    trained = {"decisions": int(curve["decisions"][-1])} if curve else {}
    scores = {name: round(row["mean"], 4) for name, row in names.items()}
    return {**scores, **trained, "seeds": [*evaluation["seeds"]], "interval": ends}
