"""Whose belief about hidden cards the panel shows: the one in `play.belief`, else the champion's."""

import threading
from collections.abc import Mapping
from pathlib import Path

from cardlab.agents.beliefs import Belief, BeliefError, load_belief
from cardlab.agents.policy_folders import belief_folder
from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import GAMES, make_game
from cardlab.games.protocol import Game


class Beliefs:
    """The beliefs of all games, loaded once for each set of rules.

    `given` (game → folder) is checked at once: InvalidOption or BeliefError for what is none.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given
        self._loaded: dict[str, Belief | None] = {}
        self._lock = threading.Lock()
        for name, folder in given.items():
            if name not in GAMES:
                raise InvalidOption(f"play.belief.{name}", folder, f"left out: the games are {', '.join(GAMES)}")
            load_belief(make_game(name), Path(folder))

    def of(self, game: Game) -> Belief | None:
        """The belief that fits the rules of `game`; None where there is none, and all deals are alike."""
        key = f"{game.spec.name} {sorted(game.spec.options.items())}"
        with self._lock:
            if key not in self._loaded:
                self._loaded[key] = self._load(game)
            return self._loaded[key]

    def _load(self, game: Game) -> Belief | None:
        folder = self._given.get(game.spec.name) or belief_folder(game.spec.name)
        try:
            return None if folder is None else load_belief(game, Path(folder))
        except BeliefError:  # learned under other rules than those of this table
            return None
