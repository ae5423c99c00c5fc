"""code.json after edits of a copy of the code: what changes is what uses the edited code."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from cardlab.core.code_digest import Sources
from cardlab.core.source_analysis import MARKER
from cardlab.experiments.stage_code import stage_digests

TRAINING = ("cardlab.experiments.config.build_experiment", "cardlab.training.run")
ROOT = Path(__file__).parents[2]
PARAMS: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(ROOT / "params.yaml"))  # type: ignore[assignment]
EXPERIMENTS: dict[str, Any] = PARAMS["experiments"]
STAGES = ("train", "evaluate", "promote")
LOOK_AHEAD = {"arena": {"references": ["monte_carlo:simulations:8"]}}
POLICY = {"arena": {"references": ["models/other"]}}

CLASS = "@options('network')\nclass UnusedOptions:\n    width: int = 3\n"

Digests = dict[str, str]


class Checkout:
    """A copy of src/ and pipelines/, whose files are edited."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = root / "src" / "cardlab"
        ignored = shutil.ignore_patterns("__pycache__", "page")
        for name in ("conf", "src", "pipelines"):
            shutil.copytree(ROOT / name, root / name, ignore=ignored)

    def digests(self) -> Digests:
        """What the stage writes, flat: STAGE or STAGE@EXPERIMENT → digest."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.root)
            written = stage_digests(PARAMS, Sources(self.root / "src", experiments=EXPERIMENTS))
        experiments = written.pop("experiments")
        written |= {f"compare@{key}": digest for key, digest in written.pop("compare").items()}
        return written | {f"{stage}@{name}": found[stage] for name, found in experiments.items() for stage in found}

    def digest(self, config: Any) -> str:
        """That of a training."""
        return Sources(self.root / "src").digest(TRAINING, [config])

    def edit(self, name: str, change: Callable[[str], str]) -> None:
        path = self.source / name
        text = path.read_text()
        assert change(text) != text
        path.write_text(change(text))


@pytest.fixture(scope="module")
def unedited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Digests]:
    checkout = Checkout(tmp_path_factory.mktemp("checkout"))
    return checkout, checkout.digests()


@pytest.fixture
def checkout(unedited: tuple[Checkout, Digests]) -> Iterator[Checkout]:
    """The copy; what a test has edited is undone after it."""
    kept = unedited[0].root.with_name("kept")
    shutil.copytree(unedited[0].root, kept)
    yield unedited[0]
    shutil.rmtree(unedited[0].root)
    kept.rename(unedited[0].root)


@pytest.fixture
def before(unedited: tuple[Checkout, Digests]) -> Digests:
    return unedited[1]


def with_statement(text: str) -> str:
    return f"{text}\nassert True\n"


def using(stages: tuple[str, ...] = STAGES, **wanted: str) -> set[str]:
    """STAGE@EXPERIMENT of the experiments whose classes are in these modules; of all stages also compare@KEY."""
    fitting = [
        name
        for name, entry in EXPERIMENTS.items()
        if all(f".{module}." in entry[key]["_target_"] for key, module in wanted.items())
    ]
    pairs = [key for key, pair in PARAMS["compare"].items() if stages == STAGES and set(pair) & set(fitting)]
    return {f"{stage}@{name}" for stage in stages for name in fitting} | {f"compare@{key}" for key in pairs}


def test_every_stage_has_a_digest(before: Digests) -> None:
    assert set(before) == using() | {"tournaments", "report", "tune"}


def test_layout_and_what_decides_nothing_do_not_count(checkout: Checkout, before: Digests) -> None:
    checkout.edit("learners/ppo/learner.py", lambda text: f"# a comment\n{text.replace('    ', '        ')}")
    checkout.edit("games/big2/rules.py", lambda text: text.replace("\n", "\r\n"))
    checkout.edit("networks/layers.py", lambda text: text.replace("import Sequence\n", "import (\n    Sequence,\n)\n"))
    for name in (
        "../cardlab_play/table.py",
        "cli/train.py",
        "tracking/run.py",
        "evaluation/progress.py",
        "agents/search/tree.py",
    ):
        checkout.edit(name, with_statement)
    assert checkout.digests() == before


@pytest.mark.parametrize(
    ("name", "old", "new", "stale"),
    [
        pytest.param(*edit, id=about)
        for about, *edit in [
            ("an error text", "learners/td/options.py", "below 1 with", "less than 1 with", {}),
            ("length of messages", "core/messages.py", "_MAX_LENGTH = 300", "_MAX_LENGTH = 200", {}),
            ("a docstring", "learners/losses.py", '"""', '"""Another text. ', {}),
            ("a help text", "learners/td/options.py", "0: one-step targets", "0: targets of one step", {}),
            (
                "an annotation of a function",
                "learners/ppo/loss.py",
                "num_decisions: int",
                "num_decisions: float",
                {},
            ),
            ("an unused class", "networks/mlp_options.py", '@options("network")', f"{CLASS}\n@options('network')", {}),
            ("a new agent", "games/big2/game.py", '"lowest": ', '"highest": ".agents:Highest", "lowest": ', {}),
            (
                "an option",
                "learners/td/options.py",
                "    gamma: ",
                "    patience: int = 3\n    gamma: ",
                {"agent": "td"},
            ),
            ("a default", "learners/td/options.py", "option(0.5, ", "option(0.6, ", {"agent": "td"}),
            ("a loss", "learners/ppo/loss.py", ".sum() / num", ".sum() / 2 / num", {"agent": "ppo"}),
            ("a rule", "games/five_o/rules.py", None, "assert True", {"game": "five_o"}),
            ("an agent", "games/big2/agents.py", None, "assert True", {"game": "big2"}),
            ("an agent that nothing meets", "games/five_o/agents.py", None, "def reflex_9(): ...", {}),
            ("playouts", "games/big2/playouts.py", None, "assert True", {}),
            ("a public name", "__init__.py", '"make_game")', '"make_game", "play")', {}),
            ("an endgame", "games/five_o/endgame.py", None, "assert True", {}),
        ]
    ],
)
def test_what_an_edit_makes_stale(
    name: str, old: str | None, new: str, stale: dict[str, str], checkout: Checkout, before: Digests
) -> None:
    """The trainings of the benchmark with these groups."""
    checkout.edit(name, lambda text: f"{text}\n{new}\n" if old is None else text.replace(old, new, 1))
    after = checkout.digests()
    changed = {stage for stage in before if stage.startswith("train@") and after[stage] != before[stage]}
    assert changed == (using(("train",), **stale) if stale else set())


@pytest.mark.parametrize(
    ("name", "stale"),
    [
        ("learners/ppo/learner.py", using(agent="ppo") | {"tournaments"}),
        ("learners/td/learner.py", using(agent="td") | {"tournaments"}),
        ("networks/lines.py", using(network="lines_options") | using(network="auto_options") | {"tournaments"}),
        ("learners/rollouts/opponents/pool.py", set[str]()),
        ("games/open_face/rules.py", using(game="open_face") | {"tournaments"}),
        ("games/five_o/rules.py", using(game="five_o") | {"tournaments"}),
        ("games/thirty_one/agents.py", using(game="thirty_one") | {"tournaments", "tune"}),
        ("games/loop.py", using() | {"tournaments", "tune"}),
        ("games/big2/outcomes.py", using(("evaluate",), game="big2")),
        ("evaluation/tournament.py", {"tournaments"}),
        ("experiments/report/ranking.py", {"report"}),
        ("experiments/promotion/gate.py", using(("promote",))),
        ("experiments/sweep/study.py", {"tune"}),
        ("../../pipelines/evaluate.py", using(("evaluate",))),
    ],
)
def test_an_edit_changes_what_uses_the_code(name: str, stale: set[str], checkout: Checkout, before: Digests) -> None:
    checkout.edit(name, with_statement)
    after = checkout.digests()
    changed = {stage for stage in before if after[stage] != before[stage]}
    # a champion may have any network
    assert changed - using(("promote",)) == stale - using(("promote",))
    assert changed >= stale


def test_data_files_count_for_what_uses_their_package(checkout: Checkout, before: Digests) -> None:
    (checkout.source / "games" / "big2" / "tables").mkdir()
    (checkout.source / "games" / "big2" / "tables" / "plans.npy").write_bytes(b"\0")
    template = checkout.source / "experiments" / "report" / "templates" / "report.html.j2"
    template.write_text(template.read_text() + "<p>")
    after = checkout.digests()
    changed = {stage for stage in before if after[stage] != before[stage]}
    assert changed == using(game="big2") | {"tournaments", "report"}


def test_what_the_text_of_an_agent_names_counts(checkout: Checkout) -> None:
    plain = EXPERIMENTS["five_o_td"]
    searching, loading = {**plain, **LOOK_AHEAD}, {**plain, **POLICY}
    edits = {
        "agents/search/tree.py": {"searching"},
        "games/five_o/playouts.py": {"searching"},
        "networks/mlp.py": {"loading"},
    }
    for name, stale in edits.items():
        path, configs = checkout.source / name, {"plain": plain, "searching": searching, "loading": loading}
        before, text = {key: checkout.digest(config) for key, config in configs.items()}, path.read_text()
        checkout.edit(name, with_statement)
        changed = {key for key, config in configs.items() if checkout.digest(config) != before[key]}
        path.write_text(text)
        assert changed == stale, name


def test_every_module_outside_of_the_digest_has_a_reason() -> None:
    """The list, short by intent: what records, shows, draws, refuses or distributes."""
    left_out = {
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "src").rglob("*.py")
        if f"\n{MARKER} = " in path.read_text()
    }
    sources = Sources(ROOT / "src")
    assert left_out == {
        "cardlab",
        "cardlab.agents.mlflow_model",
        "cardlab.core.messages",
        "cardlab.core.child_processes",
        "cardlab.core.code_digest",
        "cardlab.core.config_texts",
        "cardlab.core.exit_status",
        "cardlab.core.kernel_cache",
        "cardlab.core.running_code",
        "cardlab.core.source_analysis",
        "cardlab.evaluation.played_deals",
        "cardlab.evaluation.progress",
        "cardlab.evaluation.ray_pool",
        "cardlab.experiments.recorded_matches",
        "cardlab.experiments.seed_plots",
        "cardlab.experiments.stage_code",
        "cardlab.experiments.sweep.plots",
        "cardlab.experiments.sweep.progress",
        "cardlab.testing.game_checks",
        "cardlab.testing.positions",
        "cardlab.tracking",
        "cardlab.training.learning_check",
        "cardlab.training.game_totals",
        "cardlab.training.progress",
        "cardlab.training.ray_train",
    }
    assert all(" " in sources.reason(name) for name in left_out)
    assert sources.reason("cardlab.tracking.run") == sources.reason("cardlab.tracking")
    assert not sources.reason("cardlab.training.run")
