"""cardlab's learners beside OpenSpiel's own on known games, over decisions and over CPU seconds of one core.

Usage: python studies/known_games/known_games.py GAME [--learner LEARNER…] [--seed SEED…] [--speed]. Trains what is
missing, measures its points, and writes results/GAME.json. GAME, budgets and seeds: params.yaml. Finished trainings
stay in runs/known_games. --speed: short trainings for speeds.json, which keeps the higher of old and new rates.
"""

import argparse
from collections.abc import Iterator, Mapping
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
SPEEDS = STUDY / "speeds.json"
SHORT = {  # decisions of a training for the speed: about four CPU seconds
    "recipe": 150_000,
    "ppo": 120_000,
    "dqn": 100_000,
    "td": 150_000,
    "open_spiel_ppo": 30_000,
    "open_spiel_nfsp": 20_000,
    "open_spiel_rpg": 20_000,
}
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


def learn(game: Game, name: str, learner: str, decisions: int, seed: int) -> Iterator[own_learners.Point]:
    """Train once, with the policy at each point."""
    parts, points = PARAMS["parts"], PARAMS["points"]
    if learner in PEERS:
        marks = [decisions * point // parts for point in points]
        return learn_peer(game, learner, decisions, seed, marks)
    overrides, place = own_learners.LEARNERS[learner], RUNS / f"{name}_{learner}_{seed}"
    return own_learners.learn(game, overrides, decisions, seed, parts, points, place)


def train(name: str, learner: str, seed: int) -> list[Row]:
    """Train once, and measure at each point."""
    options = PARAMS["games"][name]
    game = cardlab.make_game("open_spiel", text=options["text"])
    return [
        {"decisions": done, "cpu_seconds": round(seconds, 2)}
        | {key: round(value, 5) for key, value in measured(game, agent, options).items()}
        for done, seconds, agent in learn(game, name, learner, options["decisions"][learner], seed)
    ]


def speed(name: str, learner: str) -> float:
    """Decisions per CPU second in the last two thirds of a short training."""
    game = cardlab.make_game("open_spiel", text=PARAMS["games"][name]["text"])
    *_, before, _, last = learn(game, name, learner, SHORT[learner], 99)
    return (last[0] - before[0]) / (last[1] - before[1])


def main() -> None:
    """Train what is missing, then write the rows of all finished trainings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("game", choices=PARAMS["games"])
    parser.add_argument("--learner", nargs="+", default=[*LEARNERS], choices=LEARNERS)
    parser.add_argument("--seed", nargs="+", type=int)
    parser.add_argument("--speed", action="store_true", help="measure decisions per CPU second, nothing else")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.speed:
        warm_up(given.game)
        rates: dict[str, dict[str, float]] = load_json(SPEEDS) if SPEEDS.exists() else {}
        known = rates.setdefault(given.game, {})
        for learner in given.learner:
            known[learner] = max(known.get(learner, 0), round(speed(given.game, learner)))
        write_json(SPEEDS, rates, indent=1)
        return
    seeds = given.seed or PARAMS["games"][given.game]["seeds"]
    paths = {
        (learner, seed): RUNS / given.game / f"{learner}_{seed}.json" for seed in seeds for learner in given.learner
    }
    missing = [key for key, path in paths.items() if not path.exists()]
    if missing:
        warm_up(given.game)
    for learner, seed in missing:
        rows = train(given.game, learner, seed)
        write_json(paths[learner, seed], {"points": rows})
        print(given.game, learner, seed, rows[-1], flush=True)
    (STUDY / "results").mkdir(exist_ok=True)
    write_json(STUDY / "results" / f"{given.game}.json", collected(given.game), indent=1)


def warm_up(name: str) -> None:
    """Load what is compiled, which counts for no one."""
    for _ in learn(cardlab.make_game("open_spiel", text=PARAMS["games"][name]["text"]), name, "recipe", 20_000, 0):
        pass


def collected(name: str) -> dict[str, dict[str, list[Row]]]:
    """Learner → seed → its points, for the seeds with which all learners have finished."""
    folder, seeds = RUNS / name, PARAMS["games"][name]["seeds"]
    finished = [seed for seed in seeds if all((folder / f"{learner}_{seed}.json").exists() for learner in LEARNERS)]
    return {
        learner: {str(seed): load_json(folder / f"{learner}_{seed}.json")["points"] for seed in finished}
        for learner in LEARNERS
    }


if __name__ == "__main__":
    main()
