"""Thirty-One in plain Python, written from the sheet and not from the kernels, and positions written out as text."""

from collections import Counter

import numpy as np

from cardlab.games.cards.deck import hash_seed, parse_cards, shuffle
from cardlab.games.thirty_one.game import ThirtyOne

DRAW, TAKE, CALL, KEEP = 0, 1, 2, 6
VALUES = [2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11]


def deck_of(text):
    """[52] the cards of `text`, then all others in ascending order."""
    first = parse_cards(text).tolist()
    return first + [card for card in range(52) if card not in first]


def table(text, seed=7, **options):
    """A game and one dealt match [1] whose first round lies as in `text`."""
    game = ThirtyOne(**options)
    deck = np.array([deck_of(text)], dtype=np.int8)
    return game, game.deal(1, np.random.default_rng(0), deck, np.array([seed], dtype=np.uint64))


def step(game, states, *actions):
    """Apply the actions one after the other, each of them legal; the states."""
    for action in actions:
        assert game.legal_actions(states)[0, action], (action, game.render(states[0]))
        game.apply(states, np.array([action], dtype=np.int16))
    return states


def score(hand):
    """The highest sum of values within one suit."""
    return max(sum(VALUES[card // 4] for card in hand if card % 4 == suit) for suit in range(4))


def by_suit(hand):
    """In the order in which a hand lies."""
    return sorted(hand, key=lambda card: (card % 4, card // 4))


def ordered(cards, seed):
    """`cards` in ascending order, shuffled by `seed`."""
    array = np.array(sorted(cards), dtype=np.int8)
    shuffle(array, len(array), np.uint64(seed))
    return array.tolist()


class SlowMatch:
    """One match; `sight[viewer]` is what each player has been able to follow."""

    def __init__(self, deck, seed, num_players, lives=3, max_turns=100, max_rounds=100):
        self.seed, self.max_turns, self.max_rounds = np.uint64(seed), max_turns, max_rounds
        self.lives = [lives] * num_players
        self.round, self.starter, self.over = 1, 0, False
        self.payoffs = [0.0] * num_players
        self.deeds = [Counter() for _ in range(num_players)]  # of each player in the match: draws, takes, calls
        self.start(list(deck))

    def start(self, deck):
        self.order = [p for p, lives in enumerate(self.lives) if lives > 0]  # around the table
        self.hands = {p: by_suit(deck[3 * k : 3 * k + 3]) for k, p in enumerate(self.order)}
        dealt = 3 * len(self.order)
        self.pile, self.stock = [deck[dealt]], deck[dealt + 1 :]
        self.seen = {p: [] for p in self.order}  # taken in sight of all and still held
        self.formed, self.came = set(), dict.fromkeys(self.order, 0)
        self.player, self.caller, self.turns, self.reshuffles = self.starter, None, 0, 0
        self.pending, self.from_pile = None, False

    def legal(self):
        if self.over:
            return []
        if self.pending is not None:
            return [3, 4, 5] if self.from_pile else [3, 4, 5, KEEP]
        return [DRAW, TAKE, CALL] if self.caller is None else [DRAW, TAKE]

    def play(self, action):
        if self.pending is not None:
            self.swap(action)
        elif action == CALL:
            self.deeds[self.player]["calls"] += 1
            self.caller = self.player
            if self.turns == 0:
                self.show()
            else:
                self.pass_on()
        elif action == TAKE:
            self.deeds[self.player]["takes"] += 1
            self.pending, self.from_pile = self.pile.pop(), True
        else:
            self.deeds[self.player]["draws"] += 1
            if not self.stock:
                self.remake_stock()
            self.pending, self.from_pile = self.stock.pop(0), False

    def remake_stock(self):
        self.reshuffles += 1
        under, self.pile = self.pile[:-1], self.pile[-1:]
        self.formed, self.came = set(under), dict.fromkeys(self.order, 0)
        self.stock = ordered(
            under, hash_seed(np.uint64(hash_seed(self.seed, np.uint64(self.round))), np.uint64(64 + self.reshuffles))
        )[::-1]

    def swap(self, action):
        player, card = self.player, self.pending
        out = card
        if action != KEEP:
            out = self.hands[player][action - 3]
            self.hands[player] = by_suit([c for c in self.hands[player] if c != out] + [card])
        # what the others could follow: who drew from the formed stock, and what came to lie on the pile
        if self.from_pile:
            self.seen[player].append(card)
        elif self.formed:
            self.came[player] += 1
        if out in self.seen[player]:
            self.seen[player].remove(out)
        elif out in self.formed:
            self.came[player] -= 1
        self.pile.append(out)
        self.pending, self.from_pile = None, False
        self.pass_on()

    def pass_on(self):
        self.turns += 1
        follower = self.order[(self.order.index(self.player) + 1) % len(self.order)]
        if follower == self.caller or (self.caller is None and self.turns >= self.max_turns):
            self.show()
        else:
            self.player = follower

    def show(self):
        scores = {p: score(self.hands[p]) for p in self.order}
        if self.caller is not None:
            self.deeds[self.caller]["call_scores"] += scores[self.caller]
        if 31 in scores.values():
            losers = [p for p in self.order if scores[p] != 31]
        else:
            losers = [p for p in self.order if scores[p] == min(scores.values())]
        for p in losers:
            self.lives[p] = max(0, self.lives[p] - (2 if p == self.caller else 1))
        alive = [p for p in self.order if self.lives[p] > 0]
        if len(alive) <= 1 or self.round >= self.max_rounds:
            self.finish(alive or self.order)
            return
        self.round += 1
        while True:
            self.starter = (self.starter + 1) % len(self.lives)
            if self.lives[self.starter] > 0:
                break
        self.start(ordered(range(52), hash_seed(self.seed, np.uint64(self.round))))

    def finish(self, candidates):
        most = max(self.lives[p] for p in candidates)
        winners = [p for p in candidates if self.lives[p] == most]
        size = len(self.lives)
        shares = [1 / len(winners) if p in winners else 0 for p in range(size)]
        self.payoffs = [(size * share - 1) / (size - 1) for share in shares]
        self.over = True
