"""Any game × any learner: each combination beats random play (at Poker Squares threefold) after a short training."""

from pathlib import Path

import pytest

from cardlab.evaluation.match import play_match
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.make_game import without_training_options
from cardlab.training.run import train

DEALS, SEED = 1000, 77_000_000
TRAINER = ["trainer.evaluations=0", "trainer.parallel_games=256"]
SMALL = ["network.widths=[128,128]"]
ENCODED = ["network=actions", "network.state_widths=[128,64]", "network.action_widths=[128,64]"]
THIRTY_ONE = ["game=thirty_one", "game.play=round", "game.reward=shaped", "network=thirty_one/small"]
POKER_SQUARES = ["game=poker_squares", "agent.decisions_per_iteration=2048"]
LONG = ["trainer.parallel_games=1024", "trainer.decisions=800_000"]  # long games that pay at their end alone
COMBINATIONS = {
    "thirty_one ppo": [*THIRTY_ONE, "agent=ppo", "trainer.decisions=200_000"],
    "thirty_one dqn": [*THIRTY_ONE, "agent=dqn", "trainer.decisions=200_000", "agent.epsilon_start=0.5"],
    "thirty_one td": [*THIRTY_ONE, "agent=td", "trainer.decisions=200_000", "agent.epsilon=0.05"],
    "poker_squares ppo": [*POKER_SQUARES, "agent=ppo", "network=poker_squares/small", "trainer.decisions=160_000"],
    "poker_squares dqn": [*POKER_SQUARES, "agent=dqn", "network=poker_squares/small", "trainer.decisions=40_000"],
    "poker_squares td": [*POKER_SQUARES, "agent=td", "network=lines", "trainer.decisions=240_000"],
    "poker_squares td, codes": [
        "game=poker_squares",
        "game.features=sparse_lines",
        "agent=poker_squares/sparse_lines",
        "network=sparse_lines",
        "trainer.decisions=300_000",
    ],
    "five_o ppo": ["game=five_o", "agent=ppo", *LONG],
    "five_o dqn": ["game=five_o", "agent=dqn", *LONG, "trainer.decisions=200_000"],
    "five_o td": ["game=five_o", "agent=td", "trainer.decisions=40_000"],
    "open_face ppo": ["game=open_face", "agent=ppo", "network=lines", *LONG],
    "open_face dqn": ["game=open_face", "agent=dqn", "trainer.decisions=100_000"],
    "open_face td": ["game=open_face", "agent=td", "trainer.decisions=60_000"],
    "big2 ppo": ["game=big2", "agent=ppo", *SMALL, "trainer.decisions=50_000"],
    "big2 ppo, encoded actions": ["game=big2", "agent=ppo", *ENCODED, "trainer.decisions=50_000"],
    "big2 ppo, proto-action": ["experiment=big2/proto_action", "trainer.decisions=50_000"],
    "big2 ppo, abstract actions": ["experiment=big2/abstract_actions", "trainer.decisions=50_000"],
    "big2 dqn, encoded actions": ["game=big2", "agent=dqn", *ENCODED, "trainer.decisions=50_000"],
    "big2 td": ["game=big2", "agent=td", *SMALL, "trainer.decisions=30_000"],
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
        wanted, points = 3 * matches[1].mean, matches[0].points
    else:
        wanted, points = 0.0, play_match(game, [policy, *["random"] * (game.spec.num_players - 1)], DEALS, SEED).points
    print(f"{name}: {points.mean:.3f} [{points.low:.3f}, {points.high:.3f}]")
    assert points.low > wanted
