"""Any agent by its text: a trained policy's folder, `champion`, or the name of a scripted agent or a search."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from cardlab.agents.catalogue import agent_factories, make_agent, split_name
from cardlab.games.protocol import Game
from cardlab.options import InvalidOption
from cardlab.playing.protocol import Agent

CHAMPIONS = Path("champions")


def load_agent(game: Game, text: str, *, search: Any = None, **options: Any) -> Agent:
    """The agent that `text` names; InvalidOption or PolicyError, in one line, when there is none.

    With `search`, a text such as `puct:simulations:200` or options of cardlab.search.options: that search around it.
    """
    if search is not None:
        return cast(Agent, import_module("cardlab.agents.search").search_around(game, text, search))
    name, _ = split_name(text) if not os.path.exists(text) else (text, {})
    if name in agent_factories(game):
        return make_agent(game, text, **options)
    folder = CHAMPIONS / game.spec.name if text == "champion" else Path(text)
    if folder.is_dir():
        from cardlab.agents.policies import load_policy  # noqa: PLC0415  torch is needed for a network only

        return load_policy(game, folder)
    known = ", ".join(agent_factories(game))
    raise InvalidOption("agent", text, f"a policy's folder, or one of {known} for {game.spec.name}")
