"""Kuhn poker (Kuhn 1950), two players, three cards, as a full `Game`, with exact values by enumeration.

Each antes one; a bet is one more. Actions: 0 pass (check, fold), 1 bet (or call). Lines of play: pp, pbp, pbb, bp, bb.
Cards 0, 1, 2 are jack, queen, king; `decks` orders the usual 52 and the first two that are below 3 are dealt.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from cardlab.games.protocol import GameSpec, InfoStates, States, layout

PASS, BET = 0, 1
NONE = -1
MAX_MOVES = 3
RECORD = np.dtype([("cards", np.int8, (2,)), ("moves", np.int8, (MAX_MOVES,)), ("num_moves", np.int8)])
ENDED = {"pp", "pbp", "pbb", "bp", "bb"}
OPEN = ("", "p", "b", "pb")  # the lines after which somebody decides
SHOWDOWN = {"pp": 1, "pbb": 2, "bb": 2}  # what the higher card wins

Policy = dict[tuple[int, str], float]
"""(own card, line) → probability of a bet."""

SPEC = GameSpec(
    name="kuhn",
    num_players=2,
    num_actions=2,
    max_decisions=MAX_MOVES,
    payoff_range=(-2.0, 2.0),
    zero_sum=True,
    decision_kinds=("bet",),
    action_kinds=(0, 0),
    blocks=layout(card=(3,), player=(2,), moves=(MAX_MOVES, 2)),
    action_blocks=layout(action=(2,)),
    privileged_blocks=layout(other_card=(3,)),
    num_cards=3,
)


def line_of(record):
    return "".join("pb"[move] for move in record["moves"][: record["num_moves"]])


@dataclass(frozen=True)
class Kuhn:
    """Plain Python over records: slow, and easy to check."""

    @property
    def spec(self):
        return SPEC

    @property
    def state_dtype(self):
        return RECORD

    def deal(self, num_games, rng, decks=None, seeds=None):
        states = np.zeros(num_games, dtype=RECORD)
        states["moves"] = NONE
        if decks is None:
            decks = rng.permuted(np.tile(np.arange(52, dtype=np.int8), (num_games, 1)), axis=1)
        states["cards"] = np.reshape([[card for card in deck if card < 3][:2] for deck in decks], (num_games, 2))
        return States(states)

    def current_player(self, states):
        return np.array([NONE if line_of(s) in ENDED else s["num_moves"] % 2 for s in states], dtype=np.int8)

    def decision_kind(self, states):
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states):
        return np.repeat(self.current_player(states)[:, None] >= 0, 2, axis=1)

    def apply(self, states, actions):
        movers = np.flatnonzero(self.current_player(states) >= 0)
        states["moves"][movers, states["num_moves"][movers]] = actions[movers]
        states["num_moves"][movers] += 1

    def is_over(self, states):
        """A showdown whose cards are not all known is UNRESOLVED: not over."""
        over = [line_of(s) in ENDED and not (line_of(s) in SHOWDOWN and (s["cards"] < 0).any()) for s in states]
        return np.array(over, dtype=np.bool_)

    def payoffs(self, states):
        first = [
            payoff(*s["cards"], line_of(s)) if over else 0.0
            for s, over in zip(states, self.is_over(states), strict=True)
        ]
        return np.stack([first, np.negative(first)], axis=1).astype(np.float32).reshape(-1, 2)

    def information(self, states, players):
        info_states = states.copy()
        info_states["cards"][np.arange(len(states)), 1 - players] = NONE
        return InfoStates(info_states)

    def determinize(self, info_states, players, rng, weights=None):
        states = info_states.copy()
        rows = np.arange(len(states))
        own = states["cards"][rows, players]
        states["cards"][rows, 1 - players] = (own + rng.integers(1, 3, len(states))) % 3
        return States(states)

    def observe(self, info_states, players):
        rows = np.arange(len(info_states))
        features = np.zeros((len(info_states), SPEC.num_features), dtype=np.float32)
        features[rows, info_states["cards"][rows, players]] = 1
        features[rows, 3 + players] = 1
        for move in range(MAX_MOVES):
            made = rows[info_states["moves"][:, move] >= 0]
            features[made, 5 + 2 * move + info_states["moves"][made, move]] = 1
        return features

    def action_features(self, info_states, players):
        rows, actions = np.nonzero(self.legal_actions(info_states))
        return rows, actions.astype(np.int16), np.eye(2, dtype=np.float32)[actions]

    def privileged(self, states, players):
        return np.eye(3, dtype=np.float32)[states["cards"][np.arange(len(states)), 1 - players]]

    def holders(self, states):
        holders = np.full((len(states), 3), NONE, dtype=np.int8)
        for player in (0, 1):
            holders[np.arange(len(states)), states["cards"][:, player]] = player
        return holders

    def action_text(self, info_state, action):
        facing_bet = line_of(info_state)[-1:] == "b"
        return (("fold", "call") if facing_bet else ("check", "bet"))[action]

    def render(self, info_state):
        cards = " ".join("?" if card < 0 else "JQK"[card] for card in info_state["cards"])
        return f"cards {cards}   played {line_of(info_state) or '-'}"


def payoff(first_card, second_card, line):
    """What player 0 has been paid at the end of `line`."""
    if line in SHOWDOWN:
        return float(SHOWDOWN[line]) if first_card > second_card else -float(SHOWDOWN[line])
    return {"pbp": -1.0, "bp": 1.0}[line]


def uniform_policy() -> Policy:
    return {(card, line): 0.5 for card in range(3) for line in OPEN}


def expected_value(policies: tuple[Policy, Policy]) -> float:
    """Exact mean payoff of player 0 when player p plays policies[p]."""
    deals = list(permutations(range(3), 2))
    return sum(_line_value(policies, cards, "") for cards in deals) / len(deals)


def _line_value(policies, cards, line):
    if line in ENDED:
        return payoff(*cards, line)
    mover = len(line) % 2
    bet = policies[mover][cards[mover], line]
    return (1 - bet) * _line_value(policies, cards, line + "p") + bet * _line_value(policies, cards, line + "b")


def best_response(opponent: Policy, player: int) -> tuple[Policy, float]:
    """A pure best response of `player` to `opponent` and the mean payoff of `player`, over all 64 pure policies."""
    spots = [(card, line) for card in range(3) for line in OPEN if len(line) % 2 == player]
    best, best_value = {}, -np.inf
    for number in range(2 ** len(spots)):
        policy = {spot: float(number >> bit & 1) for bit, spot in enumerate(spots)}
        pair = (policy, opponent) if player == 0 else (opponent, policy)
        value = expected_value(pair) * (1 if player == 0 else -1)
        if value > best_value + 1e-12:
            best, best_value = policy, value
    return best, best_value
