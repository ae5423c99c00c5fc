"""Agents that can be selected, the searches around them, and the belief networks of advice."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, StrictStr
from pydantic.dataclasses import dataclass as pydantic_dataclass

from cardlab.agents import registry
from cardlab.agents.beliefs import Belief, load_belief
from cardlab.agents.policy_descriptions import PolicyError, read_description
from cardlab.agents.registry import agent_names, load_agent
from cardlab.agents.search.options import SearchOptions, search_text
from cardlab.agents.specs import CHAMPION, SEARCHES, SEED, belief_folder, champion_folder, split_name
from cardlab.core.messages import InvalidOption
from cardlab.core.options import check_choice
from cardlab.core.parts import find_place
from cardlab.games.agent_protocol import Agent
from cardlab.games.base import determinizes
from cardlab.games.make_game import game_names, make_game
from cardlab.games.protocol import Game
from cardlab_play.errors import AgentUnloadable, one_line
from cardlab_play.offered_games import offered_games
from cardlab_play.options import PlayOptions, invalid_play

_SEARCHES = {  # display names and budgets of a move
    "monte_carlo": ("Monte Carlo", "{0.simulations} playouts"),
    "expectimax": ("Expectimax", "{0.decks} decks"),
    "tree": ("tree search", "{0.simulations} descents"),
    "puct": ("PUCT", "{0.simulations} descents"),
}


@dataclass(frozen=True)
class OfferedSearch:
    """A search that can be combined with any agent."""

    text: str
    name: str  # `Monte Carlo`, or the key of play.searches if it differs from the kind of search
    title: str  # with the budget: `Monte Carlo, 200 playouts a move`


def offered_search(key: str, text: str) -> OfferedSearch:
    """The search described by `text`. Raises InvalidOption under `play.searches.KEY`."""
    try:
        kind, given = split_name(text)
        check_choice("search", kind, list(_SEARCHES))
        options: SearchOptions = find_place(registry.__name__, registry.AGENTS[kind])(**{"policy": "random", **given})
    except InvalidOption as error:
        allowed = f"a search with its options, e.g. monte_carlo:simulations:200 ({one_line(error)})"
        raise invalid_play(f"searches.{key}", text, allowed) from error
    name, budget = _SEARCHES[kind]
    name = name if key == kind else key.replace("_", " ")
    budget = f"{options.seconds:g} s" if options.seconds else budget.format(options)
    return OfferedSearch(text, name, f"{name[:1].upper()}{name[1:]}, {budget} a move")


_UNLISTED = {"random", "endgame", *SEARCHES}


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class AgentChoice:
    """An agent of the catalog, with the key of the search around it, if any. Part of requests and of deals."""

    agent: StrictStr
    search: StrictStr | None = None


@dataclass(frozen=True)
class AgentEntry:
    """An agent that a game offers."""

    agent: str
    title: str
    kind: str  # scripted or trained
    required_options: Mapping[str, Any]  # options of the game that it was trained for
    searches: tuple[str, ...]


@dataclass
class AgentCatalog:
    """The agents and belief networks of each game, loaded on first use and cached.

    The constructor checks `play.searches`, `play.belief` and `play.advisor`. Raises InvalidOption or PolicyError.
    """

    options: PlayOptions

    def __post_init__(self) -> None:
        self._loaded: dict[str, Agent] = {}  # by _key
        self._load_errors: dict[str, str] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._beliefs: dict[str, Belief | None] = {}
        self.searches = {key: offered_search(key, text) for key, text in self.options.searches.items()}
        for name, folder in self.options.belief.items():
            check_choice("play.belief", name, game_names())
            load_belief(make_game(name), Path(folder))
        if self.options.advisor is not None:
            offered = [entry.agent for name in offered_games() for entry in self.entries(make_game(name))]
            check_choice("play.advisor", self.options.advisor, list(dict.fromkeys(offered)))

    def entries(self, game: Game) -> list[AgentEntry]:
        """The agents of `game` in order: champion, trained policies, scripted agents from strong to weak, random."""
        name = game.spec.name
        scripted = [*offered_games()[name].agents]
        scripted += sorted(key for key in agent_names(game) if key not in (*scripted, *_UNLISTED))
        known = [(agent, "trained", required) for agent, required in self._trained(name)]
        known += [(agent, "scripted", dict[str, Any]()) for agent in (*scripted, "random")]
        return [
            AgentEntry(agent, _title(agent), kind, required, self._searches(game, agent))
            for agent, kind, required in known
            if self._loads(game, agent)
        ]

    def matching_entries(self, game: Game) -> list[AgentEntry]:
        """The agents whose training matches the options of `game`."""
        return [entry for entry in self.entries(game) if _matches_game(entry, game)]

    def levels(self, game: Game) -> list[dict[str, str | None]]:
        """Named opponents from weak to strong: random, scripted agents, the best policy, the same with a search."""
        entries = {entry.agent: entry for entry in self.entries(game)}
        levels: list[tuple[str, str, str | None]] = [("Beginner", "random", None)]
        levels += [(title, agent, None) for title, agent in offered_games()[game.spec.name].levels.items()]
        best = next((entry for entry in entries.values() if entry.kind == "trained"), None)
        if best is not None:
            name = _title(CHAMPION) if best.agent == CHAMPION else "Trained"
            levels.append((name, best.agent, None))
            levels += [(f"{name} with search", best.agent, search) for search in best.searches[:1]]
        return [dict(zip(("title", "agent", "search"), level, strict=True)) for level in levels if level[1] in entries]

    def advisor(self, game: Game) -> AgentChoice:
        """The default agent for advice, opponents and par."""
        matching = [entry.agent for entry in self.matching_entries(game)]
        wanted = self.options.advisor
        return AgentChoice(wanted if wanted in matching else matching[0])

    def title(self, choice: AgentChoice) -> str:
        """The display name of an agent."""
        if choice.search is None:
            return _title(choice.agent)
        offered = self.searches.get(choice.search)  # None if the deal is older than the configuration
        return f"{_title(choice.agent)} with {choice.search if offered is None else offered.name}"

    def message(self, choice: AgentChoice) -> dict[str, str | None]:
        """An agent with its title."""
        return {**asdict(choice), "title": self.title(choice)}

    def load_offered(self, game: Game, choice: AgentChoice, key: str) -> Agent:
        """The agent that a user chose. Raises InvalidOption under `key` for an agent that `game` does not offer.

        Raises AgentUnloadable for an agent that fails to load.
        """
        reason = self._load_errors.get(_key(game, choice))
        if reason:
            raise AgentUnloadable(f"{key}.agent", choice.agent, reason)
        offered = {entry.agent: entry for entry in self.entries(game)}
        check_choice(f"{key}.agent", choice.agent, list(offered))
        entry = offered[choice.agent]
        if not _matches_game(entry, game):
            required = ", ".join(f"{option}={value}" for option, value in entry.required_options.items())
            raise InvalidOption(f"{key}.agent", choice.agent, f"used with the options it was trained for: {required}")
        check_choice(f"{key}.search", choice.search, [*entry.searches, None])
        try:
            return self.load(game, choice)
        except Exception as error:  # policy folders are user data
            raise AgentUnloadable(f"{key}.agent", choice.agent, one_line(error)) from error

    def exclude(self, game: Game, choice: AgentChoice, reason: str) -> None:
        """Remove a failing agent from the catalog until the next start."""
        self._load_errors[_key(game, choice)] = reason

    def load(self, game: Game, choice: AgentChoice) -> Agent:
        """The agent, loaded once for each game and its options."""
        key = _key(game, choice)
        with self._locks.setdefault(key, threading.Lock()):  # a slow load must not block other agents
            if key not in self._loaded:
                try:
                    search = None if choice.search is None else self.searches[choice.search].text
                    text = choice.agent if search is None else search_text(search, choice.agent)
                    self._loaded[key] = load_agent(game, text)
                except Exception as error:
                    self._load_errors[key] = one_line(error)
                    raise
            return self._loaded[key]

    def belief(self, game: Game) -> Belief | None:
        """The belief network for the options of `game`. None without one: deals are then uniform."""
        key = f"{game.spec.name} {game.spec.options}"
        if key not in self._beliefs:
            folder = self.options.belief.get(game.spec.name) or belief_folder(game.spec.name)
            found = None
            with suppress(PolicyError):  # trained with other game options
                found = None if folder is None else load_belief(game, Path(folder))
            self._beliefs[key] = found
        return self._beliefs[key]

    def is_slow(self, choice: AgentChoice) -> bool:
        """Whether the agent searches: it then runs in the slow thread pool."""
        return choice.search is not None or choice.agent in ("tree_search", "expectiminimax", "column_monte_carlo")

    def _loads(self, game: Game, agent: str, search: str | None = None) -> bool:
        """Whether the agent has not failed to load so far. There is no second try before a restart."""
        return _key(game, AgentChoice(agent, search)) not in self._load_errors

    def _searches(self, game: Game, agent: str) -> tuple[str, ...]:
        if agent == "random" or not determinizes(game):
            return ()
        return tuple(search for search in self.searches if self._loads(game, agent, search))

    def _trained(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The policies that play the game `name`, and the offered options that each was trained for."""
        models = Path(self.options.models)
        folders = {CHAMPION: champion_folder(name)}
        folders |= {str(folder): folder for pattern in ("*", f"*/{SEED}*") for folder in sorted(models.glob(pattern))}
        options = {option.key for option in offered_games()[name].options}
        for agent, folder in folders.items():
            with suppress(PolicyError):
                description = None if folder is None else read_description(folder)
                if description is not None and description.game == name:
                    yield agent, {key: value for key, value in description.game_options.items() if key in options}


def _matches_game(entry: AgentEntry, game: Game) -> bool:
    options = _options(game)
    return all(options.get(key) == value for key, value in entry.required_options.items())


def _options(game: Game) -> dict[str, Any]:
    """Values of the offered options of `game`."""
    return {option.key: getattr(game, option.key) for option in offered_games()[game.spec.name].options}


def _key(game: Game, choice: AgentChoice) -> str:
    return f"{game.spec.name} {_options(game)} {choice}"


def _title(agent: str) -> str:
    """`models/big2_ppo/seed_7` as `Big2 ppo seed 7`, `champion` as `Champion`."""
    path = Path(agent)
    last = f"{path.parent.name}_{path.name}" if path.name.startswith(SEED) else path.name
    name = split_name(last)[0].replace("_", " ")
    return name[:1].upper() + name[1:]
