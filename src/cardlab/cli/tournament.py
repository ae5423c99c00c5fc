"""`cardlab tournament`: every agent against every other."""

from pathlib import Path

from rich.console import Console

from cardlab.cli.verbs import Outcome, Request
from cardlab.core.options import Flag, Text, checked
from cardlab.evaluation.progress import progress_bars
from cardlab.evaluation.tournament import run_tournament, tournament_table
from cardlab.experiments.config.build_parts import build_arena, build_game, check_agents
from cardlab.experiments.recorded_matches import record_tournament
from cardlab.games.make_game import without_training_options
from cardlab.tracking import Store


def run(request: Request) -> Outcome:
    """Print the cross table, write it to the folder `output`, and record it in MLflow."""
    config = request.config
    agents = checked("agents", config["agents"], tuple[Text, ...])
    options = build_arena(config["arena"])
    game = without_training_options(build_game(config["game"]))
    check_agents(game, "agents", agents)
    folder = Path(checked("output", config["output"], Text))
    store = Store() if checked("record", config["record"], Flag) else None
    with progress_bars() as progress:
        tournament = run_tournament(game, agents, options, folder, progress=progress)
    Console().print(tournament_table(tournament))
    print(folder / "tournament.json")
    if store is not None:
        files = [folder / "tournament.json", folder / "tournament.csv"]
        record_tournament(store, game, tournament, label=game.spec.name, files=files)
    return Outcome(tournament)
