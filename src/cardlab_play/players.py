"""Who can be chosen to play: scripted agents, trained policies and champions, each alone or inside a search."""

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
from cardlab_play.errors import Unloadable, one_line
from cardlab_play.offered_searches import offered_search
from cardlab_play.options import PlayOptions
from cardlab_play.settings import SETTINGS

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


_Key = tuple[str, tuple[tuple[str, str], ...], Player]
"""What an agent was loaded for: a game, its options, and who it is."""


@dataclass
class Players:
    """The lists of all games, and the agents that were loaded from them.

    `play.searches` and `play.advisor` are checked at once: InvalidOption for what can be had in no game.
    """

    options: PlayOptions
    _loaded: dict[_Key, Agent] = field(default_factory=dict["_Key", Agent], init=False)
    _broken: dict[_Key, str] = field(default_factory=dict["_Key", str], init=False)  # why it could not be loaded
    _locks: dict[_Key, threading.Lock] = field(default_factory=dict["_Key", threading.Lock], init=False)

    def __post_init__(self) -> None:
        self.searches = {key: offered_search(key, text) for key, text in self.options.searches.items()}
        self._check_advisor(self.options.advisor)

    def listed(self, game: Game) -> list[Listed]:
        """Who can be chosen at `game`: the champion, trained policies, scripted agents, the strongest first."""
        name = game.spec.name
        searches = tuple(self.options.searches)
        scripted = [*SETTINGS[name].agents]
        scripted += sorted(key for key in agent_names(game) if key not in (*scripted, *_UNLISTED))
        entries = [
            *self._trained(name, searches),
            *(Listed(agent, _title(agent), "scripted", {}, searches) for agent in scripted),
            Listed("random", "Random", "scripted", {}, ()),
        ]
        return [self._sound(game, entry) for entry in entries if not self._fault(game, Player(entry.agent))]

    def advisor(self, game: Game) -> Player:
        """Who advises and plays for par when nobody else is asked for."""
        fitting = [entry.agent for entry in self.listed(game) if _fits(entry, game)]
        wanted = self.options.advisor
        return Player(wanted if wanted in fitting else fitting[0])

    def title(self, player: Player) -> str:
        """As the page calls a player."""
        title, search = _title(player.agent), player.search
        if search is None:
            return title
        offered = self.searches.get(search)  # none: the deal is older than the settings
        return f"{title} with {search if offered is None else offered.name}"

    def check(self, game: Game, player: Player, key: str) -> None:
        """Raise InvalidOption under `key` for a player who is not in the list, or was trained for another game.

        Unloadable for one who is in the list and cannot be loaded: better at the door than in the middle of a game.
        """
        fault = self._fault(game, player)
        if fault:
            raise Unloadable.of(f"{key}.agent", player.agent, fault)
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
        try:
            self.load(game, player)
        except Exception as error:  # whatever is wrong with a folder that somebody put there
            raise Unloadable.of(f"{key}.agent", player.agent, one_line(error)) from error

    def fits(self, game: Game, player: Player) -> bool:
        """Whether the agent is in the list and was trained for this game's options."""
        return any(entry.agent == player.agent and _fits(entry, game) for entry in self.listed(game))

    def leave_out(self, game: Game, player: Player, reason: str) -> None:
        """Offer `player` no longer, who was found not to play."""
        self._broken[_key(game, player)] = reason

    def load(self, game: Game, player: Player) -> Agent:
        """The agent itself; the same for the same game. Call `check` first: texts from outside are never loaded."""
        key = _key(game, player)
        with self._locks.setdefault(key, threading.Lock()):  # one takes its time while others are had at once
            if key not in self._loaded:
                try:
                    self._loaded[key] = load_agent(game, self._text(player))
                except Exception as error:
                    self._broken[key] = one_line(error)
                    raise
            return self._loaded[key]

    def is_slow(self, player: Player) -> bool:
        """Whether it thinks for longer than a network needs."""
        return player.search is not None or player.agent in ("tree_search", "expectiminimax", "column_monte_carlo")

    def _fault(self, game: Game, player: Player) -> str | None:
        """Why `player` cannot be loaded, as far as that was tried; who was, is not tried again before a restart."""
        return self._broken.get(_key(game, player))

    def _sound(self, game: Game, entry: Listed) -> Listed:
        """`entry` without the searches that were found not to take it."""
        searches = tuple(search for search in entry.searches if not self._fault(game, Player(entry.agent, search)))
        return replace(entry, searches=searches)

    def _check_advisor(self, advisor: str | None) -> None:
        if advisor is None:
            return
        offered = dict.fromkeys(entry.agent for name in SETTINGS for entry in self.listed(make_game(name)))
        check_choice("play.advisor", advisor, list(offered))

    def _text(self, player: Player) -> str:
        text = player.agent
        if player.search is None:
            return text
        return search_text(self.searches[player.search].text, text)

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


def _key(game: Game, player: Player) -> _Key:
    return (game.spec.name, tuple(sorted((key, str(value)) for key, value in _options(game).items())), player)


def _title(agent: str) -> str:
    """`models/big2_ppo` as `big2 ppo`, `champion` as `Champion`."""
    name = split_name(Path(agent).name)[0].replace("_", " ")
    return name[:1].upper() + name[1:]
