"""Play in an outside engine: its observations become InfoStates, the actions of a cardlab policy become its moves.

A script in notebook form (jupytext, percent format): run it as a whole, or cell by cell in an editor. A few seconds.
"""

# %% [markdown]
# # A cardlab policy in an outside engine
#
# The engine below stands for yours: another program, with its own names of cards and moves. It plays one round of
# Thirty-One for two and shows each player a dictionary. Replace it, and the bridge that follows it.

# %%
import numpy as np

import cardlab
from cardlab.games.cards.deck import parse_card

POINTS = {**{str(rank): rank for rank in range(2, 10)}, "T": 10, "J": 10, "Q": 10, "K": 10, "A": 11}


def points(hand):
    """Points of a hand: the highest sum of one suit."""
    return max(sum(POINTS[card[0]] for card in hand if card[1] == suit) for suit in "cdhs")


class Engine:
    """One round for two. `deck`: 52 cards such as `Ah`; three for each player, the first discard, then the stock."""

    def __init__(self, deck):
        self.hands = [list(deck[:3]), list(deck[3:6])]
        self.pile, self.stock = [deck[6]], list(deck[7:])
        self.taken = [[], []]  # cards that each player took from the pile and has not put back
        self.counts = [{"draw": 0, "take": 0}, {"draw": 0, "take": 0}]
        self.player, self.turns, self.knocked, self.pending, self.over = 0, 0, None, None, False

    def observe(self):
        """What the player to move knows."""
        return {
            "me": self.player,
            "hand": self.hands[self.player],
            "pile": self.pile,  # the last card is on top
            "stock": len(self.stock),
            "taken": self.taken,
            "counts": self.counts,
            "turns": self.turns,
            "knocked": self.knocked,
            "pending": self.pending,  # (card, "draw" or "take") while a card is to be put down
        }

    def play(self, move):
        """`draw`, `take`, `knock`, or the card that is put down."""
        me = self.player
        if move == "knock":
            self.knocked = me
            self.over = self.turns == 0  # a knock on the first turn ends the round at once
            return self._end_turn()
        if move in ("draw", "take"):
            self.counts[me][move] += 1
            self.pending = (self.stock.pop(0) if move == "draw" else self.pile.pop(), move)
            self.taken[me] += [self.pending[0]] if move == "take" else []
            return None
        hand = [*self.hands[me], self.pending[0]]
        hand.remove(move)
        self.hands[me], self.pending = hand, None
        self.taken[me] = [card for card in self.taken[me] if card != move]
        self.pile.append(move)
        return self._end_turn()

    def _end_turn(self):
        self.turns += 1
        self.player = 1 - self.player
        self.over = self.over or self.player == self.knocked or (self.knocked is None and self.turns == 40)


# %% [markdown]
# ## The bridge
#
# The same rules as a cardlab game, and the record of what the player knows. The fields, and their values where
# something is hidden, are on the game's page: `docs/games/thirty_one.md`.

# %%
game = cardlab.make_game("thirty_one", num_players=2, lives=1, max_turns=40, max_rounds=1)


def bits(cards):
    """The set of cards as an integer."""
    return sum(1 << parse_card(card) for card in cards)


def sorted_hand(cards):
    """Three card numbers by suit, then rank; unknown cards, -1, first."""
    known = sorted((parse_card(card) for card in cards), key=lambda card: (card & 3, card >> 2))
    return [-1] * (3 - len(known)) + known


def to_info_states(seen):
    """[1] the record of an observation."""
    me, card = seen["me"], seen["pending"] and seen["pending"][0]
    record = np.zeros(1, dtype=game.state_dtype)
    row = record[0]
    for field in ("hands", "stock"):
        row[field] = -1
    row["hands"][me] = sorted_hand(seen["hand"])
    row["hands"][1 - me] = sorted_hand(seen["taken"][1 - me])
    row["lives"][:2] = 1
    row["discards"] = bits(seen["pile"])
    row["visible"] = bits(seen["taken"][0] + seen["taken"][1])
    row["stock_left"] = seen["stock"]
    row["top"] = -1 if seen["pending"] and seen["pending"][1] == "take" else parse_card(seen["pile"][-1])
    row["drawn"] = -1 if card is None else parse_card(card)
    row["taken"] = bool(seen["pending"]) and seen["pending"][1] == "take"
    row["phase"] = seen["pending"] is not None
    row["round"], row["turns"] = 1, seen["turns"]
    row["player"] = row["owner"] = me
    row["caller"] = -1 if seen["knocked"] is None else seen["knocked"]
    for player in range(2):
        row["draws"][player], row["takes"][player] = (seen["counts"][player][move] for move in ("draw", "take"))
        row["calls"][player] = seen["knocked"] == player
    return record


def to_move(seen, action):
    """The engine's move for an action of cardlab."""
    if action < 3:
        return ("draw", "take", "knock")[action]
    if action == 6:
        return seen["pending"][0]
    position = action - 3  # in the sorted hand
    return sorted(seen["hand"], key=lambda card: (parse_card(card) & 3, parse_card(card) >> 2))[position]


class BridgedPlayer:
    """Chooses moves of the engine by an agent of cardlab."""

    def __init__(self, name):
        self.agent = cardlab.load_agent(game, name)
        self.rng = np.random.default_rng(0)

    def choose(self, seen):
        """The move for an observation."""
        players = np.array([seen["me"]], dtype=np.int8)
        return to_move(seen, int(self.agent.act(to_info_states(seen), players, self.rng)[0]))


# %% [markdown]
# ## Play
#
# The champion at one seat, a simple player of the engine at the other.


# %%
def simple_player(seen):
    """Draws, puts down the card that leaves the most points, and knocks at 24 points."""
    if seen["pending"] is None:
        return "knock" if seen["knocked"] is None and points(seen["hand"]) >= 24 else "draw"
    cards = [*seen["hand"], seen["pending"][0]]
    return max(cards, key=lambda card: points([other for other in cards if other != card]))


DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
champion, shuffle, won = BridgedPlayer("champion"), np.random.default_rng(1), 0.0
for number in range(200):
    seats = [champion.choose, simple_player] if number % 2 == 0 else [simple_player, champion.choose]
    engine = Engine([DECK[card] for card in shuffle.permutation(52)])
    while not engine.over:
        engine.play(seats[engine.player](engine.observe()))
    mine, other = points(engine.hands[number % 2]), points(engine.hands[1 - number % 2])
    won += (mine > other) + 0.5 * (mine == other)
print(f"the champion won {won:g} of 200 rounds")

# %% [markdown]
# Test a bridge as `tests/examples/test_examples.py` does: play the same deals in both engines, and compare the record's
# bytes with `game.information(states, players)` at every decision.
