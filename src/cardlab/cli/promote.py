"""`cardlab promote`: a policy challenges the champion of its game."""

from dataclasses import fields, replace
from pathlib import Path

from rich.console import Console

from cardlab.agents.policy_descriptions import default_game, policy_digest
from cardlab.cli.verbs import Request
from cardlab.core.exit_status import INTERRUPTED
from cardlab.core.files import check_file, write_json
from cardlab.core.options import Text, checked
from cardlab.evaluation.match import Interrupted
from cardlab.evaluation.played_deals import played_scores
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.config.build_parts import build_arena, build_game, check_agents
from cardlab.experiments.policy_groups import find_group, own_references
from cardlab.experiments.promotion.gate import PromotionOptions, format_part
from cardlab.experiments.promotion.promote import (
    challenge_by_group,
    format_outcome,
    only_challenge,
    promote,
)
from cardlab.games.make_game import without_training_options
from cardlab.tracking import Store
from cardlab.tracking.policy_lookup import find_origin, policy_filter, print_run


def run(request: Request) -> int:
    """Print the results and the decision; returns 0 whether the challenger wins or loses."""
    config = request.config
    options = PromotionOptions(**{each.name: config[each.name] for each in fields(PromotionOptions)})
    arena = build_arena(config["arena"])
    given = checked("output", config["output"], Text | None)
    text, name = checked("policy", config["policy"], Text), checked("name", config["name"], Text | None)
    store = Store()
    given_game = build_game(config["game"]) if config.get("game") else None
    group = find_group(text, store.root, game=given_game.spec.name if given_game else "")
    game = without_training_options(given_game) if given_game else default_game(group.policies[0])
    arena = replace(arena, references=arena.references or own_references(group.config))
    check_agents(game, "arena.references", arena.references)
    output = None if given is None else check_file("output", given)
    name = name or _name_of_run(group.policies[0], store)
    with only_challenge(store, game.spec.name), progress_bars() as progress:
        played = played_scores(store.root)
        challenge = challenge_by_group(group, game, arena, options, name=name, progress=progress, played=played)
        try:
            outcome = promote(challenge, store, progress)
        except Interrupted as stop:
            print(format_part(stop.result, arena.deals))
            return INTERRUPTED
    Console(soft_wrap=True, highlight=False, markup=False, emoji=False).print(format_outcome(challenge, outcome))
    if outcome.decision is not None:
        print_run(store, f"tags.kind = 'promotion' and {policy_filter(outcome.decision.challenger.digest)}")
    if output is not None:
        write_json(output, outcome.figures(), indent=2)
    return 0


def _name_of_run(policy: Path, store: Store) -> str | None:
    """The name of a policy among MLflow's artifacts, whose folder is named by a run's id: STUDY_trial_4, or NAME."""
    origin = find_origin(store, policy_digest(policy)) if "artifacts" in policy.parts else None
    if origin is None or "sweep.trial" not in origin.tags:
        return origin and origin.name
    return f"{origin.tags['sweep.study']}_trial_{origin.tags['sweep.trial']}"
