"""The pictures of docs/images, taken by Chromium in a working tree where `dvc repro` has been run.

    PYTHONPATH=. python -m website.pictures report mlflow sweep  # or some of them, of --folder, to --output

`report` shows report/index.html, `mlflow` the compare view that `cardlab ui` names, `sweep` a terminal in which a sweep
was run: the very output, colours included. Needs Debian's chromium and playwright (`.[dev]`).
"""

import argparse
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
SWEEP = (
    "cardlab sweep experiment=thirty_one/dqn sweep=dqn sweep.trials=12 trainer.decisions=60000 trainer.evaluations=1 "
    "sweep.apply=thirty_one/tuned"
)
SHOWN = "thirty_one"  # whose trainings are compared
CHARTS = "win_rate/(random|greedy|greedy_stock_only)$"
COLUMNS = 150
TERMINAL = """<body style="margin:0;background:#0d1117;color:#f0f3f6"><pre style="margin:0;padding:18px 22px;
display:inline-block;font:14px/20px 'DejaVu Sans Mono',monospace">{code}</pre></body>"""
SECONDS = 60


@contextmanager
def browser(width: int, height: int) -> Generator[Page]:
    """An empty page of that size."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = started.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(1000 * SECONDS)
        yield page
        started.close()


def report(folder: Path, picture: Path, command: str) -> None:
    """The first experiment of the report."""
    with browser(1120, 900) as page:
        page.goto((folder / "report" / "index.html").resolve().as_uri())
        page.locator("h3").first.evaluate("heading => heading.scrollIntoView()")
        page.screenshot(path=picture)


def mlflow(folder: Path, picture: Path, command: str) -> None:
    """The compare view of the trainings of Thirty-One, with charts of their win rates."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [program("cardlab"), "ui", f"port={port}"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stdout is not None
        pattern = re.compile(rf"the runs of {SHOWN}: (http\S+)")
        links = (found[1] for line in server.stdout if (found := pattern.search(line)))
        with browser(1500, 720) as page:
            page.goto(next(links))
            page.get_by_role("button", name="Close").first.click()  # MLflow's assistant
            page.get_by_placeholder("metrics.rmse").fill("tags.kind = 'training'")
            page.keyboard.press("Enter")
            page.wait_for_timeout(5000)
            page.get_by_placeholder("Search metric charts").press_sequentially(CHARTS)
            page.locator(".js-plotly-plot .scatterlayer .trace").first.wait_for(state="attached")
            page.wait_for_timeout(2000)
            page.screenshot(path=picture)
    finally:
        os.killpg(server.pid, signal.SIGINT)
        server.communicate(timeout=SECONDS)


def sweep(folder: Path, picture: Path, command: str) -> None:
    """The terminal after `command` was run in `folder`."""
    told = terminal_output(command, folder)
    prompt = Text.assemble(("$ ", "bold #79c0ff"), (command, ""))
    shot_of_text([prompt, *Text.from_ansi(told).split()], picture)


def terminal_output(command: str, folder: Path) -> str:
    """What `command` prints into a terminal of COLUMNS columns; lines that it wrote over are gone."""
    main, inner = pty.openpty()
    words = shlex.split(command)
    environment = os.environ | {"COLUMNS": str(COLUMNS), "LINES": "60", "TERM": "xterm-256color", "FORCE_COLOR": "1"}
    process = subprocess.Popen([program(words[0]), *words[1:]], cwd=folder, env=environment, stdout=inner, stderr=inner)
    os.close(inner)
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(main)
    if process.wait():
        raise SystemExit(f"{command}: ended with {process.returncode}")
    return settled(b"".join(chunks).decode("utf-8", "replace"))


def settled(told: str) -> str:
    """The lines as they stand at the end: what a live display drew and took back is left out."""
    lines: list[str] = []
    for line in told.replace("\r\n", "\n").split("\n"):
        ups = len(re.findall(r"\x1b\[1A", line))
        del lines[len(lines) - min(ups, len(lines)) :]
        last = re.split(r"\r|\x1b\[2K", re.sub(r"\x1b\[1A|\x1b\[\?25[lh]", "", line))[-1]
        lines.append(last)
    return "\n".join(lines).strip("\n")


def shot_of_text(lines: Sequence[Text], picture: Path) -> None:
    """Lines as a terminal shows them."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    for line in lines:
        console.print(line, soft_wrap=True)
    html = console.export_html(inline_styles=True, theme=MONOKAI, code_format=TERMINAL)
    with browser(1280, 400) as page:
        page.set_content(html)
        page.locator("pre").screenshot(path=picture)


def program(name: str) -> str:
    """The command beside this Python."""
    return str(Path(sys.executable).parent / name)


PICTURES: dict[str, Callable[[Path, Path, str], None]] = {"report": report, "mlflow": mlflow, "sweep": sweep}


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the pictures that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pictures", nargs="+", choices=list(PICTURES))
    parser.add_argument("--folder", type=Path, default=ROOT, help="the working tree that is shown")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--command", default=SWEEP, help="the sweep that is run for its picture")
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    for name in given.pictures:
        PICTURES[name](given.folder, given.output / f"{name}.png", given.command)
        print(given.output / f"{name}.png")


if __name__ == "__main__":
    main()
