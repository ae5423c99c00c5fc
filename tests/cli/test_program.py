"""What the program prints: help, configuration, completion; and that the verbs do what they say."""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from cardlab.cli import main
from cardlab.cli.compose import first_difference
from cardlab.cli.verbs import VERBS
from cardlab.experiments.config.composition import compose_config, split_multirun
from cardlab.experiments.run_paths import policy_name
from cardlab.tracking import Store
from recipes import CONF, recipes

ROOT = Path(__file__).parents[2]
NEED_POLICY = ("evaluate", "promote", "exploit")
PROGRAM = [sys.executable, "-c", "import sys; from cardlab.cli import main; sys.exit(main())"]


def options(group: str, beginning: str = "") -> list[str]:
    """What may be completed behind GROUP=, from the files of the group."""
    names = [name for name in recipes(group) if name.startswith(beginning)]
    assert len(names) > 1
    return [f"{group}={name}" for name in names]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str) -> list[str]:
    """What Hydra's own script of the shell would be offered behind `line`."""
    monkeypatch.setenv("COMP_LINE", line)
    return printed(capsys, "-sc", "query=bash").split()


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--help")
    for verb in VERBS.values():
        assert f"  {verb.name}" in text
        assert verb.summary in text


def test_a_folder_of_the_user_is_searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my conf" / "agent"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("defaults: [/agent/dqn@_here_, _self_]\ngamma: 0.5\n")
    shown = printed(capsys, "train", "agent=mine", "--config-dir", str(folder.parent), "--cfg", "job", "-p", "agent")
    assert "gamma: 0.5\n" in shown
    assert main(["train", "agent=mine", "agent.gama=1", "--config-dir", str(folder.parent)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("cardlab: error: agent.gama=1: no such key"), "agent=mine is right"
    assert main(["train", "agent=mine"]) == 2, "the next command does not search it"


def test_an_entry_of_the_space_that_follows_the_agent_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["game=thirty_one", "agent=dqn", "~sweep.space.agent.epsilon", "--cfg", "job", "-p", "sweep"]
    shown = printed(capsys, "sweep", *options)
    assert "learning_rate:" in shown
    assert "epsilon" not in shown


def test_flags_are_completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert completed(monkeypatch, capsys, "cardlab train --c") == ["--cfg", "--config-dir"]
    assert "--json" in completed(monkeypatch, capsys, "cardlab runs --")


def test_folders_of_policies_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs/big2_ppo/latest").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert completed(monkeypatch, capsys, "cardlab evaluate policy=ru") == ["policy=runs/"]
    assert completed(monkeypatch, capsys, "cardlab evaluate policy=runs/big2_ppo/") == ["policy=runs/big2_ppo/latest/"]


def test_no_verb_is_a_misuse_that_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: cardlab VERB" in capsys.readouterr().out


def test_a_terminal_of_another_encoding_is_no_error() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*PROGRAM, "--help"], env=environment, capture_output=True, text=True, check=True)
    assert "[group=option ?]" in done.stdout


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert re.fullmatch(r"cardlab \d+\.\d+\.\d+\n", printed(capsys, "--version"))


