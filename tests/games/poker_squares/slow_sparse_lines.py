"""Plain reference for the sparse line features of games/poker_squares/sparse_lines.py."""

from collections import Counter

RUNS = [[(start + step - 1) % 13 for step in range(5)] for start in range(10)]


def cells_of(line):
    return [5 * line + step if line < 5 else 5 * step + line - 5 for step in range(5)]


def cards_of(grid, line):
    return [grid[cell] for cell in cells_of(line) if grid[cell] >= 0]


def is_suited(cards, least=1):
    return len(cards) >= least and len({card % 4 for card in cards}) == 1


def is_paired(cards):
    return len({card // 4 for card in cards}) < len(cards)


def collects(cards):
    """Whether the line counts as suited for other lines."""
    return 2 <= len(cards) < 5 and is_suited(cards)


class LineView:
    """One line, its cards, the unseen cards, and the other lines before the card."""

    def __init__(self, grid, line, card, turn, *, with_card):
        seen = [placed for placed in grid if placed >= 0] + ([card] if card >= 0 else [])
        self.unseen = [other for other in range(52) if other not in seen]
        self.way, self.period, self.epoch, self.turn = line // 5, turn // 4, turn // 6, turn
        self.cards = cards_of(grid, line) + ([card] if with_card else [])
        self.size = len(self.cards)
        self.ranks = Counter(held // 4 for held in self.cards)
        self.suited, self.paired = is_suited(self.cards), is_paired(self.cards)
        open_lines = {other: cards_of(grid, other) for other in range(10) if len(cards_of(grid, other)) < 5}
        self.rivals = [held for other, held in open_lines.items() if other // 5 == self.way and other != line]
        self.across = [held for other, held in open_lines.items() if other // 5 != self.way]
        cross = crosser(self.way)
        self.crossing = [cards_of(grid, cross(cell)) for cell in cells_of(line) if grid[cell] < 0]

    def left(self, rank):
        """Unseen cards of a rank."""
        return sum(other // 4 == rank for other in self.unseen)

    @property
    def group(self):
        equal = tuple(sorted(count for count in self.ranks.values() if count > 1))
        return {(): 0, (2,): 1, (2, 2): 2, (3,): 3, (2, 3): 3, (4,): 4}[equal]


def features_of(grid, line, card, turn, *, with_card):
    """Name → components as in SPARSE_FEATURE_SIZES, most significant first."""
    view = LineView(grid, line, card, turn, with_card=with_card)
    codes = {
        "place": (view.way, turn, view.size),
        "kind": (view.period, view.size, view.group, int(view.suited)),
        **suit_features(view),
        **rank_features(view),
        **other_line_features(view),
    }
    copies, straight, flush_too = copies_of(view), *straight_of(view)
    completed = 359
    if view.size == 4 and view.paired:
        completed = 330 + view.group * 5 + copies
    elif view.size == 4:
        completed = (min(of_suit(view), 9) if view.suited else 10) * 30 + straight * 5 + copies
    return codes | {
        "copies": (view.period, view.group, copies),
        "straight": (view.period, view.size, straight),
        "straight_flush": (view.period, view.size, flush_too),
        "last_card": (view.epoch, completed),
    }


def of_suit(view):
    return sum(other % 4 == view.cards[0] % 4 for other in view.unseen)


def suit_features(view):
    spare = left = across = crossing = 0
    if view.suited:
        mine = [collects(held) and held[0] % 4 == view.cards[0] % 4 for held in view.across]
        wanted = sum(5 - len(held) for held in view.rivals if collects(held) and held[0] % 4 == view.cards[0] % 4)
        over = of_suit(view) - (5 - view.size)
        spare, left, across = between(over, -1, 8) + 1, between(over - wanted, -5, 7) + 5, min(sum(mine), 3)
        crossing = sum(collects(held) and held[0] % 4 == view.cards[0] % 4 for held in view.crossing)
    return {
        "suit_spare": (view.period, view.size, spare),
        "suit_left": (view.period, view.size, left),
        "suit_crossing": (view.period, view.size, across),
        "crossing_suit": (view.epoch, int(view.suited), crossing),
    }


def rank_features(view):
    most = sorted(((count, view.left(rank), rank) for rank, count in view.ranks.items()), reverse=True)
    first = (most[0][0] - 1, most[0][1]) if most else (0, 0)
    second = (most[1][0] - 1, most[1][1], holders(view.rivals, most[1][2])) if len(most) > 1 else (0, 0, 0)
    return {
        "rank": (view.epoch, *first, holders(view.rivals, most[0][2]) if most else 0),
        "rank_crossing": (view.period, *first, holders(view.across, most[0][2]) if most else 0),
        "second_rank": (view.period, *second),
    }


def copies_of(view):
    making = [rank for rank, count in view.ranks.items() if count > 1 or not view.paired]
    copies, wanted = sum(map(view.left, making)), sum(4 - view.ranks[rank] for rank in making)
    if view.paired:
        return min(copies, 4)
    return -(-4 * copies // wanted) if wanted else 0


def straight_of(view):
    """Level by runs or completing cards, and whether a straight flush is possible."""
    if not view.cards or view.paired:
        return 0, 0
    runs = [run for run in RUNS if set(view.ranks) <= set(run)]
    live = [run for run in runs if all(rank in view.ranks or view.left(rank) for rank in run)]
    flush_too = view.suited and any(completes(run, view.ranks, view.cards[0] % 4, view.unseen) for run in runs)
    outs = sum(view.left(rank) for run in live for rank in run if rank not in view.ranks)
    return min((outs + 1) // 2 if view.size == 4 else len(live), 5), int(flush_too)


def other_line_features(view):
    suited, empty = sum(map(collects, view.rivals)), sum(not held for held in view.rivals)
    sharing = sum(any(held // 4 in view.ranks for held in cards) for cards in view.crossing)
    return {
        "parallel_lines": (view.size, suited, empty),
        "parallel_suited": (view.period, int(view.suited), suited, view.way),
        "crossing_cards": (view.way, view.size, min(sum(map(len, view.crossing)) // 2, 10)),
        "crossings": (view.epoch, view.size, sharing, sum(map(is_paired, view.crossing))),
        "others": (suited, empty, sum(map(collects, view.across)), view.epoch),
    }


def holders(lines, rank):
    """Lines that hold a rank, at most 2."""
    return min(sum(any(held // 4 == rank for held in cards) for cards in lines), 2)


def crosser(way):
    """Cell → its line of the other orientation."""
    return (lambda cell: 5 + cell % 5) if way == 0 else (lambda cell: cell // 5)


def completes(run, ranks, suit, unseen):
    return all(rank in ranks or 4 * rank + suit in unseen for rank in run)


def between(number, low, high):
    return max(low, min(number, high))


def index_of(numbers, sizes):
    """Index of `numbers` in an array of `sizes`; raises if out of range."""
    assert len(numbers) == len(sizes)
    assert all(0 <= number < size for number, size in zip(numbers, sizes, strict=True)), (numbers, sizes)
    place = 0
    for number, size in zip(numbers, sizes, strict=True):
        place = place * size + number
    return place
