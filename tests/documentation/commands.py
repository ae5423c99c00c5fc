"""The commands of the documentation: those of its blocks of bash and console, comments and prompts taken off."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(bash|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
KNOWN_FENCES = ("bash", "console", "python", "text", "yaml", "json", "math", "nginx")
SERVICES = ("export", "umask", "openssl", "echo", "initdb", "pg_ctl", "createdb", "moto_server", "mlflow")
SHELL = ("cardlab", "dvc", "make", "python", ".venv/bin/python", "pytest", "pip", "source", "git", "docker", "torchrun")


@dataclass(frozen=True)
class Command:
    """One command line of a page."""

    page: str
    text: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)


def commands_of(page: Path) -> Iterator[Command]:
    """The commands of a page, in their order."""
    for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in body.replace("\\\n", " ").splitlines():
            if kind == "console" and not line.startswith("$ "):
                continue  # what the command printed
            text = re.sub(r"(^|\s{2,})#.*", "", line.removeprefix("$ ")).strip()
            if text:
                yield Command(str(page.relative_to(ROOT)), re.sub(r"\s+", " ", text))


def all_commands() -> list[Command]:
    return [command for page in PAGES for command in commands_of(page)]


def fences(page: Path) -> list[str]:
    """The languages of a page's fenced blocks."""
    return re.findall(r"^```(\S*)\n.*?^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
