"""The searches of `play.searches`: validation and display names."""

from dataclasses import dataclass, fields
from typing import Any, cast

from cardlab.agents.search.options import SEARCHES as OPTIONS
from cardlab.agents.search.options import SearchOptions
from cardlab.agents.specs import SEARCHES, split_name
from cardlab.core.options import InvalidOption
from cardlab_play.errors import one_line

_NAMES = {"monte_carlo": "Monte Carlo", "expectimax": "Expectimax", "tree": "tree search", "puct": "PUCT"}
_BUDGET_OPTIONS = {"monte_carlo": "simulations", "expectimax": "decks", "tree": "simulations", "puct": "simulations"}
_UNITS = {"monte_carlo": "playouts", "expectimax": "decks", "tree": "descents", "puct": "descents"}


@dataclass(frozen=True)
class OfferedSearch:
    """A search that can be combined with any agent."""

    key: str  # of play.searches
    text: str
    options: SearchOptions

    @property
    def name(self) -> str:
        """Display name: `Monte Carlo`, or the key if it differs from the kind of search."""
        kind = self.options.name
        return _NAMES[kind] if self.key == kind else self.key.replace("_", " ")

    @property
    def title(self) -> str:
        """Display name with the budget: `Monte Carlo, 200 playouts a move`."""
        kind = self.options.name
        budget = (
            f"{self._seconds:g} s"
            if self._seconds
            else f"{getattr(self.options, _BUDGET_OPTIONS[kind])} {_UNITS[kind]}"
        )
        return f"{self.name[:1].upper()}{self.name[1:]}, {budget} a move"

    @property
    def _seconds(self) -> float | None:
        return self.options.seconds


def offered_search(key: str, text: str) -> OfferedSearch:
    """The search described by `text`. Raises InvalidOption under `play.searches.KEY`."""
    allowed = f"one of {', '.join(SEARCHES)} with its options, e.g. monte_carlo:simulations:200"
    try:
        name, given = split_name(text)
        if name not in SEARCHES:
            raise InvalidOption(f"play.searches.{key}", text, allowed)
        options_class = cast(Any, OPTIONS[name])
        for unknown in given.keys() - {entry.name for entry in fields(options_class)}:
            raise InvalidOption(unknown, given[unknown], f"left out: {name} has no such option")
        return OfferedSearch(key, text, options_class(**{"policy": "random", **given}))
    except InvalidOption as error:
        if error.key == f"play.searches.{key}":
            raise
        raise InvalidOption(f"play.searches.{key}", text, f"{allowed} ({one_line(error)})") from error
