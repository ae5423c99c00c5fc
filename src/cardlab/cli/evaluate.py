"""`cardlab evaluate`: one agent against reference opponents."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from rich.console import Console

from cardlab.agents.policy_descriptions import policy_digest, policy_game
from cardlab.agents.policy_paths import policy_folder, policy_hint
from cardlab.agents.search.options import search_text
from cardlab.agents.specs import split_name
from cardlab.cli.run_paths import CONFIG, policy_name
from cardlab.cli.verbs import Request
from cardlab.core.exit_status import INTERRUPTED
from cardlab.core.files import check_file
from cardlab.core.options import Flag, InvalidOption, Text
from cardlab.evaluation.evaluate import InterruptedEvaluation, evaluate, evaluation_table, write_evaluation
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.config.build_parts import build_arena, build_game, build_search, check_agents
from cardlab.experiments.config.options import convert
from cardlab.experiments.recorded_matches import record_evaluation
from cardlab.games.catalogue import without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking import Store

_PARAMS, _LINEAGE = Path("params.yaml"), "lineage.json"


def run(request: Request) -> int:
    """Print the table of results, write them to the file `output` if given, and record them in MLflow."""
    config = request.config
    text = convert("policy", config["policy"], Text)
    options = build_arena(config["arena"])
    folder = policy_folder(text, config["game"]["name"] if config.get("game") else "")
    game = _game(config, text, folder)
    search = build_search(config["search"], text)
    agent = search_text(search, text)
    store = Store() if convert("record", config["record"], Flag) else None
    given = convert("output", config["output"], Text | None)
    check_agents(game, "arena.references", options.references)
    check_agents(game, "policy", [text])  # late: a policy imports torch
    if agent != text:
        check_agents(game, "search", [agent])
    output = None if given is None else check_file("output", given)
    own = own_references(folder) if folder else ()
    if own and not options.references:
        check_agents(game, "arena.references", own)
        options = replace(options, references=own)
        print(f"against {', '.join(own)}: the references of its experiment (arena.references=[…] names others)")
    digest = policy_digest(folder) if folder else ""
    name = policy_name(Path(text)) if agent == text else f"{policy_name(Path(text))}+{search.name}"
    complete = True
    try:
        with progress_bars() as progress:
            evaluation = evaluate(game, agent, options, policy_digest=digest, experiment=name, progress=progress)
    except InterruptedEvaluation as stopped:
        evaluation, complete = stopped.evaluation, False
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
    return 0 if complete else INTERRUPTED


def own_references(policy: Path) -> tuple[str, ...]:
    """The references of the experiment that made the policy; empty if it names none or is unknown.

    It is known for runs/NAME/…/policy (config.json beside it), models/NAME (params.yaml) and champions (lineage.json).
    """
    config: Mapping[str, Any] = {}
    with suppress(OSError, ValueError):
        if policy.parent.name == "models" and _PARAMS.is_file():
            config = OmegaConf.to_container(OmegaConf.load(_PARAMS))["experiments"].get(policy.name, {})  # pyright: ignore
        elif (policy.parent / CONFIG).is_file():
            config = json.loads((policy.parent / CONFIG).read_text())
        elif (policy / _LINEAGE).is_file():
            config = json.loads((policy / _LINEAGE).read_text())["config"]
    return tuple(config.get("arena", {}).get("references", ()))


def _game(config: Mapping[str, Any], policy: str, folder: Path | None) -> Game:
    """The game of the configuration, or the one that the policy was trained for."""
    if config.get("game"):
        return without_training_options(build_game(config["game"]))
    if folder is None and ":" in policy and (inner := split_name(policy)[1].get("policy")):
        folder = policy_folder(str(inner), "")  # the policy in a search
    if folder is None:
        allowed = (
            "a policy's folder (runs/NAME/latest/policy from cardlab train, models/NAME from dvc repro), or add "
            "game=NAME for a scripted agent or champion" + policy_hint(policy)
        )
        raise InvalidOption("policy", policy, allowed)
    return policy_game(folder)
