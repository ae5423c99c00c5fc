"""What a line is told by, read off lists of cards: the plain counterpart of games/poker_squares/sparse_lines.py."""

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
    """Whether others see a line as one that collects a suit."""
    return 2 <= len(cards) < 5 and is_suited(cards)


class Told:
    """One line, the cards in it, those not seen, and the other lines as they were before the card."""

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
        """Cards of a rank that are not seen."""
        return sum(other // 4 == rank for other in self.unseen)

    @property
    def group(self):
        equal = tuple(sorted(count for count in self.ranks.values() if count > 1))
        return {(): 0, (2,): 1, (2, 2): 2, (3,): 3, (2, 3): 3, (4,): 4}[equal]


def codes_of(grid, line, card, turn, *, with_card):
    """Name → the numbers that FIELDS describes, most significant first."""
    told = Told(grid, line, card, turn, with_card=with_card)
    codes = {
        "place": (told.way, turn, told.size),
        "kind": (told.period, told.size, told.group, int(told.suited)),
        **suit_codes(told),
        **rank_codes(told),
        **company_codes(told),
    }
    copies, straight, flush_too = copies_of(told), *straight_of(told)
    completed = 359
    if told.size == 4 and told.paired:
        completed = 330 + told.group * 5 + copies
    elif told.size == 4:
        completed = (min(of_suit(told), 9) if told.suited else 10) * 30 + straight * 5 + copies
    return codes | {
        "copies": (told.period, told.group, copies),
        "straight": (told.period, told.size, straight),
        "straight_flush": (told.period, told.size, flush_too),
        "last_card": (told.epoch, completed),
    }


def of_suit(told):
    return sum(other % 4 == told.cards[0] % 4 for other in told.unseen)


def suit_codes(told):
    spare = left = across = crossing = 0
    if told.suited:
        mine = [collects(held) and held[0] % 4 == told.cards[0] % 4 for held in told.across]
        wanted = sum(5 - len(held) for held in told.rivals if collects(held) and held[0] % 4 == told.cards[0] % 4)
        over = of_suit(told) - (5 - told.size)
        spare, left, across = between(over, -1, 8) + 1, between(over - wanted, -5, 7) + 5, min(sum(mine), 3)
        crossing = sum(collects(held) and held[0] % 4 == told.cards[0] % 4 for held in told.crossing)
    return {
        "suit_spare": (told.period, told.size, spare),
        "suit_left": (told.period, told.size, left),
        "suit_crossing": (told.period, told.size, across),
        "crossing_suit": (told.epoch, int(told.suited), crossing),
    }


def rank_codes(told):
    most = sorted(((count, told.left(rank), rank) for rank, count in told.ranks.items()), reverse=True)
    first = (most[0][0] - 1, most[0][1]) if most else (0, 0)
    second = (most[1][0] - 1, most[1][1], holders(told.rivals, most[1][2])) if len(most) > 1 else (0, 0, 0)
    return {
        "rank": (told.epoch, *first, holders(told.rivals, most[0][2]) if most else 0),
        "rank_crossing": (told.period, *first, holders(told.across, most[0][2]) if most else 0),
        "second_rank": (told.period, *second),
    }


def copies_of(told):
    making = [rank for rank, count in told.ranks.items() if count > 1 or not told.paired]
    copies, wanted = sum(map(told.left, making)), sum(4 - told.ranks[rank] for rank in making)
    if told.paired:
        return min(copies, 4)
    return -(-4 * copies // wanted) if wanted else 0


def straight_of(told):
    """By runs or cards, and whether a straight flush is possible."""
    if not told.cards or told.paired:
        return 0, 0
    runs = [run for run in RUNS if set(told.ranks) <= set(run)]
    live = [run for run in runs if all(rank in told.ranks or told.left(rank) for rank in run)]
    flush_too = told.suited and any(completes(run, told.ranks, told.cards[0] % 4, told.unseen) for run in runs)
    outs = sum(told.left(rank) for run in live for rank in run if rank not in told.ranks)
    return min((outs + 1) // 2 if told.size == 4 else len(live), 5), int(flush_too)


def company_codes(told):
    suited, empty = sum(map(collects, told.rivals)), sum(not held for held in told.rivals)
    sharing = sum(any(held // 4 in told.ranks for held in cards) for cards in told.crossing)
    return {
        "company": (told.size, suited, empty),
        "suited_company": (told.period, int(told.suited), suited, told.way),
        "crossing_cards": (told.way, told.size, min(sum(map(len, told.crossing)) // 2, 10)),
        "crossings": (told.epoch, told.size, sharing, sum(map(is_paired, told.crossing))),
        "others": (suited, empty, sum(map(collects, told.across)), told.epoch),
    }


def holders(lines, rank):
    """Lines that hold a rank, two at most."""
    return min(sum(any(held // 4 == rank for held in cards) for cards in lines), 2)


def crosser(way):
    """Cell → the line of the other orientation that it lies in."""
    return (lambda cell: 5 + cell % 5) if way == 0 else (lambda cell: cell // 5)


def completes(run, ranks, suit, unseen):
    return all(rank in ranks or 4 * rank + suit in unseen for rank in run)


def between(number, low, high):
    return max(low, min(number, high))


def index_of(numbers, sizes):
    """The place of `numbers` in an array of these sizes; they must lie in it."""
    assert len(numbers) == len(sizes)
    assert all(0 <= number < size for number, size in zip(numbers, sizes, strict=True)), (numbers, sizes)
    place = 0
    for number, size in zip(numbers, sizes, strict=True):
        place = place * size + number
    return place
