"""`cardlab init`: makes a project from the one in examples/project, and the pipeline's scripts."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import Literal

from cardlab.cli.verbs import Request
from cardlab.core.files import write_atomically
from cardlab.core.options import Text, check_that, checked
from cardlab.core.parts import shipped_folder

_PACKAGE = "my_cards"  # of the project in examples/
_PIPELINE = "pipeline.yaml"  # written as dvc.yaml: DVC would run every file of that name below a checkout
_STAGES = (
    *("code_digests", "train", "evaluate", "compare", "tournaments", "report", "promote"),
    "hydra_plugins/check_benchmark",
)
_DVC = """[core]
    analytics = false
[hydra]
    enabled = true
    config_dir = conf
    config_name = config
    plugins_path = pipelines
"""


def run(request: Request) -> int:
    """Write the project, initialise git and DVC in it, and compose its params.yaml. Nothing is overwritten."""
    folders = checked("folders", request.config["folders"], tuple[Text, ...])
    check_that(len(folders) == 1, "folders", folders, "one folder, as in cardlab init my_cards")
    example = checked("example", request.config["example"], Literal["kuhn", "none"])
    folder = folders[0]
    root = Path(folder)
    files = _files(_package_name(root), example)
    taken = next((name for name in files if (root / name).exists()), "")
    check_that(not taken, "folders", folder, f"a new folder: {taken} is there, and no file is overwritten")
    for name, text in files.items():
        write_atomically(root / name, text)
    print(f"project: {root}{_initialise(root)}", f"next:    cd {root}", sep="\n")
    if example == "kuhn":
        print("         cardlab train experiment=kuhn/reinforce", "         README.md has the rest", sep="\n")
    return 0


def _package_name(root: Path) -> str:
    """The Python package of the project: the name of its folder, with _ for -."""
    name = root.resolve().name.replace("-", "_")
    is_own = name.isidentifier() and not iskeyword(name) and find_spec(name) is None
    allowed = "a folder whose name is a name in Python that no installed package has, such as my_cards"
    check_that(is_own, "folders", str(root), allowed)
    return name


def _files(package: str, example: str) -> Mapping[str, str]:
    """Path in the project → content."""
    shipped = shipped_folder().parent
    source = shipped / "project" if (shipped / "project").is_dir() else shipped / "examples" / "project"
    found, is_own = dict[str, str](), ("src/", "conf/", "tests/", "README.md")
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix().replace(_PACKAGE, package)
        if path.is_file() and "__pycache__" not in path.parts and (example == "kuhn" or not name.startswith(is_own)):
            text = path.read_text(encoding="utf-8").replace(_PACKAGE, package)
            found["dvc.yaml" if name == _PIPELINE else name] = text
    if example == "kuhn":
        names = [f"pipelines/{name}.py" for name in _STAGES]
        return found | {name: (shipped / name).read_text(encoding="utf-8") for name in names}
    del found["dvc.yaml"]
    folders = (f"src/{package}/__init__.py", *(f"conf/{group}/.gitkeep" for group in ("game", "agent", "network")))
    return {**found, **dict.fromkeys((*folders, "conf/experiment/.gitkeep"), "")}


def _initialise(root: Path) -> str:
    """A repository of git, unless the project is in one, DVC, and params.yaml; says which repository it is."""

    def call(*command: str) -> bool:
        return subprocess.run(command, cwd=root, capture_output=True, check=False).returncode == 0

    has_git = shutil.which("git") is not None and (call("git", "rev-parse", "--git-dir") or call("git", "init", "-q"))
    is_own = has_git and (root / ".git").exists()
    where = ", a repository of git" if is_own else ", in the repository of git that is around it" if has_git else ""
    scm = [] if is_own else ["--subdir"] if has_git else ["--no-scm"]
    if not (root / ".dvc").exists():
        call(sys.executable, "-m", "dvc", "init", "-q", *scm)
    if not (root / ".dvc").is_dir():
        print("warning: DVC could not be initialised; run `dvc init`", file=sys.stderr)
        return where
    call("git", "reset", "-q", "--", ".")  # what is committed with what is the user's choice
    write_atomically(root / ".dvc" / "config", _DVC)
    if (root / "conf" / "config.yaml").exists() and not call(sys.executable, "-m", "cardlab", "compose"):
        print("warning: params.yaml could not be written; run `cardlab compose`", file=sys.stderr)
    return where
