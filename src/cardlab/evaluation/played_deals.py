"""Files of the deals that matches have played: commands do not play them again, and an interrupted one resumes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.registry import named_folders
from cardlab.core.code_digest import COMPUTING
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


def played_scores(root: Path) -> Path:
    """Where the commands of the project in `root` keep the deals of their matches."""
    return root / "runs" / "scores"


class PlayedFiles:
    """A file for each group of matches that advance together, unless an agent is an object or learns while it plays."""

    def __init__(
        self,
        folder: Path | None,
        game: Game,
        lineups: Sequence[Lineup],
        groups: Sequence[Sequence[int]],
        options: ArenaOptions,
    ) -> None:
        """`groups`: places among the `lineups`; without `folder`, or when games are recorded, there are no files."""
        self._files: dict[int, tuple[Path, Mapping[str, Any]]] = {}  # first place of a group → file and key
        self._began, self._written = monotonic(), dict[int, float]()  # first place of a group → time of writing
        self.tallies: dict[int, Tally] = {}  # place → the deals that were played before
        if folder is None or options.records is not None:  # deals of before have no records
            return
        for places in groups:
            tables = [lineups[place] for place in places]
            if all(isinstance(entry, str) and not table.learns for table in tables for entry in table.agents):
                key = match_key(game, tables, options)
                name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:24]
                self._files[places[0]] = folder / f"{name}.json", key
                self.tallies |= zip(places, _load(self._files[places[0]][0]), strict=False)

    def save(self, tallies: Mapping[int, Tally], *, last: bool) -> None:
        """Write those of a group: every few seconds, and when they are the `last`."""
        group, now = next(iter(tallies)), monotonic()
        if group in self._files and (last or now - self._written.get(group, self._began) >= _SECONDS):
            path, key = self._files[group]
            content = [[figures.tolist() for figures in tally] for tally in tallies.values()]
            write_json(path, {"played": key, "tallies": content})
            self._written[group] = now


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
        "versions": {package: version(package) for package in COMPUTING},
    }


@cache
def _code_digest(kind: type[Game], name: str, names: tuple[str, ...]) -> str:
    """Digest of the code by which these agents play."""
    game = {"_target_": f"{kind.__module__}.{kind.__qualname__}", "name": name}
    return code_digest((play_groups.__module__,), {"game": game, "agents": names})
