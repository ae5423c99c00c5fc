"""Screenshots of the web table: starts a server, plays games, takes pictures.

    python tools/play_screenshots.py          # writes docs/images/play_*.png
    python tools/play_screenshots.py strips   # writes a film strip of each game and of the pages into build/strips/

A film strip is one picture of start, middle, advice, end and replay, and one file for each of them, on a desktop and on
a phone. The cards, and so the pictures, differ each time. Needs Chromium and the `dev` extra.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images"
STRIPS = ROOT / "build" / "strips"
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1440, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
COLOURS = 256  # that a picture keeps, so that it stays small
SECONDS = 300  # that a first answer may take: kernels are compiled
STRIP_HEIGHT = 900  # of a film strip

# picture of docs/images: the game, screen, colour scheme, moves before it is taken, whether advice is open
PICTURES = {
    "play_five_o": ({"game": "five_o", "opponents": [{"agent": "reflex_1"}]}, "phone", "dark", 16, False),
    "play_poker_squares": ({"game": "poker_squares", "par": {"agent": "random"}}, "phone", "light", 14, False),
    "play_big2": (
        {"game": "big2", "opponents": [{"agent": "champion"}], "practice": True},
        "desktop",
        "light",
        2,
        True,
    ),
}

# game: the request for its table and the moves until its middle
GAMES: dict[str, tuple[dict[str, Any], int]] = {
    "big2": ({}, 5),
    "five_o": ({}, 10),
    "open_face": ({}, 7),
    "poker_squares": ({}, 13),
    "thirty_one": ({"options": {"num_players": 4, "lives": 2}}, 4),
}

# clicks a random enabled button, a play that stands ready first, no call; "over" at the end, false while others move
CHOOSE = """() => {
  const felt = document.querySelector('.felt');
  if (document.querySelector('.outcome')) return 'over';
  const enabled = [...felt.querySelectorAll('button[data-key]:enabled:not([data-key="call"])')];
  const next = enabled.find((button) => ['play', 'continue'].includes(button.dataset.key));
  const busy = felt.getAttribute('aria-busy') === 'true' && next?.dataset.key !== 'continue';
  if (busy || enabled.length === 0) return false;
  const forward = enabled.filter((button) => !['clear', 'pass'].includes(button.dataset.key));
  const among = forward.length > 0 && Math.random() < 0.8 ? forward : enabled;
  (next ?? among[Math.floor(Math.random() * among.length)]).click();
  return 'moved';
}"""
READY = "() => document.querySelector('.felt button[data-key]:enabled') && !document.querySelector('.felt[aria-busy]')"


def main() -> None:
    """Take the pictures of the documentation, or the film strips."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=["documentation", "strips"], default="documentation")
    parser.add_argument("--strip", choices=[*GAMES, "pages"], action="append", help="only this film strip")
    parser.add_argument("--screen", choices=list(SCREENS), action="append", help="only this screen")
    options = parser.parse_args()
    with server() as address, browser() as started:
        if options.kind == "documentation":
            for name in PICTURES:
                take_documented(started, address, name)
            return
        STRIPS.mkdir(parents=True, exist_ok=True)
        for screen in options.screen or SCREENS:
            for strip in options.strip or [*GAMES, "pages"]:
                if strip == "pages":
                    take_pages(started, address, screen)
                else:
                    take_game(started, address, strip, screen)


@contextmanager
def server() -> Generator[str]:
    """The address of a server with a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["play", "play.port=0", f"play.folder={folder}", "play.warm=false"]
        program = [Path(sys.executable).with_name("cardlab"), *command]
        process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield next(word for word in process.stdout.readline().split() if word.startswith("http"))
        finally:
            process.terminate()
            process.wait()


@contextmanager
def browser() -> Generator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def new_page(started: Browser, address: str, screen: str, colours: Any = "light") -> Generator[Page]:
    """A page of a new player, at the start page."""
    context = started.new_context(**SCREENS[screen], color_scheme=colours, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(1000 * SECONDS)
    page.goto(address)
    page.wait_for_selector(".tiles")
    yield page
    context.close()


def open_table(page: Page, address: str, request: dict[str, Any]) -> str:
    """Open a table and its page. Returns the table's id."""
    table = page.request.post(f"{address}/api/tables", data=request, timeout=1000 * SECONDS).json()
    page.goto(f"{address}/#/table/{table['id']}")
    page.wait_for_selector(".felt")
    page.wait_for_function(READY)
    return table["id"]


def play_moves(page: Page, moves: int) -> None:
    """Click `moves` times, or until the game is over."""
    for _ in range(moves):
        if page.wait_for_function(CHOOSE).json_value() == "over":
            return
    page.wait_for_function(READY)


