"""`cardlab tournament`: every agent against every other."""

from pathlib import Path

from rich.console import Console

from cardlab.cli.verbs import Request
from cardlab.core.options import Text
from cardlab.evaluation.progress import progress_bars
from cardlab.evaluation.tournament import run_tournament, tournament_table
from cardlab.experiments.config.build_parts import build_arena, build_game, check_agents
from cardlab.experiments.config.options import convert
from cardlab.games.catalogue import without_training_options


def run(request: Request) -> int:
    """Print the cross table, and write it to the folder `output`."""
    config = request.config
    agents = convert("agents", config["agents"], tuple[Text, ...])
    options = build_arena(config["arena"])
    game = without_training_options(build_game(config["game"]))
    check_agents(game, "agents", agents)
    folder = Path(convert("output", config["output"], Text))
    with progress_bars() as progress:
        tournament = run_tournament(game, agents, options, folder, progress=progress)
    Console().print(tournament_table(tournament))
    print(folder / "tournament.json")
    return 0
