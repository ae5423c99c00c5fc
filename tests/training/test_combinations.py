"""Whatever is composed learns: `game=G agent=A`, with a short budget and nothing else, beats random play."""

from dataclasses import replace
from pathlib import Path

import pytest

from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.match import play_match
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.training.run import train

DEALS, SEED = 1000, 77_000_000
TRAINER = ["trainer.evaluations=0", "trainer.snapshots=0"]
DECISIONS = {"thirty_one": 100_000, "poker_squares": 60_000, "five_o": 60_000, "open_face": 60_000, "big2": 40_000}
AGENTS = ("ppo", "dqn", "td")
COMBINATIONS = {
    **{
        f"{game} {agent}": [f"game={game}", f"agent={agent}", f"trainer.decisions={decisions}"]
        for game, decisions in DECISIONS.items()
        for agent in AGENTS
    },
    "poker_squares td, codes": [
        "game=poker_squares",
        "game.features=sparse_lines",
        "agent=poker_squares/sparse_lines",
        "network=sparse_lines",
        "trainer.decisions=100_000",
    ],
    "open_face ppo": ["game=open_face", "agent=ppo", "trainer.decisions=150_000"],
    "big2 ppo, proto-action": ["experiment=big2/proto_action", "trainer.decisions=50_000"],
    "big2 ppo, abstract actions": ["experiment=big2/abstract_actions", "trainer.decisions=50_000"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMBINATIONS)
def test_every_combination_beats_random(name: str, tmp_path: Path) -> None:
    """With a quarter of the budget; a policy that is not better yet is trained again with the whole budget."""
    whole = build_experiment(compose_experiment([*TRAINER, *COMBINATIONS[name]]))
    for share in (4, 1):
        budget = replace(whole.trainer, decisions=whole.trainer.decisions // share)
        folder = tmp_path / f"share_{share}"
        trained = train(replace(whole, trainer=budget), run_dir=folder / "run", model_dir=folder / "model")
        points, wanted = result(whole.game, str(trained.folder))
        print(f"{name}, {budget.decisions} decisions: {points.mean:.3f} [{points.low:.3f}, {points.high:.3f}]")
        if points.low > wanted:
            return
    pytest.fail(f"{name}: {points.low:.3f} is not above {wanted:.3f}")


def result(trained_game: Game, policy: str) -> tuple[Estimate, float]:
    """The points of a policy against random players, and what they must exceed."""
    game = without_training_options(trained_game)
    if game.spec.num_players == 1:
        matches = [play_match(game, [agent], DEALS, SEED) for agent in (policy, "random")]
        return matches[0].points, 1.5 * matches[1].mean
    return play_match(game, [policy, *["random"] * (game.spec.num_players - 1)], DEALS, SEED).points, 0.0
