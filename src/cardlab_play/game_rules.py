"""The rules of each game for players: goal, moves, scoring and a worked example. Figures come from the games."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from cardlab.games.big2.rules import loser_payment
from cardlab.games.cards.deck import parse_card
from cardlab.games.cards.hands import CATEGORIES, front_codes
from cardlab.games.open_face.royalties import BACK_ROYALTIES, MIDDLE_ROYALTIES, royalty
from cardlab.games.open_face.rules import FOUL, NUM_ROWS
from cardlab.games.poker_squares.game import SCORING
from cardlab.games.thirty_one.hand_scores import BEST_SCORE, card_value
from cardlab_play.offered_games import OFFERED_GAMES
from cardlab_play.views.protocol import Json

_RANKS = "23456789TJQKA"


@dataclass(frozen=True)
class RulesSection:
    """A heading with paragraphs, and a table below them: its head and its rows. Cards are written as `Td`."""

    title: str
    paragraphs: Sequence[str]
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str | int]] = ()


def rules_message(game: str) -> Json:
    """Title of `game` and the sections of its rules."""
    return {
        "game": game,
        "title": OFFERED_GAMES[game].title,
        "sections": [asdict(section) for section in _RULES[game]()],
    }


def _poker_squares() -> list[RulesSection]:
    american, british = SCORING["american"], SCORING["british"]
    points = dict(zip(CATEGORIES, american, strict=True))
    row, column = points["two pair"], points["flush"]
    return [
        RulesSection(
            "Goal",
            [
                "Fill a grid of five rows and five columns with 25 cards. Each row and each column scores as a poker "
                "hand. Score more than par: the points of an agent that plays the same cards."
            ],
        ),
        RulesSection(
            "Play",
            [
                "Cards turn up one by one. Put each on any empty cell. A card never moves again.",
                "The order of the cards in a line does not matter. An ace is high or low in a straight.",
            ],
        ),
        RulesSection(
            "Scoring",
            ["Points of a line. Pairs and more of a kind count at once, other hands with five cards."],
            ("Line", "American", "British"),
            list(zip(CATEGORIES, american, british, strict=True)),
        ),
        RulesSection(
            "Example",
            [
                f"The row 9c 9d 4h 4s Kd is two pair: {row} points (American). The column 9c 2c 7c Jc Ac is a flush: "
                f"{column}. The 9c is in both lines and counts twice: {row + column} points together."
            ],
        ),
    ]


def _thirty_one() -> list[RulesSection]:
    hand = [card_value(parse_card(card)) for card in ("As", "Ks", "4h")]
    swapped = hand[0] + hand[1] + card_value(parse_card("9s"))
    return [
        RulesSection("Goal", ["Be the last player with a life. Each round the lowest hand loses one."]),
        RulesSection(
            "Your turn",
            [
                "You hold three cards. Do one of three things:",
                "Draw: take the top card of the stock. Swap it for one of yours, or discard it.",
                "Take: take the top card of the discard pile. You must swap it for one of yours.",
                "Call: end the round. All others have one more turn, then all hands are shown. A call at the very "
                "first turn of a round ends it at once.",
            ],
        ),
        RulesSection(
            "Scoring",
            [f"A hand scores the sum of its best suit, at most {BEST_SCORE}."],
            ("Card", "Value"),
            [
                ("ace", card_value(parse_card("As"))),
                ("king, queen, jack, 10", card_value(parse_card("Ks"))),
                ("2 to 9", "its number"),
            ],
        ),
        RulesSection(
            "Lives",
            [
                "The lowest hand loses a life, and so do all that tie for it. If you called and are lowest, you lose "
                "2.",
                f"If a player shows {BEST_SCORE}, all others lose a life instead. A player without lives is out.",
            ],
        ),
        RulesSection(
            "Example",
            [
                f"As Ks 4h scores {hand[0]} + {hand[1]} = {hand[0] + hand[1]} in spades; the 4h does not count. "
                f"With 9s in its place the hand scores {swapped}, and a call is safe against most hands."
            ],
        ),
    ]


def _five_o() -> list[RulesSection]:
    return [
        RulesSection("Goal", ["Win three of five columns. Each column is a poker hand against the column opposite."]),
        RulesSection(
            "Play",
            [
                "Both players start with one card in each column. In turn each takes the next card and puts it on one "
                "of the own columns.",
                "A column takes its next card only when it has no more cards than the others: all columns take their "
                "second card before one takes its third.",
                "In the hidden round (the fifth card of a column, or the fourth by choice) cards lie face down for the "
                "opponent. All cards are shown at the end.",
            ],
        ),
        RulesSection(
            "Scoring",
            [
                "The better hand wins a column; a tie counts for neither. Three columns win the game. Any other "
                "result is a tie.",
                f"Hands from the weakest: {', '.join(CATEGORIES)}.",
            ],
        ),
        RulesSection(
            "Example",
            [
                "Your column 9c 9d 4h 4s Kd (two pair) beats Ac Ad Qh 7s 2c (a pair) opposite. With two such columns "
                "and one tie you need one more column."
            ],
        ),
    ]


def _open_face() -> list[RulesSection]:
    kinds = [
        (name, int(middle) or "–", int(back) or "–")
        for name, middle, back in zip(CATEGORIES, MIDDLE_ROYALTIES, BACK_ROYALTIES, strict=True)
        if middle or back
    ]
    front, back = front_royalty("Q", 2), int(BACK_ROYALTIES[CATEGORIES.index("flush")])
    scoop = FOUL - NUM_ROWS
    return [
        RulesSection(
            "Goal",
            [
                "Lay out 13 cards in three rows that beat the opponent's: a front of 3 cards, a middle and a back of "
                "5. The back must be at least as strong as the middle, and the middle as the front."
            ],
        ),
        RulesSection(
            "Play",
            [
                "Each player first places five cards, then one card at a time in turn. All cards are face up. A card "
                "never moves again. A front has no straights and no flushes."
            ],
        ),
        RulesSection(
            "Scoring",
            [
                f"Each row won is 1 point, and all three rows are {scoop} more. Royalties of both boards are added.",
                f"A foul is a board whose rows are in the wrong order. It pays {FOUL} points and the opponent's "
                "royalties, and loses its own royalties. If both foul, neither pays.",
            ],
            ("Royalties", "Middle", "Back"),
            kinds,
        ),
        RulesSection(
            "Royalties of the front",
            ["A pair from sixes up, or three of a kind:"],
            ("Rank", "Pair", "Three"),
            [(rank.replace("T", "10"), front_royalty(rank, 2) or "–", front_royalty(rank, 3)) for rank in _RANKS],
        ),
        RulesSection(
            "Example",
            [
                f"Qh Qs 4d in front earns {front}, a flush in the back {back}. You win front and back and lose the "
                f"middle: 2 − 1 + {front} + {back} = {1 + front + back} points, if the opponent has no royalties. With "
                f"only a pair of tens in the middle the board is a foul: −{FOUL} points."
            ],
        ),
    ]


def front_royalty(rank: str, count: int) -> int:
    """Royalty of a front with `count` (2 or 3) cards of `rank` (`2` to `A`)."""
    kicker = "3s" if rank == "2" else "2s"
    cards = [rank + suit for suit in "cdh"[:count]] + [kicker] * (3 - count)
    return int(royalty(int(front_codes(np.array([[parse_card(card) for card in cards]]))[0]), 0))


def _big2() -> list[RulesSection]:
    left = (2, 5, 11)
    paid = [loser_payment(count, False) for count in left]
    return [
        RulesSection("Goal", ["Be the first of four players to play all 13 cards."]),
        RulesSection(
            "Play",
            [
                "Ranks from the lowest: 3 4 5 6 7 8 9 10 J Q K A 2. Suits from the lowest: diamonds, clubs, hearts, "
                "spades. The 3d opens: it is played at once, or by choice its holder leads any hand with it.",
                "Play a better hand with as many cards as the last one, or pass. You may play again after a pass. "
                "After three passes the last player leads any hand.",
            ],
            ("Cards", "Hands, from the weakest"),
            [
                (1, "single: by rank, then suit"),
                (2, "pair"),
                (3, "three of a kind"),
                (4, "two pair, four of a kind"),
                (5, "straight (34567 to JQKA2), flush, full house, straight flush"),
            ],
        ),
        RulesSection(
            "Penalties",
            ["Each loser pays for the cards left. The winner gets the sum."],
            ("Cards left", "Count one each", "Count double from ten"),
            [(count, loser_payment(count, False), loser_payment(count, True)) for count in (1, 9, 10, 12, 13)],
        ),
        RulesSection(
            "Example",
            [
                f"You play your last card. The others hold {left[0]}, {left[1]} and {left[2]} cards and pay {paid[0]}, "
                f"{paid[1]} and {paid[2]}: you win {sum(paid)} points. If cards count double from ten, the third pays "
                f"{loser_payment(left[2], True)}."
            ],
        ),
    ]


_RULES: Mapping[str, Callable[[], list[RulesSection]]] = {
    "poker_squares": _poker_squares,
    "thirty_one": _thirty_one,
    "five_o": _five_o,
    "open_face": _open_face,
    "big2": _big2,
}