def test_help_comes_at_once() -> None:
    def seconds(*command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    libraries = (sys.executable, "-c", "import hydra, pydantic.dataclasses")  # the least that a composition needs
    alone, whole = zip(*((seconds(*libraries), seconds(*PROGRAM, "--help")) for _ in range(3)), strict=True)
    assert min(whole) < max(0.5, 2 * min(alone)), "of processor time: a busy machine is not the program's fault"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from cardlab.cli import main; main(['train', '--help']); main(['train', '--cfg', 'job'])\n"
        "heavy = {'torch', 'lightning', 'mlflow', 'numba', 'optuna', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


def test_wrong_values_are_refused_before_anything_heavy_is_imported() -> None:
    wrong = [
        ["train", "agent.gamma=2"],
        ["sweep", "game=thirty_one", "agent=dqn", "sweep.trials=0"],
        ["evaluate", "policy=shark", "game=big2"],
        ["exploit", "policy=shark", "game=big2"],
        ["tournament", "agents=[shark]", "game=big2"],
        ["compare", "one", "other"],
        ["promote", "policy=shark"],
    ]
    code = (
        f"import sys; from cardlab.cli import main; assert all(main(words) == 2 for words in {wrong})\n"
        "heavy = {'torch', 'lightning', 'mlflow', 'optuna', 'scipy.stats', 'scipy.optimize'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=True)


def test_a_training_imports_no_plots_and_no_metrics() -> None:
    """Lightning does; the contract `A training draws nothing` of import-linter is for the layers below."""
    code = (
        "import sys, cardlab.cli.train, cardlab.experiments.seeds\n"
        "heavy = {'matplotlib', 'torchmetrics', 'scipy.signal', 'scipy.stats', 'lightning'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_table_of_runs_imports_mlflow_and_nothing_else_that_is_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from cardlab.cli import main; main(['runs']); assert 'mlflow' in sys.modules\n"
        "heavy = {'torch', 'lightning', 'numba', 'optuna', 'scipy.special', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    Store("sqlite:///mlflow.db", tmp_path).check()
    environment = {**os.environ, "DVC_ROOT": str(tmp_path), "MLFLOW_TRACKING_URI": ""}
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True, cwd=tmp_path, env=environment)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_explains_itself(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    text = printed(capsys, verb, "--help")
    assert all(example in text for example in VERBS[verb].examples)
    assert all(flag in text for flag in VERBS[verb].flags)
    assert text.count("\n") <= 120, "two screens"
    for key in OmegaConf.load(CONF / f"{VERBS[verb].config_name}.yaml"):
        assert str(key) == "defaults" or re.search(rf"^  {key}:", text, re.MULTILINE), key


def test_help_shows_groups_keys_and_comments_of_what_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "train", "agent=dqn", "--help")
    assert re.search(r"^  agent +.*\bdqn\*, .*\bppo, ", text, re.MULTILINE)
    assert re.search(r"^    epsilon: 0\.05 +share of random actions", text, re.MULTILINE)
    assert "clip_range" not in text


def test_help_describes_keys_within_the_file_of_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    for verb, key in (("belief", "held_out"), ("play", "idle_hours"), ("sweep worker", "study")):
        *_, line = re.findall(rf"^ +{key}: .*", printed(capsys, *verb.split(), "--help"), re.MULTILINE)
        assert len(line.split(maxsplit=2)[2]) > 20, line
    assert "which the sweep prints" in line, "the comment of its own file"


def test_help_lists_options_of_the_chosen_game(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "train", "game=thirty_one", "--help")
    agents = text[text.index("  agent ") : text.index("  arena ")]
    assert "thirty_one/: champion, dqn" in agents
    assert "big2" not in agents


def test_help_lists_general_options_first_then_those_of_each_game(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "train", "experiment=big2/ppo", "--help").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  experiment "))
    found = [line.strip().removeprefix("experiment").strip() for line in lines[first : first + 3]]
    assert found[:2] == [
        "default",
        "big2/: abstract_actions, champion, default, dqn, paper, ppo*, proto_action, quick, td",
    ]
    assert found[2].startswith("five_o/: champion, default, dqn, exploit, ppo, td")
    reached = next(line for line in lines if line.startswith("  big2/ppo "))
    assert re.search(r"points a game against planner; 3 seeds; 250,000 decisions, [\d.]+ CPU minutes$", reached)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_examples_name_options_that_exist(verb: str) -> None:
    """Composed only, not run: what an example names in conf/ is there."""
    for example in VERBS[verb].examples:
        words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", example)]
        assert words[: 1 + len(verb.split())] == ["cardlab", *verb.split()]
        overrides = [word for word in words[2:] if "=" in word and not word.startswith("--")]
        lists = {"tournament": ["agents=[]"], "compare": ["methods=[]"], "init": ["folders=[]"]}
        lists |= {"reproduce": ["policies=[]"], "runs diff": ["runs=[]"]}
        needed = lists.get(verb, [] if verb not in NEED_POLICY else ["policy=x"])
        for each in split_multirun(overrides) if "-m" in words else [overrides]:
            compose_config(VERBS[verb].config_name, [*needed, *each])


def test_the_configuration_is_shown_as_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "train", "--cfg", "job", "agent=dqn", "agent.epsilon=0.25")
    shown = OmegaConf.create(text)
    assert (shown.agent.name, shown.agent.epsilon) == ("dqn", 0.25)
    assert "${.game.name}_${.agent.name}" in text
    assert "name: thirty_one_dqn" in printed(capsys, "train", "agent=dqn", "--cfg", "job", "--resolve")
    part = OmegaConf.create(printed(capsys, "train", "--cfg", "job", "--package", "trainer"))
    assert set(part) == set(OmegaConf.load(CONF / "trainer/quick.yaml"))


def test_what_is_to_be_given_is_shown_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert "policy: ???" in printed(capsys, "evaluate", "--cfg", "job")


@pytest.mark.parametrize(("flag", "said"), [("--info=defaults", "experiment/default"), ("--cfg=hydra", "searchpath:")])
def test_hydra_answers_what_is_its_own(flag: str, said: str) -> None:
    done = subprocess.run([*PROGRAM, "train", flag], capture_output=True, text=True, check=True)
    assert said in done.stdout


def test_verbs_are_completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert completed(monkeypatch, capsys, "cardlab ") == [verb for verb in VERBS if " " not in verb]
    assert completed(monkeypatch, capsys, "cardlab sweep wo") == ["worker"]
    assert completed(monkeypatch, capsys, "cardlab sweep worker sweep.sto") == ["sweep.storage="]
    assert completed(monkeypatch, capsys, "cardlab t") == ["train", "tournament"]
    assert completed(monkeypatch, capsys, "cardlab nothing x") == []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("cardlab train exper", ["experiment="]),
        ("cardlab train experiment=thirty", options("experiment", "thirty")),
        ("cardlab train experiment=big2/", options("experiment", "big2/")),
        ("cardlab train agent=ppo network=big2/", options("network", "big2/")),
        (
            "cardlab compose agent@experiments.big2_ppo.agent=p",
            [f"agent@experiments.big2_ppo.{option}" for option in options("agent", "p")],
        ),
        ("cardlab train opponents=", options("opponents")),
        (
            "cardlab train agent=dqn agent.epsilon_",
            ["agent.epsilon_decay=", "agent.epsilon_hold=", "agent.epsilon_start="],
        ),
        ("cardlab evaluate arena.dea", ["arena.deals="]),
        ("cardlab ui po", ["port="]),
    ],
)
def test_groups_options_and_keys_are_completed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, offered: list[str]
) -> None:
    assert completed(monkeypatch, capsys, line) == offered


