"""The rules of each game for players, from rules/GAME.yaml: goal, moves, scoring and a worked example.

Figures in braces, and the rows of tables that are named there, come from the games.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from cardlab.games.big2.rules import loser_payment
from cardlab.games.cards.deck import parse_card
from cardlab.games.cards.hands import CATEGORIES, front_codes
from cardlab.games.open_face.royalties import BACK_ROYALTIES, MIDDLE_ROYALTIES, royalty
from cardlab.games.open_face.rules import FOUL, NUM_ROWS
from cardlab.games.poker_squares.game import SCORING
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.hand_scores import BEST_SCORE, card_value
from cardlab_play.offered_games import OFFERED_GAMES
from cardlab_play.views.protocol import Json

_RANKS = "23456789TJQKA"
_HANDS = f"Hands from the weakest: {', '.join(CATEGORIES)}."
_FOLDER = Path(__file__).parent / "rules"


def rules_message(game: str) -> Json:
    """Title of `game` and its rules: sections of a title, paragraphs, and a table's head and rows. Cards are `Td`."""
    figures = _FIGURES[game]()
    sections: list[dict[str, Any]] = yaml.safe_load((_FOLDER / f"{game}.yaml").read_text("utf-8"))
    for section in sections:
        rows = section.get("rows", [])
        section |= {
            "paragraphs": [text.format(**figures) for text in section["paragraphs"]],
            "head": section.get("head", []),
            "rows": figures[rows] if isinstance(rows, str) else rows,
        }
    return {"game": game, "title": OFFERED_GAMES[game].title, "sections": sections}


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
