"""`cardlab tournament`: every agent against every other."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from cardlab.agents.policy_descriptions import policy_game
from cardlab.agents.specs import ADDRESSES, is_policy_folder, policy_folder
from cardlab.cli.verbs import Outcome, Request
from cardlab.core.messages import left_out
from cardlab.core.options import Flag, Text, checked
from cardlab.evaluation.progress import progress_bars
from cardlab.evaluation.tournament import run_tournament, tournament_table
from cardlab.experiments.config.build_parts import build_arena, build_game, check_agents
from cardlab.experiments.recorded_matches import record_tournament
from cardlab.games.make_game import game_names, without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking import Store


def run(request: Request) -> Outcome:
    """Print the cross table, write it to the folder `output`, and record it in MLflow."""
    config = request.config
    agents = checked("agents", config["agents"], tuple[Text, ...])
    options = build_arena(config["arena"])
    game = _game(config.get("game"), agents)
    check_agents(game, "agents", agents)
    folder = Path(checked("output", config["output"], Text | None) or Path("runs", "tournaments", game.spec.name))
    store = Store() if checked("record", config["record"], Flag) else None
    with progress_bars() as progress:
        tournament = run_tournament(game, agents, options, folder, progress=progress)
    Console().print(tournament_table(tournament))
    print(folder / "tournament.json")
    if store is not None:
        files = [folder / "tournament.json", folder / "tournament.csv"]
        record_tournament(store, game, tournament, label=game.spec.name, files=files)
    return Outcome(tournament)


def _game(group: object, agents: Sequence[str]) -> Game:
    """The game of the group, or of the first agent that is a policy."""
    if group:
        return without_training_options(build_game(group))
    for text in agents:
        if text.startswith(ADDRESSES) or is_policy_folder(text):
            return policy_game(Path(policy_folder(text, "") or text))
    raise left_out("game", f"given where no agent is a policy: one of {', '.join(game_names())}")
