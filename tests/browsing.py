"""What a person does at the page: looks for what is lit, and clicks, taps or presses keys."""

from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

SECONDS = 60.0  # that any one answer may take
CLICKS = 1000  # after which a game should be over

SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 860}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "has_touch": True,
        "is_mobile": True,
    },
}

# A table of every kind, against agents that need no time.
ORDERS: dict[str, dict[str, Any]] = {
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

# Keys of all that can be chosen at the table; null while others move, [] when the game is over.
_CHOICES = """() => {
  const felt = document.querySelector('.felt');
  if (!felt) return null;
  if (felt.querySelector('.outcome')) return [];
  const lit = [...felt.querySelectorAll('button[data-key]:enabled')].map((button) => button.dataset.key);
  if (felt.getAttribute('aria-busy') === 'true' && !lit.includes('go on')) return null;
  return lit.length > 0 ? lit : null;
}"""


class Person:
    """Somebody at one page, who notes every fault that the browser finds."""

    def __init__(self, page: "Page", base: str) -> None:
        self.page = page
        self.base = base
        self.faults: list[str] = []
        self._expected: list[str] = []
        self.touches = page.evaluate("navigator.maxTouchPoints > 0")
        page.set_default_timeout(1000 * SECONDS)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def _note(self, message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def expect(self, *parts: str) -> None:
        """Faults with one of these in their words belong to the test, whenever the browser comes to tell them."""
        self._expected.extend(parts)

    @property
    def unexpected(self) -> list[str]:
        """Faults noted so far that no test made on purpose."""
        return [fault for fault in self.faults if not any(part in fault for part in self._expected)]

    def start(self) -> None:
        """Look at the start page."""
        self.page.goto(f"{self.base}/")
        self.page.wait_for_selector(".tiles")

    def ask(self, path: str) -> Any:
        """What the server says to this person's session."""
        reply = self.page.request.get(self.base + path)
        assert reply.ok, reply.text()
        return reply.json()

    def open(self, order: dict[str, Any]) -> Any:
        """Sit down at a new table, without the form."""
        reply = self.page.request.post(f"{self.base}/api/tables", data=order, timeout=1000 * SECONDS)
        assert reply.ok, reply.text()
        table = reply.json()
        self.page.goto(f"{self.base}/#/table/{table['id']}")
        self.page.wait_for_selector(".felt")
        return table

    def choices(self) -> list[str]:
        """Keys of all that is lit now, as soon as it is this person's turn; [] when the game is over."""
        return self.page.wait_for_function(_CHOICES).json_value()

    def wait_until(self, condition: str) -> None:
        """Until `condition`, an expression, holds in the page."""
        self.page.wait_for_function(f"() => {condition}")  # a bare expression would need eval, which the page forbids

    def choose(self, key: str) -> None:
        """Click or tap it, as it lies on the screen."""
        button = self.page.locator(f'.felt button[data-key="{key}"]')
        if self.touches:
            button.tap()
        else:
            button.click()

    def play_out(self, seed: int) -> None:
        """Click at random on what is lit until the game is over."""
        rng = Random(seed)
        for _ in range(CLICKS):
            lit = self.choices()
            if not lit:
                return
            self.choose(_pick(lit, rng))
        raise AssertionError(f"the game is not over after {CLICKS} clicks")

    def told(self) -> list[str]:
        """What happened, latest first."""
        return self.page.locator(".told li").all_inner_texts()


def _pick(lit: list[str], rng: Random) -> str:
    """Any of them; a play that stands ready is made, and nothing is taken back or passed without need."""
    if "play" in lit:
        return "play"
    forward = [key for key in lit if key not in ("clear", "pass")]
    return rng.choice(forward if forward and rng.random() < 0.8 else lit)
