"""Stage cross_tables: the experiments of each game and their references, everybody against everybody.

Pairings that were played before, by these very policies, are not played again: they lie in runs/, beside the outputs.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.arena.evaluate import DEFAULT_REFERENCES
from cardlab.arena.tournament import run_tournament
from cardlab.assembly.parts import build_arena, build_game
from cardlab.faults import reported
from cardlab.games.catalogue import for_matches
from cardlab.games.protocol import Game
from cardlab.tracking.address import project_root

OUTPUT = Path("results", "cross_tables")


def main() -> None:
    """Write a table for each game of params.yaml, and one more for each other set of its options."""
    experiments = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments))
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for game, names in _by_game(experiments):
        label = game.spec.name + "".join(f"_{number}" for number in _others(game, names, experiments))
        arenas = [build_arena(experiments[name]["arena"]) for name in names]
        options = max(arenas, key=lambda arena: arena.pairing_deals).for_pairings()
        references = dict.fromkeys((*DEFAULT_REFERENCES, *(text for arena in arenas for text in arena.references)))
        agents = [*(str(Path("models", name)) for name in names), *references]
        folder = project_root() / "runs" / "cross_tables" / label
        run_tournament(game, agents, options, folder)
        (OUTPUT / f"{label}.json").write_bytes((folder / "tournament.json").read_bytes())


def _by_game(experiments: Mapping[str, Any]) -> list[tuple[Game, list[str]]]:
    """Each game as it is played in matches, with the experiments that play it so: only they fit at one table."""
    tables: list[tuple[Game, list[str]]] = []
    for name, config in experiments.items():
        game = for_matches(build_game(config["game"]))
        for other, names in tables:
            if other == game:
                names.append(name)
                break
        else:
            tables.append((game, [name]))
    return tables


def _others(game: Game, names: list[str], experiments: Mapping[str, Any]) -> list[int]:
    """The number, from 2, of a table of a game that has several; none for its first."""
    same = [own for other, own in _by_game(experiments) if other.spec.name == game.spec.name]
    place = same.index(names) + 1
    return [place] if place > 1 else []


if __name__ == "__main__":
    sys.exit(reported(main))
