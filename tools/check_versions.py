"""Train and play with each Python that pyproject.toml declares: `make versions`.

The version of the environment that runs this has the whole test suite and is left out; versions that are not installed
are named. Environments are kept in build/versions/, without extras: what `pip install cardlab` gives.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from shutil import which

ROOT = Path(__file__).parents[1]
SECONDS = 900  # maximum per version
_TESTS = ("pytest", "pytest-timeout", "hypothesis")
_GAME = "thirty_one"


def declared(requires: str) -> list[str]:
    """The versions that `requires-python` admits; it has the form `>=3.A,<3.B`."""
    match = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", requires)
    if match is None:
        raise ValueError(f"requires-python={requires!r}: must have the form >=3.A,<3.B")
    return [f"3.{minor}" for minor in range(int(match[1]), int(match[2]))]


def find_python(version: str) -> str | None:
    """The program `python3.X` on the PATH, if it runs and has that version."""
    program = which(f"python{version}")
    if program is None:
        return None
    asked = [program, "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    return program if answer.stdout.strip() == version else None


def commands(program: str, folder: Path, scratch: Path) -> Iterator[tuple[list[str], Path]]:
    """What is run for a version, each command with its working directory."""
    python = str(folder / "bin" / "python")
    if not _is_current(folder):
        yield [program, str(ROOT / "tools/make_environment.py"), str(folder), ".", *_TESTS], ROOT
    smoke = [f"experiment={_GAME}/default", "trainer=smoke", "seed=1"]
    yield [str(folder / "bin" / "cardlab"), "train", *smoke], scratch
    yield (
        [python, "-m", "pytest", "-p", "no:cacheprovider", "-k", f"{_GAME}-default", "tests/games/test_conformance.py"],
        ROOT,
    )


def check(version: str, program: str) -> bool:
    """Whether this Python trains and keeps the protocol of games; all output is printed on failure."""
    begin = time.monotonic()
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    with tempfile.TemporaryDirectory() as scratch:
        for command, cwd in commands(program, ROOT / "build" / "versions" / version, Path(scratch)):
            left = SECONDS - (time.monotonic() - begin)
            options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            try:
                run = subprocess.run(command, cwd=cwd, env=environment, timeout=left, check=False, **options)
            except subprocess.TimeoutExpired:
                print(f"Python {version}: not done after {SECONDS} s: {' '.join(command)}")
                return False
            if run.returncode:
                print(f"{run.stdout}Python {version}: failed: {' '.join(command)}")
                return False
    print(f"Python {version}: trains and plays  [{time.monotonic() - begin:.0f} s]", flush=True)
    return True


def _is_current(folder: Path) -> bool:
    stamp, sources = folder / "installed", (ROOT / "pyproject.toml", ROOT / "tools" / "constraints.txt")
    return stamp.exists() and all(stamp.stat().st_mtime >= source.stat().st_mtime for source in sources)


def main() -> int:
    """Check each declared version; the exit status."""
    own = "{}.{}".format(*sys.version_info)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    passed = True
    for version in declared(project["requires-python"]):
        program = None if version == own else find_python(version)
        if version == own:
            print(f"Python {version}: of this environment, tested by make test")
        elif program is None:
            print(f"Python {version}: not installed, not tried")
        else:
            passed &= check(version, program)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
