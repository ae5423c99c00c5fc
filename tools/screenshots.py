"""Screenshots of docs/images: terminal, report, MLflow and optuna-dashboard of a finished checkout, by Chromium.

    python tools/screenshots.py all            # or some of PICTURES; --folder and --output name other folders

The terminal shows what stays on the screen after a command, which is run: `pipeline` trains what is stale, and where
nothing is, it shows that each stage is skipped. A picture whose file or database is missing is left out. The
comparison is that of the README's commands, the sweep that of docs/sweeps.md. Needs Chromium and the `dev` extra.
"""

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from typing import Literal, NamedTuple

from mlflow import MlflowClient
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from cardlab.tracking.experiment_tags import VIEW

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
WIDE, PHONE = (1440, 900), (390, 844)
SECONDS = 60
MAX_COLOURS = 256  # so that a picture stays small
ROWS, COLUMNS = 42, 160
MODE = "workflowType=machine_learning"  # MLflow opens with its pages for language models
RUN = "#/experiments/{experiment}/runs"
RUNS = f"{RUN}?{MODE}&viewStateShareKey={VIEW}"  # as `cardlab ui` prints it
TERMINAL = """<body style="margin:0;background:#0d1117;color:#f0f3f6"><pre style="margin:0;padding:18px 22px;
white-space:pre-wrap;overflow-wrap:anywhere;font:14px/20px 'DejaVu Sans Mono',monospace">{code}</pre></body>"""


class Picture(NamedTuple):
    """One picture of docs/images."""

    page: str  # terminal, file, mlflow, dashboard
    source: str  # the command of the terminal, or the address under the server or folder
    size: tuple[int, int]
    ready: str = "body"  # the selector that the finished page has
    clicks: tuple[str, ...] = ()  # selectors of what is clicked then; Escape closes the menu
    colours: Literal["light", "dark"] = "light"  # the scheme that the browser prefers


PICTURES = {
    "pipeline": Picture("terminal", "make pipeline", WIDE),
    "compare": Picture("file", "runs/comparisons/five_o_td_vs_five_o_ppo/comparison.html", (1260, 630), "table"),
    "report": Picture("file", "report/index.html", WIDE, "table"),
    "mlflow_runs": Picture("mlflow", RUNS, WIDE, "a[href*='/runs/']"),
    "mlflow_group_by": Picture(
        "mlflow",
        RUNS,
        WIDE,
        "a[href*='/runs/']",
        ("role=button[name='Group by']", "role=menuitemcheckbox[name='group']"),
    ),
    "mlflow": Picture("mlflow", f"{RUNS}&compareRunsMode=CHART", WIDE, ".js-plotly-plot"),
    "mlflow_run": Picture("mlflow", f"{RUN}/{{run}}?{MODE}", WIDE, "text=Metrics"),
    "mlflow_sweep": Picture("mlflow", f"{RUN}/{{sweep}}?{MODE}", WIDE, "text=Metrics"),
    "mlflow_models": Picture("mlflow", f"#/models?{MODE}", WIDE, "a[href*='/models/cardlab']"),
    "dashboard": Picture("dashboard", "dashboard/studies/1", WIDE, ".scatterlayer .trace"),
}
WHOLE = {name: picture for name, picture in PICTURES.items() if picture.size == WIDE and not picture.clicks}
PICTURES |= {f"{name}_phone": picture._replace(size=PHONE) for name, picture in WHOLE.items()}
PICTURES |= {f"{name}_dark": PICTURES[name]._replace(colours="dark") for name in ("report", "report_phone", "mlflow")}
ALL = "all"
SERVERS = {
    "mlflow": ("mlflow.db", ("cardlab", "ui", "port={port}")),
    "dashboard": ("studies.db", ("optuna-dashboard", "sqlite:///studies.db", "--port={port}")),
}
SHOWN = "thirty_one"  # the MLflow experiment whose runs are shown


