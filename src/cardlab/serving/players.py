"""Who can be chosen to play: scripted agents, trained policies and champions, each alone or inside a search."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardlab.agents.catalogue import SEARCHES, agent_factories, split_name
from cardlab.agents.loading import CHAMPION, champion_folder, load_agent
from cardlab.agents.policies import PolicyError, read_description
from cardlab.agents.search import search_text
from cardlab.games.protocol import Game
from cardlab.options import InvalidOption
from cardlab.playing.protocol import Agent
from cardlab.serving.options import PlayOptions
from cardlab.serving.settings import SETTINGS

_UNLISTED = {"random", "endgame", *SEARCHES}


@dataclass(frozen=True)
class Player:
    """An agent as it is chosen: its name in the list, and the search around it."""

    agent: str
    search: str | None = None


@dataclass(frozen=True)
class Listed:
    """An entry of the list."""

    agent: str
    title: str
    kind: str  # scripted or trained
    needs: Mapping[str, Any]  # options of the game that it was trained for
    searches: tuple[str, ...]


@dataclass
class Players:
    """The lists of all games, and the agents that were loaded from them."""

    options: PlayOptions
    _loaded: dict[tuple[Any, ...], Agent] = field(default_factory=dict[tuple[Any, ...], Agent], init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def listed(self, game: Game) -> list[Listed]:
        """Who can be chosen at `game`: the champion, trained policies, scripted agents, the strongest first."""
        name = game.spec.name
        searches = tuple(self.options.searches)
        scripted = [*SETTINGS[name].agents]
        scripted += sorted(key for key in agent_factories(game) if key not in (*scripted, *_UNLISTED))
        return [
            *self._trained(name, searches),
            *(Listed(agent, _title(agent), "scripted", {}, searches) for agent in scripted),
            Listed("random", "Random", "scripted", {}, ()),
        ]

    def advisor(self, game: Game) -> Player:
        """Who advises and plays for par when nobody else is asked for."""
        fitting = [entry.agent for entry in self.listed(game) if _fits(entry, game)]
        wanted = self.options.advisor
        return Player(wanted if wanted in fitting else fitting[0])

    def title(self, player: Player) -> str:
        """As the page calls a player."""
        title = _title(player.agent)
        return title if player.search is None else f"{title} with {_title(player.search)}"

    def check(self, game: Game, player: Player, key: str) -> None:
        """Raise InvalidOption under `key` for a player who is not in the list, or was trained for another game."""
        entries = {entry.agent: entry for entry in self.listed(game)}
        entry = entries.get(player.agent)
        if entry is None:
            raise InvalidOption(f"{key}.agent", player.agent, f"one of {', '.join(entries)}")
        if not _fits(entry, game):
            needs = ", ".join(f"{option}={value}" for option, value in entry.needs.items())
            raise InvalidOption(f"{key}.agent", player.agent, f"at a game that it was trained for: {needs}")
        if player.search is not None and player.search not in entry.searches:
            allowed = f"one of {', '.join(entry.searches)}, or null" if entry.searches else "null for this agent"
            raise InvalidOption(f"{key}.search", player.search, allowed)

    def load(self, game: Game, player: Player) -> Agent:
        """The agent itself; the same for the same game. Call `check` first: texts from outside are never loaded."""
        key = (game.spec.name, tuple(sorted((k, str(v)) for k, v in _options(game).items())), player)
        with self._lock:
            if key not in self._loaded:
                self._loaded[key] = load_agent(game, self._text(player))
            return self._loaded[key]

    def is_slow(self, player: Player) -> bool:
        """Whether it thinks for longer than a network needs."""
        return player.search is not None or player.agent in ("tree_search", "expectiminimax", "column_monte_carlo")

    def _text(self, player: Player) -> str:
        text = player.agent
        if player.search is None:
            return text
        return search_text(self.options.searches[player.search], text)

    def _trained(self, name: str, searches: tuple[str, ...]) -> list[Listed]:
        folders = [(CHAMPION, champion_folder(name))]
        models = Path(self.options.models)
        if models.is_dir():
            folders += [(str(folder), folder) for folder in sorted(models.iterdir())]
        entries: list[Listed] = []
        for agent, folder in folders:
            needs = None if folder is None else _needs(folder, name)
            if needs is not None:
                entries.append(Listed(agent, _title(agent), "trained", needs, searches))
        return entries


def _needs(folder: Path, name: str) -> dict[str, Any] | None:
    """The options, of those that can be chosen, that the policy in `folder` needs; None when it plays another game."""
    try:
        description = read_description(folder)
    except PolicyError:
        return None
    if description.game != name:
        return None
    offered = {choice.key for choice in SETTINGS[name].choices}
    return {key: value for key, value in description.game_options.items() if key in offered}


def _fits(entry: Listed, game: Game) -> bool:
    options = _options(game)
    return all(options.get(key) == value for key, value in entry.needs.items())


def _options(game: Game) -> dict[str, Any]:
    """The options of `game` that can be chosen."""
    return {choice.key: getattr(game, choice.key) for choice in SETTINGS[game.spec.name].choices}


def _title(agent: str) -> str:
    """`models/big2_ppo` as `big2 ppo`, `champion` as `Champion`."""
    name = split_name(Path(agent).name)[0].replace("_", " ")
    return name[:1].upper() + name[1:]
