"""The games on the page: titles, selectable options and scripted agents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardlab.core.messages import unknown_key
from cardlab.core.options import check_choice
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game


@dataclass(frozen=True)
class GameOption:
    """A selectable option of a game. The first value is the default."""

    key: str
    title: str
    values: tuple[int | str, ...]
    labels: tuple[str, ...] = ()  # of the values; empty: the numbers are the labels


@dataclass(frozen=True)
class OfferedGame:
    """A game on the page."""

    title: str
    unit: str  # of results
    options: tuple[GameOption, ...]
    agents: tuple[str, ...]  # scripted agents, the strongest first
    levels: tuple[str, ...]  # those of the levels between the beginner and the champion, the weakest first
    prize: str = ""  # what is won or lost; empty: points are


LEVEL_TITLES = ("Easy", "Medium")  # of the scripted agents in `levels`


OFFERED_GAMES: Mapping[str, OfferedGame] = {
    "big2": OfferedGame(
        "Big 2",
        "points",
        (
            GameOption(
                "opening", "The 3 of diamonds", ("forced", "choose"), ("is played at once", "opens in any hand")
            ),
            GameOption(
                "penalty", "Cards left", ("plain", "doubled"), ("count one each", "count double from 10, triple at 13")
            ),
            GameOption(
                "straight_flush", "Straight flushes", ("ranked", "unbeatable"), ("beat lower ones", "beat everything")
            ),
        ),
        ("planner", "greedy", "lowest"),
        ("greedy", "planner"),
    ),
    "thirty_one": OfferedGame(
        "Thirty-One",
        "share of matches won",
        (
            GameOption("num_players", "Players", tuple(range(2, 10))),
            GameOption("lives", "Lives", (3, 1, 2, 4, 5)),
        ),
        ("greedy", "threshold", "greedy_stock_only"),
        ("greedy_stock_only", "greedy"),
        "match",
    ),
    "five_o": OfferedGame(
        "Five-O",
        "share of games won",
        (GameOption("hidden_round", "Hidden round", (5, 4)),),
        ("reflex_3", "greedy_2", "reflex_2", "fast_greedy_2", "reflex_1", "greedy_1"),
        ("reflex_1", "reflex_3"),
        "game",
    ),
    "open_face": OfferedGame(
        "Open-face Chinese Poker",
        "points",
        (),
        ("greedy_start", "hindsight_fills", "random_fills"),
        ("random_fills", "hindsight_fills"),
    ),
    "poker_squares": OfferedGame(
        "Poker Squares",
        "points more than the agent on the same deal",
        (GameOption("scoring", "Scoring", ("american", "british"), ("American", "British")),),
        ("tables", "flush"),
        ("flush", "tables"),
    ),
}


def make_offered_game(name: str, options: Mapping[str, Any]) -> tuple[Game, dict[str, Any]]:
    """The game `name` and the values of its offered options. Raises InvalidOption for other options or values."""
    check_choice("game", name, list(OFFERED_GAMES))
    offered = {option.key: option for option in OFFERED_GAMES[name].options}
    for key, value in options.items():
        if key not in offered:
            raise unknown_key(f"options.{key}", value, [f"options.{known}" for known in offered])
        check_choice(f"options.{key}", value, offered[key].values)
    chosen = {key: options.get(key, option.values[0]) for key, option in offered.items()}
    return make_game(name, **chosen), chosen
