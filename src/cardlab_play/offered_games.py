"""The games on the page: titles, rules, selectable options and scripted agents."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from cardlab.core.messages import unknown_key
from cardlab.core.options import check_choice
from cardlab.core.parts import own_files, project_folder
from cardlab.games.big2.rules import loser_payment
from cardlab.games.cards.deck import parse_card
from cardlab.games.cards.hands import CATEGORIES, front_codes
from cardlab.games.make_game import make_game
from cardlab.games.open_face.royalties import BACK_ROYALTIES, MIDDLE_ROYALTIES, royalty
from cardlab.games.open_face.rules import FOUL, NUM_ROWS
from cardlab.games.poker_squares.game import SCORING
from cardlab.games.protocol import Game
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.record import BEST_SCORE, card_value
from cardlab_play.views.protocol import Json


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


def offered_games() -> Mapping[str, OfferedGame]:
    """The games on the page: those of cardlab, and the project's own whose file is named as their spec."""
    return {**OFFERED_GAMES, **_own_games(project_folder())}


@cache
def _own_games(_: Path | None) -> Mapping[str, OfferedGame]:
    names = [path.stem for group, path, _ in own_files() if group == "game" and path.stem not in OFFERED_GAMES]
    own = [name for name in names if make_game(name).spec.name == name]
    return {name: OfferedGame(name.replace("_", " ").capitalize(), "points", (), (), ()) for name in own}


def make_offered_game(name: str, options: Mapping[str, Any]) -> tuple[Game, dict[str, Any]]:
    """The game `name` and the values of its offered options. Raises InvalidOption for other options or values."""
    check_choice("game", name, list(offered_games()))
    offered = {option.key: option for option in offered_games()[name].options}
    for key, value in options.items():
        if key not in offered:
            raise unknown_key(f"options.{key}", value, [f"options.{known}" for known in offered])
        check_choice(f"options.{key}", value, offered[key].values)
    chosen = {key: options.get(key, option.values[0]) for key, option in offered.items()}
    return make_game(name, **chosen), chosen


_RANKS = "23456789TJQKA"
_HANDS = f"Hands from the weakest: {', '.join(CATEGORIES)}."
_FOLDER = Path(__file__).parent / "rules"


def rules_message(game: str) -> Json:
    """Title of `game` and its rules: sections of a title, paragraphs, and a table's head and rows. Cards are `Td`.

    Those of a game of the project are the docstring of its class.
    """
    if game not in _FIGURES:
        text = getdoc(type(make_game(game))) or "Its class has no docstring."
        own = {"title": "The game", "paragraphs": text.split("\n\n"), "head": [], "rows": []}
        return {"game": game, "title": offered_games()[game].title, "sections": [own]}
    figures = _FIGURES[game]()
    sections: list[dict[str, Any]] = yaml.safe_load((_FOLDER / f"{game}.yaml").read_text("utf-8"))
    for section in sections:
        rows = section.get("rows", [])
        section |= {
            "paragraphs": [text.format(**figures) for text in section["paragraphs"]],
            "head": section.get("head", []),
            "rows": figures[rows] if isinstance(rows, str) else rows,
        }
    return {"game": game, "title": offered_games()[game].title, "sections": sections}


def _poker_squares() -> dict[str, Any]:
    american, british = SCORING["american"], SCORING["british"]
    points = dict(zip(CATEGORIES, american, strict=True))
    row, column = points["two pair"], points["flush"]
    scoring = list(zip(CATEGORIES, american, british, strict=True))
    return {"row": row, "column": column, "both": row + column, "scoring": scoring}


def _thirty_one() -> dict[str, Any]:
    ace, king, nine = (card_value(parse_card(card)) for card in ("As", "Ks", "9s"))
    return {
        "ace": ace,
        "king": king,
        "hand": ace + king,
        "swapped": ace + king + nine,
        "best": BEST_SCORE,
        "max_turns": ThirtyOne().max_turns,
        "max_rounds": ThirtyOne().max_rounds,
        "scoring": [("ace", ace), ("king, queen, jack, 10", king), ("2 to 9", "its number")],
    }


def _open_face() -> dict[str, Any]:
    front, back = front_royalty("Q", 2), int(BACK_ROYALTIES[CATEGORIES.index("flush")])
    rows = zip(CATEGORIES, MIDDLE_ROYALTIES, BACK_ROYALTIES, strict=True)
    fronts = [(rank.replace("T", "10"), front_royalty(rank, 2) or "–", front_royalty(rank, 3)) for rank in _RANKS]
    return {
        "hands": _HANDS,
        "scoop": FOUL - NUM_ROWS,
        "foul": FOUL,
        "front": front,
        "back": back,
        "won": 1 + front + back,
        "scoring": [(name, int(middle) or "–", int(back) or "–") for name, middle, back in rows if middle or back],
        "royalties_of_the_front": fronts,
    }


def front_royalty(rank: str, count: int) -> int:
    """Royalty of a front with `count` (2 or 3) cards of `rank` (`2` to `A`)."""
    kicker = "3s" if rank == "2" else "2s"
    cards = [rank + suit for suit in "cdh"[:count]] + [kicker] * (3 - count)
    return int(royalty(int(front_codes(np.array([[parse_card(card) for card in cards]]))[0]), 0))


def _big2() -> dict[str, Any]:
    left = (2, 5, 11)
    paid = [loser_payment(count, False) for count in left]
    return {
        **{f"left_{place}": count for place, count in enumerate(left)},
        **{f"paid_{place}": points for place, points in enumerate(paid)},
        "paid": sum(paid),
        "doubled": loser_payment(left[2], True),
        "penalties": [(count, loser_payment(count, False), loser_payment(count, True)) for count in (1, 9, 10, 12, 13)],
    }


_FIGURES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "poker_squares": _poker_squares,
    "thirty_one": _thirty_one,
    "five_o": lambda: {"hands": _HANDS},
    "open_face": _open_face,
    "big2": _big2,
}
