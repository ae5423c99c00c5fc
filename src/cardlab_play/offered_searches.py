"""The searches of `play.searches`: validation and display names."""

from dataclasses import dataclass

from cardlab.agents import registry
from cardlab.agents.search.options import SearchOptions
from cardlab.agents.specs import split_name
from cardlab.core.options import InvalidOption, check_choice
from cardlab.core.parts import find_place
from cardlab_play.errors import one_line

_NAMES = {"monte_carlo": "Monte Carlo", "expectimax": "Expectimax", "tree": "tree search", "puct": "PUCT"}
_BUDGETS = {
    "monte_carlo": "{options.simulations} playouts",
    "expectimax": "{options.decks} decks",
    "tree": "{options.simulations} descents",
    "puct": "{options.simulations} descents",
}


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
        seconds = self.options.seconds
        budget = f"{seconds:g} s" if seconds else _BUDGETS[self.options.name].format(options=self.options)
        return f"{self.name[:1].upper()}{self.name[1:]}, {budget} a move"


def offered_search(key: str, text: str) -> OfferedSearch:
    """The search described by `text`. Raises InvalidOption under `play.searches.KEY`."""
    try:
        name, given = split_name(text)
        check_choice("search", name, list(_NAMES))
        options: SearchOptions = find_place(registry.__name__, registry.AGENTS[name])(**{"policy": "random", **given})
    except InvalidOption as error:
        allowed = f"a search with its options, e.g. monte_carlo:simulations:200 ({one_line(error)})"
        raise InvalidOption(f"play.searches.{key}", text, allowed) from error
    return OfferedSearch(key, text, options)
