"""PPO, DQN and TD on every game over seeds, by their recipes GAME/LEARNER: at equal decisions and at equal CPU time.

`methods.py GAME` trains what is missing of one game and writes GAME.json, as the stage does; `methods.py` alone writes
results/methods.json from all games, which the report shows, and prints the tables.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from cardlab.core.exit_status import run_program
from cardlab.core.files import load_json, write_json
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.comparison.compare import compare_groups
from cardlab.experiments.comparison.figures import comparison_figures
from cardlab.experiments.config.composition import compose_experiment
from cardlab.experiments.policy_groups import PolicyGroup
from cardlab.experiments.recorded_matches import record_comparison
from cardlab.experiments.seeds import train_seeds
from cardlab.tracking import Store

FORMAT = 1
FOLDER = Path(__file__).parent
OUTPUT = Path("results", "methods.json")
HEADS = {"equal": "At equal decisions", "minute": "At equal CPU time"}


def measure(game: str) -> None:
    """Train and compare the learners on one game under both budgets, and write GAME.json."""
    params = yaml.safe_load((FOLDER / "params.yaml").read_text())
    found = {budget: _compare(game, budget, params) for budget in HEADS}
    write_json(FOLDER / f"{game}.json", {"format": FORMAT, **found}, indent=1)


def _compare(game: str, budget: str, params: Mapping[str, Any]) -> dict[str, Any]:
    store, groups, decisions = Store(), {}, params["budgets"][game][budget]
    decisions = {agent: decisions if budget == "equal" else decisions[agent] for agent in params["agents"]}
    for agent, count in decisions.items():
        name = f"name=methods_{budget}_{game}_{agent}"
        config = compose_experiment(
            [f"experiment={game}/{agent}", *params["options"], f"trainer.decisions={count}", name]
        )
        trainings = train_seeds(config, tuple(params["seeds"]), store, report=print)
        groups[agent] = PolicyGroup(agent, tuple(training.policy for training in trainings), config)
    with progress_bars() as progress:
        comparison = compare_groups(groups, None, ArenaOptions(), progress=progress)
    print(*comparison.verdicts, sep="\n", flush=True)
    record_comparison(store, comparison, files=[])
    return {"decisions": decisions, "verdicts": list(comparison.verdicts), **comparison_figures(comparison)}


def tables(games: Mapping[str, Any], budget: str) -> str:
    """The tables of docs/results/methods.md under one budget: scores, and what the seeds decide."""
    lines = [
        "| game | learner | decisions | CPU minutes | score | 95 % interval |",
        "|---|---|---|---|---|---|",
    ]
    for game, figures in games.items():
        for method in sorted(figures[budget]["methods"], key=lambda each: -each["score"]):
            name, decisions = method["name"], figures[budget]["decisions"][method["name"]]
            score, interval = f"{method['score']:.2f}", f"{method['low']:.2f} to {method['high']:.2f}"
            lines.append(f"| {game} | {name} | {decisions:,} | {method['cpu_minutes']:.1f} | {score} | {interval} |")
    verdicts = [f"- {game}: {verdict}" for game, figures in games.items() for verdict in figures[budget]["verdicts"]]
    return "\n".join([*lines, "", *verdicts])


def main() -> None:
    """Measure the game that is named; without one, write and print the tables of all games."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    params = yaml.safe_load((FOLDER / "params.yaml").read_text())
    games = {game: cast(dict[str, Any], load_json(FOLDER / f"{game}.json")) for game in params["budgets"]}
    at_equal_decisions = {
        game: {**figures["equal"], "decisions": params["budgets"][game]["equal"]} for game, figures in games.items()
    }
    write_json(OUTPUT, {"format": FORMAT, "games": at_equal_decisions}, indent=1)
    for budget, head in HEADS.items():
        print(f"## {head}\n\n{tables(games, budget)}\n")


if __name__ == "__main__":
    sys.exit(run_program(main, "run the same command again to resume"))
