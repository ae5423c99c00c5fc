"""Stage promote of champions/dvc.yaml: the best seed of an experiment challenges the champion of its game.

Usage: promote.py EXPERIMENT. The one stage whose result depends on what is champion, here and in MLflow; `dvc repro`
alone leaves it out.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import sys
from dataclasses import replace
from pathlib import Path

from cardlab.core.files import write_json
from cardlab.evaluation.deals import PROMOTION_SEED
from cardlab.evaluation.played_deals import played_scores
from cardlab.experiments.config.build_parts import build_arena, build_game
from cardlab.experiments.policy_groups import find_group
from cardlab.experiments.promotion.gate import PromotionOptions
from cardlab.experiments.promotion.promote import challenge_by_group, format_outcome, promote
from cardlab.experiments.stage_code import read_params
from cardlab.games.make_game import without_training_options
from cardlab.tracking import Store


def main(name: str) -> None:
    """Let the best seed of the experiment `name` challenge the champion."""
    config = read_params("promote", name)["experiments"][name]
    game = without_training_options(build_game(config["game"]))
    arena = replace(build_arena(config["arena"]), seed=PROMOTION_SEED)
    store = Store()
    group = find_group(str(Path("models", name)), store.root)
    challenge = challenge_by_group(group, game, arena, PromotionOptions(), played=played_scores(store.root))
    outcome = promote(challenge, store)
    print(format_outcome(challenge, outcome))
    write_json(Path("promotions", f"{name}.json"), outcome.figures(), indent=2)


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), REPRO))