@contextmanager
def serve(page: str, folder: Path) -> Generator[str]:
    """The address of the server of `page`, which runs during the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words, silent = [word.format(port=port) for word in SERVERS[page][1]], subprocess.DEVNULL
    server = subprocess.Popen([BIN / words[0], *words[1:]], cwd=folder, stdout=silent, stderr=silent)
    try:
        for _ in range(10 * SECONDS):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(SECONDS)


def mlflow_ids(base: str) -> dict[str, str]:
    """The experiment of SHOWN, its latest finished training of the benchmark, and its latest sweep."""
    client = MlflowClient(base)
    experiment = client.get_experiment_by_name(SHOWN).experiment_id
    names = f"attributes.status = 'FINISHED' and attributes.run_name LIKE '{SHOWN}%'"  # without those of studies
    ids = {"experiment": experiment}
    for key, kind in {"run": "training", "sweep": "sweep"}.items():
        for run in client.search_runs([experiment], f"tags.kind = '{kind}' and {names}"):
            if "restored_from" not in run.data.tags:  # else it is that of a champion, made again from its folder
                ids.setdefault(key, run.info.run_id)
    return ids


@cache
def terminal_html(command: str, folder: Path) -> str:
    """The last screen after `command` was run in a terminal of ROWS by COLUMNS; lines that it wrote over are gone."""
    environment = os.environ | {"TERM": "xterm-256color", "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    words = ["script", "--quiet", "--return", "--command", f"stty rows {ROWS} cols {COLUMNS}; {command}", os.devnull]
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    lines: list[str] = []
    for line in done.stdout.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"):
        del lines[max(0, len(lines) - len(re.findall(r"\x1b\[1A", line))) :]
        lines.append(re.split(r"\r|\x1b\[2K", re.sub(r"\x1b\[1A|\x1b\[\?25[lh]", "", line))[-1])
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    shown = Text.from_ansi("\n".join(lines).strip("\n")).split()[1 - ROWS :]
    for text in (Text.assemble(("$ ", "bold #79c0ff"), command), *shown):
        console.print(text, soft_wrap=True)
    return console.export_html(inline_styles=True, theme=MONOKAI, code_format=TERMINAL)


def close_boxes(page: Page) -> None:
    """Close MLflow's assistant, announcements and the banner of a shared view."""
    boxes = page.get_by_role("button", name=re.compile("^(Close|Hide banner)$"))
    boxes.evaluate_all("buttons => buttons.forEach(button => button.click())")


def shoot(browser: Browser, picture: Picture, folder: Path, base: str, ids: dict[str, str]) -> bytes:
    """The picture as PNG, once its page is ready."""
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=picture.colours)
    page.set_default_timeout(1000 * SECONDS)
    if picture.page == "terminal":
        page.set_content(terminal_html(picture.source, folder))
        page.evaluate("scrollTo(0, document.body.scrollHeight)")  # a phone shows the end
    else:
        page.add_init_script(f"localStorage.setItem('mlflow.workflowType_v1', '{json.dumps(MODE.partition('=')[2])}')")
        page.goto(base + picture.source.format(**ids))
        if picture.size == PHONE and picture.page == "mlflow":
            page.get_by_role("button", name="Toggle sidebar").evaluate("button => button.click()")  # half of a phone
            page.wait_for_timeout(3000)
            close_boxes(page)
            table = page.locator("[data-component-id='mlflow.experiment_page.table_resizer.collapse']")
            table.evaluate_all("buttons => buttons.forEach(button => button.click())")  # beside the charts
        page.locator(picture.ready).first.wait_for(state="attached")
        page.wait_for_timeout(3000)  # charts are drawn one after the other
        close_boxes(page)
        page.wait_for_timeout(500 if picture.size == WIDE else 3000)
        for selector in picture.clicks:
            page.locator(selector).click()
        if picture.clicks:
            page.keyboard.press("Escape")
            page.wait_for_timeout(2000)
    return page.screenshot()


def main() -> None:
    """Take the pictures that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pictures", nargs="+", choices=[ALL, *PICTURES])
    parser.add_argument("--folder", type=Path, default=ROOT, help="the checkout that is shown")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images")
    given = parser.parse_args()
    names = [name for name in PICTURES if name in given.pictures or ALL in given.pictures]
    folder = given.folder.resolve()
    given.output.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, ExitStack() as open_servers:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        bases, ids = {"file": f"{folder.as_uri()}/", "terminal": ""}, {}
        for name in names:
            page = PICTURES[name].page
            needed = folder / (PICTURES[name].source if page == "file" else SERVERS.get(page, ("",))[0])
            if not needed.exists():
                print(f"warning: no picture {name}: {needed} does not exist", file=sys.stderr)
                continue
            if page not in bases:
                bases[page] = open_servers.enter_context(serve(page, folder))
                ids |= mlflow_ids(bases[page]) if page == "mlflow" else {}
            if "{sweep}" in PICTURES[name].source and "sweep" not in ids:
                print(f"warning: no picture {name}: {folder} has no finished sweep of {SHOWN}", file=sys.stderr)
                continue
            png = shoot(browser, PICTURES[name], folder, bases[page], ids)
            path = given.output / f"{name}.png"
            Image.open(BytesIO(png)).convert("RGB").quantize(MAX_COLOURS).save(path, optimize=True)
            print(path)


if __name__ == "__main__":
    main()
