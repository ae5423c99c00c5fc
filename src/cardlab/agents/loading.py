"""Any agent by its text: a policy's folder or address, `champion`, or the name of a scripted agent or a search."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from cardlab.agents.catalogue import agent_factories, make_agent, split_name
from cardlab.games.protocol import Game
from cardlab.options import InvalidOption
from cardlab.playing.protocol import Agent

CHAMPION = "champion"
CHAMPIONS = Path("champions")
BELIEFS = Path("beliefs")  # in champions/: what was learned from the games of each champion
ADDRESS = "models:/"
_FETCH = "cardlab.tracking.registry"  # by name: the door to MLflow stands in a higher layer, and is opened here only
_PACKAGE = Path(__file__).parents[1]


def load_agent(game: Game, text: str, *, search: Any = None, **options: Any) -> Agent:
    """The agent that `text` names; InvalidOption or PolicyError, in one line, when there is none.

    A policy sees the game as it was trained to, whatever the features of `game`; its rules must be those of `game`.
    With `search`, a text such as `puct:simulations:200` or options of cardlab.search.options: that search around it.
    """
    if search is not None:
        return cast(Agent, import_module("cardlab.agents.search").search_around(game, text, search))
    name = "" if text.startswith(ADDRESS) or os.path.exists(text) else split_name(text)[0]
    if name in agent_factories(game):
        return make_agent(game, text, **options)
    folder = policy_folder(text, game.spec.name)
    if folder is not None:
        from cardlab.agents.policies import game_for, load_policy  # noqa: PLC0415  torch is needed for a network only

        return load_policy(game_for(folder, game), folder)
    known = ", ".join(agent_factories(game))
    allowed = f"a policy's folder or address ({ADDRESS}cardlab-{game.spec.name}@{CHAMPION}), or one of {known}"
    raise InvalidOption("agent", text, f"{allowed} for {game.spec.name}")


def policy_folder(text: str, game: str) -> Path | None:
    """The folder of the policy that `text` names, fetched if need be; None when it names none.

    `champion` of a `game` is in champions/ here, else where cardlab comes from, else what MLflow's alias names.
    """
    if text.startswith(ADDRESS):
        return import_module(_FETCH).fetch(text)
    if text != CHAMPION or os.path.isdir(text):
        return Path(text) if os.path.isdir(text) else None
    found = champion_folder(game)
    return found if found is not None else import_module(_FETCH).fetch_champion(game)


def champion_folder(game: str) -> Path | None:
    """The folder of the champion of `game`: that of the working directory before the one that cardlab comes with."""
    return _kept(Path(game), "policy.json")


def belief_folder(game: str) -> Path | None:
    """The folder of what the champion of `game` believes of hidden cards, found like the champion; None without one."""
    return _kept(BELIEFS / game, "belief.json")


def _kept(entry: Path, file: str) -> Path | None:
    for champions in (CHAMPIONS, _PACKAGE / CHAMPIONS, _PACKAGE.parents[1] / CHAMPIONS):
        if (champions / entry / file).is_file():
            return champions / entry
    return None
