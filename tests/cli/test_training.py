"""From `cardlab train` to a policy that is evaluated and listed, for experiments that no page trains."""

import re
from pathlib import Path

import pytest

from cardlab.cli import main
from documentation.test_commands import RUN_HERE
from recipes import recipes

ON_PAGES = {command.words[2].removeprefix("experiment=") for command in RUN_HERE if command.words[1] == "train"}
"""Experiments that tests/documentation/test_commands.py trains."""


@pytest.mark.slow
@pytest.mark.parametrize("experiment", [name for name in recipes("experiment") if name not in ON_PAGES])
def test_every_other_experiment_trains_and_is_evaluated(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], experiment: str
) -> None:
    def cardlab(*arguments: str) -> str:
        status = main(arguments)
        output, errors = capsys.readouterr()
        assert status == 0, errors
        return output

    monkeypatch.chdir(root)
    short = ["trainer.decisions=1024", "trainer.parallel_games=32", "trainer.evaluation_deals=8"]
    options = ["trainer=smoke", *short, "agent.decisions_per_iteration=512"]
    output = cardlab("train", f"experiment={experiment}", *options)
    found = re.search(r"^policy: (\S+)$", output, re.MULTILINE)
    assert found is not None, output
    policy = Path(found[1])
    assert re.fullmatch(r"runs/\w+/latest/policy", str(policy))
    assert (policy / "policy.json").is_file()
    assert policy.with_name("curve.csv").is_file()
    assert "95 %" in cardlab("evaluate", f"policy={policy}", "arena.deals=50")
    headings, *runs = cardlab("runs", f"policy={policy}", "kind=training").splitlines()
    assert headings.split()[:3] == ["name", "kind", "game"]
    assert [" finished " in run for run in runs] == [True]
