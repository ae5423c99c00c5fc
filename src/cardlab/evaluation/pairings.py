"""One pairing of a tournament and its result file, so that it is played only once."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.registry import named_folders
from cardlab.core.files import load_json, write_json
from cardlab.core.running_code import code_digest
from cardlab.evaluation.game_record import game_options
from cardlab.evaluation.intervals import Estimate, PerDeal, estimate, is_narrow
from cardlab.evaluation.match import play_lineups
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.progress import ProgressCallback
from cardlab.evaluation.ratings import MAX_RATED_DEALS, Duels
from cardlab.evaluation.seating import Entry, Lineup, make_lineup
from cardlab.evaluation.workers import Tally, Workers
from cardlab.games.protocol import Game

FORMAT = 1


@dataclass(frozen=True)
class Pairing:
    """The result of two agents against each other; in pairs the first agent comes first."""

    names: tuple[str, str]
    points: tuple[Estimate, Estimate]  # of each against the other (against its copies with more than two players)
    wins: tuple[Estimate, Estimate] | None  # None for one player
    margin: Estimate  # half the difference of the points, paired by deal; for one player the difference
    duels: Duels  # [deals, at most MAX_RATED_DEALS]


def play_pairings(
    game: Game,
    pairs: Sequence[tuple[str, str]],
    options: ArenaOptions,
    progress: ProgressCallback,
    agents: Mapping[str, Entry] | None = None,
) -> Iterator[Pairing]:
    """Play the `pairs` of agents in turn: texts, or names of `agents`."""
    entries = agents or {}
    tables = [pairing_lineups(game, *(entries.get(name, name) for name in names)) for names in pairs]
    start = 0
    with Workers(game, [lineup for table in tables for lineup in table], options) as workers:
        for names, table in zip(pairs, tables, strict=True):
            yield play_pairing(workers, range(start, start + len(table)), names, options, progress)
            start += len(table)


def pairing_lineups(game: Game, first: Entry, second: Entry) -> list[Lineup]:
    """The lineups of a pairing: one for two players, else one per agent."""
    others = game.spec.num_players - 1
    tables = [[first, *[second] * others], [second, *[first] * others]]
    return [make_lineup(game, table) for table in (tables[:1] if others == 1 else tables)]


def play_pairing(
    workers: Workers, places: Sequence[int], names: tuple[str, str], options: ArenaOptions, progress: ProgressCallback
) -> Pairing:
    """Play the workers' lineups `places` of one pairing."""
    label = " : ".join(names)
    halves = 1 if workers.game.spec.num_players == 1 else 2

    def margin(tallies: Sequence[Tally]) -> PerDeal:
        return (_side(tallies, 0)[0] - _side(tallies, 1)[0]) / halves

    def enough(tallies: Sequence[Tally]) -> bool:
        return is_narrow(margin(tallies), options.until)

    tallies = play_lineups(workers, places, options, enough, partial(progress, label))
    (points, wins), (other_points, other_wins) = (_side(tallies, side) for side in (0, 1))
    margins = margin(tallies)
    return Pairing(
        names,
        (estimate(points), estimate(other_points)),
        None if halves == 1 else (estimate(wins).clipped(0.0, 1.0), estimate(other_wins).clipped(0.0, 1.0)),
        estimate(margins),
        np.sign(margins[:MAX_RATED_DEALS]).astype(np.int8),
    )


def _side(tallies: Sequence[Tally], side: int) -> tuple[PerDeal, PerDeal]:
    """Points and shares [D] of one side of a pairing."""
    tally, group = (tallies[0], side) if len(tallies) == 1 else (tallies[side], 0)
    return tally.points[:, group], tally.shares[:, group]


def pairing_key(game: Game, names: tuple[str, str], options: ArenaOptions) -> dict[str, Any]:
    """Everything that the result of a pairing depends on; names its file."""
    return {
        "format": FORMAT,
        "game": game.spec.name,
        "options": game_options(game),
        "agents": [{"name": name, "digest": _agent_digest(game, name)} for name in names],
        "deals": options.deals,
        "seed": options.seed,
        "chunk": options.chunk,
        "until": options.until,
        "code": _code_digest(type(game), game.spec.name, names),
    }


def pairing_path(folder: Path, played: dict[str, Any]) -> Path:
    """The file of the pairing with the key `played`."""
    text = json.dumps(played, sort_keys=True)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def save_pairing(path: Path, pairing: Pairing, played: dict[str, Any]) -> None:
    """Write the result file atomically."""
    content = {
        "played": played,
        "points": [asdict(figure) for figure in pairing.points],
        "wins": None if pairing.wins is None else [asdict(figure) for figure in pairing.wins],
        "margin": asdict(pairing.margin),
        "duels": "".join("-=+"[outcome + 1] for outcome in pairing.duels),
    }
    write_json(path, content)


def load_pairing(path: Path, names: tuple[str, str]) -> Pairing | None:
    """Read the result file `path`; None when it is missing or unreadable."""
    try:
        content = load_json(path)
        first, second = (Estimate(**figure) for figure in content["points"])
        wins = content["wins"] and (Estimate(**content["wins"][0]), Estimate(**content["wins"][1]))
        duels = np.array(["-=+".index(sign) - 1 for sign in content["duels"]], dtype=np.int8)
        return Pairing(names, (first, second), wins, Estimate(**content["margin"]), duels)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _agent_digest(game: Game, name: str) -> str | None:
    """Digest of a trained policy, or of the policies and beliefs of a search; None for an agent without any."""
    return "+".join(policy_digest(folder) for folder in named_folders(game, name)) or None


@cache
def _code_digest(kind: type[Game], name: str, names: tuple[str, str]) -> str:
    """Digest of the code by which these agents play."""
    game = {"_target_": f"{kind.__module__}.{kind.__qualname__}", "name": name}
    return code_digest((play_lineups.__module__,), {"game": game, "agents": names})
