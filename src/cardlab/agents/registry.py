"""Any agent by its text: a trained policy's folder or address, `champion`, a scripted agent or a search.

A game's class names its scripted agents: `agents = {"greedy": ".agents:Greedy"}`. An agent may also be a dotted path,
`mycards.agents.Greedy:level:3`. A factory is called as factory(game, **options) and returns an agent, or the text of
one. One that takes `resolve` is given `load_agent`, to make the agents that its options name. A class with `build` is
made from the options and builds the agent, as searches do.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import Parameter, signature
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

from cardlab.agents.policy_descriptions import game_for
from cardlab.agents.specs import (
    ADDRESS,
    CHAMPION,
    InvalidAgent,
    name_and_options,
    no_agent,
    policy_folder,
    policy_hint,
    split_name,
)
from cardlab.core.messages import InvalidOption
from cardlab.core.options import checked
from cardlab.core.parts import find_object, find_place, is_dotted
from cardlab.games.agent_protocol import Agent, agent_text
from cardlab.games.make_game import check_game
from cardlab.games.protocol import Game

AgentFactory = Callable[..., Agent]

AGENTS = {
    "random": ".exploration:RandomAgent",
    "monte_carlo": ".search.options:MonteCarloOptions",
    "expectimax": ".search.options:ExpectimaxOptions",
    "tree": ".search.options:TreeOptions",
    "puct": ".search.options:PuctOptions",
    "endgame": ".search_agent:make_endgame",
}
"""The agents of every game: name → place, as in the mapping `agents` of a game's class."""


def agent_names(game: Game) -> list[str]:
    """The names of the agents that play `game` without training."""
    return [*AGENTS, *_own_agents(game)]


def agent_factory(game: Game, name: str) -> AgentFactory:
    """The factory of the agent `name`, or at a dotted path; KeyError when `game` has none of this name."""
    own = _own_agents(game)
    if name in own:
        return cast(AgentFactory, find_place(game, own[name]))
    return cast(AgentFactory, find_place(__name__, AGENTS[name]) if name in AGENTS else find_object("agent", name))


def make_agent(game: Game, text: str, **options: Any) -> Agent:
    """The agent written as `text`, with `options` beside those in the text."""
    name, written = split_name(text)
    names = agent_names(game)
    if name not in names and not is_dotted(name):
        raise no_agent(text, f"one of {', '.join(names)} for {game.spec.name}{_near(name, names)}")
    factory, given = agent_factory(game, name), {**written, **options}
    if hasattr(factory, "build"):  # the options of a search
        return _build(factory, game, text, given)
    hints = _known_options(factory, text, name, given)
    resolve = {"resolve": load_agent} if "resolve" in signature(factory).parameters else {}
    with _errors_of(text):
        try:
            given |= {key: checked(f"agent.{key}", given[key], hint) for key, hint in hints.items() if key in given}
            made = factory(game, **given, **resolve)
        except TypeError as error:
            raise no_agent(text, f"{name} with options and values that it can take") from error
    return make_agent(game, made) if isinstance(made, str) else made


def _build(options: Any, game: Game, text: str, given: Mapping[str, Any]) -> Agent:
    with _errors_of(text):
        return options(**given).build(game, load_agent)


@contextmanager
def _errors_of(text: str) -> Generator[None]:
    """Inside, errors of options are those of the agent `text`."""
    try:
        yield
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
        raise no_agent(text, "a text or a policy's folder")
    text = fspath(text)
    name, written = name_and_options(text)
    scripted = _is_scripted(game, name)
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
    raise no_agent(text, f"{allowed}{', '.join(known)} for {game.spec.name}{advice}")


def own_folder(game: Game, text: str) -> Path | None:
    """The folder of the policy that `text` names, fetched if need be; None for a scripted agent, and for a search."""
    name, _ = name_and_options(text)
    return None if _is_scripted(game, name) else policy_folder(text, game.spec.name)


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


def _own_agents(game: Game) -> Mapping[str, str]:
    return getattr(cast(Any, game), "agents", {})


def _is_scripted(game: Game, name: str) -> bool:
    """Whether `name` is that of an agent made without a policy's folder; a folder comes before a dotted path."""
    return name in agent_names(game) or (is_dotted(name) and not Path(name).exists())


def _known_options(factory: AgentFactory, text: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The types of the factory's options; InvalidOption for one it lacks: factories with **options check their own."""
    _, *parameters = signature(factory).parameters.values()  # behind the game
    hints = {parameter.name: parameter.annotation for parameter in parameters if parameter.name != "resolve"}
    if given.keys() - hints.keys() and all(parameter.kind is not Parameter.VAR_KEYWORD for parameter in parameters):
        raise no_agent(text, f"{name} with {'options ' + ', '.join(hints) if hints else 'no options'}")
    return hints
