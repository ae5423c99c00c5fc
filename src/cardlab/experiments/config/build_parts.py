"""Game, arena and search from their groups, for commands that need no learner."""

import json
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from cardlab.agents.registry import load_agent
from cardlab.agents.search.options import NoSearch
from cardlab.agents.specs import ADDRESSES, CHAMPION, InvalidAgent
from cardlab.core.messages import ConfigurationError, InvalidConfiguration, InvalidOption, collected, combined
from cardlab.core.parts import NAME, TARGET, build_part, target_of
from cardlab.evaluation.options import ArenaOptions
from cardlab.games.protocol import Game

_PACKAGE = f"{__name__.partition('.')[0]}."  # its games have tests


_checked = set[str]()  # games, as text


def build_game(config: object) -> Game:
    """The game of a group `game`. Raises InvalidConfiguration for a class of the user's that no one could learn."""
    data = group("game", config)
    game, text = cast(Game, build_part("game", data)), json.dumps(data, sort_keys=True, default=str)
    if text not in _checked and not type(game).__module__.startswith(_PACKAGE):
        from cardlab.testing.game_checks import FIRST_CHECKS  # noqa: PLC0415  compiles kernels
        from cardlab.testing.positions import CheckFailed  # noqa: PLC0415

        try:
            for check in FIRST_CHECKS:
                check(game)
        except CheckFailed as error:
            raise InvalidConfiguration(f"game={game.spec.name}: {error}") from error
    _checked.add(text)
    return game


def build_arena(config: object) -> ArenaOptions:
    """The options of a group `arena`."""
    return ArenaOptions(**group("arena", config))


def build_search_options(config: object, policy: str) -> Any:
    """The options of a group `search` around the agent `policy`."""
    data = dict(group("search", config))
    is_none = data.get(TARGET) == target_of(NoSearch)
    return build_part("search", data if is_none else {**data, "policy": policy})


def check_agents(game: Game, key: str, texts: Sequence[str]) -> None:
    """Load each agent once, before anything is played or written; InvalidOption under `key`, or PolicyError."""
    errors: list[ConfigurationError] = []
    for text in texts:
        with collected(errors), agent_key(key):
            load_agent(game, text)
    if errors:
        raise combined(errors)


def check_pinned(config: object, key: str = "") -> None:
    """Raise InvalidOption for `champion` and addresses in MLflow's registry, whose policy may change.

    A stage of the pipeline may name a policy's folder or a scripted agent: its result depends on files alone.
    """
    if isinstance(config, Mapping):
        for name, value in cast(Mapping[str, object], config).items():
            inner = f"{key}.{name}" if key else name
            check_pinned(name, inner)
            check_pinned(None if name == NAME else value, inner)  # a name is a word for people
    elif isinstance(config, str):
        if any(address in config for address in ADDRESSES) or CHAMPION in re.split(r"[:\[\]]", config):
            raise InvalidOption(key, config, "a scripted agent or a policy's folder in the benchmark: champions change")
    elif isinstance(config, Sequence):
        for value in cast(Sequence[object], config):
            check_pinned(value, key)


@contextmanager
def agent_key(key: str) -> Generator[None]:
    """Inside, errors of agents have the key `key` of the command line."""
    try:
        yield
    except InvalidAgent as refusal:
        if refusal.key.startswith(f"{key}."):
            raise
        option = InvalidOption(refusal.key.rpartition(".")[2], refusal.value, refusal.allowed)
        raise InvalidOption(key, refusal.text, f"an agent with valid options; {option}") from refusal
    except InvalidOption as refusal:
        if refusal.key != "agent":
            raise
        raise InvalidOption(key, refusal.value, refusal.allowed) from refusal


def group(key: str, value: object) -> Mapping[str, Any]:
    """`value` as the mapping of a group; InvalidOption when it is none."""
    if not isinstance(value, Mapping):
        raise InvalidOption(key, value, f"an option of conf/{key}/, as in {key}=NAME")
    return {str(name): part for name, part in cast(Mapping[object, Any], value).items()}
