"""The challenge as a whole, with the match itself in the test's hand where its outcome matters."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from cardlab.agents.policy_descriptions import PolicyError, policy_digest
from cardlab.agents.registry import load_agent
from cardlab.agents.specs import policy_folder
from cardlab.cli import main
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.experiments.config.build_parts import check_pinned
from cardlab.experiments.promotion.champions import write_champion
from cardlab.experiments.promotion.gate import Ladder, PromotionDecision, PromotionOptions
from cardlab.experiments.promotion.promote import (
    ChallengeOutcome,
    ChallengeUnderway,
    format_outcome,
    make_challenge,
    promote,
)
from cardlab.experiments.training_records import find_records
from cardlab.games.make_game import make_game
from cardlab.tracking import Store
from cardlab.tracking.lineage import run_git
from cardlab.tracking.parameters import flatten
from cardlab.tracking.policy_lookup import policy_filter
from cardlab.tracking.registry import NotRegistered, Registry, version_address

ROOT = Path(__file__).parents[3]
ARENA = ArenaOptions(deals=100, processes=1)
TOLD = {"game.json", "README.md", "decision.json", "evaluation.json", "lineage.json"}
ADDRESS = "models:/cardlab-poker_squares@champion"


@pytest.fixture
def won(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome(monkeypatch, 1.0)


def outcome(monkeypatch: pytest.MonkeyPatch, low: float) -> None:
    """The next matches end with an interval that begins at `low`."""

    def decided(game, challenger, opponent, arena, options, *_) -> PromotionDecision:
        return PromotionDecision(
            challenger, opponent, Estimate(low + 1, low, low + 2, arena.deals), 8, 5, options.sequential
        )

    monkeypatch.setattr("cardlab.experiments.promotion.promote.decide", decided)


def challenge(policy: Path, store: Store, game: str = "poker_squares", **options: object) -> ChallengeOutcome:
    return promote(make_challenge(policy, policy.name, make_game(game), ARENA, PromotionOptions(**options)), store)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def actions(agent, game) -> np.ndarray:
    rng = np.random.default_rng(0)
    players = np.zeros(50, dtype=np.int8)
    return agent.act(game.information(game.deal(50, rng), players), players, np.random.default_rng(1))


@pytest.mark.usefixtures("won")
def test_a_winner_is_found_by_all_its_names(store: Store, root: Path, untrained: Callable[..., Path]) -> None:
    policy, digest = untrained("squares"), policy_digest(untrained("squares"))
    with store.start_run("poker_squares", "squares", params={"seed": 7, "agent": {"name": "td"}}) as made:
        made.set_tags({"kind": "training", "policy.digest": digest})
    result = challenge(policy, store)
    folder = root / "champions" / "poker_squares"
    assert result.folder is not None
    assert {path.name for path in folder.iterdir()} == {"policy.json", "weights.safetensors", *TOLD}
    assert policy_digest(folder) == digest
    lineage = json.loads((folder / "lineage.json").read_text())
    assert (lineage["run"], lineage["policy_digest"], lineage["config"]["seed"]) == (made.id, digest, 7)
    assert not {"machine", "cpus"} & set(lineage["tags"])
    card = (folder / "README.md").read_text()
    assert "+2.000 points per game, 95 % interval +1.000 to +3.000" in card
    assert all(text in card for text in ("seed 7", digest, made.id, "scoring american"))
    version = store.client.get_model_version_by_alias("cardlab-poker_squares", "champion")
    assert (version.run_id, version.tags["policy.digest"], version.description) == (made.id, digest, card)
    game = make_game("poker_squares")
    expected = actions(load_agent(game, str(policy)), game)
    for text in ("champion", ADDRESS, version_address(result.registered)):
        assert np.array_equal(actions(load_agent(game, text), game), expected)
    assert make_game("poker_squares", features="paper").spec != game.spec
    other = make_game("poker_squares", features="paper")
    assert np.array_equal(actions(load_agent(other, "champion"), other), expected)
    shutil.rmtree("champions")
    assert np.array_equal(actions(load_agent(game, "champion"), game), expected), "by the alias"
    (root / "mlflow.db").unlink()
    with pytest.raises(InvalidOption, match="agent=champion: must be"):
        load_agent(game, "champion")
    assert not (root / "mlflow.db").exists(), "asking makes no store"


def test_a_loser_is_recorded_and_changes_nothing(
    store: Store, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome(monkeypatch, 1.0)
    first, second = untrained("first"), untrained("second", seed=1)
    assert challenge(first, store).folder == Path("champions/poker_squares")
    before = contents(Path("champions"))
    for low in (0.0, -1.5):
        outcome(monkeypatch, low)
        result = challenge(second, store)
        assert result.folder is None
        assert result.decision is not None
        assert result.decision.opponent.name == "first"
    assert contents(Path("champions")) == before
    version = store.client.get_model_version("cardlab-poker_squares", result.registered.version)
    assert version.tags["promotion.accepted"] == "false"
    assert version.tags["promotion.interval"] == "-1.5 to 0.5"
    assert store.client.get_model_version_by_alias("cardlab-poker_squares", "champion").version != version.version
    assert len(store.client.search_model_versions("name = 'cardlab-poker_squares'")) == 2  # offered twice, kept once
    number = store.experiment_id("poker_squares")
    runs = store.client.search_runs([number], "tags.kind = 'promotion'", order_by=["start_time"])
    assert [run.data.tags["promotion.accepted"] for run in runs] == ["true", "false", "false"]
    assert runs[2].data.metrics["promotion/difference_low"] == -1.5
    assert runs[2].data.tags["policy.digest"] == policy_digest(second)


def test_a_policy_that_is_not_weaker_is_enough_when_the_command_says_so(
    store: Store, root: Path, untrained: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = untrained("first", seed=1), untrained("second", seed=2)
    assert main(["promote", f"policy={first}", "game=poker_squares", "arena.deals=100", "accept_equal=true"]) == 0
    capsys.readouterr()
    # Both play a hundred deals with weights that have learned nothing: neither is better.
    command = ["promote", f"policy={second}", "game=poker_squares", "arena.deals=100"]
    assert main(command) == 0
    assert "not promoted: the interval is not above zero" in capsys.readouterr().out
    assert main([*command, "accept_equal=true"]) == 0
    assert "promoted: champions/poker_squares" in capsys.readouterr().out
    assert policy_digest(root / "champions" / "poker_squares") == policy_digest(second)


def test_policies_that_see_different_features_meet_at_one_table(store: Store, untrained: Callable[..., Path]) -> None:
    write_champion(Path("champions"), make_game("thirty_one"), untrained("table", "thirty_one"), {})
    result = challenge(untrained("seed", "thirty_one", seed=1, features="paper"), store, "thirty_one")
    assert result.decision is not None
    assert result.decision.difference.deals == 100
    assert result.decision.opponent.digest == policy_digest(Path("models/table"))


def test_a_ladder_is_told_recorded_and_put_on_the_card(
    store: Store, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_champion(Path("champions"), make_game("big2"), untrained("old", "big2"), {})

    def even(game, challenger, opponent, arena, options, *_) -> PromotionDecision:
        ladder = Ladder(options.ladder, Estimate(0.5, 0.25, 0.75, 100))
        return PromotionDecision(challenger, opponent, Estimate(0.0, -1.0, 1.0, 100), 8, 5, False, ladder)

    monkeypatch.setattr("cardlab.experiments.promotion.promote.decide", even)
    policy = untrained("new", "big2", seed=1)
    asked = make_challenge(policy, "new", make_game("big2"), ARENA, PromotionOptions(ladder=("greedy",)))
    result = promote(asked, store)
    assert result.folder is not None
    said = "+0.500 points per game more than champion"
    shown = format_outcome(asked, result)
    assert f"against greedy: {said}, 95 % interval +0.250 to +0.750" in shown
    assert shown.endswith(f"version {result.registered.version}, as champion")
    assert format_outcome(asked, replace(result, folder=None)).endswith(", as a challenger only")
    assert "Against `greedy` it gains +0.500 points per game" in (result.folder / "README.md").read_text()
    assert json.loads((result.folder / "decision.json").read_text())["ladder"]["difference"]["low"] == 0.25
    (run,) = store.client.search_runs([store.experiment_id("big2")], "tags.kind = 'promotion'")
    assert run.data.metrics["promotion/ladder_low"] == 0.25


@pytest.mark.usefixtures("won")
def test_the_composed_game_goes_with_the_champion(store: Store, untrained: Callable[..., Path]) -> None:
    folder = challenge(untrained("full", "big2", features="full"), store, "big2").folder
    assert folder is not None
    game = json.loads((folder / "game.json").read_text())
    assert (game["name"], game["features"], game["penalty"]) == ("big2", "full", "plain")
    standard = make_game("big2")
    assert load_agent(standard, "champion").game.spec.options["features"] == "full"


def test_what_does_not_fit_is_said_before_anything_is_written(root: Path, untrained: Callable[..., Path]) -> None:
    british = untrained("british", scoring="british")
    with pytest.raises(PolicyError, match="trained for scoring=british, the game has scoring=american"):
        challenge(british, Store())
    few = ArenaOptions(deals=99)
    with pytest.raises(InvalidOption, match=r"^arena\.deals=99: must be a whole number of at least 100"):
        make_challenge(untrained("big"), "big", make_game("poker_squares"), few, PromotionOptions())
    with pytest.raises(InvalidOption, match=r"^reference=shark: must be"):
        challenge(untrained("big"), Store(), reference="shark")
    with pytest.raises(InvalidOption, match=r"^ladder=shark: must be"):
        challenge(untrained("big"), Store(), ladder=("random", "shark"))
    with pytest.raises(InvalidOption, match=r"^ladder=\[random\]: must be left out: poker_squares has one player"):
        challenge(untrained("big"), Store(), ladder=("random",))
    assert {path.name for path in root.iterdir()} == {"models", "mlflow.db"}
    write_champion(Path("champions"), make_game("poker_squares", scoring="british"), british, {})
    with pytest.raises(PolicyError, match="champions/poker_squares: was trained for scoring=british"):
        challenge(untrained("big"), Store())


@pytest.mark.usefixtures("won")
def test_the_champion_itself_only_makes_itself_known_to_a_fresh_store(
    store: Store, root: Path, untrained: Callable[..., Path]
) -> None:
    challenge(untrained("squares"), store)
    before = contents(Path("champions"))
    fresh = Store(f"sqlite:///{root}/other.db", root)
    assert Registry(fresh).champion("poker_squares") is None
    result = challenge(Path("champions/poker_squares"), fresh)
    assert (result.decision, result.folder) == (None, None)
    known = Registry(fresh).champion("poker_squares")
    assert known is not None
    assert known.tags["policy.digest"] == policy_digest(untrained("squares"))
    assert contents(Path("champions")) == before


def test_a_fresh_store_gets_the_runs_of_a_champion_from_its_folder(
    store: Store, root: Path, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome(monkeypatch, 1.0)
    curve = "iteration,decisions,score/self,interval/score/self_low\n1,500,10.5,9\n2,1000,12.5,11\n"
    start, policy = untrained("start", seed=3), untrained("squares")
    config = {"name": "squares", "seed": 7, "agent": {"name": "td", "decisions_per_iteration": 512}}
    links = json.dumps({"models/start": policy_digest(start)})
    for folder, more in ((start, {}), (policy, {"links": links, "git.commit": "c" * 40, "code": "c0de"})):
        tags = {"kind": "training", "policy.digest": policy_digest(folder), **more}
        with store.start_run("poker_squares", folder.name, params={**config, "name": folder.name}, tags=tags) as made:
            made.log_text(curve, "curve.csv")
            made.log_text("an edit\n", "uncommitted.diff")
    champion = challenge(policy, store).folder
    assert champion is not None

    monkeypatch.setattr("cardlab.tracking.store.uncommitted", lambda _: "an edit of this clone")
    fresh = Store(f"sqlite:///{root}/other.db", root)
    version = Registry(fresh).register_folder(champion)
    before, after = store.client.get_run(made.id).data, fresh.client.get_run(str(version.run_id)).data
    assert after.params == before.params
    same = ("links", "git.commit", "code", "kind", "experiment", "agent", "seed", "policy.digest")
    assert {key: after.tags[key] for key in same} == {key: before.tags[key] for key in same}
    assert (after.tags["mlflow.source.git.commit"], after.tags["machine"]) == ("c" * 40, "unknown")
    history = fresh.client.get_metric_history(str(version.run_id), "score/self")
    assert [(row.step, row.value) for row in history] == [(512, 10.5), (1024, 12.5)]
    kinds = [run.data.tags["kind"] for _, run in fresh.search_runs(policy_filter(policy_digest(policy)))]
    assert sorted(kinds) == ["evaluation", "promotion", "training"]
    record = find_records(str(version.run_id), fresh)[0]
    assert (record.curve, record.diff, record.config["seed"]) == (curve, "an edit\n", 7)
    (link,) = find_records(str(start), fresh)
    assert link.config["name"] == "start"


@pytest.mark.parametrize("game", ["big2", "five_o", "open_face", "poker_squares", "thirty_one"])
def test_a_shipped_champion_leads_to_its_runs(store: Store, capsys: pytest.CaptureFixture[str], game: str) -> None:
    folder = shutil.copytree(ROOT / "champions" / game, Path("champions", game))
    assert main(["runs", f"policy={folder}", "--json"]) == 0
    version = Registry(store).champion(game)
    assert version is not None
    lineage = json.loads((folder / "lineage.json").read_text())
    made = store.client.get_run(str(version.run_id))
    assert made.data.params == flatten(lineage["config"])
    assert {key: made.data.tags[key] for key in lineage["tags"]} == lineage["tags"]
    rows = json.loads(capsys.readouterr().out)
    assert {row["kind"] for row in rows} == {"training", "evaluation", "promotion"}
    scores = {row["score"] for row in rows if row["kind"] != "promotion"}
    assert len(scores) == 1
    assert None not in scores
    commit, card = lineage["tags"]["git.commit"], (folder / "README.md").read_text()
    known = run_git(ROOT, "cat-file", "-e", f"{commit}^{{commit}}") is not None
    shallow = run_git(ROOT, "rev-parse", "--is-shallow-repository") == "true"
    assert shallow or known != (f"`{commit}`, which is not in this repository" in card)


def test_two_challenges_at_once_are_one_too_many(store: Store, root: Path, untrained: Callable[..., Path]) -> None:
    path = root / "runs" / "promotion" / "poker_squares.lock"
    path.parent.mkdir(parents=True)
    policy = untrained("squares")
    with FileLock(path), pytest.raises(ChallengeUnderway, match="another process is challenging"):
        challenge(policy, store)


def test_no_seed_is_chosen_while_another_challenge_is_underway(
    root: Path, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cardlab.cli.promote.challenge_by_group", lambda *_, **__: pytest.fail("played"))
    path = root / "runs" / "promotion" / "poker_squares.lock"
    path.parent.mkdir(parents=True)
    with FileLock(path):
        assert main(["promote", f"policy={untrained('squares')}"]) == 1
    assert "another process is challenging" in capsys.readouterr().err


def test_a_champion_that_cannot_be_written_leaves_the_old_one(root: Path, untrained: Callable[..., Path]) -> None:
    game = make_game("poker_squares")
    folder = write_champion(Path("champions"), game, untrained("old"), {"README.md": "old"})
    with pytest.raises(TypeError):
        write_champion(Path("champions"), game, untrained("new", seed=1), {"decision.json": object()})
    assert (folder / "README.md").read_text() == "old"
    assert policy_digest(folder) == policy_digest(Path("models/old"))
    write_champion(Path("champions"), game, Path("models/new"), {})
    assert {path.name for path in Path("champions").iterdir()} == {"poker_squares"}
    assert not (folder / "README.md").exists()


def test_a_champion_that_a_kill_left_under_another_name_is_restored(root: Path, untrained: Callable[..., Path]) -> None:
    """As between the two renames of `write_champion`."""
    game = make_game("poker_squares")
    folder = write_champion(Path("champions"), game, untrained("old"), {"README.md": "old"})
    folder.rename(folder.with_name(".poker_squares.old"))
    with pytest.raises(TypeError):
        write_champion(Path("champions"), game, untrained("new", seed=1), {"decision.json": object()})
    assert (folder / "README.md").read_text() == "old"


def test_a_training_that_is_kept_beside_a_champion_stays(root: Path, untrained: Callable[..., Path]) -> None:
    game = make_game("poker_squares")
    folder = write_champion(Path("champions"), game, untrained("old"), {})
    (folder / "training").mkdir()
    (folder / "training" / "training.ckpt").write_bytes(b"half way")
    write_champion(Path("champions"), game, untrained("new", seed=1), {})
    assert policy_digest(folder) == policy_digest(Path("models/new"))
    assert contents(folder / "training") == {"training.ckpt": b"half way"}


@pytest.mark.usefixtures("won")
def test_a_changed_model_in_the_store_is_refused(store: Store, root: Path, untrained: Callable[..., Path]) -> None:
    challenge(untrained("squares"), store)
    for weights in root.glob("mlartifacts/**/weights.safetensors"):
        weights.write_bytes(Path("models", "squares", "policy.json").read_bytes())
    with pytest.raises(NotRegistered, match="its files differ from those that were registered"):
        load_agent(make_game("poker_squares"), ADDRESS)


@pytest.mark.usefixtures("won")
def test_a_digest_that_leads_elsewhere_is_refused(store: Store, root: Path, untrained: Callable[..., Path]) -> None:
    version = challenge(untrained("squares"), store).registered
    (root / "elsewhere").mkdir()
    for digest in ("../../../elsewhere", "", "0" * 63):
        store.client.set_model_version_tag(version.name, version.version, "policy.digest", digest)
        with pytest.raises(NotRegistered, match="has no digest of a policy"):
            Registry(store).fetch(ADDRESS)


@pytest.mark.usefixtures("won")
def test_a_changed_copy_is_fetched_again(store: Store, untrained: Callable[..., Path]) -> None:
    policy = untrained("squares")
    challenge(policy, store)
    cached = Registry(store).fetch(ADDRESS)
    (cached / "weights.safetensors").write_bytes(b"else")
    assert policy_digest(Registry(store).fetch(ADDRESS)) == policy_digest(policy)
    (cached / "policy.json").unlink()
    assert policy_digest(Registry(store).fetch(ADDRESS)) == policy_digest(policy)


def test_a_policy_is_found_by_the_address_of_its_run(store: Store, root: Path, untrained: Callable[..., Path]) -> None:
    folder = untrained("made")
    with store.start_run("poker_squares", "made") as run:
        run.log_artifact(folder, "policy")
    address = f"runs:/{run.id}/policy"
    fetched = policy_folder(address, "")
    assert fetched is not None
    assert policy_digest(fetched) == policy_digest(folder)
    game = make_game("poker_squares")
    scores = [play_match(game, [text], 4).per_deal().tolist() for text in (address, str(folder))]
    assert scores[0] == scores[1]
    with pytest.raises(InvalidOption, match="champions change"):
        check_pinned({"opponents": {address: 1.0}})


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (ADDRESS, "the registry has no such model, version or alias"),
        ("models:/cardlab-poker_squares/3", "the registry has no such model, version or alias"),
        ("models:/cardlab-poker_squares", "must be models:/NAME@ALIAS or models:/NAME/VERSION"),
        ("runs:/0123/policy", "no policy; that of a training is runs:/ID/policy"),
    ],
)
@pytest.mark.usefixtures("root")
def test_an_address_that_leads_nowhere_is_one_line(address: str, said: str) -> None:
    with pytest.raises(NotRegistered) as raised:
        load_agent(make_game("poker_squares"), address)
    assert str(raised.value) == f"{address}: {said}"


def test_a_champion_is_measured_against_the_references_of_its_experiment(
    root: Path, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ArenaOptions] = []

    def challenge(group: Any, game: Any, arena: ArenaOptions, *_: Any, **__: Any) -> Any:
        asked.append(arena)
        raise InvalidOption("policy", "", "no more")

    monkeypatch.setattr("cardlab.cli.promote.challenge_by_group", challenge)
    policy = untrained("one", game="thirty_one")
    (policy.parent / "config.json").write_text(json.dumps({"arena": {"references": ["greedy", "random"]}}))
    for given, references in (([], ("greedy", "random")), (["arena.references=[random]"], ("random",))):
        assert main(["promote", f"policy={policy}", *given]) == 2
        assert asked[-1].references == references
