"""`cardlab train`: one experiment, recorded in MLflow; the same command goes on where it was cut off."""

from pathlib import Path

from cardlab.assembly.experiment import build_experiment
from cardlab.cli.verbs import Request
from cardlab.tracking import Store
from cardlab.training.run import run_folder, train, write_curve


def run(request: Request) -> int:
    """Train into runs/NAME/ (models/ and results/ belong to the pipeline), and say how to look at what came of it."""
    experiment = build_experiment(request.config)
    store = Store()
    folder = run_folder(store.root / "runs", experiment)
    model, curve = folder / "policy", folder / "curve.csv"
    with store.start_or_resume(folder, experiment.game.spec.name, experiment.name, params=request.config) as recorded:
        trained = train(experiment, run_dir=folder, model_dir=model, log=recorded)
        write_curve(trained.rows, curve)
        recorded.set_tags({"kind": "training", "policy.digest": trained.digest})
        recorded.log_artifact(model, "policy")
        recorded.log_artifact(trained.snapshots, "snapshots")
        recorded.log_artifact(curve)
        recorded.log_artifact(trained.checkpoint, "checkpoint")
    here = Path.cwd()
    shown = model.relative_to(here) if model.is_relative_to(here) else model
    print(f"policy: {shown}\nnext:   cardlab evaluate policy={shown}\n        cardlab ui")
    return 0
