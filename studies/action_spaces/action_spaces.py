"""Ways to choose among Big 2's actions, over seeds, at equal decisions and at equal CPU time.

All trainings and matches run in this process, on one core. Finished ones are kept in runs/, so the same command
resumes. `--seed` runs one seed, `--table` prints the tables of results.csv.
"""

import csv
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from cardlab.core.files import load_json, write_json
from cardlab.evaluation.match import play_match
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.run import train

DECISIONS, LONGER = 300_000, 900_000
DEALS, DEAL_SEED = 1000, 5_000_000
SEEDS = (1, 2, 3)
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}  # 97.5 % quantile of Student's t for a mean of n seeds
BASELINE, CONTROL = "all legal actions", "all legal actions, no entropy term"
SPACES = {
    BASELINE: ["experiment=big2/ppo", "game.features=published"],
    "proto-action, 4 nearest": ["experiment=big2/proto_action"],
    "proto-action, 4 nearest, distance only": ["experiment=big2/proto_action", "network.joint_widths=[]"],
    "proto-action, all legal, distance only": [
        "experiment=big2/proto_action",
        "network.joint_widths=[]",
        "network.neighbors=null",
    ],
    "28 abstract actions": ["experiment=big2/abstract_actions"],
    "1,695 outputs": ["experiment=big2/default", "agent=ppo", "network=mlp"],
    CONTROL: ["experiment=big2/ppo", "game.features=published", "agent.entropy_weight=0"],
}
LONG_SPACES = (
    BASELINE,
    "proto-action, 4 nearest, distance only",
    "proto-action, all legal, distance only",
    "28 abstract actions",
)
BUDGETS = {"decisions": "equal decisions", "cpu": "equal CPU time", "longer": "more decisions"}
OPPONENTS = ("random", "greedy", BASELINE)
COLUMNS = ("budget", "space", "seed", "decisions", "cpu_s", "approx_kl")
RUNS, RESULTS = Path("runs", "action_spaces"), Path(__file__).with_name("results.csv")


def main() -> None:
    """Train and measure the given seeds, or print the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, action="append", help="seed to train; all of SEEDS by default")
    parser.add_argument("--table", action="store_true", help="print the tables of results.csv")
    chosen = parser.parse_args()
    if chosen.table:
        print(*tables(read_results()), sep="\n")
        return
    seeds = chosen.seed or SEEDS
    trained("warm-up", BASELINE, seeds[0], 16_384)  # imports and compilation count for no one
    for seed in seeds:
        baseline = row("decisions", BASELINE, seed, DECISIONS)
        for space in SPACES:
            equal = row("decisions", space, seed, DECISIONS)
            if space not in (BASELINE, CONTROL):
                row("cpu", space, seed, round(DECISIONS * baseline["cpu_s"] / equal["cpu_s"]))
        for space in LONG_SPACES:
            row("longer", space, seed, LONGER)
    write_results()


def row(budget: str, space: str, seed: int, decisions: int) -> dict[str, Any]:
    """The result of one training, from its file where there is one."""
    path = folder(budget, space, seed) / "row.json"
    if path.exists():
        return load_json(path)
    policy, found = trained(budget, space, seed, decisions)
    baseline = folder("longer" if budget == "longer" else "decisions", BASELINE, seed) / "policy"
    for opponent in OPPONENTS:
        if (space, opponent) != (BASELINE, BASELINE):
            other = baseline if opponent == BASELINE else opponent
            game = build_experiment(compose_experiment(SPACES[space])).game
            match = play_match(game, [str(policy), *[str(other)] * 3], DEALS, DEAL_SEED)
            found[opponent] = match.mean
    write_json(path, {"budget": budget, "space": space, "seed": seed, **found}, indent=1)
    print(f"{budget}, {space}, seed {seed}: {found}", flush=True)
    return load_json(path)


def trained(budget: str, space: str, seed: int, decisions: int) -> tuple[Path, dict[str, Any]]:
    """The policy of a training, with its decisions, CPU seconds and the last metrics of the policy."""
    short = ["trainer.evaluations=1", "trainer.evaluation_deals=2", "trainer.snapshots=0"]
    overrides = [*SPACES[space], f"trainer.decisions={decisions}", f"seed={seed}", *short]
    experiment = build_experiment(compose_experiment(overrides))
    here = folder(budget, space, seed)
    result = train(experiment, run_dir=here / "run", model_dir=here / "policy", report=lambda _: None)
    approx_kl = result.rows[-1]["train/approx_kl"]
    found = {"decisions": result.decisions, "cpu_s": round(result.spent.cpu, 2), "approx_kl": approx_kl}
    return result.folder, found


def folder(budget: str, space: str, seed: int) -> Path:
    """Where a training is kept."""
    return RUNS / f"{budget}_{list(SPACES).index(space)}_{seed}"


def write_results() -> None:
    """Write results.csv from all finished trainings in runs/."""
    rows = [load_json(path) for path in sorted(RUNS.glob("*/row.json"))]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *OPPONENTS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_results() -> list[dict[str, Any]]:
    """The rows of results.csv."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return [{key: _number(text) for key, text in each.items() if text} for each in csv.DictReader(file)]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def tables(rows: list[dict[str, Any]]) -> Iterator[str]:
    """One table for each budget: means over seeds with 95 % intervals."""
    for budget, title in BUDGETS.items():
        yield f"\n| {title} | decisions | CPU s | decisions per CPU s | " + " | ".join(OPPONENTS) + " |"
        yield "|---" * (4 + len(OPPONENTS)) + "|"
        for space in SPACES:
            own = [each for each in rows if each["space"] == space and each["budget"] == budget]
            if own:
                rates = [each["decisions"] / each["cpu_s"] for each in own]
                cells = [space, f"{fmean(each['decisions'] for each in own):,.0f}"]
                cells += [f"{fmean(each['cpu_s'] for each in own):.0f}", f"{fmean(rates):,.0f}"]
                cells += [over_seeds([each[name] for each in own if name in each]) for name in OPPONENTS]
                yield f"| {' | '.join(cells)} |"


def over_seeds(values: list[float]) -> str:
    """Mean with the 95 % interval of Student's t over seeds."""
    if len(values) < 2:
        return f"{values[0]:.2f}" if values else ""
    half = STUDENT[len(values)] * stdev(values) / len(values) ** 0.5
    return f"{fmean(values):.2f} ({fmean(values) - half:.2f} to {fmean(values) + half:.2f})"


if __name__ == "__main__":
    sys.exit(main())
