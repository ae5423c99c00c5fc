"""Belief networks for the advice panel: the folder in `play.belief`, else the champion's."""

import threading
from collections.abc import Mapping
from pathlib import Path

from cardlab.agents.beliefs import Belief, load_belief
from cardlab.agents.policy_descriptions import PolicyError
from cardlab.agents.policy_paths import belief_folder
from cardlab.core.options import InvalidOption
from cardlab.games.make_game import game_names, make_game
from cardlab.games.protocol import Game


class BeliefNetworks:
    """Belief networks of all games, loaded once for each set of game options.

    `folders`: game to folder. The constructor raises InvalidOption or PolicyError for an invalid entry.
    """

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders
        self._loaded: dict[str, Belief | None] = {}
        self._lock = threading.Lock()
        for name, folder in folders.items():
            if name not in game_names():
                raise InvalidOption(f"play.belief.{name}", folder, f"left out: the games are {', '.join(game_names())}")
            load_belief(make_game(name), Path(folder))

    def for_game(self, game: Game) -> Belief | None:
        """The belief network for the options of `game`. None without one: deals are then uniform."""
        key = f"{game.spec.name} {game.spec.options}"
        with self._lock:
            if key not in self._loaded:
                folder = self._folders.get(game.spec.name) or belief_folder(game.spec.name)
                try:
                    self._loaded[key] = None if folder is None else load_belief(game, Path(folder))
                except PolicyError:  # trained with other game options
                    self._loaded[key] = None
            return self._loaded[key]
