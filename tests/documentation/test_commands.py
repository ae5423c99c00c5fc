"""Every command of the documentation is run here with a tiny budget, or named with the test that runs it."""

import io
import re
import shutil
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import cardlab
from cardlab.agents.policy_files import describe, save_policy
from cardlab.cli import main
from cardlab.networks.mlp_options import MLPOptions
from documentation.commands import KNOWN_FENCES, PAGES, ROOT, SERVICES, SHELL, Command, all_commands, fences
from plays import PLAYS

ELSEWHERE = {
    r"cardlab init .*|cardlab .*kuhn.*": "tests/cli/test_init.py",
    r"make \w+": "makes .venv and runs the suite: .ci/run",
    r"pytest -m slow --kills .*": "long series of tests that the suite runs with fewer kills",
    r"pip install .*": "make setup installs every extra that the tests need",
    r"source \.venv/bin/activate": "a line of the shell",
    r"git restore .*": "throws edits away: tests/pipelines/test_sharing.py has the commands of DVC around it",
    r"git (merge|checkout|add) .*|dvc repro code": "a merge of two branches, tried by hand",
    r"dvc (stage list|dag) .*": "DVC's own, tried by hand in a fresh clone",
    r"pytest tests/agents.*": "a part of the suite",
    r"docker .*": "needs a container engine; make lint checks the Dockerfile",
    r"cardlab play.*": "serves until it is stopped: tests/play/test_process.py",
    r"cardlab ui": "serves until it is stopped: tests/cli/test_browser.py",
    r"dvc remote add .*": "a folder of the reader's: tests/pipelines/test_sharing.py",
    r"cardlab (runs run=|runs diff |reproduce )4de34c2b.*": "runs of the writer's store: tests/tracking/",
    r"cardlab runs policy=champions/\w+": "a champion of the reader's: tests/experiments/promotion/",
    rf"({'|'.join(SERVICES)}|python -c) .*|cardlab sweep .*=shared": "tests/experiments/sweep/test_services.py",
    r"torchrun .*|cardlab train .* trainer\.launcher=ray": "other processes: tests/training/test_external_launch.py",
    r"cardlab promote .*": "writes a champion: tests/experiments/promotion/, tests/pipelines/test_sharing.py",
    r"cardlab evaluate game=big2 policy=(endgame|monte_carlo).*": "exact ends, beliefs: tests/agents/",
    r"cardlab evaluate game=poker_squares .*policy=tree_search.*": "long: tests/agents/test_online_learning.py",
    r"cardlab sweep .*…? ?.*(sweep\.(workers|storage|launcher)=.*)": "workers and servers: tests/experiments/sweep/",
    r"dvc (repro( report| compare@thirty_one)?|(metrics|plots) show|metrics diff)": "tests/pipelines/test_pipeline.py",
    r"dvc exp run -S experiments\.thirty_one_dqn\..*": "tests/pipelines/test_pipeline.py",
    r"dvc exp run -S experiments\.NAME\..*": "a name of the reader's: tests/pipelines/test_pipeline.py",
    r"dvc exp run --queue .*|dvc queue start -j 2|dvc exp show .*": "tests/pipelines/test_sharing.py",
    r"dvc (metrics|plots) diff more fewer|dvc (push|pull)": "tests/pipelines/test_sharing.py",
    r"cardlab tournament .*models/thirty_one_td.*": "policies of the pipeline: tests/pipelines/test_pipeline.py",
    r"dvc repro studies/methods/dvc\.yaml": "45 trainings: tests/experiments/test_comparison.py",
    r"dvc repro champions/dvc\.yaml:\S+": "tests/pipelines/test_sharing.py",
    r"dvc repro papers/(champions/)?dvc\.yaml:\S+": "minutes to hours; the scripts: tests/pipelines/test_stages.py",
    r"python benchmarks/beside_stable_baselines\.py": "more than an hour of one core",
    r"python benchmarks/scaling\.py .*": "needs a quiet machine",
    r"python examples/sb3_maskable_ppo\.py .*": "tests/integrations/test_stable_baselines.py",
}
"""What is not run here, and where it is."""