def open_advice(page: Page, *parts: str) -> None:
    """Ask what the agent would do, and open the `parts` of the answer that there are."""
    page.get_by_text("Compare your moves").click()
    page.wait_for_selector(".advice:not(.outdated) p")  # a single move has no list
    for part in parts:
        summary = page.locator("summary", has_text=part)
        if summary.count():
            summary.click()


def take_documented(started: Browser, address: str, name: str) -> None:
    """One picture of docs/images."""
    request, screen, colours, moves, advised = PICTURES[name]
    with new_page(started, address, screen, colours) as page:
        open_table(page, address, request)
        play_moves(page, moves)
        if advised:
            open_advice(page, "hidden cards")
        save(page, FOLDER / f"{name}.png", full=advised)  # advice is longer than the screen


def take_game(started: Browser, address: str, game: str, screen: str) -> None:
    """The film strip of a game, played against the champion."""
    request, middle = GAMES[game]
    with new_page(started, address, screen) as page:
        take = taker(page, f"{game}_{screen}")
        identity = open_table(page, address, {"game": game, "practice": True, **request})
        take("1_start")
        play_moves(page, middle)
        take("2_middle")
        open_advice(page, "hidden cards")
        take("3_advice")
        page.goto(f"{address}/#/network/{identity}")
        page.wait_for_selector(".network")
        take("4_network")
        open_table(page, address, {"game": game, **request})  # a game that counts, for results
        play_moves(page, 1000)
        page.wait_for_timeout(1000)
        take("5_end")
        page.goto(page.url.replace("/table/", "/replay/"))
        page.wait_for_selector(".value-chart")
        costly = page.locator(".costly-moves button")
        if costly.count():
            costly.first.click()
        take("6_replay")
    join(f"{game}_{screen}")


def take_pages(started: Browser, address: str, screen: str) -> None:
    """The film strip of the pages that are no tables, after a few games."""
    with new_page(started, address, screen) as page:
        take = taker(page, f"pages_{screen}")
        take("1_start")
        page.get_by_label("Your name", exact=True).fill("Ann")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Saved.").wait_for()
        for request in ({"game": "big2"}, {"game": "five_o"}, {"game": "poker_squares"}) * 2:
            identity = open_table(page, address, request)
            page.request.post(f"{address}/api/tables/{identity}/resignation", data={"number": number(page, address)})
        page.goto(address)
        page.get_by_role("button", name="Thirty-One").first.click()
        form = page.get_by_role("form", name="New table of Thirty-One")
        form.get_by_label("Players").select_option("4")
        form.get_by_label("Practice").check()
        take("2_levels")
        page.get_by_role("button", name="Big 2").first.click()
        page.locator(".leaderboard table").first.wait_for()
        take("3_leaderboard")
        page.goto(f"{address}/#/record")
        page.locator(".record table").first.wait_for()
        take("4_record")
        for index, game in enumerate(GAMES):
            page.goto(f"{address}/#/rules/{game}")
            page.locator(".rules table, .rules p").first.wait_for()
            take(f"{5 + index}_rules_{game}")
    join(f"pages_{screen}")


def number(page: Page, address: str) -> int:
    """Moves of the table on the page."""
    return page.request.get(f"{address}/api/tables/{page.url.rpartition('/')[2]}").json()["number"]


def taker(page: Page, strip: str) -> Callable[[str], None]:
    """Saves the whole page as a picture of `strip`."""
    return lambda name: save(page, STRIPS / f"{strip}_{name}.png", full=True)


def save(page: Page, path: Path, *, full: bool) -> None:
    """Save a picture with few colours."""
    page.wait_for_timeout(500)
    page.screenshot(path=path, full_page=full)
    Image.open(path).convert("RGB").quantize(COLOURS, Image.Quantize.MEDIANCUT).save(path, optimize=True)


def join(strip: str) -> None:
    """The pictures of `strip` side by side, each as high as STRIP_HEIGHT."""
    pictures = [Image.open(path).convert("RGB") for path in sorted(STRIPS.glob(f"{strip}_*.png"))]
    small = [picture.resize((picture.width * STRIP_HEIGHT // picture.height, STRIP_HEIGHT)) for picture in pictures]
    joined = Image.new("RGB", (sum(picture.width for picture in small), STRIP_HEIGHT))
    left = 0
    for picture in small:
        joined.paste(picture, (left, 0))
        left += picture.width
    joined.save(STRIPS / f"{strip}.png", optimize=True)


if __name__ == "__main__":
    main()
