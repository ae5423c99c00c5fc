"""`cardlab replay`: one game move by move."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cardlab.cli.verbs import Request
from cardlab.core.files import check_file
from cardlab.core.messages import InvalidOption
from cardlab.core.options import Text, Whole, check_choice, check_that, check_whole, checked
from cardlab.core.parts import NAME
from cardlab.evaluation.game_record import GameRecord, RecordError, load_record, save_record
from cardlab.evaluation.replay import load_seats, replay_lines, run_replay
from cardlab.experiments.config.build_parts import build_arena, build_game, check_agents
from cardlab.games.make_game import game_of, without_training_options


def run(request: Request) -> int:
    """Print the moves, and write the game to the file `output` if given."""
    config = request.config
    inputs = checked("inputs", config["inputs"], tuple[Text, ...])
    if config["record"]:
        record, lines = _recorded(config, inputs)
    else:
        record, lines = _played(config, inputs)
    given = checked("output", config["output"], Text | None)
    output = None if given is None else check_file("output", given)
    for line in lines:
        print(line)
    if output is not None:
        save_record(record, output)
    return 0


def _recorded(config: Mapping[str, Any], inputs: tuple[str, ...]) -> tuple[GameRecord, Iterator[str]]:
    path = Path(checked("record", config["record"], Text))
    record = load_record(path)
    try:
        game = game_of({NAME: record.game, **record.options}, str(path))
    except (InvalidOption, TypeError) as error:
        raise RecordError(f"{path}: {error}") from error
    _check_inputs(inputs, [block.name for block in game.spec.blocks])
    return record, replay_lines(game, record, load_seats(game, record), inputs)


def _played(config: Mapping[str, Any], inputs: tuple[str, ...]) -> tuple[GameRecord, Iterator[str]]:
    game = without_training_options(build_game(config["game"]))
    _check_inputs(inputs, [block.name for block in game.spec.blocks])
    agents = checked("agents", config["agents"], tuple[Text, ...])
    if len(agents) == 1:
        agents *= game.spec.num_players
    allowed = f"one agent for all seats, or {game.spec.num_players} for {game.spec.name}: one per player"
    check_that(len(agents) == game.spec.num_players, "agents", agents, allowed)
    check_agents(game, "agents", agents)
    options = build_arena(config["arena"])
    deal = check_whole("deal", config["deal"], 0, options.deals - 1)
    return run_replay(
        game, agents, options, inputs=inputs, deal=deal, seating=checked("seating", config["seating"], Whole)
    )


def _check_inputs(inputs: tuple[str, ...], blocks: list[str]) -> None:
    for name in inputs:
        check_choice("inputs", name, ["all", *blocks])
