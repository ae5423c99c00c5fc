"""Files of the deals that matches have played, so that an interrupted command resumes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.registry import named_folders
from cardlab.core.files import load_json, write_json
from cardlab.core.running_code import code_digest
from cardlab.evaluation.game_record import game_options
from cardlab.evaluation.match import play_groups
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import Lineup
from cardlab.evaluation.workers import Tally
from cardlab.games.protocol import Game

NOT_IN_DIGEST = "keeps what was played, and decides nothing of it"

FORMAT = 2
_SECONDS = 10  # between two writes of a file


@dataclass(frozen=True)
class PlayedDeals:
    """Where the deals of matches are kept."""

    folder: Path
    keep: bool = False  # the files stay when all matches are finished


def unfinished_scores(root: Path) -> PlayedDeals:
    """Where the commands of the project in `root` keep the deals of an interrupted match."""
    return PlayedDeals(root / "runs" / "scores")


class PlayedFiles:
    """A file for each group of matches that advance together, unless an agent is an object or learns while it plays."""

    def __init__(
        self,
        where: PlayedDeals | None,
        game: Game,
        lineups: Sequence[Lineup],
        groups: Sequence[Sequence[int]],
        options: ArenaOptions,
    ) -> None:
        """`groups`: places among the `lineups`; without `where` there are no files."""
        self._keep = where is not None and where.keep
        self._files: dict[int, tuple[Path, Mapping[str, Any]]] = {}  # first place of a group → file and key
        self._began, self._written = monotonic(), dict[int, float]()  # first place of a group → time of writing
        self.tallies: dict[int, Tally] = {}  # place → the deals that an interrupted command has played
        if where is None:
            return
        for places in groups:
            tables = [lineups[place] for place in places]
            if all(isinstance(entry, str) and not table.learns for table in tables for entry in table.agents):
                key = match_key(game, tables, options)
                name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:24]
                self._files[places[0]] = where.folder / f"{name}.json", key
                self.tallies |= zip(places, _load(self._files[places[0]][0]), strict=False)

    def save(self, tallies: Mapping[int, Tally], *, finished: bool = False, interrupted: bool = False) -> None:
        """Write those of a group; a file is written every few seconds, and when its deals are needed later."""
        group, now = next(iter(tallies)), monotonic()
        needed = interrupted or (finished and self._keep)
        if group in self._files and (needed or now - self._written.get(group, self._began) >= _SECONDS):
            path, key = self._files[group]
            content = [[figures.tolist() for figures in tally] for tally in tallies.values()]
            write_json(path, {"played": key, "tallies": content})
            self._written[group] = now

    def finish(self) -> None:
        """Remove the files, unless they are kept."""
        for path, _ in self._files.values() if not self._keep else ():
            path.unlink(missing_ok=True)
            with suppress(OSError):  # other files may be there
                path.parent.rmdir()
                path.parent.parent.rmdir()


def _load(path: Path) -> list[Tally]:
    """One tally per match of a group; none when the file is missing or damaged."""
    try:
        return [Tally(*map(np.array, tally)) for tally in load_json(path)["tallies"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def match_key(game: Game, lineups: Sequence[Lineup], options: ArenaOptions) -> dict[str, Any]:
    """Everything that the results of matches depend on which advance together."""
    tables = [lineup.names for lineup in lineups]
    names = tuple(sorted({name for table in tables for name in table}))
    return {
        "format": FORMAT,
        "game": game.spec.name,
        "options": game_options(game),
        "tables": tables,
        "digests": {name: "+".join(policy_digest(folder) for folder in named_folders(game, name)) for name in names},
        "deals": options.deals,
        "seed": options.seed,
        "chunk": options.chunk,
        "until": options.until,
        "code": _code_digest(type(game), game.spec.name, names),
    }


@cache
def _code_digest(kind: type[Game], name: str, names: tuple[str, ...]) -> str:
    """Digest of the code by which these agents play."""
    game = {"_target_": f"{kind.__module__}.{kind.__qualname__}", "name": name}
    return code_digest((play_groups.__module__,), {"game": game, "agents": names})
