"""cardlab's learners beside OpenSpiel's own on known games, over decisions and over CPU seconds of one core.

Usage: python studies/known_games/known_games.py GAME [--learner LEARNER…] [--seed SEED…] [--share SHARE]. Trains what
is missing, measures its points, and writes results/GAME.json. GAME, budgets and seeds: params.yaml. Finished trainings
stay in runs/known_games. --share trains a share of the budget, prints the points and writes no results.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import torch
from omegaconf import OmegaConf

import cardlab
import own_learners
from cardlab.core.files import load_json, write_json
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.scores import play_matches
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.integrations.open_spiel.exploitability import measure
from open_spiel_learners import LEARNERS as PEERS
from open_spiel_learners import learn as learn_peer

STUDY = Path(__file__).parent
RUNS = STUDY.parents[1] / "runs" / "known_games"
LEARNERS = (*own_learners.LEARNERS, *PEERS)
PARAMS: Mapping[str, Any] = OmegaConf.to_container(OmegaConf.load(STUDY / "params.yaml"))  # type: ignore
Row = dict[str, float]


class TreeSearch:
    """OpenSpiel's MCTS with random rollouts, in games in which all is public."""

    def __init__(self, text: str, simulations: int) -> None:
        self.game, self.simulations = pyspiel.load_game(text), simulations

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] most visited actions."""
        seeds = [int(seed) for seed in rng.integers(2**31, size=2)]
        evaluator = pyspiel.RandomRolloutEvaluator(1, seeds[0])
        bot = pyspiel.MCTSBot(self.game, evaluator, 2.0, self.simulations, 1000, False, seeds[1], False)
        return np.array([bot.step(self._state(row)) for row in info_states], dtype=np.int16)

    def _state(self, info_state: Any) -> Any:
        state = self.game.new_initial_state()
        for action in info_state["history"][: info_state["length"]].tolist():
            state.apply_action(action)
        return state


def measured(game: Game, agent: Agent, options: Mapping[str, Any]) -> Row:
    """Exact exploitability of the sampled policy; in games of perfect information points against references."""
    if "simulations" not in options:
        return {"exploitability": measure(game, agent)["exploitability"]}  # type: ignore[arg-type]
    search = TreeSearch(options["text"], options["simulations"])
    arena = ArenaOptions(deals=options["games"] // 2, seed=PARAMS["arena_seed"], processes=1)
    matches = play_matches(game, {"random": [agent, "random"], "mcts": [agent, search]}, arena)
    return {name: match.mean for name, match in matches.items()}


def train(name: str, learner: str, seed: int, share: float = 1.0) -> list[Row]:
    """Train once, and measure at each point."""
    options = PARAMS["games"][name]
    game = cardlab.make_game("open_spiel", text=options["text"])
    decisions, parts, points = round(share * options["decisions"][learner]), PARAMS["seconds"], PARAMS["points"]
    if learner in PEERS:
        marks = [decisions * point // parts for point in points]
        found = learn_peer(game, learner, decisions, seed, marks)
    else:
        overrides, place = own_learners.LEARNERS[learner], RUNS / f"{name}_{learner}_{seed}"
        found = own_learners.learn(game, overrides, decisions, seed, parts, points, place)
    return [
        {"decisions": done, "cpu_seconds": round(seconds, 2)}
        | {key: round(value, 5) for key, value in measured(game, agent, options).items()}
        for done, seconds, agent in found
    ]


def main() -> None:
    """Train what is missing, then write the rows of all finished trainings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("game", choices=PARAMS["games"])
    parser.add_argument("--learner", nargs="+", default=[*LEARNERS], choices=LEARNERS)
    parser.add_argument("--seed", nargs="+", type=int)
    parser.add_argument("--share", type=float, help="share of the budget, to try")
    given = parser.parse_args()
    torch.set_num_threads(1)
    seeds = given.seed or PARAMS["games"][given.game]["seeds"]
    train(given.game, "recipe", 0, 0.02)  # loads what is compiled, which counts for no one
    for seed in seeds:
        for learner in given.learner:
            path = RUNS / given.game / f"{learner}_{seed}.json"
            if given.share is not None:
                rows = train(given.game, learner, seed, given.share)
            elif path.exists():
                continue
            else:
                rows = train(given.game, learner, seed)
                write_json(path, rows)
            print(given.game, learner, seed, rows[-1], flush=True)
    if given.share is None:
        (STUDY / "results").mkdir(exist_ok=True)
        write_json(STUDY / "results" / f"{given.game}.json", collected(given.game), indent=1)


def collected(name: str) -> dict[str, dict[str, list[Row]]]:
    """Learner → seed → its points, of all finished trainings."""
    seeds = PARAMS["games"][name]["seeds"]
    paths = {learner: {seed: RUNS / name / f"{learner}_{seed}.json" for seed in seeds} for learner in LEARNERS}
    return {
        learner: {str(seed): load_json(path) for seed, path in row.items() if path.exists()}
        for learner, row in paths.items()
    }


if __name__ == "__main__":
    main()
