"""A group of policies, one for each seed: evaluated together, promoted by its best, refused where one is wanted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.cli import main
from cardlab.evaluation.evaluate import evaluate, evaluate_seeds
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seed_statistics import mean_over_seeds
from cardlab.games.make_game import make_game
from cardlab.tracking import Store

ARENA = ArenaOptions(deals=20, references=("random",), processes=1)
SEEDS = (7, 8, 9)


@pytest.fixture
def group(untrained: Callable[..., Path]) -> Callable[[str], dict[int, Path]]:
    """Writes the policies of three seeds to models/duel."""
    return lambda game: {seed: untrained(f"duel/seed_{seed}", game, seed) for seed in SEEDS}


@pytest.mark.parametrize(("name", "row"), [("thirty_one", "random"), ("poker_squares", "self")])
def test_each_seed_is_evaluated_as_alone(group: Callable[[str], dict[int, Path]], name: str, row: str) -> None:
    game, policies = make_game(name), group(name)
    evaluation = evaluate_seeds(game, policies, ARENA, experiment="duel")
    assert evaluation["seeds"] == [*SEEDS]
    for seed, policy in policies.items():
        digest = policy_digest(policy)
        alone = evaluate(game, str(policy), ARENA, policy_digest=digest, experiment="duel")
        assert evaluation["by_seed"][str(seed)] == {"policy_digest": digest, "references": alone["references"]}
    others = ["random"] if row == "random" else []
    scores = [play_match(game, [str(policy), *others], 20, ARENA.seed).per_deal() for policy in policies.values()]
    expected = mean_over_seeds(scores, game.spec.payoff_range)
    found = evaluation["references"][row]
    assert (found["mean"], found["low"], found["high"]) == pytest.approx((expected.mean, expected.low, expected.high))
    one = evaluate_seeds(game, {7: policies[7]}, ARENA, experiment="duel")
    assert one["references"] == evaluation["by_seed"]["7"]["references"]


@pytest.fixture
def trained(store: Store, group: Callable[[str], dict[int, Path]]) -> str:
    """The id of the run that the trainings of the group are under."""
    config = {"name": "duel", "seed": 7, "arena": {"references": ["greedy"]}}
    Path("params.yaml").write_text(json.dumps({"experiments": {"duel": config}}))
    with store.start_run("thirty_one", "duel · 3 seeds", tags={"kind": "seeds", "seeds": "7,8,9"}) as parent:
        for seed, policy in group("thirty_one").items():
            tags = {"kind": "training", "mlflow.parentRunId": parent.id, "group": "duel_1", "seed": seed}
            with store.start_run("thirty_one", f"duel · seed {seed}", tags=tags) as run:
                run.set_tags({"policy.digest": policy_digest(policy)})
    return parent.id


def test_an_experiment_is_evaluated_with_all_its_seeds(
    store: Store, trained: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("models/duel", "duel"):
        assert main(["evaluate", f"policy={text}", "arena.deals=4", "output=out.json"]) == 0
    out = capsys.readouterr().out
    assert "against greedy: the references of its experiment" in out
    assert "means over seeds 7, 8, 9" in out
    written = json.loads(Path("out.json").read_text())
    runs = [run for _, run in store.search_runs("tags.kind = 'evaluation'", "thirty_one")]
    assert [run.info.run_name for run in runs] == ["duel vs greedy · 3 seeds"]  # the same result is logged once
    tags = runs[0].data.tags
    assert (tags["group"], tags["seeds"]) == ("duel_1", "7,8,9")
    assert len(tags["policy.digest"].split()) == 3
    parent = store.client.get_run(trained).data.metrics
    assert parent["score/evaluation"] == written["references"]["greedy"]["mean"]
    assert parent["interval/score/evaluation_low"] == written["references"]["greedy"]["low"]
    (seven,) = [run for _, run in store.search_runs("tags.kind = 'training' and tags.seed = '7'", "thirty_one")]
    assert seven.data.metrics["score/evaluation"] == written["by_seed"]["7"]["references"]["greedy"]["mean"]


@pytest.mark.usefixtures("trained")
def test_one_policy_is_asked_for_where_one_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = "no policy.json in it; it has those of seeds 7, 8, 9: choose one, as in models/duel/seed_7"
    for command in (
        ["replay", "game=thirty_one", "agents=[models/duel,greedy]"],
        ["tournament", "game=thirty_one", "agents=[models/duel,greedy]"],
        ["runs", "policy=models/duel"],
    ):
        assert main(command) == 2
        assert wanted in capsys.readouterr().err
    assert main(["evaluate", "policy=models/duel", "search=expectimax"]) == 2
    assert "search=expectimax: must be none for several seeds" in capsys.readouterr().err


@pytest.mark.usefixtures("trained")
def test_the_best_seed_is_chosen_on_other_deals_than_it_is_judged_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["promote", "policy=models/duel", "arena.deals=100", "output=decision.json"]) == 0
    out = capsys.readouterr().out
    decision = json.loads(Path("decision.json").read_text())
    choice = decision["choice"]
    assert choice["points"][str(choice["seed"])] == max(choice["points"].values())
    assert set(choice["points"]) == {"7", "8", "9"}
    assert choice["against"] == ["random"]
    assert choice["deals_seed"] != decision["seed"]
    assert f"chosen: seed {choice['seed']}" in out
    assert decision["challenger"]["digest"] == policy_digest(Path(f"models/duel/seed_{choice['seed']}"))
    if decision["accepted"]:
        card = Path("champions/thirty_one/README.md").read_text()
        assert f"best of 3 seeds, chosen on 100 other deals (seed {choice['deals_seed']})" in card
