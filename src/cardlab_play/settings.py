"""The games as the page offers them: their titles, and the options that a person may choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import GAMES, make_game
from cardlab.games.protocol import Game


@dataclass(frozen=True)
class Choice:
    """An option of a game, with its values; the first is the default."""

    key: str
    title: str
    values: tuple[int | str, ...]
    words: tuple[str, ...] = ()  # of the values; none for numbers, which speak for themselves


@dataclass(frozen=True)
class Setting:
    """One game on the page."""

    title: str
    unit: str  # of results
    choices: tuple[Choice, ...]
    agents: tuple[str, ...]  # scripted ones, the strongest first
    trusts_values: bool = True  # False: agents are trained on another reward than the payoff


SETTINGS: Mapping[str, Setting] = {
    "big2": Setting(
        "Big 2",
        "points",
        (
            Choice("opening", "The 3 of diamonds", ("forced", "choose"), ("is played at once", "opens in any hand")),
            Choice("penalty", "Cards left", ("plain", "doubled"), ("count one each", "count double from ten")),
            Choice(
                "straight_flush", "Straight flushes", ("ranked", "unbeatable"), ("beat lower ones", "beat everything")
            ),
        ),
        ("planner", "greedy", "lowest"),
    ),
    "thirty_one": Setting(
        "Thirty-One",
        "share of the match: 1 for a lone win",
        (
            Choice("num_players", "Players", tuple(range(2, 10))),
            Choice("lives", "Lives", (3, 1, 2, 4, 5)),
        ),
        ("greedy", "threshold", "greedy_stock_only"),
        trusts_values=False,  # they learn from single rounds
    ),
    "five_o": Setting(
        "Five-O",
        "games won less games lost",
        (Choice("hidden_round", "Hidden round", (5, 4)),),
        ("fast_greedy_2", "greedy_2", "greedy_1", "reflex_3", "reflex_2", "reflex_1"),
    ),
    "open_face": Setting("Open-face Chinese Poker", "points", (), ("greedy_start", "hindsight_fills", "random_fills")),
    "poker_squares": Setting(
        "Poker Squares",
        "points more than par",
        (Choice("scoring", "Scoring", ("american", "british"), ("American", "British")),),
        ("tables", "flush"),
    ),
}


def game_of(name: str, options: Mapping[str, Any]) -> tuple[Game, dict[str, Any]]:
    """The game `name` and all its options that can be chosen; InvalidOption for what is not offered."""
    if name not in SETTINGS or name not in GAMES:
        raise InvalidOption("game", name, f"one of {', '.join(SETTINGS)}")
    choices = {choice.key: choice for choice in SETTINGS[name].choices}
    for key, value in options.items():
        if key not in choices:
            raise InvalidOption(f"options.{key}", value, f"left out: {name} takes {', '.join(choices) or 'no options'}")
        if not any(value == known and type(value) is type(known) for known in choices[key].values):
            raise InvalidOption(f"options.{key}", value, f"one of {', '.join(map(str, choices[key].values))}")
    chosen = {key: options.get(key, choice.values[0]) for key, choice in choices.items()}
    return make_game(name, **chosen), chosen
