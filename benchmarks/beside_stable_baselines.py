"""cardlab's default PPO and DQN beside sb3-contrib's MaskablePPO and a plain masked DQN, at equal CPU minutes.

Usage: python benchmarks/beside_stable_baselines.py [--minutes 1 2 5] [--game GAME…] [SEED…]. Results:
beside_stable_baselines.json. Policies stay in runs/beside, each is trained once; one thread each. A peer learns for as
many CPU seconds as cardlab has taken, and finishes its rollout. cardlab learns by self-play; the peers, which have
none, learn against the reference of the game, which is also what all are measured against. Both policies of a seed
meet each other, too.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import cardlab
from cardlab.core.files import load_json, write_json
from cardlab.evaluation.intervals import SELF
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.scores import play_matches, play_scores
from cardlab.evaluation.seed_statistics import difference, mean_over_seeds
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.agent_protocol import Agent
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.integrations import make_sb3, sb3_agent
from cardlab.training.run import train

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in ("benchmarks/peers", "studies/defaults"))
from masked_dqn import MaskedDQN

from defaults import REFERENCES

ROOT = Path(__file__).parents[1]
OUTPUT = Path(__file__).with_suffix(".json")
RUNS = ROOT / "runs" / "beside"
PEERS = {"ppo": "MaskablePPO", "dqn": "masked DQN"}
ARENA = ArenaOptions(deals=1000, seed=78_000_000)  # no training and no evaluation plays these deals
NUM_ENVS = 8  # of the peers; all else as their library has it
DEFAULTS = load_json(ROOT / "studies" / "defaults" / "scores.json")
DECISIONS = 400_000  # of those trainings, whose CPU seconds say how many decisions a minute takes


def main() -> None:
    """Train what is missing, play each pair that is complete, write and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--minutes", nargs="+", type=float, default=[1.0], help="CPU minutes of a training")
    parser.add_argument("--game", nargs="+", default=[*REFERENCES], choices=REFERENCES)
    parser.add_argument("--train-only", action="store_true", help="train, but play nothing: for a second process")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for seed in given.seeds:
        for name in given.game:
            for learner in PEERS:
                for minutes in given.minutes:
                    train_own(name, learner, seed, minutes)
                train_peer(name, learner, seed, given.minutes)
    if not given.train_only:
        scores: dict[str, Any] = load_json(OUTPUT) if OUTPUT.exists() else {}
        for name in given.game:
            for learner in PEERS:
                for minutes in given.minutes:
                    scores[f"{name} {learner} {minutes:g}"] = play(name, learner, minutes, given.seeds)
        write_json(OUTPUT, scores, indent=1)
        print(table(scores))


def folder(name: str, learner: str, seed: int, minutes: float) -> Path:
    """Of one policy of ours and its peer."""
    return RUNS / f"{name}_{learner}_{seed}_{minutes:g}"


def train_own(name: str, learner: str, seed: int, minutes: float) -> None:
    """By the defaults, with as many decisions as the minutes should take."""
    place = folder(name, learner, seed, minutes) / "cardlab"
    if (place / "times.json").exists():
        return
    cpu_seconds = float(np.mean(DEFAULTS[f"{name} {learner}"]["cpu_seconds"]))
    decisions = round(DECISIONS * 60 * minutes / cpu_seconds)
    without = ["trainer.evaluations=0", "trainer.snapshots=0", f"trainer.decisions={decisions}"]
    experiment = build_experiment(compose_experiment([f"game={name}", f"agent={learner}", f"seed={seed}", *without]))
    start = process_time()
    train(experiment, run_dir=place / "run", model_dir=place / "policy", report=lambda _: None)
    _note(place, start, decisions)


def train_peer(name: str, learner: str, seed: int, minutes: list[float]) -> None:
    """With the defaults of its library, for at least the CPU seconds of ours; a rollout that has begun is finished."""
    folders = [folder(name, learner, seed, each) for each in minutes]
    budgets = {place: load_json(place / "cardlab" / "times.json")["cpu_seconds"] for place in folders}
    if all((place / "peer" / "times.json").exists() for place in folders):
        return
    game = _game(name)
    envs = make_sb3(game, NUM_ENVS, REFERENCES[name] if game.spec.num_players > 1 else None, seed=seed)
    start, waiting = process_time(), sorted(folders, key=lambda place: budgets[place])

    def keep(decisions: int, save: Callable[[Path], Any]) -> bool:
        """Save where the time of one of the budgets is over; whether one is left."""
        while waiting and process_time() - start >= budgets[waiting[0]]:
            place = waiting.pop(0) / "peer"
            place.mkdir(parents=True, exist_ok=True)
            save(place / "policy")
            _note(place, start, decisions)
        return bool(waiting)

    if learner == "ppo":
        model = MaskablePPO("MlpPolicy", envs, seed=seed, device="cpu")
        model.learn(sys.maxsize, callback=_AfterRollouts(keep))
        return
    dqn, steps = MaskedDQN(envs, seed), iter(range(sys.maxsize))
    dqn.learn(
        lambda: (process_time() - start) / max(budgets.values()),
        lambda: keep(NUM_ENVS * next(steps), lambda path: torch.save(dqn.network.state_dict(), path)),
    )


