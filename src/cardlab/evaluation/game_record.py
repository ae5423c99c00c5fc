"""A game as deal, actions and search effort; saved as JSON."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cardlab.core.files import load_json, write_json
from cardlab.core.parts import NAME, TARGET
from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import check_valid
from cardlab.games.cards.deck import parse_cards
from cardlab.games.loop import Moves
from cardlab.games.make_game import game_data
from cardlab.games.protocol import Game, States

FORMAT = 3


class RecordError(ValueError):
    """A record cannot be read, or is of another game; the message is one line."""


EffortCounts = tuple[tuple[int, ...], ...]
"""Work of a search for one decision: the sizes of its batches in each phase."""


@runtime_checkable
class ReportsEffort(Protocol):
    """An agent that reports the work of its searches."""

    @property
    def efforts(self) -> Sequence[EffortCounts]:
        """[N] efforts of the decisions of its last `act`."""
        ...


@dataclass(frozen=True)
class GameRecord:
    """A game: options, deal and actions."""

    game: str
    options: Mapping[str, Any]  # class and options of the game
    agents: tuple[str, ...]  # [P] by seat
    deal: str  # the dealt record's bytes, hexadecimal; or the deck's 52 cards as `As Td …`
    actions: tuple[int, ...]  # all decisions in order, forced moves included
    seed: int = 0  # of chance after the deal, for a deck in `deal`
    efforts: tuple[EffortCounts | None, ...] = ()  # of each decision, None without a search; () if no agent searched


def game_options(game: Game) -> dict[str, Any]:
    """All options of `game` as JSON values."""
    return {key: value for key, value in game_data(game).items() if key not in (TARGET, NAME)}


def dealt_state(game: Game, record: GameRecord) -> States:
    """[1] the deal of `record`; RecordError when it is not a deal of this game."""
    if record.game != game.spec.name:
        raise RecordError(f"record: is of {record.game}, not of {game.spec.name}")
    try:
        if " " in record.deal:
            decks = parse_cards(record.deal)[None]
            return game.deal(1, np.random.default_rng(0), decks, np.array([record.seed], dtype=np.uint64))
        states = States(np.frombuffer(bytes.fromhex(record.deal), dtype=game.state_dtype).copy().reshape(1))
        check_valid("deal", states, game)
        return states
    except (ValueError, OverflowError) as error:
        raise RecordError(f"record: its deal is none of {game.spec.name} ({error})") from error


def save_record(record: GameRecord, path: Path) -> None:
    """Write `record` as JSON, atomically."""
    content = {"format": FORMAT, **asdict(record), "checksum": _checksum(record.deal)}
    if not record.efforts:
        del content["efforts"]
    write_json(path, content)


def load_record(path: Path) -> GameRecord:
    """Read the record in the file `path`; RecordError when it is not one."""
    try:
        content = load_json(path)
        version, checksum = content.pop("format"), content.pop("checksum", None)
        agents: tuple[Any, ...] = tuple(content.pop("agents"))
        actions: tuple[Any, ...] = tuple(content.pop("actions"))
        efforts = tuple(_effort_counts(entry) for entry in content.pop("efforts", ()))
        record = GameRecord(agents=agents, actions=actions, efforts=efforts, **content)
    except KeyError as error:
        raise RecordError(f"{path}: is not a record of a game (it has no {error})") from error
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise RecordError(f"{path}: is not a record of a game ({error})") from error
    if version != FORMAT:
        raise RecordError(f"{path}: this version reads records of format {FORMAT}")
    if checksum != _checksum(str(record.deal)):
        raise RecordError(f"{path}: is damaged: the checksum of its deal does not match")
    kinds = {"game": str, "options": Mapping, "deal": str, "seed": int}
    odd = [key for key, kind in kinds.items() if not isinstance(getattr(record, key), kind)]
    odd += ["agents"] * any(not isinstance(agent, str) for agent in agents)
    odd += ["actions"] * any(not isinstance(action, int) for action in actions)
    if odd:
        raise RecordError(f"{path}: is not a record of a game ({', '.join(odd)}: of another kind)")
    return record


def _checksum(deal: str) -> str:
    """SHA-256; rules read the bytes of a deal as they are."""
    return hashlib.sha256(deal.encode()).hexdigest()


def _effort_counts(entry: Any) -> EffortCounts | None:
    counts = None if entry is None else tuple(tuple(int(size) for size in phase) for phase in entry)
    if counts and min(map(min, filter(None, counts)), default=0) < 0:
        raise ValueError(f"effort {counts}")
    return counts


class GameRecorder:
    """Collects actions and efforts of parallel games."""

    def __init__(self, num_games: int) -> None:
        self.actions: list[list[int]] = [[] for _ in range(num_games)]
        self.efforts: list[list[EffortCounts | None]] = [[] for _ in range(num_games)]

    def add(self, moves: Moves, agents: Sequence[Agent]) -> None:
        """Add one step of the loop, played by `agents`."""
        for place, (row, action) in enumerate(zip(moves.rows.tolist(), moves.actions.tolist(), strict=True)):
            self.actions[row].append(action)
            self.efforts[row].append(self._effort(moves, place, agents))

    @staticmethod
    def _effort(moves: Moves, place: int, agents: Sequence[Agent]) -> EffortCounts | None:
        agent = agents[int(moves.agents[place])]
        if not moves.queried[place] or not isinstance(agent, ReportsEffort):
            return None
        asked: NDArray[np.bool_] = moves.queried & (moves.agents == moves.agents[place])
        effort = agent.efforts[int(asked[:place].sum())]
        return effort if any(effort) else None

    def record(self, game: Game, row: int, deal: NDArray[np.void], agents: tuple[str, ...]) -> GameRecord:
        """Game `row` as a record: its `deal` [1], and its `agents` [P] by seat."""
        actions, efforts = tuple(self.actions[row]), tuple(self.efforts[row])
        kept = efforts if any(efforts) else ()
        options = {key: value for key, value in game_data(game).items() if key != NAME}
        return GameRecord(game.spec.name, options, agents, deal.tobytes().hex(), actions, efforts=kept)
