"""`cardlab evaluate`: one agent against reference opponents."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from cardlab.agents.policy_descriptions import DESCRIPTION, policy_digest, policy_game
from cardlab.agents.registry import own_folder
from cardlab.agents.search.options import search_text
from cardlab.agents.specs import ADDRESSES, CHAMPION, policy_folder, policy_hint, split_name
from cardlab.cli.verbs import Outcome, Request
from cardlab.core.exit_status import INTERRUPTED
from cardlab.core.files import check_file
from cardlab.core.messages import InvalidOption
from cardlab.core.options import Flag, Text, check_that, checked
from cardlab.evaluation.evaluate import evaluate, evaluation_table, write_evaluation
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.played_deals import played_scores
from cardlab.evaluation.progress import progress_bars
from cardlab.evaluation.scores import or_part
from cardlab.experiments.config.build_parts import build_arena, build_game, build_search_options, check_agents
from cardlab.experiments.group_evaluation import evaluate_group
from cardlab.experiments.policy_groups import (
    PolicyGroup,
    find_group,
    own_references,
    policy_config,
    resume_hint,
    unfinished_of,
)
from cardlab.experiments.recorded_matches import record_evaluation
from cardlab.experiments.run_paths import policy_title
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking import Store
from cardlab.tracking.connection import project_root


def run(request: Request) -> Outcome:
    """Print the table of results, write them to the file `output` if given, and record them in MLflow."""
    config = request.config
    text = checked("policy", config["policy"], Text)
    options = build_arena(config["arena"])
    group = _group(text)
    if group is not None and len(group.policies) > 1:
        return _evaluate_group(config, group, options)
    text = text if group is None else str(*group.policies)
    folder = own_folder(_given_game(config), text) if config.get("game") else policy_folder(text, "")
    game = _game(config, text, folder)
    search = build_search_options(config["search"], text)
    agent = search_text(search, text)
    own = own_references(policy_config(folder)) if folder else ()
    options = _with_references(game, options, own)
    check_agents(game, "policy", [text])  # late: a policy imports torch
    if agent != text:
        check_agents(game, "search", [agent])
    store, output = _targets(config)
    digest = policy_digest(folder) if folder else ""
    name = policy_title(text) if agent == text else f"{policy_title(text)}+{search.name}"
    measure = partial(evaluate, game, agent, options, policy_digest=digest, experiment=name)
    with progress_bars() as progress:
        played = played_scores(project_root())
        evaluation, complete = or_part(lambda: measure(progress=progress, played=played))
    if agent != text:
        evaluation["search"] = {"name": search.name, **asdict(search)}
    Console().print(evaluation_table(evaluation))
    if output is not None:
        write_evaluation(evaluation, output)
    if store is not None and complete:
        as_trained = game.spec.num_players == 1 or set(own) == set(options.references)
        scores_training = agent == text and not config.get("game") and as_trained
        files = [output] if output else []
        record_evaluation(store, game, evaluation, policy=folder, scores_training=scores_training, files=files)
    return Outcome(evaluation, 0 if complete else INTERRUPTED)


def _group(text: str) -> PolicyGroup | None:
    """The policies of all seeds if `text` is an experiment or a folder of several policies."""
    if text.startswith(ADDRESSES) or text == CHAMPION or os.path.isfile(Path(text, DESCRIPTION)):
        return None
    try:
        return find_group(text, project_root())
    except InvalidOption:
        return None


def _evaluate_group(config: Mapping[str, Any], group: PolicyGroup, options: ArenaOptions) -> Outcome:
    """Print, write and record the mean over the seeds of a group."""
    first = group.policies[0]
    search = build_search_options(config["search"], str(first))
    allowed = f"none for several seeds; choose one, as in policy={first}"
    check_that(search_text(search, str(first)) == str(first), "search", search.name, allowed)
    game, own = _game(config, str(first), first), own_references(group.config)
    options = _with_references(game, options, own)
    store, output = _targets(config)
    as_trained = game.spec.num_players == 1 or set(own) == set(options.references)
    with progress_bars() as progress:
        scores_training = as_trained and not config.get("game")
        measure = partial(evaluate_group, group, options, store, game=game, output=output, progress=progress)
        evaluation, complete = or_part(lambda: measure(scores_training=scores_training))
    Console().print(evaluation_table(evaluation))
    if output is not None and not complete:
        write_evaluation(evaluation, output)
    return Outcome(evaluation, 0 if complete else INTERRUPTED)


def _with_references(game: Game, options: ArenaOptions, own: tuple[str, ...]) -> ArenaOptions:
    """The options with the references of the policy's experiment, unless others are given."""
    if own and not options.references:
        options = replace(options, references=own)
        print(f"against {', '.join(own)}: the references of its experiment (arena.references=[…] names others)")
    elif not options.references and game.spec.num_players > 1:
        print(f"against {', '.join(DEFAULT_REFERENCES)} (arena.references=[…] names others)")
    check_agents(game, "arena.references", options.references)
    return options


def _targets(config: Mapping[str, Any]) -> tuple[Store | None, Path | None]:
    """The store and the file for the result."""
    given = checked("output", config["output"], Text | None)
    store = Store() if checked("record", config["record"], Flag) else None
    return store, None if given is None else check_file("output", given)


def _given_game(config: Mapping[str, Any]) -> Game:
    return without_training_options(build_game(config["game"]))


def _game(config: Mapping[str, Any], policy: str, folder: Path | None) -> Game:
    """The game of the configuration, or the one that the policy was trained for."""
    if config.get("game"):
        return _given_game(config)
    if folder is None and ":" in policy and (inner := split_name(policy)[1].get("policy")):
        folder = policy_folder(str(inner), "")  # the policy in a search
    if folder is None:
        allowed = (
            "a policy's folder (runs/NAME/latest/policy from cardlab train, models/NAME from dvc repro), or add "
            "game=NAME for a scripted agent or champion" + policy_hint(policy)
        )
        if states := unfinished_of(policy, project_root()):
            allowed = f"that of a finished training; {resume_hint(states)}"
        raise InvalidOption("policy", policy, allowed)
    return policy_game(folder)
