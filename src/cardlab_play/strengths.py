"""How strong agents are, in words: from the evaluations of the champions and of the policies of the benchmark."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from cardlab.agents.policy_paths import CHAMPION, SEED, champion_folder
from cardlab.games.protocol import Game
from cardlab_play.offered_games import LEVEL_TITLES, OFFERED_GAMES

OWN_SCORE = "self"  # the reference that holds an agent's own score, in games of one player


def strength_text(game: Game, agent: str, models: Path) -> str | None:
    """How an offered agent does against the strongest reference, or the champion against it. None without figures."""
    evaluation = _evaluation(game.spec.name, Path(agent), models)
    if evaluation is not None:
        return _of_policy(game, evaluation["references"])
    champion = _read((champion_folder(game.spec.name) or Path()) / "evaluation.json")
    figures = champion and champion["references"].get(agent)
    if not figures:
        return "Plays at random" if agent == "random" else None
    if game.spec.num_players == 1:
        return f"Scores {_points(figures)} a game"
    rivals = "it" if game.spec.num_players == 2 else f"{_number(game)} of them"
    return f"The champion wins {_percent(figures['win_rate'])} against {rivals}{_suffix(game, figures)}"


def _of_policy(game: Game, references: dict[str, Any]) -> str | None:
    if game.spec.num_players == 1:
        return f"Scores {_points(references[OWN_SCORE])} a game" if OWN_SCORE in references else None
    name = min(references, key=lambda reference: references[reference]["mean"])
    one = game.spec.num_players == 2
    rivals = f"{'an opponent' if one else f'{_number(game)} opponents'} {_rival(game, name)}"
    return f"Wins {_percent(references[name]['win_rate'])} against {rivals}{_suffix(game, references[name])}"


def _rival(game: Game, reference: str) -> str:
    """What a reference is to a player: its level where it is one."""
    levels = dict(zip(OFFERED_GAMES[game.spec.name].levels, LEVEL_TITLES, strict=True))
    if reference in levels:
        return f"of the level {levels[reference]}"
    if reference.startswith("threshold:level:"):
        return f"calling from {reference.rpartition(':')[2]} points on"
    return f"named {reference.replace('_', ' ').replace(':', ' ')}"


def _number(game: Game) -> str:
    """`three` where the evaluation has three opponents."""
    return ("one", "two", "three")[game.spec.num_players - 2]


def _percent(share: float) -> str:
    """As the page writes it: `45 %`."""
    return f"{share:.0%}".replace("%", " %")


def _suffix(game: Game, figures: dict[str, Any]) -> str:
    """The points of a game, and the number of players or the rate of equal ones, where that is not plain."""
    offered = OFFERED_GAMES[game.spec.name]
    points = "" if offered.prize else f", {_points(figures, signed=True)} a game"
    if any(option.key == "num_players" for option in offered.options):
        return f"{points} ({game.spec.num_players} players)"
    equal = "" if game.spec.num_players == 2 else f" (equal players: {_percent(1 / game.spec.num_players)} each)"
    return points + equal


def _points(figures: dict[str, Any], *, signed: bool = False) -> str:
    mean = f"{round(figures['mean'], 1) + 0.0:{'+' if signed else ''}.1f}".replace("-", "−")
    return f"{mean} ± {(figures['high'] - figures['low']) / 2:.1f} points"


def _evaluation(name: str, agent: Path, models: Path) -> dict[str, Any] | None:
    """The evaluation of the champion, or of a policy in `models`: the file of its experiment in results/ beside it."""
    if str(agent) == CHAMPION:
        return _read((champion_folder(name) or Path()) / "evaluation.json")
    if not agent.is_relative_to(models):
        return None
    experiment = agent.relative_to(models).parts[0]
    evaluation = _read(models.absolute().parent / "results" / experiment / "evaluation.json")
    by_seed = {} if evaluation is None else evaluation.get("by_seed", {})
    return by_seed.get(agent.name.removeprefix(SEED), evaluation)


def _read(path: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        return json.loads(path.read_text("utf-8"))
    return None
