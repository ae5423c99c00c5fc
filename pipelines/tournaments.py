"""Stage tournaments: for each game, a round-robin tournament of its experiments and their references.

An experiment plays with the policy of its first seed.

Finished pairings are kept in runs/tournaments/ and are not played again for the same policies.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cardlab.evaluation.game_record import game_options
from cardlab.evaluation.options import DEFAULT_REFERENCES
from cardlab.evaluation.progress import progress_bars
from cardlab.evaluation.tournament import run_tournament
from cardlab.experiments.config.build_parts import build_arena, build_game
from cardlab.experiments.policy_groups import find_group
from cardlab.experiments.recorded_matches import record_tournament
from cardlab.experiments.stage_code import read_params
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking import Store
from cardlab.tracking.connection import project_root

OUTPUT = Path("results", "tournaments")


def main() -> None:
    """Write a table for each game of params.yaml, and one more for each other set of its options."""
    experiments = read_params("tournaments")["experiments"]
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for label, (game, names) in _by_game(experiments).items():
        arenas = [build_arena(experiments[name]["arena"]) for name in names]
        options = max(arenas, key=lambda arena: arena.pairing_deals).for_pairings()
        references = dict.fromkeys((*DEFAULT_REFERENCES, *(text for arena in arenas for text in arena.references)))
        agents = [*(str(find_group(str(Path("models", name)), Path()).policies[0]) for name in names), *references]
        folder = project_root() / "runs" / "tournaments" / label
        with progress_bars() as progress:
            tournament = run_tournament(game, agents, options, folder, progress=progress)
        output = OUTPUT / f"{label}.json"
        output.write_bytes((folder / "tournament.json").read_bytes())
        record_tournament(Store(), game, tournament, label=label, files=[output])


def _by_game(experiments: Mapping[str, Any]) -> dict[str, tuple[Game, list[str]]]:
    """Name of a tournament → game and its experiments.

    Experiments with the same rules are in one tournament, whatever features they use. Further sets of rules of a game
    are tournaments named GAME_2 and so on.
    """
    tables: list[tuple[dict[str, Any], Game, list[str]]] = []
    for name, config in experiments.items():
        game = without_training_options(build_game(config["game"]))
        rules = {"name": game.spec.name, **game_options(game), "features": None}
        for others, _, names in tables:
            if others == rules:
                names.append(name)
                break
        else:
            tables.append((rules, game, [name]))
    labelled: dict[str, tuple[Game, list[str]]] = {}
    for _, game, names in tables:
        number = 1 + sum(other.spec.name == game.spec.name for other, _ in labelled.values())
        labelled[game.spec.name if number == 1 else f"{game.spec.name}_{number}"] = (game, names)
    return labelled


if __name__ == "__main__":
    sys.exit(run_program(main, REPRO))
