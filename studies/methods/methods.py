"""Every learner on every game over seeds, by its recipe GAME/AGENT, at the same number of decisions within a game.

Finished trainings in runs/ are not repeated, and interrupted ones resume.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.exit_status import run_program
from cardlab.core.files import write_json
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.comparison.compare import MethodComparison, compare_groups
from cardlab.experiments.comparison.figures import comparison_figures
from cardlab.experiments.config.composition import compose_experiment
from cardlab.experiments.policy_groups import PolicyGroup
from cardlab.experiments.recorded_matches import record_comparison
from cardlab.experiments.seeds import find_training, train_seed
from cardlab.tracking import Store

FORMAT = 1
OUTPUT = Path("results", "methods.json")
PARAMS = Path(__file__).with_name("params.yaml")


def main() -> None:
    """Train what is missing, one training at a time, compare, and write results/methods.json."""
    methods = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(PARAMS).methods))
    agents, seeds, store = methods["agents"], methods["seeds"], Store()
    configs = {
        (game, agent): compose_experiment([f"experiment={game}/{agent}", *_budget(methods, game, agent)])
        for game in methods["games"]
        for agent in agents
    }
    policies: dict[tuple[str, str], list[Path]] = {key: [] for key in configs}
    for seed in seeds:  # first one training of each, so that an interrupted table has them all
        for key, config in configs.items():
            policies[key].append(_train({**config, "seed": seed}, store))
    games: dict[str, Any] = {}
    for game in methods["games"]:
        groups = {a: PolicyGroup(a, tuple(policies[game, a]), configs[game, a]) for a in agents}
        comparison = _compare(groups, store)
        decisions = methods["games"][game]["decisions"]
        games[game] = {"decisions": decisions, **comparison_figures(comparison)}
    write_json(OUTPUT, {"format": FORMAT, "games": games}, indent=1)
    print(markdown_table(games))


def markdown_table(games: Mapping[str, Any]) -> str:
    """The table of docs/results/methods.md."""
    lines = [
        "| game | decisions | learner | score | 95 % interval | seeds | CPU minutes of a training |",
        "|---|---|---|---|---|---|---|",
    ]
    for game, figures in games.items():
        for method in sorted(figures["methods"], key=lambda each: -each["score"]):
            interval = f"{method['low']:.2f} to {method['high']:.2f}"
            score = f"{method['score']:.2f}"
            cells = (game, f"{figures['decisions']:,}", method["name"], score, interval, method["seeds"])
            lines.append(f"| {' | '.join(map(str, cells))} | {method['cpu_minutes']:.1f} |")
    return "\n".join(lines)


def _budget(methods: Mapping[str, Any], game: str, agent: str) -> list[str]:
    decisions = methods["games"][game]["decisions"]
    return [*methods["overrides"], f"trainer.decisions={decisions}", f"name=methods_{game}_{agent}"]


def _train(config: Mapping[str, Any], store: Store) -> Path:
    """Train, resume, or find the finished policy; returns its folder."""
    training = find_training(config, store.root)
    print(f"{config['name']}, seed {config['seed']}", flush=True)
    if not training.is_finished:
        train_seed(training, config, store.address, store.root, {}, "", print)
    return training.policy


def _compare(groups: Mapping[str, PolicyGroup], store: Store) -> MethodComparison:
    with progress_bars() as progress:
        comparison = compare_groups(groups, None, ArenaOptions(), progress=progress)
    print(*comparison.verdicts, sep="\n", flush=True)
    record_comparison(store, comparison, files=[])
    return comparison


if __name__ == "__main__":
    sys.exit(run_program(main, "run the same command again to resume"))
