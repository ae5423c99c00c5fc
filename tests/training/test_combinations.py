"""Whatever is composed learns: `game=G agent=A`, with a short budget and nothing else, beats random play."""

from pathlib import Path

import pytest

from cardlab.evaluation.match import play_match
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.make_game import without_training_options
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
    experiment = build_experiment(compose_experiment([*TRAINER, *COMBINATIONS[name]]))
    trained = train(experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model")
    game = without_training_options(experiment.game)
    policy = str(trained.folder)
    if game.spec.num_players == 1:
        matches = [play_match(game, [agent], DEALS, SEED) for agent in (policy, "random")]
        wanted, points = 1.5 * matches[1].mean, matches[0].points
    else:
        wanted, points = 0.0, play_match(game, [policy, *["random"] * (game.spec.num_players - 1)], DEALS, SEED).points
    print(f"{name}: {points.mean:.3f} [{points.low:.3f}, {points.high:.3f}]")
    assert points.low > wanted
