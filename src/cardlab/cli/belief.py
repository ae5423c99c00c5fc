"""`cardlab belief`: trains a belief network on games of given agents, and evaluates it on held-out games."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from rich.console import Console
from rich.table import Table

from cardlab.agents.registry import load_agent
from cardlab.cli.verbs import Request
from cardlab.core.files import check_folder
from cardlab.core.options import Text, check_whole, checked
from cardlab.experiments.config.build_parts import build_game, check_agents, group
from cardlab.experiments.run_paths import quoted
from cardlab.games.make_game import without_training_options
from cardlab.learners.belief.options import BeliefTraining, check_believable
from cardlab.networks.belief_options import BeliefOptions
from cardlab.tracking import Store
from cardlab.tracking.policy_lookup import print_run

if TYPE_CHECKING:
    from cardlab.training.belief import BeliefFigures


def run(request: Request) -> int:
    """Train, write the belief to the folder `output`, log it to MLflow, and print its evaluation."""
    config = request.config
    game = without_training_options(build_game(config["game"]))
    check_believable(game.spec.name)
    agents = checked("agents", config["agents"], Annotated[tuple[Text, ...], Field(min_length=1)])
    seed = check_whole("seed", config["seed"], 0)
    network = BeliefOptions(**group("network", config["network"]))
    training = BeliefTraining(**group("training", config["training"]))
    check_agents(game, "agents", agents)
    folder = check_folder("output", checked("output", config["output"], Text))
    # A wrong value is refused before the imports below, which take seconds.
    from cardlab.agents.beliefs import save_belief  # noqa: PLC0415
    from cardlab.experiments.value_calibration import write_calibration  # noqa: PLC0415
    from cardlab.training import belief as belief_training  # noqa: PLC0415

    experiment = belief_training.BeliefExperiment(
        game, [load_agent(game, text) for text in agents], network, training, seed
    )
    store = Store()
    with store.start_run(game.spec.name, folder.name, tags={"kind": "belief"}, params=config) as recorded:
        belief = belief_training.train_belief(experiment, log=recorded)
        save_belief(folder, game, network, belief.network)
        figures = belief_training.evaluate_belief(belief, experiment)
        bins = [{key: getattr(one, key) for key in ("predicted", "observed", "count")} for one in figures.calibration]
        write_calibration(bins, folder / "calibration.csv")
        recorded.log_metrics(belief_training.belief_metrics(figures), training.iterations)
        recorded.log_artifact(folder, "belief")
    _print(figures)
    print_run(store, f"attributes.run_id = '{recorded.id}'")
    agent = quoted("policy", f"monte_carlo:belief:{folder}")
    print(f"belief: {folder}\nnext:   cardlab evaluate {agent} game={game.spec.name}")
    return 0


def _print(figures: "BeliefFigures") -> None:
    console = Console()
    console.print(
        f"bits per unseen card over {figures.belief.deals} games, {figures.decisions} decisions, 95 % intervals:"
    )
    console.print(f"  belief  {figures.belief}\n  uniform {figures.uniform}\n  gain    {figures.gain}")
    table = Table("predicted", "observed", "pairs")
    for one in figures.calibration:
        table.add_row(f"{one.predicted:.3f}", f"{one.observed:.3f}", str(one.count))
    console.print(table)
