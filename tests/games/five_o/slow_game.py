"""Five-O in plain Python, written from the specification, independent of the kernels."""

from collections.abc import Sequence

from games.cards.slow_hands import order_of


class SlowGame:
    """One game as lists of cards."""

    def __init__(self, deck: Sequence[int], hidden_round: int = 5) -> None:
        self.columns: list[list[list[int]]] = [[[card] for card in deck[:5]], [[card] for card in deck[5:10]]]
        self.stock = list(deck[10:50])
        self.hidden_round = hidden_round

    @property
    def placed(self) -> int:
        return sum(len(column) for side in self.columns for column in side) - 10

    @property
    def over(self) -> bool:
        return self.placed == 40

    @property
    def mover(self) -> int:
        return -1 if self.over else self.placed % 2

    def legal(self) -> list[int]:
        """A column may take its k-th card only if all five have at least k - 1."""
        if self.over:
            return []
        own = self.columns[self.mover]
        return [c for c in range(5) if min(map(len, own)) >= len(own[c]) and len(own[c]) < 5]

    def place(self, column: int) -> None:
        assert column in self.legal()
        self.columns[self.mover][column].append(self.stock.pop(0))

    def won(self) -> tuple[int, int]:
        orders = [[order_of(column) for column in side] for side in self.columns]
        pairs = list(zip(*orders, strict=True))
        return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)

    def seen_by(self, player: int) -> list[list[list[int]]]:
        """Both players' columns as `player` sees them, -1 for a face-down card."""
        if self.over:
            return self.columns
        other = [
            [-1 if slot == self.hidden_round - 1 else card for slot, card in enumerate(column)]
            for column in self.columns[1 - player]
        ]
        return [self.columns[0], other] if player == 0 else [other, self.columns[1]]

    def card_seen_by(self, player: int) -> int:
        """The next card, -1 if hidden from `player`."""
        if self.over:
            return -1
        current_round = self.placed // 10 + 2
        return -1 if current_round == self.hidden_round and self.mover != player else self.stock[0]
