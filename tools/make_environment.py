"""Make a virtual environment of this project, with the versions of tools/constraints.txt.

python tools/make_environment.py .venv '.[dev]'    the environment of `make setup`: the project with its extra `dev`
python tools/make_environment.py --check           exit with 1 when a fresh resolve of it and constraints.txt differ
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "tools" / "constraints.txt"
STAMP = "installed"
_QUIET = ("-qq", "--disable-pip-version-check", "--no-input")
_UNPINNED = re.compile(r"cardlab|(nvidia|cuda|triton)(-|$)")  # the last three come with torch's build for CUDA
_LARGE = re.compile(r"Downloading (\S+?)-\d\S* \((\d{2,}\.\d MB|\S+ GB)\)")


def make_environment(folder: Path, requirements: Sequence[str]) -> Path:
    """Make or renew the environment in `folder`; its Python.

    Writes a line per step. Raises CalledProcessError.
    """
    python = folder / "bin" / "python"
    version = ".".join(map(str, sys.version_info[:3]))
    config = folder / "pyvenv.cfg"
    other = config.is_file() and f"\nversion = {version}\n" not in config.read_text()
    with step(f"environment: Python {version} in {folder}{', made again' if other else ''}"):
        subprocess.run([sys.executable, "-m", "venv", *(["--clear"] if other else []), folder], check=True)
    pins = read_pins()
    with step(f"pip:         {pins['pip']}"):
        pip = [str(python), "-m", "pip", "install"]
        subprocess.run([*pip, *_QUIET, "--no-compile", f"pip=={pins['pip']}"], check=True)
    with step("torch:       which builds the index offers"):
        torch, reason = choose_torch(pins["torch"], _offered_torch(python), _needs_cpu_build())
    print(f"             {torch} ({reason})", flush=True)
    _install(pip, [torch, *requirements])
    with step("bytecode:    by all cores"):  # where PYTHONDONTWRITEBYTECODE is set, each start would compile: 8 s
        compile_all = [str(python), "-m", "compileall", "-q", "-j", "0", "-x", "/tests/", str(folder / "lib")]
        subprocess.run(compile_all, check=False, stdout=subprocess.DEVNULL)  # some packages have templates that fail
    (folder / STAMP).touch()
    return python


@contextmanager
def step(text: str) -> Generator[None]:
    """Print what begins, and how long it took."""
    begin = time.monotonic()
    print(text, end="", flush=True)
    yield
    print(f"  [{time.monotonic() - begin:.0f} s]", flush=True)


def choose_torch(pinned: str, offered: Sequence[str], cpu: bool) -> tuple[str, str]:
    """The requirement for torch, and why; `offered` are the versions of the index, newest first."""
    builds = [version for version in offered if version.partition("+")[0] == pinned]
    if not builds:
        return f"torch=={pinned}", "the index was not asked"
    wanted = [build for build in builds if build.endswith("+cpu") == cpu]
    if not cpu:
        build = next(iter(wanted), builds[0])
        return f"torch==={build}", "an NVIDIA GPU is here, or builds do not differ on this system"
    if wanted:
        return f"torch==={wanted[0]}", "the build for CPUs: no NVIDIA GPU is here"
    hint = "set PIP_EXTRA_INDEX_URL to an index with builds for CPUs to save gigabytes"
    return f"torch==={builds[0]}", f"the index has no build for CPUs; {hint}"


def undeclared() -> str:
    """A line if pyproject.toml does not admit the Python that runs this, else nothing."""
    wanted = re.search(
        r'^requires-python = "(>=3\.(\d+),<3\.(\d+))"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    if wanted is None or int(wanted[2]) <= sys.version_info[1] < int(wanted[3]):
        return ""
    found = "{}.{}.{}".format(*sys.version_info[:3])
    return f"cardlab needs Python {wanted[1]}, and {sys.executable} is {found}; run make setup PYTHON=PATH of another"


def read_pins() -> dict[str, str]:
    """Normalised name → version, of constraints.txt."""
    lines = (line.strip() for line in CONSTRAINTS.read_text().splitlines())
    return {_normal(name): version for name, _, version in (line.partition("==") for line in lines if line)}


def differences(resolved: dict[str, str], pins: dict[str, str]) -> Iterator[str]:
    """A line for each package that is resolved but not pinned, pinned but not resolved, or of another version."""
    for name, version in sorted(resolved.items()):
        public = version.partition("+")[0]
        if name not in pins:
            if not _UNPINNED.match(name):
                yield f"{name}=={version} is needed, and constraints.txt does not list it"
        elif public != pins[name]:
            yield f"{name}: {version} is resolved, and constraints.txt has {pins[name]}"
    for name in sorted(pins.keys() - resolved.keys() - {"pip"}):
        yield f"{name}=={pins[name]} is in constraints.txt, and nothing needs it"


def check() -> int:
    """Resolve everything as if nothing were installed, and compare; the exit status."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        resolve = ["install", "--dry-run", "--ignore-installed", *_QUIET, "--report", str(report)]
        wanted = ["--constraint", str(CONSTRAINTS), "--editable", f"{ROOT}[dev]"]
        subprocess.run([sys.executable, "-m", "pip", *resolve, *wanted], check=True)
        entries = [entry["metadata"] for entry in json.loads(report.read_text())["install"]]
    found = list(differences({_normal(entry["name"]): entry["version"] for entry in entries}, read_pins()))
    print(*(found or [f"constraints.txt: all {len(entries) - 1} packages of a fresh resolve are pinned"]), sep="\n")
    return 1 if found else 0


def _install(pip: Sequence[str], requirements: Sequence[str]) -> None:
    """Install, with a line for each phase and each large download; all that pip wrote when it fails."""
    options = ["--disable-pip-version-check", "--no-input", "--no-compile", "--progress-bar", "off"]
    command = [*pip, *options, "--constraint", str(CONSTRAINTS), *requirements]
    begin, written = time.monotonic(), list[str]()
    print("packages:    resolve and download", flush=True)
    process = subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in process.stdout or ():
        written.append(line)
        if large := _LARGE.search(line):
            print(f"             {large[1]}, {large[2]}", flush=True)
        if line.startswith("Installing collected packages:"):
            count = line.count(",") + 1
            print(f"             install {count} packages  [{time.monotonic() - begin:.0f} s so far]", flush=True)
    if process.wait():
        sys.stderr.writelines(written)
        raise subprocess.CalledProcessError(process.returncode, command)
    print(f"             done  [{time.monotonic() - begin:.0f} s]", flush=True)


def _offered_torch(python: Path) -> list[str]:
    """Versions of torch for this Python and system, newest first; none when the index does not answer."""
    command = [str(python), "-m", "pip", "index", "versions", "--json", *_QUIET[1:], "torch"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line for line in answer.stdout.splitlines() if line.startswith("{")]  # pip prints warnings around it
    return json.loads(found[-1])["versions"] if found else []


def _needs_cpu_build() -> bool:
    """Only on Linux do builds for CPUs and for CUDA differ under one version."""
    return sys.platform == "linux" and not which("nvidia-smi") and not Path("/dev/nvidiactl").exists()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: Sequence[str]) -> int:
    """Check, or make the environment; the exit status."""
    if list(arguments) == ["--check"]:
        return check()
    if line := undeclared():
        print(line, file=sys.stderr)
        return 2
    folder, project, *others = arguments
    try:
        make_environment(Path(folder), ["--editable", project, *others])
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
