"""From `cardlab train` to a policy that is evaluated and listed, as a user does it."""

import re
from pathlib import Path

import pytest

from cardlab.cli import main
from recipes import recipes

EXPERIMENTS = recipes("experiment")
LESS_WORK = {
    "poker_squares/champion": ["agent.rollouts=1"],  # its own slow network plays them
    "thirty_one/dqn_tuned": [
        "trainer.decisions=20_000"
    ],  # the sweep wrote a budget, which trainer=smoke does not replace
}


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_trains_and_is_evaluated(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], experiment: str
) -> None:
    def cardlab(*arguments: str) -> str:
        status = main(arguments)
        output, errors = capsys.readouterr()
        assert status == 0, errors
        return output

    monkeypatch.chdir(root)
    options = ["trainer=smoke", "agent.decisions_per_iteration=2048", *LESS_WORK.get(experiment, [])]
    output = cardlab("train", f"experiment={experiment}", *options)
    found = re.search(r"^policy: (\S+)$", output, re.MULTILINE)
    assert found is not None, output
    policy = Path(found[1])
    assert re.fullmatch(r"runs/\w+/latest/policy", str(policy))
    assert (policy / "policy.json").is_file()
    assert policy.with_name("curve.csv").is_file()
    assert "95 %" in cardlab("evaluate", f"policy={policy}", "arena.deals=50")
    output = cardlab("runs", f"policy={policy}")
    assert "training" in output
    assert "FINISHED" in output
