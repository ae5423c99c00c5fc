"""The observation and the features of actions against plain encodings of the reference's tables."""

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, KINDS, PASS
from cardlab.games.big2.game import Big2
from cardlab.games.cards.deck import parse_card
from cardlab.games.loop import play
from cardlab.games.protocol import find_block
from games.big2.reference import RANKS, SUITS, Table, deciding_card, name, order
from games.big2.tables import TEXTS

PUBLISHED_KINDS = ["single", "pair", "three", "two pair", "four", "straight", "flush", "full house"]


def one_hot(value, values):
    return [float(value == each) for each in values]


def kinds_of(cards):
    """The published kinds: a straight flush is a straight and a flush."""
    kind = name(cards)
    return ["straight", "flush"] if kind == "straight flush" else [kind]


def slots(hand):
    """13 slots of 22 numbers."""
    rows = []
    ranks = [card[0] for card in hand]
    for card in hand:
        alike = ranks.count(card[0])
        straight = any(
            card[0] in run and all(rank in ranks for rank in run) for run in (RANKS[i : i + 5] for i in range(9))
        )
        flush = sum(other[1] == card[1] for other in hand) >= 5
        rows += one_hot(card[0], RANKS) + one_hot(card[1], SUITS)
        rows += [float(flag) for flag in (alike >= 2, alike >= 3, alike == 4, straight, flush)]
    return rows + [0.0] * (22 * (13 - len(hand)))


def published(table, player):
    """The 412 numbers."""
    played = {who: [cards for other, cards in table.log if other == who and cards] for who in range(4)}
    row = slots(table.hands[player])
    for seat in range(1, 4):
        other = (player + seat) % 4
        cards = [card for play in played[other] for card in play]
        kinds = {kind for play in played[other] for kind in kinds_of(play)}
        row += one_hot(len(table.hands[other]), range(1, 14))
        row += [float(rank + suit in cards) for rank in "A2" for suit in SUITS]
        row += [float(bool(kinds & shown)) for shown in ({"pair"}, {"three"}, {"two pair", "four"})]
        row += [float(kind in kinds) for kind in ("straight", "flush", "full house")]
    everyone = [card for plays in played.values() for play in plays for card in play]
    row += [float(rank + suit in everyone) for rank in "QKA2" for suit in SUITS]
    if not table.trick:
        return row + [0.0] * 17 + [1.0] + [0.0] * 11
    rank, suit = deciding_card(table.trick)
    row += one_hot(rank, RANKS)
    row += one_hot(suit if name(table.trick) != "full house" else "", SUITS)
    row += [0.0]
    row += [float(kind in kinds_of(table.trick)) for kind in PUBLISHED_KINDS]
    return row + one_hot(table.passes, range(3))


def full(table, player):
    """Blocks of the full observation, by name."""
    owners = {card: (who, move) for move, (who, cards) in enumerate(table.log) for card in cards}
    trick_of, passed, trick, best, passes = [], set(), 0, None, 0
    leader = table.log[0][0] if table.log else table.player
    for who, cards in table.log:
        trick_of.append(trick)
        if cards:
            best, passes = cards, 0
            continue
        passed.add(((who - player) % 4, name(best), deciding_card(best)[0]))
        passes += 1
        if passes == 3:
            trick, passes, leader = trick + 1, 0, (who + 1) % 4
    blocks = {
        "hand": [float(card in table.hands[player]) for card in TEXTS],
        "played": [
            float(card in owners and (owners[card][0] - player) % 4 == seat) for seat in range(4) for card in TEXTS
        ],
        "recency": [1 / (1 + trick - trick_of[owners[card][1]]) if card in owners else 0.0 for card in TEXTS],
        "passed": [float((seat, kind, rank) in passed) for seat in (1, 2, 3) for kind in KINDS for rank in RANKS],
        "cards_left": [x for seat in range(4) for x in one_hot(len(table.hands[(player + seat) % 4]), range(1, 14))],
        "control": [float(not table.trick)],
        "led_by": one_hot((leader - player) % 4, range(4)),
        "turn": one_hot((table.player - player) % 4 if not table.over else -1, range(4)),
        "phase": [float(not table.over), float(table.over), 0.0],
        "tricks": [trick / 16],
    }
    if table.trick:
        rank, suit = deciding_card(table.trick)
        by = next(who for who, cards in reversed(table.log) if cards)
        blocks |= {"kind": one_hot(name(table.trick), KINDS), "rank": one_hot(rank, RANKS)}
        blocks |= {"suit": one_hot(suit, SUITS), "passes": one_hot(table.passes, range(3))}
        blocks["beat_by"] = one_hot((by - player) % 4, range(4))
    return blocks


