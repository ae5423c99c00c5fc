"""Drives the page in a browser: finds enabled buttons, clicks, taps, presses keys."""

import re
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

SECONDS = 60.0  # limit for one response
CLICKS = 1000  # limit for one game
KEYS = 60  # limit for one button by keyboard

SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 860}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "has_touch": True,
        "is_mobile": True,
    },
}

# a table of each game against fast agents
TABLE_REQUESTS: dict[str, dict[str, Any]] = {
    "poker_squares": {"game": "poker_squares", "par": {"agent": "random"}},
    "thirty_one": {
        "game": "thirty_one",
        "options": {"num_players": 4, "lives": 1},
        "opponents": [{"agent": "greedy"}],
        "par": {"agent": "random"},
    },
    "five_o": {"game": "five_o", "opponents": [{"agent": "reflex_1"}], "par": {"agent": "random"}},
    "open_face": {"game": "open_face", "opponents": [{"agent": "random"}], "par": {"agent": "random"}},
    "big2": {"game": "big2", "opponents": [{"agent": "greedy"}], "par": {"agent": "random"}},
}

# Keys of the enabled buttons; null while other players move, [] when the game is over.
_CHOICES = """() => {
  const felt = document.querySelector('.felt');
  if (!felt) return null;
  if (document.querySelector('.outcome')) return [];
  const lit = [...felt.querySelectorAll('button[data-key]:enabled')].map((button) => button.dataset.key);
  if (felt.getAttribute('aria-busy') === 'true' && !lit.includes('continue')) return null;
  return lit.length > 0 ? lit : null;
}"""

# Arrow keys from the focused button towards the button `key`: along the longer way first.
_ARROWS = """(key) => {
  const wanted = document.querySelector(`.felt button[data-key="${key}"]`);
  const [from, to] = [document.activeElement, wanted].map((button) => {
    const box = button.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  });
  const ways = [[to[0] - from[0], 'ArrowRight', 'ArrowLeft'], [to[1] - from[1], 'ArrowDown', 'ArrowUp']];
  return ways.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0])).map(([way, on, back]) => (way > 0 ? on : back));
}"""


class BrowserUser:
    """A browser page that records console errors."""

    def __init__(self, page: "Page", base: str) -> None:
        self.page = page
        self.base = base
        self.problems: list[str] = []
        self._expected: list[str] = []
        self.by_keyboard = False
        self.touches = page.evaluate("navigator.maxTouchPoints > 0")
        page.set_default_timeout(1000 * SECONDS)
        page.on("console", self._record)
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _record(self, message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def expect(self, *parts: str) -> None:
        """Expect console errors that contain one of `parts`."""
        self._expected.extend(parts)

    @property
    def unexpected(self) -> list[str]:
        """Recorded errors that the test does not expect."""
        return [problem for problem in self.problems if not any(part in problem for part in self._expected)]

    def start(self) -> None:
        """Open the start page."""
        self.page.goto(f"{self.base}/")
        self.page.wait_for_selector(".tiles")

    def ask(self, path: str) -> Any:
        """GET `path` with the page's session."""
        reply = self.page.request.get(self.base + path)
        assert reply.ok, reply.text()
        return reply.json()

    def open(self, table_request: dict[str, Any]) -> Any:
        """Open a new table through the API, then its page."""
        reply = self.page.request.post(f"{self.base}/api/tables", data=table_request, timeout=1000 * SECONDS)
        assert reply.ok, reply.text()
        table = reply.json()
        self.page.goto(f"{self.base}/#/table/{table['id']}")
        self.page.wait_for_selector(".felt")
        return table

    def choices(self) -> list[str]:
        """Wait for the player's turn. Keys of the enabled buttons, [] when the game is over."""
        return self.page.wait_for_function(_CHOICES).json_value()

    def wait_until(self, condition: str) -> None:
        """Wait until the JavaScript expression `condition` is true."""
        # a function: a bare expression needs eval, which the content policy forbids
        self.page.wait_for_function(f"() => {condition}")

    def choose(self, key: str) -> None:
        """Click or tap the button, or find it by keys."""
        button = self.page.locator(f'.felt button[data-key="{key}"]')
        if self.by_keyboard:
            self._press(key)
        elif self.touches:
            button.tap()
        else:
            button.click()

    def _press(self, key: str) -> None:
        """Move the focus to the button with Tab and the arrow keys, then press Enter."""
        keyboard = self.page.keyboard
        for _ in range(KEYS):
            focused = self.page.evaluate("document.activeElement?.dataset.key")
            if focused == key:
                keyboard.press("Enter")
                return
            if not focused:
                keyboard.press("Tab")
                continue
            for arrow in self.page.evaluate(_ARROWS, key):
                keyboard.press(arrow)
                if self.page.evaluate("document.activeElement?.dataset.key") != focused:
                    break
            else:
                raise AssertionError(f"no arrow leads from {focused} to {key}")
        raise AssertionError(f"{key} is not reached with {KEYS} keys")

    def play_out(self, seed: int) -> None:
        """Click random enabled buttons until the game is over."""
        rng = Random(seed)
        for _ in range(CLICKS):
            enabled = self.choices()
            if not enabled:
                return
            self.choose(_pick(enabled, rng))
        raise AssertionError(f"the game is not over after {CLICKS} clicks")

    def events(self) -> list[str]:
        """Lines of the event log, latest first."""
        return self.page.locator(".event-log li").all_inner_texts()


def with_signs(text: str) -> str:
    """`take Td` as the page shows it: take 10♦."""
    signs = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
    shown = re.sub(r"\b([2-9TJQKA])([cdhs])\b", lambda card: card[1].replace("T", "10") + signs[card[2]], text)
    return re.sub("(row|column) ", "\\1\u00a0", shown)


def _pick(enabled: list[str], rng: Random) -> str:
    """A random key. Prefers `play`, and avoids `clear` and `pass`."""
    if "play" in enabled:
        return "play"
    forward = [key for key in enabled if key not in ("clear", "pass")]
    return rng.choice(forward if forward and rng.random() < 0.8 else enabled)
