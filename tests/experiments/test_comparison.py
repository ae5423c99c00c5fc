"""`cardlab compare`: decided and undecided comparisons of tiny policies, and what is refused."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardlab
from cardlab.agents.policy_descriptions import policy_digest
from cardlab.cli import main
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.options import ArenaOptions
from cardlab.experiments.comparison.compare import Method, MethodComparison
from cardlab.experiments.comparison.figures import find_effect
from cardlab.experiments.policy_groups import PolicyGroup
from cardlab.tracking import Store
from cardlab.tracking.run_state import RunState

CHAMPIONS = Path(__file__).parents[2] / "champions"
DEALS = ("arena.deals=20", "arena.processes=1")
SHORT: dict[str, Any] = {"deals": 20, "arena": {"processes": 1}, "record": False, "output": "out"}


@pytest.fixture
def methods(root: Path, untrained: Callable[..., Path]) -> Path:
    """Models of Poker Squares with three seeds: `weak` and `other` are fresh networks, `strong` is the champion."""
    arena = {"references": ["random"]}
    configs = {
        name: {"name": name, "seed": 7, "agent": {"gamma": gamma}, "arena": arena}
        for name, gamma in (("weak", 1.0), ("other", 0.9), ("strong", 1.0))
    }
    Path("params.yaml").write_text(json.dumps({"experiments": configs}))
    for number in range(3):
        for name in configs:
            folder = Path("models", name, f"seed_{number}")
            folder.parent.mkdir(parents=True, exist_ok=True)
            if name == "strong":
                shutil.copytree(CHAMPIONS / "poker_squares", folder)
            else:
                untrained("made", seed=number + 10 * len(name)).rename(folder)
    for name in configs:
        write_curves(name)
    return root


def write_curves(name: str) -> None:
    """Scores 0 and 10 + seed after 100 and 300 decisions; `other` stops after 200. A decision costs 0.6 CPU seconds."""
    last, results = 200 if name == "other" else 300, Path("results", name)
    results.mkdir(parents=True)
    rows = [f"{seed},{row}" for seed in range(3) for row in ("1,100,0", f"3,{last},{10 + seed}")]
    (results / "seed_curves.csv").write_text("\n".join(["seed,iteration,decisions,score/self", *rows]))
    for seed in range(3):
        cost = {
            "decisions": last,
            "cpu_seconds": 0.6 * last,
            "policy_digest": policy_digest(Path("models", name, f"seed_{seed}")),
        }
        run = Path("runs", name, str(seed))
        run.mkdir(parents=True)
        (run / "training.json").write_text(json.dumps(cost))


def test_a_decided_comparison(methods: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "weak", "strong", *DEALS]) == 0
    shown = capsys.readouterr().out
    assert "strong is better than weak: +" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if not line.startswith(("strong is better", "run:")))
    figures = json.loads(Path("runs/comparisons/weak_vs_strong/comparison.json").read_text())
    assert (figures["game"], figures["against"], figures["deals"]) == ("poker_squares", "self", 20)
    assert [method["name"] for method in figures["methods"]] == ["weak", "strong"]
    assert [method["seeds"] for method in figures["methods"]] == [3, 3]
    (pair,) = figures["pairs"]
    assert (pair["best"], pair["other"], pair["decided"], pair["more_seeds"]) == ("strong", "weak", True, 0)
    assert pair["difference_low"] > 50
    assert pair["probability_of_improvement"] == 1.0
    assert figures["differing"] == {}
    assert figures["equal_decisions"]["at"] == 300
    assert figures["equal_decisions"]["scores"]["weak"]["mean"] == 11
    page = Path("runs/comparisons/weak_vs_strong/comparison.html").read_text()
    assert pair["verdict"] in page
    assert page.count("<svg") == 2
    ((_, run),) = store.search_runs("tags.kind = 'comparison'")
    assert run.data.metrics["difference/weak"] == pytest.approx(pair["difference"])
    assert run.data.metrics["interval/difference/weak_low"] == pytest.approx(pair["difference_low"])
    assert {one.path for one in store.client.list_artifacts(run.info.run_id)} >= {"comparison.html", "comparison.json"}


def test_long_names_make_a_folder_and_a_wrong_method_makes_none(
    methods: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "weak", "nothing", *DEALS]) == 2
    assert not Path("runs/comparisons").exists()
    long = [80 * sign for sign in "长短"]  # of 240 bytes each
    for name, old in zip(long, ("weak", "other"), strict=True):
        Path("models", old).rename(Path("models", name))
    params = json.loads(Path("params.yaml").read_text())["experiments"]
    Path("params.yaml").write_text(json.dumps({"experiments": {long[0]: params["weak"], long[1]: params["other"]}}))
    assert main(["compare", *long, *DEALS]) == 0
    (folder,) = Path("runs/comparisons").iterdir()
    assert len(folder.name.encode()) < 120
    assert (folder / "comparison.html").exists()


def test_an_undecided_comparison_says_how_many_seeds_would_decide(
    methods: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "weak", "other", "strong", "record=false", "output=out", "--json", *DEALS]
    assert main(command) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures == json.loads(Path("out/comparison.json").read_text())
    assert [pair["other"] for pair in figures["pairs"]] in (["weak", "other"], ["other", "weak"])
    assert figures["differing"] == {"agent.gamma": ["1.0", "0.9", "1.0"]}
    assert (figures["equal_decisions"]["at"], figures["equal_cpu_minutes"]["at"]) == (200, 2.0)
    assert not Path("runs/comparisons").exists()

    comparison = cardlab.compare("weak", "other", **SHORT)
    (pair,) = comparison.pairs
    assert not pair.is_decided
    assert pair.verdict.startswith("not decided between ")
    assert "more seed" in pair.verdict


def test_single_policies_say_that_seeds_are_missing(methods: Path) -> None:
    comparison = cardlab.compare("models/weak/seed_0", "models/strong/seed_0", **SHORT)
    (verdict,) = comparison.verdicts
    assert verdict.startswith("not decided between strong_seed_0 and weak_seed_0: +")
    assert "each has one seed (these two policies: +" in verdict
    assert "inf" not in verdict
    mixed = cardlab.compare("weak", "models/strong/seed_0", **SHORT)
    (verdict,) = mixed.verdicts
    assert verdict.endswith(
        "; strong_seed_0 has one seed; train at least 3 of it, or compare the policies by cardlab tournament"
    )
    with pytest.raises(InvalidOption, match=r"methods=\[weak\]: must be two or more methods"):
        cardlab.compare("weak")
    with pytest.raises(InvalidOption, match=r"methods\[0\]=\[weak,other\]: must be text"):
        cardlab.compare(["weak", "other"])  # type: ignore[arg-type]


def test_the_strongest_reference_decides_in_games_with_opponents(
    root: Path, untrained: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for seed, name in enumerate(("one", "two")):
        untrained(name, "thirty_one", seed=seed)
    assert main(["compare", "one", "two", "record=false", "arena.references=[random,greedy]", *DEALS, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    scores = [method["references"] for method in figures["methods"]]
    means = {name: sum(each[name]["mean"] for each in scores) for name in ("random", "greedy")}
    assert figures["against"] == min(means, key=lambda name: means[name])
    assert (figures["differing"], figures["equal_decisions"]) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "methods=(left out): must be given"),
        (["weak"], "methods=[weak]: must be two or more methods, each once"),
        (["weak", "weak"], "methods=[weak, weak]: must be two or more methods, each once"),
        (["weak", "nothing"], "methods=nothing: must be the name of an experiment"),
        (["weak", "duel"], "methods=duel: must be a method for poker_squares, as the others: it is one for thirty_one"),
        (["weak", "strong", "arena.deals=1"], "arena.deals=1: must be"),
        (["weak", "strong", "game=big2"], "methods=weak: must be a method for big2"),
        (["weak", "strong", "output=/proc/x"], "output=/proc/x: must be a folder"),
    ],
)
def test_wrong_input_is_one_line(
    methods: Path, untrained: Callable[..., Path], capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    untrained("duel", "thirty_one")
    assert main(["compare", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"cardlab: error: {said}")
    assert error.count("\n") == 1
    assert not Path("runs/comparisons").exists()


def test_unfinished_seeds_are_named(
    methods: Path, untrained: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"name": "duel", "seed": 7, "agent": {"gamma": 1.0}}
    for seed in (8, 9):
        RunState("1", "2", None, {**config, "seed": seed}).save(Path(f"runs/duel/{seed}"))
    resumes = "not finished (running or interrupted); the same cardlab train command resumes them"
    assert main(["compare", "weak", "duel", *DEALS]) == 2
    said = f"methods=duel: must be an experiment with a finished training; of duel seeds 8, 9 are {resumes}"
    assert capsys.readouterr().err == f"cardlab: error: {said}\n"
    Path("runs/duel/7").mkdir()
    untrained("made").rename("runs/duel/7/policy")
    Path("runs/duel/7/config.json").write_text(json.dumps(config))
    assert main(["compare", "weak", "duel", "record=false", *DEALS]) == 0
    assert f"warning: duel is compared by 1 of 3 seeds: seeds 8, 9 are {resumes}\n" in capsys.readouterr().err


def test_the_deals_of_a_match_that_stops_early_are_those_played(methods: Path, store: Store) -> None:
    arguments = ["arena.deals=4000", "arena.until=1000", "arena.chunk=10", "arena.processes=1"]
    assert main(["compare", "weak", "strong", *arguments]) == 0
    assert json.loads(Path("runs/comparisons/weak_vs_strong/comparison.json").read_text())["deals"] < 4000
    (row,) = [run for _, run in store.search_runs("tags.kind = 'comparison'")]
    assert int(row.data.params["arena.deals"]) < 4000


def by_epsilon(shift: Callable[[float], float], seeds: int = 5) -> MethodComparison:
    """Five methods that differ in epsilon; seeds and deals have luck of their own."""
    rng, game = np.random.default_rng(1), cardlab.make_game("thirty_one")
    deals, methods = rng.normal(0, 0.3, 400), list[Method]()
    for epsilon in (0.01, 0.03, 0.1, 0.3, 0.9):
        group = PolicyGroup(f"e{epsilon}", (), {"agent": {"epsilon": epsilon, "gamma": 1.0}})
        luck = rng.normal(0, 0.02, seeds)
        table = [deals + shift(epsilon) + each + rng.normal(0, 0.3, 400) for each in luck]
        methods.append(Method(group.name, group, {"greedy": table}, []))
    return MethodComparison(game, ArenaOptions(deals=400), methods, "greedy")


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [
        (lambda _: 0.0, r"agent\.epsilon: no effect is decided; "),
        (
            lambda epsilon: -0.1 * np.log10(epsilon),
            r"agent\.epsilon: the score falls with it: -0\.\d+ points from 0.01 ",
        ),
        (lambda epsilon: 0.3 * (epsilon == 0.1), r"agent\.epsilon: .*0\.1 is better than each other value"),
    ],
)
def test_the_effect_of_a_number(shift: Callable[[float], float], verdict: str) -> None:
    effect = find_effect(by_epsilon(shift))
    assert effect is not None
    assert effect.values == (0.01, 0.03, 0.1, 0.3, 0.9)
    assert re.match(verdict, effect.verdict)


def test_values_that_play_the_same_have_no_trend() -> None:
    comparison = by_epsilon(lambda _: 0.0)
    same = [replace(method, scores=comparison.methods[0].scores) for method in comparison.methods[:3]]
    effect = find_effect(replace(comparison, methods=same))
    assert effect is not None
    assert effect.verdict == "agent.epsilon: the same score at every value"


def test_two_values_or_two_options_are_no_effect() -> None:
    comparison = by_epsilon(lambda _: 0.0)
    assert find_effect(replace(comparison, methods=comparison.methods[:2])) is None
    comparison.methods[0].group.config["agent"]["gamma"] = 0.5
    assert find_effect(replace(comparison)) is None


def test_a_seed_whose_run_was_deleted_does_not_count(
    methods: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    tags = {"kind": "training", "policy.digest": policy_digest(Path("models/weak/seed_1"))}
    with store.start_run("poker_squares", "weak", tags=tags) as run:
        pass
    store.client.delete_run(run.id)
    assert main(["compare", "weak", "strong", "--json", *DEALS]) == 0
    out, err = capsys.readouterr()
    assert [method["seeds"] for method in json.loads(out)["methods"]] == [2, 3]
    assert "warning: weak is compared without a seed whose run was deleted" in err