def test_own_options_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "conf/agent").mkdir(parents=True)
    (tmp_path / "conf/agent/zeta.yaml").write_text("defaults: [td]\n")
    monkeypatch.chdir(tmp_path)
    assert completed(monkeypatch, capsys, "cardlab train agent=z") == ["agent=zeta"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_by_the_installed_script(tmp_path: Path) -> None:
    """As a shell does it: eval the script, press Tab."""
    program = tmp_path / "cardlab"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom cardlab.cli import main\nsys.exit(main())\n")
    program.chmod(0o755)
    script = (
        'eval "$(cardlab -sc install=bash)"\n'
        "COMP_LINE='cardlab train game=poker' COMP_POINT=24 COMP_WORDS=(cardlab train game=poker) COMP_CWORD=2\n"
        'hydra_bash_completion; echo "${COMPREPLY[@]}"\n'
        "COMP_LINE='cardlab train agent=big2/pa' COMP_POINT=27 COMP_WORDS=(cardlab train agent=big2/pa) COMP_CWORD=2\n"
        'hydra_bash_completion; echo "${COMPREPLY[@]}"\n'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["game=poker_squares", "agent=big2/paper"]


def test_the_committed_benchmark_is_what_conf_gives() -> None:
    found = OmegaConf.to_container(OmegaConf.load(ROOT / "params.yaml"))
    assert first_difference(compose_config("config"), found) is None, "run `cardlab compose`"


def test_the_benchmark_is_written_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed(capsys, "compose")
    first = Path("params.yaml").read_bytes()
    printed(capsys, "compose", "--check")
    printed(capsys, "compose")
    assert Path("params.yaml").read_bytes() == first
    Path("params.yaml").write_text(Path("params.yaml").read_text().replace("mse", "huber", 1))
    assert main(["compose", "--check"]) == 2
    error = capsys.readouterr().err
    assert error == (
        "cardlab: error: params.yaml differs from conf/ at experiments.poker_squares_dqn.agent.loss; "
        "`cardlab compose` writes it from conf/\n"
    )


@pytest.mark.parametrize(
    ("wanted", "found", "key"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 1}}, None),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b"),
        ({"a": {"b": 1}}, {"a": {}}, "a.b"),
        ({"a": {}}, {"a": {}, "c": None}, "c"),
        ({"a": [1, 2]}, {"a": [2, 1]}, "a"),
        ({}, None, "the top level"),
    ],
)
def test_the_first_difference_is_named(wanted: object, found: object, key: str | None) -> None:
    assert first_difference(wanted, found) == key


def test_an_evaluation_is_printed_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["arena.deals=20", "output=figures/e.json", "record=false"]
    out = printed(capsys, "evaluate", "policy=random", "game=poker_squares", *options)
    assert "poker_squares" in out
    assert OmegaConf.load("figures/e.json").deals == 20


def test_a_tournament_leaves_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    out = printed(capsys, "tournament", "game=thirty_one", "agents=[random,greedy]", "arena.deals=10", "record=false")
    assert "greedy" in out
    assert (tmp_path / "runs/tournaments/thirty_one/tournament.json").is_file()


def test_a_game_is_shown_kept_and_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    played = printed(capsys, "replay", "agents=[greedy]", "arena.deals=4", "deal=3", "output=game.json")
    assert played == printed(capsys, "replay", "record=game.json")
    assert played.splitlines()[-1].startswith("paid: ")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("models/thirty_one_ppo", "thirty_one_ppo"),
        ("champions/big2", "big2"),
        ("runs/squares/latest/policy", "squares"),
        ("/somewhere/runs/squares/0123456789abcdef/policy", "squares"),
        ("runs/reinforce/policy", "reinforce"),
        ("policy", "policy"),
    ],
)
def test_a_policy_is_called_as_its_training_was(folder: str, name: str) -> None:
    assert policy_name(Path(folder)) == name
