"""Stage compare: which of two experiments' methods is better, over their seeds.

Usage: compare.py KEY, a key of `compare` in params.yaml. The arena is that of the first, with the references of both.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import sys
from pathlib import Path

from cardlab.core.files import write_json
from cardlab.evaluation.played_deals import played_scores
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.comparison.compare import compare_groups, find_groups
from cardlab.experiments.comparison.figures import comparison_figures
from cardlab.experiments.config.build_parts import build_arena, build_game
from cardlab.experiments.recorded_matches import record_comparison
from cardlab.experiments.stage_code import read_params
from cardlab.tracking import Store


def main(key: str) -> None:
    """Compare the pair `key` and write results/comparisons/KEY.json."""
    params = read_params("compare", key)
    names: list[str] = params["compare"][key]
    configs = [params["experiments"][name] for name in names]
    references = dict.fromkeys(text for config in configs for text in config["arena"]["references"])
    arena = {**configs[0]["arena"], "references": tuple(references)}
    models, store = [str(Path("models", name)) for name in names], Store()
    with progress_bars() as progress:
        played = played_scores(store.root)
        game = build_game(configs[0]["game"])
        groups = find_groups(models, game.spec.name)
        comparison = compare_groups(groups, game, build_arena(arena), progress=progress, played=played)
    output = Path("results", "comparisons", f"{key}.json")
    write_json(output, comparison_figures(comparison, costs=False), indent=2)
    print(*comparison.verdicts, sep="\n")
    record_comparison(store, comparison, files=[output])


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), REPRO))
