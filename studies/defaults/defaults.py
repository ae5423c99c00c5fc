"""Does `cardlab train game=G agent=A` learn with nothing else? All fifteen pairs against references of their game.

Usage: python studies/defaults/defaults.py [SEED…]. Policies stay in runs/defaults, each is trained once. One thread.
"""

import sys
import time
from pathlib import Path
from typing import Any

from cardlab.core.files import load_json, write_json
from cardlab.evaluation.intervals import SELF
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.scores import play_scores
from cardlab.evaluation.seed_statistics import mean_over_seeds
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.make_game import without_training_options
from cardlab.training.run import train

OUTPUT = Path(__file__).with_name("scores.json")
RUNS = Path(__file__).parents[2] / "runs" / "defaults"
REFERENCES = {
    "poker_squares": "flush",
    "thirty_one": "greedy_stock_only",
    "five_o": "reflex_1",
    "open_face": "greedy_start",
    "big2": "greedy",
}
AGENTS = ("ppo", "dqn", "td")
ARENA = ArenaOptions(deals=1000, seed=77_000_000)  # no training and no evaluation plays these deals


def main() -> None:
    """Train what is missing, play each pair that is complete, and print the table."""
    seeds = [int(text) for text in sys.argv[1:]] or [1, 2, 3]
    for seed in seeds:
        for agent in AGENTS:
            for game in REFERENCES:
                trained(game, agent, seed)
    scores = {f"{game} {agent}": play(game, agent, seeds) for game in REFERENCES for agent in AGENTS}
    write_json(OUTPUT, scores, indent=1)
    print(table(scores))


def trained(game: str, agent: str, seed: int) -> tuple[str, int]:
    """The policy of one pair by its defaults, and the CPU seconds of its training."""
    folder = RUNS / f"{game}_{agent}_{seed}"
    times = folder / "times.json"
    if not times.exists():
        without = ["trainer.evaluations=0", "trainer.snapshots=0"]
        experiment = build_experiment(compose_experiment([f"game={game}", f"agent={agent}", f"seed={seed}", *without]))
        start = time.process_time()
        train(experiment, run_dir=folder / "run", model_dir=folder / "model")
        write_json(times, {"cpu_seconds": round(time.process_time() - start)})
        print(folder.name, load_json(times), flush=True)
    return str(folder / "model"), load_json(times)["cpu_seconds"]


def play(name: str, agent: str, seeds: list[int]) -> dict[str, Any]:
    """Points and wins of one pair with their intervals over seeds and deals, and the CPU seconds of its trainings."""
    policies = {seed: trained(name, agent, seed) for seed in seeds}
    experiment = build_experiment(compose_experiment([f"game={name}", f"agent={agent}"]))
    game = without_training_options(experiment.game)
    references = [REFERENCES[name], "random"] if game.spec.num_players > 1 else [REFERENCES[name]]
    found = play_scores(game, {seed: folder for seed, (folder, _) in policies.items()}, references, ARENA)
    scores: dict[str, Any] = {"seeds": seeds, "cpu_seconds": [seconds for _, seconds in policies.values()]}
    for reference in found.references:
        matches = found.column(reference)
        points = [match.per_deal() for match in matches]
        if reference in references and game.spec.num_players == 1:
            scores[reference] = {"points": matches[0].mean}
            continue
        scores[reference] = mean_over_seeds(points, matches[0].lineup.payoff_range).named("points")
        if reference != SELF:
            scores[reference]["wins"] = sum(match.win_rate or 0 for match in matches) / len(matches)
    return scores


def table(scores: dict[str, Any]) -> str:
    """The table of README.md: points with their intervals over seeds and deals, and wins."""
    lines = [
        "| game | learner | reference | points | wins, % | against random | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for key, row in scores.items():
        game, agent = key.split()
        reference, alone = REFERENCES[game], SELF in row
        shown = f"{reference} ({row[reference]['points']:.1f})" if alone else reference
        wins = "" if alone else f"{100 * row[reference]['wins']:.1f}"
        against = "" if alone else _shown(row["random"])
        seconds = sum(row["cpu_seconds"]) / len(row["cpu_seconds"])
        points = _shown(row[SELF if alone else reference])
        lines.append(f"| {game} | {agent} | {shown} | {points} | {wins} | {against} | {seconds:.0f} |")
    return "\n".join(lines)


def _shown(score: dict[str, float]) -> str:
    return f"{score['points']:.2f} ({score['low']:.2f} to {score['high']:.2f})"


if __name__ == "__main__":
    main()
