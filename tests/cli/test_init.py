"""`cardlab init`: a project that runs at once, with a game, an agent, a learner and a network of its own."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from cardlab.cli import main

ROOT = Path(__file__).parents[2]
TINY = ("trainer.decisions=2048", "trainer.evaluations=1", "trainer.evaluation_deals=20", "arena.deals=50")


@dataclass(frozen=True)
class Shell:
    """Runs commands in a folder with the code of this checkout, by programs that start in no time."""

    programs: Path
    folder: Path

    def run(self, *command: str) -> str:
        """What a command prints."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": f"{self.programs}:/usr/bin:/bin"}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def cardlab(self, *arguments: str) -> str:
        return self.run("cardlab", *arguments)

    def trainings(self) -> dict[str, str]:
        """Experiment → digest of the code of its training, as the stage `code` writes it."""
        self.run("python", "pipelines/code_digests.py")
        written = json.loads((self.folder / "code.json").read_text())
        return {name: stages["train"] for name, stages in written["experiments"].items()}


@pytest.mark.parametrize("names", [[], ["one", "two"]])
def test_one_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], names: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", *names]) == 2
    assert capsys.readouterr().err.endswith("must be one folder, as in cardlab init my_cards\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["3x", "class", "numpy", "json"])
def test_a_name_that_python_could_not_import_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", name]) == 2
    assert "such as my_cards" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_no_file_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trio" / "conf").mkdir(parents=True)
    (tmp_path / "trio" / "conf" / "config.yaml").write_text("mine")
    assert main(["init", "trio"]) == 2
    assert "a new folder: conf/config.yaml is there, and no file is overwritten" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "trio").rglob("*")] == ["conf", "config.yaml"]


def test_the_stages_are_those_of_cardlab() -> None:
    ours, theirs = (
        yaml.safe_load((ROOT / name).read_text()) for name in ("dvc.yaml", "examples/project/pipeline.yaml")
    )
    assert list(ours["stages"]) == list(theirs["stages"])
    assert theirs["stages"]["code"]["always_changed"], "or `pip install -U cardlab` would make nothing stale"
    for name, stage in ours["stages"].items():
        assert stage.get("do", stage).get("params") == theirs["stages"][name].get("do", theirs["stages"][name]).get(
            "params"
        )


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_project_runs_at_once(tmp_path: Path, fresh_database: Path, quick_python: Path) -> None:
    assert "two-decks, a repository of git\n" in Shell(quick_python, tmp_path).cardlab("init", "two-decks")
    project = tmp_path / "two-decks"
    shell = Shell(quick_python, project)
    shutil.copyfile(fresh_database, project / "mlflow.db")
    assert shell.run("git", "diff", "--cached", "--name-only") == ""
    assert "passed" in shell.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert yaml.safe_load((project / "params.yaml").read_text())["experiments"]["kuhn_reinforce"]["agent"]["gamma"] == 1
    assert shell.cardlab("compose", "--check") == "params.yaml is up to date\n"

    # an edit of its loss makes the trainings stale that use it; a docstring does not
    before, loss = shell.trainings(), project / "src" / "two_decks" / "reinforce.py"
    text = loss.read_text()
    loss.write_text(text.replace('"""Loss', '"""The loss'))
    assert shell.trainings() == before
    loss.write_text(text.replace("0.5 * errors", "0.4 * errors"))
    assert [name for name, digest in shell.trainings().items() if digest != before[name]] == ["kuhn_reinforce"]
    loss.write_text(text)

    # every verb takes the parts of the project
    shell.cardlab("train", "experiment=kuhn/reinforce", "seeds=2", *TINY)
    shell.cardlab("train", "experiment=kuhn/ppo", *TINY)
    assert "points per game" in shell.cardlab("compare", "kuhn_reinforce", "kuhn_ppo", "arena.deals=50")
    policy = next(project.glob("runs/kuhn_reinforce/*/policy"))
    name = str(policy.relative_to(project))
    assert "cautious" in shell.cardlab("evaluate", f"policy={name}", "arena.deals=50")
    agents = f"agents=[random,cautious,two_decks.agents.Cautious:lowest:1,{name}]"
    shell.cardlab("tournament", "game=kuhn", agents, "arena.deals=20")
    assert "bet" in shell.cardlab("replay", "game=kuhn", f"agents=[{name},cautious]", "deal=3")
    space = "sweep.space.agent.entropy_weight={low: 0.001, high: 0.1}"
    shell.cardlab("sweep", "experiment=kuhn/reinforce", space, "sweep.trials=2", "sweep.deals=10", *TINY[:3])
    shown = shell.cardlab("train", "experiment=kuhn/reinforce", "--help")
    assert re.search("minibatch_size: 512 +decisions in one gradient step", shown), "as its class says"

    assert shell.cardlab("compose", "--options") == "conf/agent/reinforce.yaml: options added\n"
    text = (project / "conf" / "agent" / "reinforce.yaml").read_text()
    assert text.count("entropy_weight") == 1
    assert "\nminibatch_size: 512  # decisions in one gradient step\n" in text
    assert shell.cardlab("compose", "--options") == "no file of conf/ leaves an option out\n"
    assert shell.cardlab("compose", "--check") == "params.yaml is up to date\n"

    # DVC composes the project's groups and the shipped ones
    shell.run("git", "add", "--all")
    shell.run("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--message=start")
    shell.run("dvc", "exp", "run", "--queue", "--set-param", "agent@experiments.kuhn_reinforce.agent=ppo")
    assert "Queued" in shell.run("dvc", "queue", "status")
