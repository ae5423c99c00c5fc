"""Stable-Baselines3 on the tables: the example, as it is documented, on a tiny budget."""

import runpy
from pathlib import Path

import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

import cardlab
from cardlab.integrations import make_sb3, sb3_agent

EXAMPLE = Path(__file__).parents[2] / "examples" / "sb3_maskable_ppo.py"


def test_the_example_trains_and_its_model_plays_in_the_arena(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLE))
    match = example["main"](["--decisions", "512", "--tables", "8", "--deals", "10"])
    assert match.num_games == 20
    assert f"open_face: {match.mean:.3f} points a game" in capsys.readouterr().out


def test_a_model_is_evaluated_by_its_own_library_and_by_the_arena() -> None:
    game = cardlab.make_game("open_face", features="paper")
    envs = make_sb3(game, 8, "random", seed=0)
    model = MaskablePPO("MlpPolicy", envs, n_steps=16, batch_size=64, n_epochs=1, seed=0, device="cpu")
    mean, _ = evaluate_policy(model, envs, n_eval_episodes=8)
    assert game.spec.payoff_range[0] <= mean <= game.spec.payoff_range[1]
    matches = [cardlab.play_match(game, [sb3_agent(game, model), "random"], 10, seed=0) for _ in range(2)]
    assert matches[0].mean == matches[1].mean
