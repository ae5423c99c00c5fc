"""Trainings of methods with several seeds, in parallel, each method under one MLflow run that has its mean curve.

The training of a seed is that of `seed=N` alone: same folder, checkpoint and result. A finished one is not repeated, so
seeds can be added later.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.agents.policy_descriptions import DESCRIPTION, policy_digest
from cardlab.core.child_processes import ChildProcess, stop, usable_cores, wait_for
from cardlab.core.files import write_atomically
from cardlab.core.running_code import check_unchanged, fast_imports
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.learning_curves import mean_curve, read_columns
from cardlab.experiments.run_paths import LATEST, POLICY, SUMMARY
from cardlab.experiments.seed_plots import plot_seed_curves
from cardlab.tracking import Run, Store
from cardlab.tracking.lineage import CONFIG, CPU_SECONDS, CURVE, PARENT, UNCOMMITTED, VERSIONS, lineage, uncommitted
from cardlab.tracking.policy_lookup import policy_filter
from cardlab.tracking.run_state import load_run_state
from cardlab.tracking.store import was_killed
from cardlab.training.experiment import Experiment
from cardlab.training.progress import child_progress

if TYPE_CHECKING:
    from cardlab.training.run import Trained

_WAIT_SECONDS = 1.0

_ORIGIN = ("git.commit", "git.dirty", "dvc.experiment", "python", VERSIONS)  # tags of the lineage

Report = Callable[[str], None]


@dataclass(frozen=True)
class SeedTraining:
    """The folder of the training with one seed."""

    seed: int
    folder: Path
    group: str  # name without the game, and a hash of configuration, code and policies, but not of the seed

    @property
    def policy(self) -> Path:
        """The folder of the policy."""
        return self.folder / POLICY

    @property
    def curve(self) -> Path:
        """The learning curve."""
        return self.folder / CURVE

    @property
    def snapshots(self) -> Path:
        """The folder of the policies on the way to it."""
        return self.folder / "snapshots"

    @property
    def summary(self) -> Path:
        """What it cost and what it was made from."""
        return self.folder / SUMMARY

    @property
    def is_finished(self) -> bool:
        """Whether all files are there and the run in MLflow is complete."""
        files = (self.curve, self.summary, self.policy / DESCRIPTION)
        return all(path.is_file() for path in files) and load_run_state(self.folder) is None


def train_seeds(
    config: Mapping[str, Any], seeds: Sequence[int], store: Store, *, changed: str = "", report: Report = print
) -> list[SeedTraining]:
    """Train the experiment `config` with each of `seeds`, as `train_methods` does."""
    return train_methods([MethodTraining(config, seeds, changed)], store, report=report)[0]


@dataclass(frozen=True)
class MethodTraining:
    """An experiment to be trained with several seeds."""

    config: Mapping[str, Any]
    seeds: Sequence[int]
    changed: str = ""  # overrides, as MLflow shows them
    label: str = ""  # before `seed N` in what is reported


def train_methods(
    methods: Sequence[MethodTraining], store: Store, *, report: Report = print
) -> list[list[SeedTraining]]:
    """Train each of `methods` with its seeds, or resume; as many trainings at a time as there are cores.

    Lines of a training are reported as `LABEL seed N: …`; a terminal shows a bar for each. An error of one is raised
    when the others are finished; Ctrl-C interrupts all. Raises what `train_recorded` raises, and ChildKilled.
    """
    built = [[build_experiment({**each.config, "seed": seed}) for seed in each.seeds] for each in methods]
    firsts = [experiments[0] for experiments in built]
    cores = usable_cores() // max(first.trainer.threads * first.trainer.processes for first in firsts)
    # Found before they start: edited code has other folders, and is another group.
    found = [[find_training(experiment, store.root) for experiment in experiments] for experiments in built]
    with ExitStack() as runs:
        jobs, parents = dict[str, tuple[Any, ...]](), list[Run]()
        for method, first, trainings in zip(methods, firsts, found, strict=True):
            group = trainings[0].group
            run = runs.enter_context(_start_group_run(store, first, method.seeds, group, method.changed))
            shared = (store.address, store.root, {**store.tags, "group": group, PARENT: run.id}, method.changed)
            jobs |= {f"{method.label} seed {one.seed}".strip(): (one, method.config, *shared) for one in trainings}
            parents.append(run)
        with child_progress(report) as show:
            _run_in_parallel(jobs, max(1, cores), show)
        for run, first, trainings in zip(parents, firsts, found, strict=True):
            _log_results(run, trainings, first.agent.decisions_per_iteration)
    return found


def train_seed(
    training: SeedTraining,
    config: Mapping[str, Any],
    address: str,
    root: Path,
    tags: Mapping[str, str],
    changed: str,
    report: Report,
) -> None:
    """Train with one seed, or resume; a finished training only gets the tags."""
    from cardlab.training.recorded_training import train_recorded  # noqa: PLC0415 (imports Lightning)

    config = {**config, "seed": training.seed}
    store, experiment = Store(address, root, tags), build_experiment(config)
    check_unchanged(training.folder.name, find_training(experiment, root).folder.name, "the code or a policy")
    if training.is_finished:
        _add_tags(store, experiment, training, tags)
        report(f"finished before: {training.policy}")
        return
    train_recorded(
        experiment,
        store,
        folder=training.folder,
        model_dir=training.policy,
        params=config,
        record=partial(write_training_files, training, experiment),
        changed=changed,
        report=report,
    )


def write_training_files(training: SeedTraining, experiment: Experiment, run: Run, trained: "Trained") -> None:
    """Write curve, cost and configuration beside the policy, log them, and link the folder as latest.

    This is done before the run is finished: then a kill repeats nothing.
    """
    from cardlab.training.recorded_training import identity_tags, write_summary  # noqa: PLC0415
    from cardlab.training.run import write_curve  # noqa: PLC0415 (imports Lightning)

    write_curve(trained.rows, training.curve)
    origin = {key: value for key, value in lineage().items() if key in _ORIGIN}
    write_summary(trained, {**origin, **identity_tags(experiment), "group": training.group}, training.summary)
    if diff := uncommitted(Path.cwd()):
        write_atomically(training.folder / UNCOMMITTED, diff)
    write_atomically(training.folder / CONFIG, json.dumps(experiment.config, indent=2, default=str) + "\n")
    run.log_artifact(training.curve)
    run.log_artifact(training.summary)
    _link_latest(training.folder)


def _link_latest(folder: Path) -> None:
    """Point the link runs/NAME/latest to `folder`."""
    link, draft = folder.with_name(LATEST), folder.with_name(f".{LATEST}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(folder.name)
    draft.replace(link)


def find_training(experiment: Experiment, root: Path) -> SeedTraining:
    """The folder in which `experiment` is trained; it may be missing."""
    with fast_imports():
        from cardlab.training.run import run_folder  # noqa: PLC0415 (imports Lightning)
    first = replace(experiment, seed=0, config={**experiment.config, "seed": 0})
    name = experiment.name.removeprefix(f"{experiment.game.spec.name}_")  # MLflow cuts long names
    group = f"{name}_{run_folder(Path(), first).name[:8]}"
    return SeedTraining(experiment.seed, run_folder(root / "runs", experiment), group)


def _run_in_parallel(jobs: Mapping[str, tuple[Any, ...]], places: int, show: Callable[[str, str], None]) -> None:
    """Run `train_seed` for each job in a process of its own, in at most `places` processes at a time.

    The last 2·`places` − 1 jobs run at once. `show` gets the name of a job and what it reports.
    """
    waiting, running = dict(jobs), dict[ChildProcess, Report]()
    errors: list[Exception] = []
    try:
        while waiting or running:
            # Three trainings on two cores share them: they finish after 1.5 times, not twice, the time of one.
            while waiting and (len(running) < places or len(waiting) + len(running) < 2 * places):
                name = next(iter(waiting))
                child = ChildProcess.start(name, train_seed, *waiting.pop(name))
                running[child] = partial(show, name)
            wait_for(running, _WAIT_SECONDS)
            for child in [child for child in running if not _is_running(child, running[child], errors)]:
                del running[child]
                stop([child])
    finally:
        stop(running)
    if errors:
        raise errors[0]


def _is_running(child: ChildProcess, report: Report, errors: list[Exception]) -> bool:
    """Pass on what the child has reported; False when it has exited, and its error is in `errors`."""
    try:
        return child.is_running(report)
    except Exception as error:
        errors.append(error)
        return False


def _start_group_run(store: Store, first: Experiment, seeds: Sequence[int], group: str, changed: str) -> Run:
    """The run that the trainings are shown under; an ended one of the group with fewer of these seeds is replaced."""
    shown, game, resume = ",".join(map(str, seeds)), first.game.spec.name, None
    for _, run in store.search_runs(f"tags.kind = 'seeds' and tags.group = '{group}'", game):
        before = run.data.tags.get("seeds", "")
        if before == shown:
            resume = run.info.run_id
        elif set(before.split(",")) < set(shown.split(",")) and (run.info.status != "RUNNING" or was_killed(run)):
            with store.wrap_errors():
                store.client.delete_run(run.info.run_id)
    tags = {"kind": "seeds", "group": group, "seeds": shown, "changed": changed}
    params = {key: value for key, value in first.config.items() if key != "seed"}
    title = f"{first.name} · {len(seeds)} {'seeds' if len(seeds) > 1 else 'seed'}"
    return store.start_run(game, title, tags=tags, params=params, resume=resume)


def _log_results(run: Run, trainings: Sequence[SeedTraining], decisions_per_iteration: int) -> None:
    """Log the mean curve, its band under `interval/`, its picture with the curves of the seeds, and the total cost.

    Its steps are those of the trainings.
    """
    curves = {training.seed: read_columns(training.curve) for training in trainings}
    bands = mean_curve(list(curves.values())) if all(curves.values()) else {}
    by_iteration = mean_curve(list(curves.values()), over="iteration") if bands else {}
    for name, band in by_iteration.items():
        for place, iteration in enumerate(band.at):
            metrics = {name: float(band.mean[place])}
            if band.seeds > 1:
                metrics[f"interval/{name}_low"] = float(band.low[place])
                metrics[f"interval/{name}_high"] = float(band.high[place])
            run.log_metrics(metrics, int(iteration) * decisions_per_iteration)
    for name, picture in plot_seed_curves(curves, bands):
        run.log_figure(picture, f"curves/{name}.svg")
    spent = sum(json.loads(training.summary.read_text())["cpu_seconds"] for training in trainings)
    run.log_metrics({CPU_SECONDS: spent}, 0)


def _add_tags(store: Store, experiment: Experiment, training: SeedTraining, tags: Mapping[str, str]) -> None:
    """Set the tags of the run that made the policy of a finished training, if the store has it."""
    condition = f"tags.kind = 'training' and {policy_filter(policy_digest(training.policy))}"
    for _, run in store.search_runs(condition, experiment.game.spec.name, 1):
        with store.wrap_errors():
            for key, value in tags.items():
                store.client.set_tag(run.info.run_id, key, value)
