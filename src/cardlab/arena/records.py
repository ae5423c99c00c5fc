"""One game as its deal and its actions: a replay, a golden test and a bug report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from cardlab.arena.options import ArenaOptions
from cardlab.arena.seating import Entry, entry_name, make_lineup
from cardlab.arena.workers import ChunkPlayer, Job, deal_block, make_jobs
from cardlab.cards.deck import parse_cards
from cardlab.games.catalogue import for_matches
from cardlab.games.protocol import Game, States
from cardlab.options import check_range

FORMAT = 1


class RecordError(ValueError):
    """A record cannot be read, or is not one of this game; the message is one line."""


@dataclass(frozen=True)
class Record:
    """A game that was played, or may be."""

    game: str
    options: Mapping[str, Any]  # of the game
    agents: tuple[str, ...]  # [P] who sat at each seat
    deal: str  # the dealt record's bytes, hexadecimal; or the deck's 52 cards as `As Td …`
    actions: tuple[int, ...]  # every decision in turn, forced ones too
    seed: int = 0  # of chance after the deal, where `deal` is a deck


def game_options(game: Game) -> dict[str, Any]:
    """All options that `game` was made with, as JSON knows them."""
    if not is_dataclass(game) or isinstance(game, type):
        return dict(game.spec.options)
    given = {field.name: getattr(game, field.name) for field in fields(game) if field.init}
    return cast(dict[str, Any], json.loads(json.dumps(given)))


def record_game(
    game: Game, entries: Sequence[Entry], options: ArenaOptions, *, deal: int = 0, seating: int = 0
) -> Record:
    """Game `seating` of deal number `deal` of the match that `play_match` plays with these options.

    The agents' randomness is that of the whole chunk, so the whole chunk is played. InvalidOption for a deal or a
    seating that the match has not.
    """
    game = for_matches(game)
    lineup = make_lineup(game, entries)
    check_range("deal", deal, 0, options.deals - 1, whole=True)
    check_range("seating", seating, 0, lineup.num_seatings - 1, whole=True)
    jobs = make_jobs([lineup], [0], options)
    job = next(job for job in jobs if job.first <= deal < job.last)
    row = (deal - job.first) * lineup.num_seatings + seating
    actions = _actions_of(game, ChunkPlayer(game, [lineup]), job, row)
    dealt = deal_block(game, options.seed, deal, deal + 1)
    names = {group: entry_name(entry) for group, entry in enumerate(lineup.agents)}
    agents = tuple(names[group] for group in lineup.seatings[seating].tolist())
    return Record(game.spec.name, game_options(game), agents, dealt.tobytes().hex(), actions)


def _actions_of(game: Game, player: ChunkPlayer, job: Job, row: int) -> tuple[int, ...]:
    states = States(np.repeat(deal_block(game, job.seed, job.first, job.last), player.lineups[0].num_seatings))
    actions: list[int] = []
    for moves in player.moves(job, 0, states):
        place = int(np.searchsorted(moves.rows, row))
        if place < len(moves.rows) and moves.rows[place] == row:
            actions.append(int(moves.actions[place]))
        elif game.is_over(States(states[row : row + 1]))[0]:
            break
    return tuple(actions)


def dealt_state(game: Game, record: Record) -> States:
    """[1] the deal of `record`; RecordError when it is none of this game."""
    if record.game != game.spec.name:
        raise RecordError(f"record: is of {record.game}, not of {game.spec.name}")
    try:
        if " " in record.deal:
            decks = parse_cards(record.deal)[None]
            return game.deal(1, np.random.default_rng(0), decks, np.array([record.seed], dtype=np.uint64))
        return States(np.frombuffer(bytes.fromhex(record.deal), dtype=game.state_dtype).copy().reshape(1))
    except ValueError as error:
        raise RecordError(f"record: its deal is none of {game.spec.name} ({error})") from error


def save_record(record: Record, path: Path) -> None:
    """Write `record` as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"format": FORMAT, **asdict(record)}, indent=1) + "\n")


def load_record(path: Path) -> Record:
    """The record in the file `path`; RecordError when it is not one."""
    try:
        content = json.loads(path.read_text())
        if content.pop("format") != FORMAT:
            raise RecordError(f"{path}: this version reads records of format {FORMAT}")
        agents, actions = tuple(content.pop("agents")), tuple(content.pop("actions"))
        return Record(agents=agents, actions=actions, **content)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path}: is not a record of a game ({error})") from error
