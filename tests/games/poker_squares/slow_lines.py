"""Plain reference for the line features, written from docs/games/poker_squares.md."""

from collections import Counter
from math import comb, prod

from games.poker_squares.slow_rules import NAMES, RUNS, hand_name, lines_of

KINDS = ["empty", "suited", "paired", "mixed"]
PATTERNS = [[1], [2], [2, 2], [3], [3, 2], [4]]  # counts above one, and [1] for ranks that are all distinct


def at_least(seen, copies, need):
    """Probability that `need` of `copies` unseen cards come, by counting the sets of future cards."""
    unseen, draws = 52 - seen, 25 - seen
    ways = sum(
        comb(copies, hit) * comb(unseen - copies, draws - hit) for hit in range(need, copies + 1) if hit <= draws
    )
    return ways / comb(unseen, draws)


def purpose(cards):
    """Type of an open line; None for a complete line."""
    if len(cards) == 5:
        return None
    if not cards:
        return "empty"
    if len({card // 4 for card in cards}) < len(cards):
        return "paired"
    return "suited" if len(cards) > 1 and len({card % 4 for card in cards}) == 1 else "mixed"


class SlowLines:
    """The ten lines of a grid (None where empty) with a face-up card (None: unknown)."""

    def __init__(self, grid, card, scores, unit):
        self.cells = lines_of(grid)
        self.lines = [[c for c in line if c is not None] for line in self.cells]
        self.card, self.scores, self.unit = card, scores, unit
        self.placed = sum(c is not None for c in grid)
        shown = {c for c in grid if c is not None} | ({card} - {None})
        self.unseen = sorted(set(range(52)) - shown)
        self.seen = len(shown)
        self.copies = Counter(c // 4 for c in self.unseen)

    def points(self, cards):
        return self.scores[NAMES.index(hand_name(cards))] / self.unit

    def others(self, index, cross):
        """Open lines of the same orientation except `index`, or of the other orientation."""
        first = 0 if (index < 5) != cross else 5
        return [self.lines[i] for i in range(first, first + 5) if i != index and len(self.lines[i]) < 5]

    def encode(self, index):
        """Name → entries of LINE_BLOCKS; missing names are zero."""
        cards = self.lines[index]
        out = {"score": [self.points(cards)], "complete": [len(cards) == 5], "row": [index < 5]}
        out["cards"] = [len(cards) == n for n in range(6)]
        repeats = sorted(Counter(c // 4 for c in cards).values(), reverse=True)
        repeats = [n for n in repeats if n > 1] or [1]
        out["pattern"] = [bool(cards) and repeats == pattern for pattern in PATTERNS]
        if len(cards) == 5:
            return out
        out["turn"] = [max(0.0, 1 - abs(self.placed / 6.25 - n)) for n in range(5)]
        out.update(self.surroundings(index))
        if cards:
            out.update(self.slots(index), flush=self.flush(index), **self.straights(index))
            if self.card is not None:
                out["fit"] = self.fit(cards)
        if len(cards) == 4:
            out["expected"] = [sum(self.points([*cards, c]) for c in self.unseen) / len(self.unseen)]
        return out

    def surroundings(self, index):
        cards = self.lines[index]
        suit = cards[0] % 4 if cards and len({c % 4 for c in cards}) == 1 else None
        first = 5 if index < 5 else 0
        crossing = [self.lines[first + i] for i in range(5) if self.cells[index][i] is None]
        suited = [line[0] % 4 for line in crossing if purpose(line) == "suited"]
        ranks = {c // 4 for c in cards}
        counts = [
            sum(map(len, crossing)) / 5,
            sum(s == suit for s in suited),
            sum(s != suit for s in suited),
            sum(purpose(line) == "paired" for line in crossing),
            sum(bool(ranks & {c // 4 for c in line}) for line in crossing),
            sum(len(line) == 4 for line in crossing),
        ]
        ways = [[purpose(line) for line in self.lines[start : start + 5]] for start in (5 - first, first)]
        return {
            "crossing": [count / 5 for count in counts],
            "same_way": [ways[0].count(kind) / 5 for kind in KINDS],
            "other_way": [ways[1].count(kind) / 5 for kind in KINDS],
        }

    def slots(self, index):
        counts = Counter(c // 4 for c in self.lines[index])
        ranks = sorted(counts, key=lambda rank: (counts[rank], self.copies[rank], rank), reverse=True)
        holders = [Counter(r for line in self.others(index, x) for r in {c // 4 for c in line}) for x in (False, True)]
        return {
            "slot_count": [counts[rank] / 4 for rank in ranks],
            "slot_unseen": [self.copies[rank] / 3 for rank in ranks],
            "slot_chance": [at_least(self.seen, self.copies[rank], 1) for rank in ranks],
            "slot_chance_of_two": [at_least(self.seen, self.copies[rank], 2) for rank in ranks[:2]],
            "slot_rivals": [holders[0][rank] / 2 for rank in ranks],
            "slot_allies": [holders[1][rank] / 2 for rank in ranks],
        }

    def flush(self, index):
        cards, suit = self.lines[index], self.lines[index][0] % 4
        need, unseen = 5 - len(cards), sum(c % 4 == suit for c in self.unseen)
        if len({c % 4 for c in cards}) > 1 or unseen < need:
            return []
        rivals, allies = (
            [line for line in self.others(index, cross) if purpose(line) == "suited" and line[0] % 4 == suit]
            for cross in (False, True)
        )
        demand = sum(5 - len(line) for line in rivals)
        return [
            1,
            unseen / 13,
            at_least(self.seen, unseen, need),
            at_least(self.seen, max(unseen - demand, 0), need),
            (unseen - need - demand) / 8,
            len(rivals) / 2,
            len(allies) / 2,
            demand / 8,
        ]

    def straights(self, index):
        cards = self.lines[index]
        ranks = {c // 4 for c in cards}
        if len(ranks) < len(cards):
            return {}
        lacking = [run - ranks for run in RUNS if ranks <= run]
        lacking = [need for need in lacking if all(self.copies[rank] for rank in need)]
        chances = [prod(at_least(self.seen, self.copies[rank], 1) for rank in need) for need in lacking]
        outs = sum(self.copies[rank] for need in lacking for rank in need) if len(cards) == 4 else 0
        out = {}
        if lacking:
            out["straight"] = [1, len(lacking) / 5, max(chances), sum(chances), outs / 8]
        suits = {c % 4 for c in cards}
        flushes = [n for n in lacking if len(suits) == 1 and all(4 * r + min(suits) in self.unseen for r in n)]
        if flushes:
            royal = any(ranks | need == {8, 9, 10, 11, 12} for need in flushes)
            chance = at_least(self.seen, 5 - len(cards), 5 - len(cards))
            out["straight_flush"] = [1, len(flushes) / 5, chance, royal]
        return out

    def fit(self, cards):
        rank, suit = divmod(self.card, 4)
        ranks = [c // 4 for c in cards] + [rank]
        keeps = len(set(ranks)) == len(ranks) and any(set(ranks) <= run for run in RUNS)
        return [1, ranks[:-1].count(rank) / 3, {c % 4 for c in cards} == {suit}, keeps]