class _AfterRollouts(BaseCallback):
    """Calls `keep` before each rollout, when the updates of the one before are made."""

    def __init__(self, keep: Callable[[int, Callable[[Path], Any]], bool]) -> None:
        super().__init__()
        self._keep = keep
        self._goes_on = True

    def _on_rollout_start(self) -> None:
        self._goes_on = self._keep(self.num_timesteps, self.model.save)

    def _on_step(self) -> bool:
        return self._goes_on


def _note(place: Path, start: float, decisions: int) -> None:
    times = {"cpu_seconds": round(process_time() - start, 1), "decisions": decisions}
    write_json(place / "times.json", times)
    print(place.relative_to(RUNS), times, flush=True)


def _game(name: str) -> Game:
    return without_training_options(cardlab.make_game(name))


def peer_agent(game: Game, learner: str, place: Path) -> Agent:
    """The peer's policy as an agent of the arena."""
    if learner == "ppo":
        return sb3_agent(game, MaskablePPO.load(place / "policy", device="cpu"))
    dqn = MaskedDQN(make_sb3(game, 1), 0)
    dqn.network.load_state_dict(torch.load(place / "policy", weights_only=True))
    return sb3_agent(game, dqn)


def play(name: str, learner: str, minutes: float, seeds: list[int]) -> dict[str, Any]:
    """Both against the reference and against each other: points with their intervals over seeds and deals."""
    experiment = build_experiment(compose_experiment([f"game={name}", f"agent={learner}"]))
    own_game, peer_game = without_training_options(experiment.game), _game(name)
    places = {seed: folder(name, learner, seed, minutes) for seed in seeds}
    own = {seed: cardlab.load_agent(own_game, place / "cardlab" / "policy") for seed, place in places.items()}
    peers = {seed: peer_agent(peer_game, learner, place / "peer") for seed, place in places.items()}
    alone = own_game.spec.num_players == 1
    column = SELF if alone else REFERENCES[name]
    found: dict[str, Any] = {"seeds": seeds}
    points: dict[str, Any] = {}
    bounds = None
    for side, game, agents in (("cardlab", own_game, own), ("peer", peer_game, peers)):
        matches = play_scores(game, cast(Mapping[int, Agent], agents), [REFERENCES[name]], ARENA).column(column)
        points[side] = [match.per_deal() for match in matches]
        bounds = matches[0].lineup.payoff_range
        times = [load_json(place / side / "times.json") for place in places.values()]
        keys = ("cpu_seconds", "decisions")
        found[side] = mean_over_seeds(points[side], bounds).named("points") | {
            key: [each[key] for each in times] for key in keys
        }
    if alone:
        found["ahead"] = difference(points["cardlab"], points["peer"], bounds).named("points")
    else:
        others = own_game.spec.num_players - 1
        met = play_matches(own_game, {seed: [own[seed], *[peers[seed]] * others] for seed in seeds}, ARENA)
        found["ahead"] = mean_over_seeds([match.per_deal() for match in met.values()], bounds).named("points")
    return found


def table(scores: dict[str, Any]) -> str:
    """Points against the reference, and how far cardlab is ahead, with their intervals over seeds and deals."""
    head = "| game | learner | CPU minutes | cardlab | peer | cardlab against the peer | decisions, thousands |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for key, row in scores.items():
        name, learner, minutes = key.split()
        decisions = (np.mean(row[side]["decisions"]) / 1000 for side in ("cardlab", "peer"))
        sides = " | ".join(_shown(row[side]) for side in ("cardlab", "peer", "ahead"))
        lines.append(
            f"| {name} | {learner} | {minutes} | {sides} | {' and '.join(f'{each:,.0f}' for each in decisions)} |"
        )
    return "\n".join(lines)


def _shown(score: dict[str, float]) -> str:
    return f"{score['points']:.2f} ({score['low']:.2f} to {score['high']:.2f})"


if __name__ == "__main__":
    main()