def action(table, cards):
    """Blocks of the features of playing `cards`, by name."""
    hand = table.hands[table.player]
    left = [card for card in hand if card not in cards]
    unseen = [card for card in TEXTS if card not in hand and all(card not in play for _, play in table.log)]
    counts = [sum(card[0] == rank for card in left) for rank in RANKS]
    higher = [card for card in unseen if cards and order(card) > order(deciding_card(cards))]
    split = {card[0] for card in cards} & {card[0] for card in left}
    return {
        "cards": [float(card in cards) for card in TEXTS],
        "kind": one_hot(name(cards) if cards else "pass", [*KINDS, "pass"]),
        "strength": [(TEXTS.index(deciding_card(cards)) + 1) / 52 if cards else 0.0],
        "higher_unseen": [len(higher) / len(unseen)],
        "splits": [len(split) / 5],
        "left": one_hot(len(left), range(14)),
        "left_ranks": [count / 4 for count in counts],
        "left_suits": [sum(card[1] == suit for card in left) / 13 for suit in SUITS],
        "left_groups": [counts.count(size) / 13 for size in (1, 2, 3, 4)],
        "left_straights": [float(all(counts[low : low + 5])) for low in range(9)],
    }


def walk(game, agent, num_games, seed):
    """Positions of games with the reference's table of each: (states [1], table)."""
    rng = np.random.default_rng(seed)
    texts = {parse_card(text): text for text in TEXTS}
    for _ in range(num_games):
        deck = rng.permutation(52).astype(np.int8)
        states = game.deal(1, rng, decks=deck[None])
        hands = [[texts[int(card)] for card in deck[13 * p : 13 * p + 13]] for p in range(4)]
        table = Table(hands, choose=game.opening == "choose")
        yield states, table
        for moves in play(game, states, [make_agent(game, agent)], rng):
            hand = table.hands[table.player]
            number = moves.actions[0]
            table.play([hand[position] for position in ACTION_POSITIONS[number, : ACTION_SIZES[number]]])
            yield states, table


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_published(agent):
    game = Big2()
    assert game.spec.num_features == 412
    for states, table in walk(game, agent, 8, seed=1):
        for player in range(4):
            seat = np.array([player], dtype=np.int8)
            row = game.observe(game.information(states, seat), seat)
            assert row.dtype == np.float32
            assert row[0].tolist() == published(table, player)


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_full(agent):
    game = Big2(features="full", opening="choose")
    for states, table in walk(game, agent, 6, seed=2):
        for player in range(4):
            seat = np.array([player], dtype=np.int8)
            row = game.observe(game.information(states, seat), seat)[0]
            expected = full(table, player)
            for block in game.spec.blocks:
                value = expected.get(block.name, [0.0] * block.size)
                assert row[block.start : block.stop].tolist() == np.float32(value).tolist(), block.name


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_action_features(agent):
    game = Big2()
    for states, table in walk(game, agent, 6, seed=3):
        players = game.current_player(states)
        if players[0] < 0:
            continue
        rows, actions, found = game.action_features(game.information(states, players), players)
        assert rows.tolist() == [0] * len(actions)
        hand = table.hands[table.player]
        for number, row in zip(actions, found, strict=True):
            cards = [hand[position] for position in ACTION_POSITIONS[number, : ACTION_SIZES[number]]]
            for block, value in action(table, cards).items():
                where = find_block(game.spec.action_blocks, block)
                np.testing.assert_allclose(row[where.start : where.stop], value, rtol=1e-6, err_msg=block)
    assert find_block(game.spec.action_blocks, "kind").size == len(KINDS) + 1
    assert PASS == 1694


def test_unresolved_rows_are_distinguished():
    game = Big2(features="full")
    states = game.deal(1, np.random.default_rng(0))
    seat = (game.current_player(states) + 1) % 4
    known = game.information(states, seat)
    game.apply(known, np.array([0], dtype=np.int16))
    phase = game.spec.block("phase")
    assert game.observe(known, seat)[0, phase.start : phase.stop].tolist() == [0, 0, 1]


def test_privileged_shows_the_others_by_seat():
    game = Big2()
    for states, table in walk(game, "random", 3, seed=4):
        for player in range(4):
            hands = game.privileged(states, np.array([player], dtype=np.int8)).reshape(3, 52)
            for seat in range(3):
                cards = [TEXTS[card] for card in np.flatnonzero(hands[seat])]
                assert cards == table.hands[(player + seat + 1) % 4]
