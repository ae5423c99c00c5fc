"""What is wrong is said in one line that names the key, before anything is written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardlab.cli import main
from cardlab.evaluation.game_record import GameRecord, save_record

PROGRAM = [sys.executable, "-c", "import sys; from cardlab.cli import main; sys.exit(main())"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def one_line(text: str) -> str:
    lines = text.splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("cardlab: error: ")
    return lines[0].removeprefix("cardlab: error: ")


def test_in_a_process_of_its_own_nothing_is_written(folder: Path) -> None:
    command = [*PROGRAM, "train", "game=thirty_one", "network=lines"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr).startswith("network=lines: must be mlp or trunks")
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "agent.gama=1"], "agent.gama=1: no such key; did you mean agent.gamma? agent takes"),
        (["train", "agent.gamma=2"], "agent.gamma=2: must be a number in [0, 1]"),
        (["train", "agent=dqn", "agent.epsilon=-1"], "agent.epsilon=-1: must be a number in [0, 1]"),
        (
            ["train", "game=thirty_one", "game.num_players=1"],
            "game.num_players=1: must be a whole number in [2, 9]",
        ),
        (["train", "agent.gamma=fast"], "agent.gamma=fast: must be a number"),
        (["trian"], "unknown command 'trian'; did you mean 'train'?"),
        (["zzz"], "unknown command 'zzz'; choose one of init, train, evaluate,"),
        (["train", "--fast"], "unrecognized arguments: --fast"),
        (["train", "--check"], "--check: cardlab train has no such flag"),
        (["train", "--cfg", "job", "-p", "nothing"], "--package=nothing: must be one of game, agent"),
        (["train", "--cfg", "nothing"], "argument --cfg/-c: invalid choice: 'nothing'"),
        (["train", "--cfg", "job", "-p", "name"], "--package=name: must be one of game, agent, network"),
        (["evaluate", "--cfg", "job", "-p", "policy"], "--package=policy: must be one of arena, search"),
        (["train", "--info=nope"], "argument --info/-i: invalid choice: 'nope'"),
        (["-sc", "install=nosh"], "argument --shell-completion/-sc: invalid choice: 'install=nosh'"),
        (["-sc", "query"], "argument --shell-completion/-sc: invalid choice: 'query'"),
        (["ui", "ui.port=8798"], "ui.port=8798: no such key; did you mean port?"),
        (["train", "gmae=thirty_one"], "gmae=thirty_one: no such key; did you mean game?"),
        (["train", "game=chess"], "game=chess: must be one of "),
        (["train", "experiment=nothing"], "experiment=nothing: must be one of "),
        (
            ["train", "game=thirty_one", "agent=dqn", "agent.update_per_game=true", "trainer.processes=2"],
            "trainer.processes=2: must be 1 with agent.update_per_game",
        ),
        (
            ["train", "experiment=poker_squares/paper", "trainer.processes=2"],
            "trainer.processes=2: must be 1 with agent.online",
        ),
        (
            [
                "train",
                "game=thirty_one",
                "agent=dqn",
                "agent.zero_other_actions=true",
                "agent.loss=mse",
                "trainer.processes=2",
            ],
            "trainer.processes=2: must be 1 with agent.zero_other_actions",
        ),
        (
            ["train", "game=five_o", "agent=ppo", "agent.cut_games=true", "agent.decisions_per_iteration=256"],
            "trainer.parallel_games=128: must be at most 127 with agent.cut_games and agent.decisions_per_iteration=",
        ),
        (
            ["train", "experiment=poker_squares/paper", "agent.max_grad_norm=1"],
            "agent.max_grad_norm=1: must be 10.0 with agent.online",
        ),
        (["train", "seeds=2.5"], "seeds=2.5: must be a whole number in [1, 1000]"),
        (["train", "seeds=2", "seed=abc"], "seed=abc: must be a whole number"),
        (
            ["compose", "+tune.sweep.space.agent.nosuch=[1,2]"],
            "tune.sweep.space.agent.nosuch=[1,2]: must be for a key of tune.experiment",
        ),
        (["compose", "tune.sweep.apply=thirty_one/mine"], "tune.sweep.apply=thirty_one/mine: must be null: the stage"),
        (["train", "agent=null"], "agent=null: must be one of "),
        (["train", "agent=[1]"], "agent=[1]: must be one of "),
        (["train", "network=[[mlp]]"], "network=[[mlp]]: must be one of "),
        (
            ["train", "agent=pp"],
            "agent=pp: must be one of dqn, policy_iteration, ppo, td; big2/: champion, dqn, paper, ppo, quick, td; ",
        ),
        (
            ["train", "experiment=big2"],
            "experiment=big2: must be one of big2/abstract_actions, big2/champion, big2/default, big2/dqn, ",
        ),
        (["train", "experiment=big2_best"], "experiment=big2_best: must be one of big2/abstract_actions, "),
        (["train", "experiment=thirty_one_ppo"], "experiment=thirty_one_ppo: must be thirty_one/ppo"),
        (["train", "agent=big2/papre"], "agent=big2/papre: must be one of big2/champion, big2/dqn, big2/paper"),
        (["train", "opponents=ladder"], "opponents=ladder: must be one of big2/ladder, thirty_one/ladder"),
        (
            ["compose", "agent@experiments.big2_ppo.agent=big2_paper"],
            "agent@experiments.big2_ppo.agent=big2_paper: must be ",
        ),
        (
            ["train", "agent=dqn", "agent.clip_range=0.1"],
            "agent.clip_range=0.1: no such key; agent takes _target_",
        ),
        (["train", "agent.gamma.x=1"], "agent.gamma.x=1: no such key"),
        (["train", "agent.gamma=0.9,0.99"], "agent.gamma=0.9,0.99: takes one value (cardlab train -m trains with"),
        (["train", "agent.gamma=choice(1,2)"], "agent.gamma=choice(1,2): takes one value"),
        (["train", f"seed={5000 * '9'}"], f"seed={95 * '9'}… (5005 characters): cannot be read as key=value"),
        (["train", "agent.gamma"], "agent.gamma: cannot be read as key=value"),
        (
            ["train", "name=über"],
            "name=über: cannot be read as key=value (a value with signs such as ? and é needs quotes",
        ),
        (
            ["train", "name={a:"],
            "name={a:: cannot be read as key=value (a value with signs such as ? and é needs quotes",
        ),
        (
            ["sweep", "sweep.space.agent.gamma={low:", "0.9}"],
            "0.9}: cannot be read as key=value (a value with spaces needs",
        ),
        (["train", "agent.gamma=${nothing}"], "agent.gamma: Interpolation key 'nothing' not found"),
        (["train", "+agent.gamma=1"], "+agent.gamma=1: this key exists; write agent.gamma=1"),
        (
            ["train", "resume=12e45"],
            "resume=12e45: must be the id of an interrupted run, or at least its first 4 characters; this",
        ),
        (["evaluate"], "policy=(left out): must be given"),
        (
            ["evaluate", "agent=ppo"],
            "agent=ppo: no such key; conf/evaluate.yaml takes arena, search, policy, output, record, game",
        ),
        (
            ["evaluate", "policy=random"],
            "policy=random: must be a policy's folder (runs/NAME/latest/policy from",
        ),
        (["evaluate", "policy=null", "game=big2"], "policy=null: must be text"),
        (["evaluate", "policy=."], ".: is not a policy's folder: no policy.json in it"),
        (["evaluate", "policy=shark", "game=poker_squares", "arena.deals=2"], "policy=shark: must be"),
        (["evaluate", "policy=random", "game=poker_squares", "arena.deals=1"], "arena.deals=1: must be a whole number"),
        (
            ["evaluate", "policy=random", "game=poker_squares", "output=/proc/x"],
            "output=/proc/x: must be a file in a folder that can be written to (no such file or directory)",
        ),
        (["evaluate", "policy=random", "game=poker_squares", "output=."], "output=.: must be a file"),
        (["evaluate", "policy=random", "game=poker_squares", "output=3"], "output=3: must be text or null"),
        (["evaluate", "policy=random", "game=poker_squares", "output="], "output=: must be a file"),
        (
            ["evaluate", "policy=random", "game=poker_squares", "arena.records="],
            "arena.records=: must be text that is not empty",
        ),
        (
            ["evaluate", "policy=random", "game=poker_squares", "arena.records=/proc/x"],
            "arena.records=/proc/x: must be a folder that can be written to (no such file or directory)",
        ),
        (["replay", "output=/proc/x/y"], "output=/proc/x/y: must be a file in a folder that can be written to ("),
        (["replay", f"output={300 * 'x'}"], f"output={300 * 'x'}: must be a file"),
        (["promote", "policy=champion", "game=big2", "output=/proc/x"], "output=/proc/x: must be a file in a folder"),
        (
            ["tournament", "agents=[random,greedy]"],
            "game=(left out): must be given where no agent is a policy: one of big2",
        ),
        (
            ["tournament", "game=thirty_one", "agents=[random,greedy]", "output=/proc/x"],
            "output=/proc/x: must be a folder that can be",
        ),
        (["play", "play.models=/no/such"], "play.models=/no/such: must be a folder of policies"),
        (["train", "agent=dqn,ppo"], "agent=dqn,ppo: takes one value (cardlab train -m trains with each"),
        (["train", "seed=range(1,4)"], "seed=range(1,4): takes one value (seeds=[a,b] trains with each)"),
        (["runs", "kind=training,sweep"], "kind=training,sweep: takes one value (a list is written [a,b])"),
        (
            ["sweep", "sweep.space.agent.gamma=interval(0,1)"],
            "sweep.space.agent.gamma=interval(0,1): takes one value",
        ),
        (
            ["sweep", "sweep.space.game.num_players=[2,3]"],
            "sweep.space.game.num_players=[2, 3]: must be left out, or sweep.sampler=grid: it",
        ),
        (["sweep", "sweep.space={agent: {gamma: 0.9}}"], "sweep.space.agent.gamma=0.9: must be {low: …, high: …}"),
        (["belief", "agents=[]"], "agents=[]: must be a list of at least 1 entries"),
        (["belief", "output=/proc/x"], "output=/proc/x: must be a folder that can be written to (no such file or"),
        (["belief", "output=/etc/passwd"], "output=/etc/passwd: must be a folder that can be written to (file exists)"),
        (["belief", "output="], "output=: must be a folder"),
        (["play", "play.folder=/proc/x", "play.port=0"], "play.folder=/proc/x: must be a folder that"),
        (["tournament", "agents=[random]", "game=poker_squares"], "agents=[random]: must be two or more agents"),
        (["tournament", "agents=random"], "agents=random: must be a list"),
        (["replay", "deal=-1"], "deal=-1: must be a whole number in [0, 1999]"),
        (["replay", "game=poker_squares", "inputs=[nothing]"], "inputs=nothing: must be one of all, "),
        (["replay", "record=nothing.json"], "nothing.json: is not a record of a game"),
        (
            ["replay", "agents=[random,random,random]"],
            "agents=[random,random,random]: must be one agent for all seats, or 2",
        ),
        (["runs", 'policy="no=where"'], "no=where: is not a policy's folder"),
        (["ui", "--json"], "--json: cardlab ui has no such flag"),
        (["train", "--resolve"], "--resolve: give it with --cfg job"),
        (["train", "--package", "agent", "trainer=smoke"], "--package: give it with --cfg job"),
        (["sweep", "~agent"], "name: Interpolation key 'agent.name' not found"),
        (["train", "~agent.gamma"], "agent.gamma=(left out): must be given; agent.gamma=VALUE sets it"),
        (["train", "~agent.gama"], "~agent.gama: no such key; did you mean ~agent.gamma?"),
        (["sweep", "sweep=dqn", "agent=dqn", "~sweep.space.agent.gama"], "~sweep.space.agent.gama: no such key; did"),
        (
            ["train", "experiment=thirty_one/dqn", "game=poker_squares"],
            "game=poker_squares: must be left out, or thirty_one, the game of experiment=thirty_one/dqn",
        ),
        (["train", "--config-dir", "nowhere"], "--config-dir=nowhere: must be a folder that holds"),
        (["train", "-cd", "nowhere"], "--config-dir=nowhere: must be a folder that holds"),
        (["promote"], "policy=(left out): must be given"),
        (
            ["promote", "policy=nowhere"],
            "policy=nowhere: must be the name of an experiment in models/ or runs/, ",
        ),
        (["promote", "policy=x", "sequential=often"], "sequential=often: must be true or false"),
        (["runs", "limit=0"], "limit=0: must be a whole number in [1, 1000]"),
        (["runs", "kind=trials"], "kind=trials: must be one of training, seeds, sweep, trial, evaluation"),
        (["runs", "policy=nowhere"], "nowhere: is not a policy's folder"),
        (["compose", "--check"], "params.yaml differs from conf/ at "),
        (["compose", "benchmark=typo"], "benchmark=typo: must be one of champions, full, papers, quick"),
        (
            ["compose", "experiments.thirty_one_dqn.agent.epsilom=1"],
            "experiments.thirty_one_dqn.agent.epsilom=1: no such key; "
            "did you mean experiments.thirty_one_dqn.agent.epsilon?",
        ),
        (
            ["compose", "experiments.thirty_one_ppo.agent.gamma=2"],
            "experiments.thirty_one_ppo.agent.gamma=2: must be a number in [0, 1]",
        ),
        (
            ["compose", "experiments.thirty_one_dqn.arena.references=[greedy,champion]"],
            "experiments.thirty_one_dqn.arena.references=champion: must be a scripted agent or a policy's folder",
        ),
        (
            ["compose", "experiments.thirty_one_dqn.trainer.evaluation_lineup=[models:/cardlab-thirty_one@champion]"],
            "experiments.thirty_one_dqn.trainer.evaluation_lineup=models:/cardlab-thirty_one@champion: must be a",
        ),
        (
            ["compose", "experiments.thirty_one_dqn.trainer.launcher=ray"],
            "experiments.thirty_one_dqn.trainer.launcher=ray: must be processes; only cardlab train uses ray",
        ),
        (["compose", "benchmark=[]"], "experiments=(left out): must be experiments by name, as in benchmark=quick"),
        (["compose", "--check", "experiments=3"], "experiments=3: must be experiments by name, as in"),
        (["compose", "experiments.thirty_one_dqn=3"], "experiments.thirty_one_dqn=3: must be a mapping"),
        (
            ["compose", "~experiments.thirty_one_dqn", "+experiments.thirty_one_dqn.seeds=3"],
            "experiments.thirty_one_dqn={seeds: 3}: must be a whole experiment: add its line to the defaults, or",
        ),
        (["compose", "~experiments.thirty_one_dqn.name"], "experiments.thirty_one_dqn.name=(left out): must be"),
        (["runs", "~limit"], "limit=(left out): must be given"),
        (["evaluate", "~arena", "policy=random", "game=thirty_one"], "arena=(left out): must be given"),
        (["sweep", "sweep=[]"], "sweep=(left out): must be given"),
        (["sweep", "sweep.space=3"], "sweep.space=3: must be a mapping, as in {name: value}"),
        (["ui", "port=0"], "port=0: must be a whole number in [1, 65535]"),
        (["ui", "host="], "host=: must be an address of this machine"),
        (["play", "play.belief.big2.x=3"], "play.belief.big2={x: 3}: must be text"),
        (["play", "play.belief={chess: x}", "play.port=0"], "play.belief=chess: must be one of "),
        (["play", "play.searches.mine=tree:foo:1", "play.port=0"], "play.searches.mine=tree:foo:1: must be a search"),
        (["play", "play.searches.mine=a,b"], "play.searches.mine=a,b: takes one value"),
        (["train", 'name="it\'s"'], "name=it's: must be text for the name of a folder: no / \\ or quotes in it"),
        (["sweep", "agent=dqn", "sweep=dqn", f"sweep.study={201 * 's'}"], f"sweep.study={20 * 's'}"),
        (["sweep", "agent=dqn", "sweep=dqn", f"name={195 * 'n'}", "sweep.confirm=2"], f"name={20 * 'n'}"),
        (["compose", "experiments.thirty_one_dqn.name=other"], "experiments.thirty_one_dqn.name=other: must be"),
    ],
)
def test_one_line_names_it(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert one_line(printed.err).startswith(said)
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("train agent.gama=1 agent.epoch=2", ["agent.gama=1: no such key", "agent.epoch=2: no such key"]),
        ("train agent.gamma=2 trainer.decisions=0", ["agent.gamma=2: must be", "trainer.decisions=0: must be"]),
        ("train agent.gamma=2 agent.clip_range=-3", ["agent.gamma=2: must be", "agent.clip_range=-3: must be"]),
        ("train game=chess game.x=3 agent.gamma=2", ["game=chess: must be"]),
        ("train agent.gama=1 arena.deals=0", ["agent.gama=1: no such key"]),
        ("train experiment=mine agent.mine=3", ["experiment=mine: must be"]),
        ("train network=mlp network.widths=[0]", ["network.widths[0]=0: must be a whole number in [1, 8192]"]),
        ("train gamma=0.9", ["gamma=0.9: no such key; did you mean agent.gamma?"]),
        ("train lr=0.1", ["lr=0.1: no such key; did you mean agent.learning_rate?"]),
        ("train network=mlp agent.widths=[8]", ["agent.widths=[8]: no such key; did you mean network.widths?"]),
        (
            "train thirty_one/dqn",
            ["thirty_one/dqn: cannot be read as key=value; did you mean experiment=thirty_one/dqn"],
        ),
        (
            "train opponents=scripted opponents.agents={greedy:1}",
            ["opponents.agents={greedy:1}: must be written '+opponents.agents={greedy:1}'"],
        ),
        (
            "evaluate policy=random game=thirty_one arena.references=[gredy,rndom]",
            ["arena.references=gredy: must be a policy's", "arena.references=rndom: must be a policy's"],
        ),
        ("train trainer.start_from=nowhere", ["trainer.start_from=nowhere: must be a folder with a training.ckpt"]),
        ("train seed=-1 agent.gamma=2", ["seed=-1: must be", "agent.gamma=2: must be"]),
        ("runs limit=0 sort=size", ["sort=size: must be one of age, name", "limit=0: must be"]),
        ("evaluate policy=null arena.deals=1", ["policy=null: must be text", "arena.deals=1: must be"]),
        (
            "compose experiments.thirty_one_dqn.agent.gamma=2 experiments.thirty_one_ppo.agent.gamma=3",
            ["experiments.thirty_one_dqn.agent.gamma=2: must be", "experiments.thirty_one_ppo.agent.gamma=3: must be"],
        ),
        (
            "sweep sweep.trials=0 agent.gamma=7 sweep.space.agent.gama=[0,1]",
            ["sweep.space.agent.gama=[0,1]: no such key", "sweep.trials=0: must be", "agent.gamma=7: must be"],
        ),
        ("sweep sweep=standard sweep.space.agent.gamma=[0.9,1.0] agent.nope=1", ["agent.nope=1: no such key"]),
        ("train experiments.big2_ppo.agent.gamma=1", ["experiments.big2_ppo.agent.gamma=1: no such key"]),
        ("compose experiments.big2_pp.agent.gamma=1", ["experiments.big2_pp.agent.gamma=1: must be of an experiment"]),
        ("sweep sweep.trials=x agent.gama=0.9", ["agent.gama=0.9: no such key"]),
        ("sweep agent=policy_iteration", ["sweep.space={}: must be given, as in sweep=dqn"]),
        (
            "sweep agent=ppo sweep=dqn",
            ["sweep.space.agent.epsilon: agent=ppo has no such options; choose sweep=ppo"],
        ),
    ],
)
def test_each_wrong_value_has_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: str, said: list[str]
) -> None:
    assert main(arguments.split()) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(said), lines
    for line, beginning in zip(lines, said, strict=True):
        assert line.startswith(f"cardlab: error: {beginning}")
    assert os.listdir(folder) == []


@pytest.mark.parametrize("verb", ["runs", "ui"])
def test_a_store_that_is_away_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    assert main([verb]) == 1
    assert one_line(capsys.readouterr().err).startswith("tracking store http://127.0.0.1:9: ")


def test_the_folder_that_was_meant_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "runs/mine/latest/policy").mkdir(parents=True)
    (folder / "runs/mine/latest/policy/policy.json").write_text("{}")
    (folder / "params.yaml").write_text("experiments:\n  mine:\n    seed: 7\n")
    for policy, advice in (
        ("runs/mine", "did you mean runs/mine/latest/policy?"),
        ("models/mine", "dvc repro train@mine"),
    ):
        for verb in ("evaluate", "promote"):
            assert main([verb, f"policy={policy}"]) == 2
            assert advice in one_line(capsys.readouterr().err)


def test_a_torn_file_of_ones_own_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "conf/agent").mkdir(parents=True)
    (folder / "conf/agent/torn.yaml").write_text("gamma: [1, 2\n")
    assert main(["train", "agent=torn"]) == 2
    assert "conf/agent/torn.yaml" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"agent/mine": b"gamma: \xff\n"}, "agent/mine.yaml: is not text in UTF-8"),
        ({"agent/mine": b"defaults: [mine, _self_]\n"}, "agent/mine.yaml: its defaults lead back to it"),
        ({"agent/mine": b"defaults: [yours]", "agent/yours": b"defaults: [mine]"}, "agent/mine.yaml: its defaults"),
        (
            {
                "agent/mine": b"defaults: [ppo]\n",
                "experiment/default": b"defaults: [/experiment/big2/ppo@_here_]\n",
            },
            "experiment/default.yaml: its defaults lead back to it",
        ),
        ({"agent/mine": 3000 * b"["}, "agent/mine.yaml: is nested too deep"),
        (
            {"agent/mine": b"defaults: [/agent/big2/pppo@_here_, _self_]\n"},
            "agent/mine.yaml: agent=big2/pppo: must be one of big2/",
        ),
    ],
)
def test_a_file_of_ones_own_that_cannot_be_read_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], files: dict[str, bytes], said: str
) -> None:
    for name, content in files.items():
        (folder / f"conf/{name}.yaml").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"conf/{name}.yaml").write_bytes(content)
    assert main(["train", "agent=mine"]) == 2
    assert one_line(capsys.readouterr().err).startswith(f"{folder}/conf/{said}")
    assert main(["train", "--help"]) == 0 or "default" in said


def test_such_a_file_of_another_folder_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine/agent").mkdir(parents=True)
    (folder / "mine/agent/other.yaml").write_bytes(b"gamma: \xff\n")
    assert main(["train", "agent=other", "--config-dir", str(folder / "mine")]) == 2
    assert one_line(capsys.readouterr().err).startswith(f"{folder}/mine/agent/other.yaml: is not text in UTF-8")


def test_a_database_that_cannot_be_made_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "play.port=0", "play.database=sqlite:////proc/x/play.db"]) == 1
    assert one_line(capsys.readouterr().err).startswith("play.database: does not work: ")


def test_a_record_of_no_game_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_record(GameRecord("chess", {}, ("random",), "00", ()), folder / "game.json")
    assert main(["replay", "record=game.json"]) == 2
    assert one_line(capsys.readouterr().err).startswith("game.json: game=chess: must be one of ")


def test_a_bug_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> object:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("cardlab.cli.verbs.Verb.load", broken)
    with pytest.raises(ZeroDivisionError):
        main(["ui"])


def test_ctrl_c_is_no_failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("cardlab.cli.verbs.Verb.load", interrupted)
    assert main(["ui"]) == 130
    assert capsys.readouterr().err == "cardlab: interrupted\n"
