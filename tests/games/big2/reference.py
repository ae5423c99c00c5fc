"""Big 2 written plainly from the sheet, with card texts and all subsets of a hand, to compare the kernels with."""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

RANKS = "3456789TJQKA2"
SUITS = "dchs"
ORDER = {rank + suit: (r, s) for r, rank in enumerate(RANKS) for s, suit in enumerate(SUITS)}
FIVE_CARD_KINDS = ["straight", "flush", "full house", "straight flush"]
FOUR_CARD_KINDS = ["two pair", "four"]


def order(card):
    """Sort key of a single card: by rank, then by suit."""
    return ORDER[card]


def in_order(cards):
    return sorted(cards, key=order)


def name(cards):
    """The kind of a set of cards, None when it is no hand."""
    return _name(tuple(cards))


@lru_cache(maxsize=1 << 17)  # the next hand of a player has the same sets
def _name(cards):
    cards = in_order(cards)
    shape = sorted(Counter(card[0] for card in cards).values())
    if len(cards) < 4:
        same = len(shape) == 1
        return {1: "single", 2: "pair", 3: "three"}[len(cards)] if same else None
    if len(cards) == 4:
        return {(4,): "four", (2, 2): "two pair"}.get(tuple(shape))
    flush = len({card[1] for card in cards}) == 1
    straight = "".join(card[0] for card in cards) in RANKS
    if straight and flush:
        return "straight flush"
    if flush:
        return "flush"
    if straight:
        return "straight"
    return "full house" if shape == [2, 3] else None


def deciding_card(cards):
    """The highest card; of a full house, the highest of its three."""
    if name(cards) == "full house":
        counts = Counter(card[0] for card in cards)
        cards = [card for card in cards if counts[card[0]] == 3]
    return in_order(cards)[-1]


def beats(cards, others, unbeatable=False):
    """Whether a hand may be played on another."""
    if len(cards) != len(others):
        return False
    kind, other = name(cards), name(others)
    if other == "straight flush" and unbeatable:
        return False
    for kinds in (FOUR_CARD_KINDS, FIVE_CARD_KINDS):
        if kind in kinds and kind != other:
            return kinds.index(kind) > kinds.index(other)
    return order(deciding_card(cards)) > order(deciding_card(others))


@dataclass
class Table:
    """One game: `hands` of four players; `trick` is the hand to beat, empty with control."""

    hands: list
    choose: bool = False
    unbeatable: bool = False
    trick: list = field(default_factory=list)
    passes: int = 0
    player: int = 0
    log: list = field(default_factory=list)  # (player, cards) in order, [] for a pass

    def __post_init__(self):
        self.hands = [in_order(hand) for hand in self.hands]
        self.player = next(player for player in range(4) if "3d" in self.hands[player])
        if not self.choose:
            self.play(["3d"])

    @property
    def over(self):
        return any(not hand for hand in self.hands)

    def allowed(self, cards):
        if "3d" in self.hands[self.player] and "3d" not in cards:
            return False
        return not self.trick or beats(cards, self.trick, self.unbeatable)

    def legal(self):
        """Every hand that may be played, as positions in the sorted hand; () for the pass."""
        hand = self.hands[self.player]
        found = [()] if self.trick else []
        for size in range(1, 6):
            for positions in combinations(range(len(hand)), size):
                cards = [hand[position] for position in positions]
                if name(cards) and self.allowed(cards):
                    found.append(positions)
        return found

    def play(self, cards):
        self.log.append((self.player, list(cards)))
        if cards:
            self.hands[self.player] = [card for card in self.hands[self.player] if card not in cards]
            self.trick, self.passes = list(cards), 0
        else:
            self.passes += 1
            if self.passes == 3:
                self.trick, self.passes = [], 0
        self.player = (self.player + 1) % 4

    def payoffs(self, doubled=False):
        prices = []
        for hand in self.hands:
            times = 1
            if doubled and len(hand) == 13:
                times = 3
            elif doubled and len(hand) >= 10:
                times = 2
            prices.append(times * len(hand))
        return [-price if price else sum(prices) for price in prices]
