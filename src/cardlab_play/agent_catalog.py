"""Agents that can be selected: scripted agents, trained policies and champions, each with or without a search."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cardlab.agents.policies import PolicyError, read_description
from cardlab.agents.policy_folders import CHAMPION, champion_folder
from cardlab.agents.registry import agent_names, load_agent
from cardlab.agents.search.options import search_text
from cardlab.agents.specs import SEARCHES, split_name
from cardlab.core.options import InvalidOption, check_choice
from cardlab.games.agent_protocol import Agent
from cardlab.games.catalogue import make_game
from cardlab.games.protocol import Game
from cardlab_play.errors import AgentUnloadable, one_line
from cardlab_play.offered_games import OFFERED_GAMES
from cardlab_play.offered_searches import offered_search
from cardlab_play.options import PlayOptions

_UNLISTED = {"random", "endgame", *SEARCHES}


@dataclass(frozen=True)
class AgentChoice:
    """An agent of the catalog, with the key of the search around it, if any."""

    agent: str
    search: str | None = None


@dataclass(frozen=True)
class AgentEntry:
    """An agent that a game offers."""

    agent: str
    title: str
    kind: str  # scripted or trained
    required_options: Mapping[str, Any]  # options of the game that it was trained for
    searches: tuple[str, ...]


_Key = tuple[str, tuple[tuple[str, str], ...], AgentChoice]
"""Key of a loaded agent: game, options of the game, agent."""


@dataclass
class AgentCatalog:
    """The agents of each game, loaded on first use and cached.

    The constructor checks `play.searches` and `play.advisor`. Raises InvalidOption for values that no game offers.
    """

    options: PlayOptions
    _loaded: dict[_Key, Agent] = field(default_factory=dict["_Key", Agent], init=False)
    _load_errors: dict[_Key, str] = field(default_factory=dict["_Key", str], init=False)  # reasons
    _locks: dict[_Key, threading.Lock] = field(default_factory=dict["_Key", threading.Lock], init=False)

    def __post_init__(self) -> None:
        self.searches = {key: offered_search(key, text) for key, text in self.options.searches.items()}
        self._check_advisor(self.options.advisor)

    def entries(self, game: Game) -> list[AgentEntry]:
        """The agents of `game` in order: champion, trained policies, scripted agents from strong to weak, random."""
        name = game.spec.name
        searches = tuple(self.options.searches)
        scripted = [*OFFERED_GAMES[name].agents]
        scripted += sorted(key for key in agent_names(game) if key not in (*scripted, *_UNLISTED))
        entries = [
            *self._trained(name, searches),
            *(AgentEntry(agent, _title(agent), "scripted", {}, searches) for agent in scripted),
            AgentEntry("random", "Random", "scripted", {}, ()),
        ]
        return [
            self._without_broken_searches(game, entry)
            for entry in entries
            if not self._load_error(game, AgentChoice(entry.agent))
        ]

    def advisor(self, game: Game) -> AgentChoice:
        """The default agent for advice, opponents and par."""
        matching = [entry.agent for entry in self.entries(game) if _matches_game(entry, game)]
        wanted = self.options.advisor
        return AgentChoice(wanted if wanted in matching else matching[0])

    def title(self, choice: AgentChoice) -> str:
        """The display name of an agent."""
        title, search = _title(choice.agent), choice.search
        if search is None:
            return title
        offered = self.searches.get(search)  # None if the deal is older than the configuration
        return f"{title} with {search if offered is None else offered.name}"

    def check(self, game: Game, choice: AgentChoice, key: str) -> None:
        """Load the agent. Raises InvalidOption under `key` for an agent that `game` does not offer.

        Raises AgentUnloadable for an agent that fails to load, so that no game starts with it.
        """
        reason = self._load_error(game, choice)
        if reason:
            raise AgentUnloadable.of(f"{key}.agent", choice.agent, reason)
        offered = {entry.agent: entry for entry in self.entries(game)}
        entry = offered.get(choice.agent)
        if entry is None:
            raise InvalidOption(f"{key}.agent", choice.agent, f"one of {', '.join(offered)}")
        if not _matches_game(entry, game):
            required = ", ".join(f"{option}={value}" for option, value in entry.required_options.items())
            raise InvalidOption(f"{key}.agent", choice.agent, f"used with the options it was trained for: {required}")
        if choice.search is not None and choice.search not in entry.searches:
            allowed = f"one of {', '.join(entry.searches)}, or null" if entry.searches else "null for this agent"
            raise InvalidOption(f"{key}.search", choice.search, allowed)
        try:
            self.load(game, choice)
        except Exception as error:  # policy folders are user data
            raise AgentUnloadable.of(f"{key}.agent", choice.agent, one_line(error)) from error

    def fits(self, game: Game, choice: AgentChoice) -> bool:
        """Whether `game` offers the agent and its options match the agent's training."""
        return any(entry.agent == choice.agent and _matches_game(entry, game) for entry in self.entries(game))

    def exclude(self, game: Game, choice: AgentChoice, reason: str) -> None:
        """Remove a failing agent from the catalog until the next start."""
        self._load_errors[_key(game, choice)] = reason

    def load(self, game: Game, choice: AgentChoice) -> Agent:
        """The agent, loaded once for each game. Callers pass untrusted names through `check` first."""
        key = _key(game, choice)
        with self._locks.setdefault(key, threading.Lock()):  # a slow load must not block other agents
            if key not in self._loaded:
                try:
                    self._loaded[key] = load_agent(game, self._text(choice))
                except Exception as error:
                    self._load_errors[key] = one_line(error)
                    raise
            return self._loaded[key]

    def is_slow(self, choice: AgentChoice) -> bool:
        """Whether the agent searches: it then runs in the slow thread pool."""
        return choice.search is not None or choice.agent in ("tree_search", "expectiminimax", "column_monte_carlo")

    def _load_error(self, game: Game, choice: AgentChoice) -> str | None:
        """Why the agent failed to load, None if it did not fail so far. There is no second try before a restart."""
        return self._load_errors.get(_key(game, choice))

    def _without_broken_searches(self, game: Game, entry: AgentEntry) -> AgentEntry:
        """`entry` without the searches that failed to load with this agent."""
        searches = tuple(
            search for search in entry.searches if not self._load_error(game, AgentChoice(entry.agent, search))
        )
        return replace(entry, searches=searches)

    def _check_advisor(self, advisor: str | None) -> None:
        if advisor is None:
            return
        offered = dict.fromkeys(entry.agent for name in OFFERED_GAMES for entry in self.entries(make_game(name)))
        check_choice("play.advisor", advisor, list(offered))

    def _text(self, choice: AgentChoice) -> str:
        text = choice.agent
        if choice.search is None:
            return text
        return search_text(self.searches[choice.search].text, text)

    def _trained(self, name: str, searches: tuple[str, ...]) -> list[AgentEntry]:
        folders = [(CHAMPION, champion_folder(name))]
        models = Path(self.options.models)
        if models.is_dir():
            folders += [(str(folder), folder) for folder in sorted(models.iterdir())]
        entries: list[AgentEntry] = []
        for agent, folder in folders:
            required = None if folder is None else _required_options(folder, name)
            if required is not None:
                entries.append(AgentEntry(agent, _title(agent), "trained", required, searches))
        return entries


def _required_options(folder: Path, name: str) -> dict[str, Any] | None:
    """The offered options that the policy in `folder` was trained for. None for another game."""
    try:
        description = read_description(folder)
    except PolicyError:
        return None
    if description.game != name:
        return None
    offered = {option.key for option in OFFERED_GAMES[name].options}
    return {key: value for key, value in description.game_options.items() if key in offered}


def _matches_game(entry: AgentEntry, game: Game) -> bool:
    options = _options(game)
    return all(options.get(key) == value for key, value in entry.required_options.items())


def _options(game: Game) -> dict[str, Any]:
    """Values of the offered options of `game`."""
    return {option.key: getattr(game, option.key) for option in OFFERED_GAMES[game.spec.name].options}


def _key(game: Game, choice: AgentChoice) -> _Key:
    return (game.spec.name, tuple(sorted((key, str(value)) for key, value in _options(game).items())), choice)


def _title(agent: str) -> str:
    """`models/big2_ppo` as `big2 ppo`, `champion` as `Champion`."""
    name = split_name(Path(agent).name)[0].replace("_", " ")
    return name[:1].upper() + name[1:]