TRAINING = ("trainer.decisions=400", "trainer.parallel_games=8", "trainer.evaluations=1", "trainer.evaluation_deals=2")
ARENA = ("arena.deals=4", "arena.processes=1")
SMALLER: dict[str, Sequence[str]] = {
    r"cardlab train .*": (*TRAINING, "trainer.snapshots=0", "agent.decisions_per_iteration=200", *ARENA),
    r"cardlab train .*trainer\.compile=true.*": ("trainer.compile=false",),  # a minute each
    r"cardlab train .*(stop_after=|=big2/paper ).*": ("trainer.stop_after=200",),
    r"cardlab train .*seeds=(3|5|\[1,2,3,4,5\]).*": ("seeds=1",),
    r"cardlab train .*start_from=.*": ("trainer.decisions=800",),
    r"cardlab train .*start_from=runs/big2_league/.*": ("trainer.decisions=1600",),  # a stretch after a stretch
    r"cardlab sweep .*": (*TRAINING, "sweep.trials=2", "sweep.deals=2", "agent.decisions_per_iteration=200"),
    r"cardlab (evaluate|tournament|compare) .*": ARENA,
    r"cardlab (evaluate .*|tournament .*)(search|monte_carlo).*": ("arena.deals=2", "arena.processes=1"),
    r"cardlab belief.*": ("training.iterations=1", "training.games=8", "training.held_out=4", "network.widths=[8]"),
}
"""What is appended, so that a command takes seconds."""

POLICIES = {
    "thirty_one_dqn": ("thirty_one", "softmax"),
    "thirty_one_ppo": ("thirty_one", "softmax"),
    "poker_squares_td": ("poker_squares", "afterstate"),
    "big2_ppo": ("big2", "softmax"),
}
"""Policies that commands load, with their game and how they play: untrained ones will do."""

RUN_HERE = [command for command in all_commands() if not any(re.fullmatch(text, command.text) for text in ELSEWHERE)]


def test_every_block_says_what_it_is() -> None:
    """A command in a block without a language would be run by nobody."""
    for page in PAGES:
        assert not [kind for kind in fences(page) if kind not in KNOWN_FENCES], page


def test_every_command_is_run_by_some_test() -> None:
    unknown = [command for command in RUN_HERE if command.words[0] != "cardlab"]
    assert not unknown
    assert len(RUN_HERE) > 15
    for pattern in (*ELSEWHERE, *SMALLER):
        assert any(re.fullmatch(pattern, command.text) for command in all_commands()), f"no page has {pattern}"
    assert all(command.words[0] in SHELL + SERVICES for command in all_commands())


def smaller(command: Command) -> list[str]:
    """The words behind `cardlab`, on a tiny budget."""
    extra = [word for pattern, words in SMALLER.items() if re.fullmatch(pattern, command.text) for word in words]
    words = [re.sub(r"simulations([:=])\d+", r"simulations\g<1>8", word) for word in command.words[1:]]
    return words + extra


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("seeds_here")
def test_the_commands_do_what_they_say(fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the pages, each once, in one folder: what one command leaves, the next may need."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cardlab.experiments.sweep.summary.study_plots", lambda *_: ())  # longer than tiny trials
    shutil.copyfile(fresh_database, tmp_path / "mlflow.db")
    shutil.copytree(ROOT / "champions" / "papers", tmp_path / "champions" / "papers")  # one page evaluates it
    for name, (game_name, plays) in POLICIES.items():
        game = cardlab.make_game(game_name)
        options = MLPOptions(widths=(8,))
        for seed in ("seed_7", "seed_8"):
            save_policy(Path("models", name, seed), describe(game, options, PLAYS[plays], {}), options.build(game.spec))
    failed: list[str] = []
    for command in {command.text: command for command in RUN_HERE}.values():
        np.random.seed(0)  # noqa: NPY002  libraries that draw from it draw alike
        told = io.StringIO()
        with redirect_stdout(told), redirect_stderr(told):
            status = main(smaller(command))
        if status:
            failed.append(f"{command.page}: {command.text}: {status}\n{told.getvalue()[-600:]}")
    assert not failed, "\n".join(failed)
