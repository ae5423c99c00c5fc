"""Trains a policy again from what is known of its training, and compares the bytes."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Generator, Mapping
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

from cardlab.agents.policy_descriptions import PolicyError, policy_digest, read_description
from cardlab.agents.specs import CHAMPIONS
from cardlab.core.code_digest import COMPUTING
from cardlab.core.files import write_atomically
from cardlab.core.messages import ConfigurationError
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.training_records import TrainingRecord
from cardlab.tracking import Store
from cardlab.tracking.lineage import CODE, CURVE, VERSIONS, run_git

SAME, DIFFERS, MISSING, LINK_MISSING = 0, 1, 3, 4  # exit statuses of `cardlab reproduce`

_TRAIN = "\n".join(
    (
        "import json, sys",
        "from pathlib import Path",
        "from cardlab.core.parts import add_project_to_path",
        "add_project_to_path()",
        "from cardlab.experiments.config.build_experiment import build_experiment",
        "from cardlab.training.experiment import training_code",
        "given, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[1]).parent",
        'experiment = build_experiment(given["config"])',
        '(folder / "code").write_text(training_code(experiment))',
        'if given["train"]:',
        "    from cardlab.training.run import train, write_curve",
        '    trained = train(experiment, run_dir=folder / "run", model_dir=folder / "policy")',
        '    write_curve(trained.rows, folder / "curve.csv")',
    )
)
"""Runs in the code of the training."""


class ReproductionFailed(RuntimeError):
    """The training could not be repeated; the message is one line."""


@dataclass
class Findings:
    """What was checked, and the status of the first thing that does not hold."""

    report: Callable[[str], None]
    status: int = SAME

    def check(self, what: str, problem: str, status: int = MISSING) -> None:
        """Report one thing: what holds, or the problem."""
        self.report(f"{what}: {problem or 'as recorded'}")
        if problem:
            self.status = self.status or status


def reproduce(record: TrainingRecord, store: Store, *, train: bool, report: Callable[[str], None]) -> int:
    """Check what is recorded of a training, and with `train` repeat it; the exit status.

    The training is in runs/reproduced/DIGEST, where it resumes; it stays there if the policy differs.
    """
    policy = record.policy and record.policy.absolute()
    with chdir(record.folder):
        return _reproduce(replace(record, policy=policy), store, train=train, report=report)


def _reproduce(record: TrainingRecord, store: Store, *, train: bool, report: Callable[[str], None]) -> int:
    """Check, and train again, in the folder of the training, which is the working folder."""
    findings = Findings(report)
    if record.policy is not None:
        found = policy_digest(record.policy)
        findings.check("policy", "" if found == record.digest else f"is {found}, recorded is {record.digest}", DIFFERS)
    for name, digest in record.links.items():
        missing = _find_link(name, digest, store) is None and not _is_in_commit(record, name, digest)
        findings.check(f"link {name}", f"no policy here has its digest {digest}" if missing else "", LINK_MISSING)
    _check_versions(record, findings)
    folder = store.root / "runs" / "reproduced" / record.digest[:16]
    with _code(record, store, findings) as place:
        if place is not None and findings.status != LINK_MISSING:
            code = _run(record, place, folder, store, train=False)
            known = record.tags.get(CODE, code)
            findings.check("code", "" if code == known else f"is {code}, recorded is {known}")
        if not train or place is None or findings.status == LINK_MISSING:
            return findings.status
        report(f"cost: {f'{record.cpu_seconds:,.0f} CPU seconds' if record.cpu_seconds else 'unknown'}")
        _run(record, place, folder, store, train=True)
    return _compare(record, folder, report)


def _find_link(name: str, digest: str, store: Store) -> Path | None:
    """The folder with this digest: the recorded one, or another of the project."""
    from cardlab.training.start_point import start_digest  # noqa: PLC0415  imports torch

    patterns = ("models/*", "models/*/*", "champions/*", "champions/*/*", "runs/*/*/policy", "runs/registry/*/*")
    others = (folder for pattern in patterns for folder in sorted(store.root.glob(pattern)))
    for folder in (Path(name), *others):
        with suppress(OSError, PolicyError):
            if start_digest(folder).hex() == digest:
                return folder.absolute()
    return None


def _is_in_commit(record: TrainingRecord, name: str, digest: str) -> bool:
    """Whether the commit of the training has the policy where the configuration says, as a champion since replaced."""
    from cardlab.training.start_point import start_digest  # noqa: PLC0415  imports torch

    commit, top = record.tags.get("git.commit", ""), run_git(Path.cwd(), "rev-parse", "--show-toplevel")
    folder = os.path.relpath(Path.cwd() / name, top) if top else ""
    with TemporaryDirectory(prefix="cardlab-reproduce-") as scratch, suppress(OSError, PolicyError, tarfile.TarError):
        _extract(commit, Path(scratch), folder)
        return start_digest(Path(scratch, folder)).hex() == digest
    return False


def _extract(commit: str, place: Path, *paths: str) -> None:
    """Put what the commit has, or these paths of it, into the folder `place`; an OSError where it has them not."""
    top = run_git(Path.cwd(), "rev-parse", "--show-toplevel")
    with NamedTemporaryFile(prefix="cardlab-reproduce-", suffix=".tar") as archive:
        run_git(Path(top or "."), "archive", "--format=tar", "-o", archive.name, commit, *paths)
        with tarfile.open(archive.name) as file:
            file.extractall(place, filter="data")


def _check_versions(record: TrainingRecord, findings: Findings) -> None:
    recorded: Mapping[str, str] = json.loads(record.tags.get(VERSIONS, "{}"))
    other = {name: recorded[name].partition("+")[0] for name in COMPUTING if name in recorded}
    here = {name: version(name).partition("+")[0] for name in other}
    differing = ", ".join(f"{name} {other[name]}, here {here[name]}" for name in other if other[name] != here[name])
    findings.check("versions", differing)


@contextmanager
def _code(record: TrainingRecord, store: Store, findings: Findings) -> Generator[Path | None]:
    """The folder in which the training runs: this project, or its commit in a scratch folder; None without both."""
    commit, reason = record.tags.get("git.commit", ""), _reason_to_check_out(record, store)
    if not reason:
        findings.check("commit", "")
        yield Path.cwd()
        return
    top = run_git(Path.cwd(), "rev-parse", "--show-toplevel")
    if not commit or top is None or run_git(Path(top), "cat-file", "-e", f"{commit}^{{commit}}") is None:
        needed = json.loads(record.tags.get(VERSIONS, "{}")).get("cardlab", "unknown")
        where = f"commit {commit} is not in this repository" if commit else "its commit is unknown"
        findings.check("commit", f"{where}, and {reason}; it was trained with cardlab {needed}")
        yield None
        return
    with TemporaryDirectory(prefix="cardlab-reproduce-") as scratch:
        checkout = Path(scratch, "checkout")
        checkout.mkdir()
        _extract(commit, checkout)
        findings.check("commit", "")
        if record.tags.get("git.dirty") == "true":
            findings.check("uncommitted changes", _apply(record.diff, checkout))
        place = checkout / Path.cwd().relative_to(top)
        place.mkdir(parents=True, exist_ok=True)  # it may be newer than the commit
        for name, digest in record.links.items():
            if (found := _find_link(name, digest, store)) is not None and not Path(name).is_absolute():
                _place_link(found, checkout, place, name)
        yield place


def _reason_to_check_out(record: TrainingRecord, store: Store) -> str:
    """Why the training cannot run in this project as it is; empty if it can."""
    if any(_find_link(name, digest, store) != Path(name).absolute() for name, digest in record.links.items()):
        return "a policy that it names has moved"
    if CODE not in record.tags:
        return "the digest of its code is unknown"
    from cardlab.training.experiment import training_code  # noqa: PLC0415  with the one above

    try:
        code = training_code(build_experiment(record.config))
    except ConfigurationError as error:
        return f"the code here refuses its configuration ({error})"
    return "" if code == record.tags[CODE] else f"the code here is {code}, recorded is {record.tags[CODE]}"


def _apply(diff: str, checkout: Path) -> str:
    """Apply what was not committed; the problem if there is one."""
    if not diff:
        return "are not recorded"
    path = checkout.with_suffix(".diff")
    path.write_text(diff, encoding="utf-8")
    return "" if run_git(checkout, "apply", str(path)) is not None else "do not apply to the commit"


def _place_link(found: Path, checkout: Path, place: Path, name: str) -> None:
    """Put the policy where the configuration of the training, which runs in `place`, finds it."""
    from_registry = name.startswith("runs/registry/")
    for target in (place / name, *([place / CHAMPIONS / read_description(found).game] if from_registry else [])):
        if not target.resolve().is_relative_to(checkout.resolve()):
            raise ReproductionFailed(f"{name}: must be a folder of the checkout")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(found, target)


def _run(record: TrainingRecord, place: Path, folder: Path, store: Store, *, train: bool) -> str:
    """Run `_TRAIN` with the code in `place`; the digest of the code."""
    folder.mkdir(parents=True, exist_ok=True)
    request = folder / "request.json"
    write_atomically(request, json.dumps({"config": record.config, "train": train}))
    paths = [str(above / "src") for above in (place, *place.parents) if (above / "src" / "cardlab").is_dir()][:1]
    environment = {**os.environ, "DVC_ROOT": str(store.root)}
    environment["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", _TRAIN, str(request)],
        cwd=place,
        env=environment,
        check=False,
        stdout=None if train else subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ReproductionFailed(f"the training of {record.name} does not run: {last}")
    return (folder / "code").read_text()


def _compare(record: TrainingRecord, folder: Path, report: Callable[[str], None]) -> int:
    """Compare the policy with the recorded digest; where it differs, name the first point of the curve that does."""
    made = policy_digest(folder / "policy")
    if made == record.digest:
        report(f"same bytes: {made}")
        shutil.rmtree(folder)
        return SAME
    curve = (folder / CURVE).read_text() if (folder / CURVE).is_file() else ""
    report(f"differs: {made}, recorded is {record.digest}; {_first_difference(record.curve, curve)}")
    report(f"policy: {folder / 'policy'}")
    return DIFFERS


def _first_difference(before: str, after: str) -> str:
    """The first point and column in which two learning curves differ."""
    if not before:
        return "no learning curve is recorded"
    old, new = (list(csv.DictReader(text.splitlines())) for text in (before, after))
    for first, second in zip(old, new, strict=False):
        for key, value in sorted(first.items(), key=lambda item: item[0].startswith("interval/")):
            if second.get(key) != value:
                place = f"after {first['decisions']} decisions"
                return f"the first difference is {place}: {key} {second.get(key)}, was {value}"
    if len(old) != len(new):
        return f"its learning curve has {len(new)} points, was {len(old)}"
    return "the learning curves are equal"
