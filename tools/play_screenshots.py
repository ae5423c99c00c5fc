"""Screenshots of the web table: starts a server, plays a few moves, writes docs/images/play_*.png.

    python tools/play_screenshots.py

The cards, and so the pictures, differ each time. Needs Chromium and the `dev` extra.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "images"
WIDE = {"viewport": {"width": 1200, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
COLOURS = 256  # that a picture keeps, so that it stays small
SECONDS = 300  # that a first answer may take: kernels are compiled

# name of the picture: order, screen, colours, moves before it is taken, whether advice is open
PICTURES = {
    "play_five_o": ({"game": "five_o", "opponents": [{"agent": "reflex_1"}]}, PHONE, "dark", 16, False),
    "play_poker_squares": ({"game": "poker_squares", "par": {"agent": "random"}}, PHONE, "light", 14, False),
    "play_big2": ({"game": "big2", "opponents": [{"agent": "champion"}], "practice": True}, WIDE, "light", 2, True),
}

# the first that is lit, but a play that stands ready first; false while others move
CHOOSE = """() => {
  const felt = document.querySelector('.felt');
  const lit = [...felt.querySelectorAll('button[data-key]:enabled')];
  if (felt.getAttribute('aria-busy') === 'true' || lit.length === 0) return false;
  const made = felt.querySelectorAll('[data-card]').length;
  (lit.find((button) => button.dataset.key === 'play') ?? lit[made % lit.length]).click();
  return true;
}"""
READY = "() => document.querySelector('.felt button[data-key]:enabled') && !document.querySelector('.felt[aria-busy]')"


def main() -> None:
    """Take every picture of PICTURES."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["play", "play.port=0", f"play.folder={folder}", "play.warm=false"]
        server = subprocess.Popen(
            [Path(sys.executable).with_name("cardlab"), *command], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            address = next(word for word in server.stdout.readline().split() if word.startswith("http"))
            with sync_playwright() as playwright:
                program = shutil.which("chromium")
                browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
                for name in PICTURES:
                    take(browser, address, name)
                browser.close()
        finally:
            server.terminate()
            server.wait()


def take(browser: Browser, address: str, name: str) -> None:
    """One picture."""
    order, screen, colours, moves, advised = PICTURES[name]
    context = browser.new_context(**screen, color_scheme=colours, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(1000 * SECONDS)
    page.goto(address)
    page.wait_for_selector(".tiles")
    table = page.request.post(f"{address}/api/tables", data=order, timeout=1000 * SECONDS).json()
    page.goto(f"{address}/#/table/{table['id']}")
    page.wait_for_selector(".felt")
    for _ in range(moves):
        page.wait_for_function(CHOOSE)
    page.wait_for_function(READY)
    if advised:
        open_advice(page)
    page.wait_for_timeout(500)
    picture = FOLDER / f"{name}.png"
    page.screenshot(path=picture, full_page=advised)  # advice is longer than the screen
    context.close()
    Image.open(picture).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


def open_advice(page: Page) -> None:
    """Ask what the agent would do."""
    page.get_by_text("What would the agent do?").click()
    page.wait_for_selector(".options")
    page.get_by_text("Hidden cards", exact=True).click()


if __name__ == "__main__":
    main()
