"""Any agent by its text: a trained policy's folder or address, `champion`, a scripted agent or a search.

A factory is called as factory(game, **options). One that takes `resolve` is given `load_agent`, to make the agents that
its options name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from inspect import Parameter, signature
from os import PathLike, fspath
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

from cardlab.agents.policy_descriptions import game_for
from cardlab.agents.policy_paths import ADDRESS, CHAMPION, policy_folder, policy_hint
from cardlab.agents.specs import InvalidAgent, agent_text, name_and_options, split_name
from cardlab.core.options import InvalidOption, checked
from cardlab.games.agent_protocol import Agent
from cardlab.games.catalogue import check_game
from cardlab.games.protocol import Game

AgentFactory = Callable[..., Agent]

GENERAL = {
    "random": "cardlab.agents.random_agent:RandomAgent",
    "monte_carlo": "cardlab.agents.search_agent:make_monte_carlo",
    "expectimax": "cardlab.agents.search_agent:make_expectimax",
    "tree": "cardlab.agents.search_agent:make_tree",
    "puct": "cardlab.agents.search_agent:make_puct",
    "endgame": "cardlab.agents.endgame_agent:make_endgame",
}
HEURISTICS_POKER_SQUARES = {
    "flush": "cardlab.agents.heuristics.poker_squares:FlushAgent",
    "tables": "cardlab.agents.heuristics.poker_squares:TablesAgent",
    "tree_search": "cardlab.agents.heuristics.poker_squares_search:tree_search",
}
HEURISTICS_THIRTY_ONE = {
    "greedy": "cardlab.agents.heuristics.thirty_one:greedy",
    "greedy_stock_only": "cardlab.agents.heuristics.thirty_one:greedy_stock_only",
    "threshold": "cardlab.agents.heuristics.thirty_one:threshold",
}
HEURISTICS_FIVE_O = {
    "reflex_1": "cardlab.agents.heuristics.five_o:reflex_1",
    "reflex_2": "cardlab.agents.heuristics.five_o:reflex_2",
    "reflex_3": "cardlab.agents.heuristics.five_o:reflex_3",
    "greedy_1": "cardlab.agents.heuristics.five_o:greedy_1",
    "greedy_1_described": "cardlab.agents.heuristics.five_o:greedy_1_described",
    "greedy_2": "cardlab.agents.heuristics.five_o:greedy_2",
    "fast_greedy_2": "cardlab.agents.heuristics.five_o:fast_greedy_2",
    "column_monte_carlo": "cardlab.agents.heuristics.five_o:ColumnMonteCarlo",
    "expectiminimax": "cardlab.agents.heuristics.five_o:Expectiminimax",
}
HEURISTICS_OPEN_FACE = {
    "greedy_start": "cardlab.agents.heuristics.open_face:GreedyStart",
    "random_fills": "cardlab.agents.heuristics.open_face:RandomFills",
    "hindsight_fills": "cardlab.agents.heuristics.open_face:hindsight_fills",
}
HEURISTICS_BIG2 = {
    "lowest": "cardlab.agents.heuristics.big2:Big2LowestAgent",
    "greedy": "cardlab.agents.heuristics.big2:Big2GreedyAgent",
    "planner": "cardlab.agents.heuristics.big2:Big2PlannerAgent",
}
HEURISTICS: dict[str, Mapping[str, str]] = {
    "poker_squares": HEURISTICS_POKER_SQUARES,
    "thirty_one": HEURISTICS_THIRTY_ONE,
    "five_o": HEURISTICS_FIVE_O,
    "open_face": HEURISTICS_OPEN_FACE,
    "big2": HEURISTICS_BIG2,
}
"""Game → its scripted agents: name → factory."""


def agent_names(game: Game) -> list[str]:
    """The names of the agents that play `game` without training."""
    return [*_factories(game)]


def agent_factory(game: Game, name: str) -> AgentFactory:
    """The factory of the agent `name`; KeyError when `game` has none of this name."""
    return cast(AgentFactory, resolve_name(_factories(game)[name]))


def make_agent(game: Game, text: str, **options: Any) -> Agent:
    """The agent written as `text`, with `options` beside those in the text."""
    name, written = split_name(text)
    names = agent_names(game)
    if name not in names:
        raise InvalidOption("agent", text, f"one of {', '.join(names)} for {game.spec.name}{_near(name, names)}")
    factory, given = agent_factory(game, name), {**written, **options}
    hints = _known_options(factory, text, name, given)
    resolve = {"resolve": load_agent} if "resolve" in signature(factory).parameters else {}
    try:
        given |= {key: checked(f"agent.{key}", given[key], hint) for key, hint in hints.items() if key in given}
        return factory(game, **given, **resolve)
    except TypeError as error:
        raise InvalidOption("agent", text, f"{name} with options and values that it can take") from error
    except InvalidOption as refusal:
        if refusal.key == "agent":  # of another agent that its options name
            raise
        raise InvalidAgent(text, refusal.key, refusal.value, refusal.allowed) from refusal


def load_agent(game: Game, text: str | PathLike[str], *, search: Any = None, **options: Any) -> Agent:
    """The agent that `text` names; InvalidOption or PolicyError, in one line, when there is none.

    A policy sees the game as it was trained to, whatever the features of `game`; its rules must be those of `game`.
    With `search`, a text such as `puct:simulations:200` or options of cardlab.agents.search.options: that search
    around it.
    """
    check_game(game)
    if not isinstance(cast(object, text), str | PathLike):
        raise InvalidOption("agent", text, "a text or a policy's folder")
    text = fspath(text)
    name, written = name_and_options(text)
    scripted = name in agent_names(game)
    if options and not scripted:
        key, value = next(iter(options.items()))
        raise InvalidOption(key, value, f"left out: {text} is no scripted agent, which alone has options")
    if search is not None:
        from cardlab.agents.search.options import search_text  # noqa: PLC0415  needed for a search only

        return load_agent(game, search_text(search, agent_text(name, {**written, **options}) if options else text))
    if scripted:
        return make_agent(game, text, **options)
    folder = policy_folder(text, game.spec.name)
    if folder is not None:
        from cardlab.agents.policy_files import load_policy  # noqa: PLC0415  torch is needed for a network only

        return load_policy(game_for(folder, game), folder)
    known = agent_names(game)
    allowed = f"a policy's folder or address ({ADDRESS}cardlab-{game.spec.name}@{CHAMPION}), or one of "
    advice = policy_hint(text) or _near(name, known)
    raise InvalidOption("agent", text, f"{allowed}{', '.join(known)} for {game.spec.name}{advice}")


def own_folder(game: Game, text: str) -> Path | None:
    """The folder of the policy that `text` names, fetched if need be; None for a scripted agent, and for a search."""
    name, _ = name_and_options(text)
    return None if name in agent_names(game) else policy_folder(text, game.spec.name)


def named_folders(game: Game, text: str) -> Iterator[Path]:
    """The folders of the policies and belief networks that an agent's text names, those of its options included."""
    folder = own_folder(game, text)
    if folder is not None:
        yield folder
        return
    options = name_and_options(text)[1]
    for key in ("policy", "rollout", "belief"):
        if isinstance(options.get(key), str):
            yield from named_folders(game, options[key])


def _near(name: str, names: Sequence[str]) -> str:
    """The agent that was probably meant, behind a semicolon."""
    near = get_close_matches(name, [*names, CHAMPION], n=1, cutoff=0.65)
    return f"; did you mean {near[0]}?" if near else ""


def _factories(game: Game) -> Mapping[str, str]:
    return {**GENERAL, **HEURISTICS.get(game.spec.name, {})}


def _known_options(factory: AgentFactory, text: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The types of the factory's options; InvalidOption for one it lacks: factories with **options check their own."""
    _, *parameters = signature(factory).parameters.values()  # behind the game
    hints = {parameter.name: parameter.annotation for parameter in parameters if parameter.name != "resolve"}
    if given.keys() - hints.keys() and all(parameter.kind is not Parameter.VAR_KEYWORD for parameter in parameters):
        raise InvalidOption("agent", text, f"{name} with {'options ' + ', '.join(hints) if hints else 'no options'}")
    return hints
