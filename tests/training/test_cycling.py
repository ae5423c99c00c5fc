"""Rock, paper, scissors: self-play walks in circles; where those who still beat the learner come first it does not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cardlab.agents.policy_files import load_policy
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.snapshot_matches import Snapshot, find_snapshots, play_snapshots
from cardlab.learners.ppo.options import PPOOptions
from cardlab.learners.rollouts.opponents.fixed import SelfPlayOptions
from cardlab.learners.rollouts.opponents.pool import PoolOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.training.experiment import Experiment
from cardlab.training.options import TrainerOptions
from cardlab.training.run import train
from small_games.roshambo import CHOICES, Roshambo

GAME = Roshambo()
ROUNDS, DECISIONS = 120, 512
SEEDS = (0, 1)
PAYOFFS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # of a row's choice against a column's
FIXED = PoolOptions(size=2, every=5, current_share=0.3, agents=dict.fromkeys(CHOICES, 1.0))
FIELDS = {"self_play": SelfPlayOptions(), "pool": FIXED, "prioritised": replace(FIXED, priority=4.0)}
AGENT = PPOOptions(
    learning_rate=0.01,
    anneal_learning_rate=False,
    entropy_weight=0.03,
    decisions_per_iteration=DECISIONS,
    minibatch_size=DECISIONS,
    greedy=False,
)


class Told:
    """The last metrics of a run."""

    def log_metrics(self, metrics, step):
        self.metrics = metrics


def trained(opponents, seed, folder: Path, log=None) -> list[Path]:
    """Policies kept on the way, one every ten rounds."""
    trainer = TrainerOptions(
        decisions=ROUNDS * DECISIONS, parallel_games=128, evaluations=12, evaluation_deals=2, snapshots=12
    )
    experiment = Experiment(
        name="roshambo",
        seed=seed,
        game=GAME,
        agent=AGENT,
        network=MLPOptions(widths=(4,)),
        opponents=opponents,
        trainer=trainer,
        arena=ArenaOptions(references=("random",)),
        config={},
    )
    done = train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=lambda _: None)
    return find_snapshots(done.snapshots)


def exploitability(policy: Path) -> float:
    """What the best of rock, paper and scissors wins a game against it: 0 in equilibrium, 1 for a sure choice."""
    info_states = GAME.information(GAME.deal(1, np.random.default_rng(0)), np.zeros(1, dtype=np.int8))
    scores, _ = load_policy(GAME, policy).evaluate(info_states, np.zeros(1, dtype=np.int8))
    return float((PAYOFFS @ np.exp(scores[0])).max())


@pytest.mark.slow
@pytest.mark.usefixtures("roshambo_agents")
def test_priority_leads_to_where_nobody_can_be_beaten(tmp_path: Path) -> None:
    """Means over the second halves of trainings: in a circle, the policy that is learned last may be a lucky one."""
    found = {}
    for name, opponents in FIELDS.items():
        kept = [trained(opponents, seed, tmp_path / name / str(seed))[6:] for seed in SEEDS]
        found[name] = [np.mean([exploitability(policy) for policy in policies]) for policies in kept]
    assert min(found["self_play"] + found["pool"]) > 0.4, found
    assert max(found["prioritised"]) < 0.2, found


def test_self_play_walks_in_circles(tmp_path: Path) -> None:
    policies = trained(FIELDS["self_play"], 0, tmp_path)
    snapshots = [Snapshot(int(path.name), str(path), "") for path in policies]
    history = play_snapshots(
        GAME, snapshots, ArenaOptions(pairing_deals=200, references=("random",), processes=1), experiment="x"
    )
    print(history["cycles"])
    assert any(cycle["sure"] for cycle in history["cycles"])


@pytest.mark.usefixtures("roshambo_agents")
def test_the_log_tells_whom_the_learner_beats(tmp_path: Path) -> None:
    told = Told()
    field = replace(FIXED, every=50)
    trained(field, 0, tmp_path, told)
    shares = {name: value for name, value in told.metrics.items() if name.startswith("opponents/")}
    assert set(shares) == {f"opponents/{name}" for name in ("iteration_50", "iteration_100", *CHOICES)}
    assert all(0 < share < 1 for share in shares.values())
