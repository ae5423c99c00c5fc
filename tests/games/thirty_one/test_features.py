"""The observations, block by block, against plain Python."""

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.games.cards.deck import UNKNOWN, parse_cards
from cardlab.games.loop import play
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.record import SWAP, UNRESOLVED
from games.thirty_one.slow_match import CALL, VALUES, score, step, table

BY_SUIT = {
    *("hand", "suit_sums", "sums_without", "top", "drawn", "known_sums", "right_sums"),
    *("expected_values", "suit_shares", "ace_shares", "ten_shares"),
}
TWO = "2c 3d Kh  4c 5d Qh  7s 9s Td"


def slots(cards, scale):
    """Value in the suit's slot, card by card."""
    encoded = np.zeros((len(cards), 4))
    for place, card in enumerate(cards):
        if card >= 0:
            encoded[place, card % 4] = VALUES[card // 4] * scale
    return encoded.ravel()


def sums(cards):
    return slots(cards, 1).reshape(-1, 4).sum(axis=0)


def suits_of_hand(state, player):
    """The order of the suits: by their sum in the hand, then by the value of the card on offer."""
    offer = int(state["drawn"] if state["drawn"] >= 0 else state["top"])
    held, offered = sums(state["hands"][player]), slots([offer], 1)
    return sorted(range(4), key=lambda suit: (-held[suit], -offered[suit]))


def members(bits):
    return {card for card in range(52) if int(bits) >> card & 1}


def unseen_by(state, player):
    known = members(state["discards"]) | set(state["hands"].ravel().tolist()) | {int(state["drawn"])}
    return [card for card in range(52) if card not in known]


def drawable_by(state, player):
    unseen = unseen_by(state, player)
    return [card for card in unseen if card in members(state["restocked"])] if state["restocked"] else unseen


def after_swap(hand, place, card):
    return score([c for i, c in enumerate(hand) if i != place and c >= 0] + ([card] if card >= 0 else []))


def around(state, player):
    others = [(player + k) % 9 for k in range(1, 9)]
    return [other for other in others if state["lives"][other] > 0]


def ceiling(hand, unseen):
    """The best of all that the hidden cards can be, suit by suit."""
    known = [card for card in hand if card >= 0]
    best = 0
    for suit in range(4):
        held = sum(VALUES[card // 4] for card in known if card % 4 == suit)
        more = sorted((VALUES[card // 4] for card in unseen if card % 4 == suit), reverse=True)
        best = max(best, held + sum(more[: 3 - len(known)]))
    return best


def slow_blocks(state, player, game):
    """Plain values of most blocks of the observation `table`."""
    hand = [int(card) for card in state["hands"][player]]
    others = around(state, player)
    mine = state["phase"] == SWAP and state["player"] == player
    card = int(state["drawn"] if mine else state["top"])
    swaps = [after_swap(hand, place, card) for place in range(3)] + [score(hand)]
    drawable = drawable_by(state, player)
    unseen = unseen_by(state, player)
    reached = [max(score(hand), *(after_swap(hand, place, drawn) for place in range(3))) for drawn in drawable]
    seats = [player, *others]
    caller = int(state["caller"])
    known = [[int(c) for c in state["hands"][other] if c >= 0] for other in others]
    blocks = {
        "hand": slots(hand, 1 / 11),
        "hand_values": [float(VALUES[c // 4] == value) for c in hand for value in range(2, 12)],
        "suit_sums": sums(hand) / 31,
        "sums_without": np.concatenate([sums(hand[:i] + hand[i + 1 :]) for i in range(3)]) / 31,
        "score": [score(hand) / 31],
        "score_is": [float(max(score(hand), 14) == value) for value in range(14, 32)],
        "top": slots([state["top"]], 1 / 11),
        "drawn": slots([state["drawn"]], 1 / 11),
        "swap_scores": np.array(swaps) / 31,
        "swap_gains": (np.array(swaps) - score(hand)) / 11,
        "phase": [float(state["phase"] == phase) for phase in range(4)],
        "mover": [float(i < len(seats) and seats[i] == state["player"]) for i in range(9)],
        "first_turn": [float(state["turns"] == 0)],
        "turns": [state["turns"] / game.max_turns],
        "lap_is": [float(min(state["turns"] // len(seats), 7) == lap) for lap in range(8)],
        "called": [float(caller >= 0)],
        "caller": [float(i < len(seats) and seats[i] == caller) for i in range(9)],
        "turns_left": [1.0 if caller < 0 else (seats.index(caller) - seats.index(state["player"])) % len(seats) / 8],
        "stock": [state["stock_left"] / 45, float(state["restocked"] != 0)],
        "lives": np.array([state["lives"][seat] / 3 for seat in seats] + [0] * (9 - len(seats))),
        "living": [float(len(seats) == size) for size in range(2, 10)],
        "known_sums": np.concatenate([sums(cards) / 31 for cards in known] + [np.zeros(4)] * (9 - len(seats))),
        "known_counts": np.array([len(cards) / 3 for cards in known] + [0] * (9 - len(seats))),
        "score_floors": np.array([score(cards) / 31 for cards in known] + [0] * (9 - len(seats))),
        "score_ceilings": [ceiling(state["hands"][other], unseen) / 31 for other in (others[0], others[-1])],
        "right_sums": sums(known[-1]) / 31,
        "expected_values": sums(drawable) / 10 / len(drawable),
        "suit_shares": [np.mean([c % 4 == suit for c in drawable]) for suit in range(4)],
        "ace_shares": [13 * np.mean([c == 48 + suit for c in drawable]) for suit in range(4)],
        "ten_shares": [
            13 / 4 * np.mean([c % 4 == suit and VALUES[c // 4] == 10 for c in drawable]) for suit in range(4)
        ],
        "draw_score": [np.mean(reached) / 31],
        "draw_gain": [np.mean(np.array(reached) > score(hand))],
        "draw_best": [np.mean(np.array(reached) == 31)],
    }
    order = suits_of_hand(state, player)
    return {
        name: np.reshape(values, (-1, 4))[:, order].ravel() if name in BY_SUIT else values
        for name, values in blocks.items()
    }


def positions(num_players, count, **options):
    """InfoStates of random play, each seen by its mover: the game, the states, the players."""
    game = ThirtyOne(num_players=num_players, **options)
    rng = np.random.default_rng(num_players)
    states = game.deal(30, rng)
    states["caller"][:10] = num_players  # no calls there, so that stocks run out
    for step_count, moves in enumerate(play(game, states, [RandomAgent(game)], rng)):
        if step_count in (3, 12, 40, 130):
            clean = moves.info_states["caller"] < num_players
            clean |= moves.info_states["restocked"] > 0
            picked = np.flatnonzero(clean)[:count]
            known = moves.info_states[picked]
            known["caller"][known["caller"] == num_players] = -1
            yield game, known, moves.players[picked]
        if step_count > 130:
            break


@pytest.mark.parametrize("num_players", [2, 3, 6, 9])
def test_table_blocks(num_players):
    compared = 0
    for game, known, players in positions(num_players, 12):
        observed = game.observe(known, players)
        for state, player, row in zip(known, players, observed, strict=True):
            for name, wanted in slow_blocks(state, int(player), game).items():
                block = game.spec.block(name)
                np.testing.assert_allclose(row[block.start : block.stop], wanted, atol=1e-5, err_msg=name)
                compared += 1
    assert compared > 500


@pytest.mark.parametrize("num_players", [2, 5])
def test_seed_blocks(num_players):
    for game, known, players in positions(num_players, 12, features="paper"):
        assert game.spec.num_features == 46
        observed = game.observe(known, players)
        for state, player, row in zip(known, players, observed, strict=True):
            others = around(state, int(player))
            drawable = drawable_by(state, player)
            wanted = [
                slots(state["hands"][player], 1),
                slots([state["drawn"] if state["phase"] == SWAP else state["top"]], 1),
                sums(drawable) / len(drawable),
                [state["turns"] == 0, state["caller"]],
                slots(state["hands"][others[0]], 1),
                slots(state["hands"][others[-1]], 1),
            ]
            np.testing.assert_allclose(row, np.concatenate(wanted), atol=1e-5)


def test_one_policy_plays_any_table():
    specs = [ThirtyOne(num_players=players).spec for players in range(2, 10)]
    assert len({(spec.num_features, spec.num_action_features, spec.num_privileged) for spec in specs}) == 1
    assert len({tuple(sorted(spec.options.items())) for spec in specs}) == 1
    assert len({ThirtyOne(num_players=players).state_dtype for players in (2, 9)}) == 1
    training = ThirtyOne(play="round", reward="shaped").spec
    assert training.options == specs[0].options


def test_the_round_is_seen_the_same_from_every_seat():
    """Three at a table of nine where six are out, moved on by two seats."""
    game = ThirtyOne(num_players=9)
    states = game.deal(1, np.random.default_rng(0))
    states["lives"][0], states["hands"][0, 3:] = [3, 2, 1, 0, 0, 0, 0, 0, 0], UNKNOWN
    moved = states.copy()
    for name in ("lives", "hands"):
        moved[name][0] = np.roll(states[name][0], 2, axis=0)
    moved["player"] = moved["starter"] = 2
    zero, two = np.zeros(1, dtype=np.int8), np.full(1, 2, dtype=np.int8)
    first = game.observe(game.information(states, zero), zero)
    assert first.tobytes() == game.observe(game.information(moved, two), two).tobytes()


def test_names_of_suits_mean_nothing():
    """But for the places of the hand, which lie by suit, and where two suits are alike."""
    game = ThirtyOne()
    places = [game.spec.block(name) for name in ("hand", "hand_values", "sums_without", "swap_scores", "swap_gains")]
    views = []
    for names in ([0, 1, 2, 3], [2, 0, 3, 1]):
        deck = [4 * (card // 4) + names[card % 4] for card in parse_cards("Ks 3d 4c  4h 5d Qs  7s")]
        deck += [card for card in range(52) if card not in deck]
        states = game.deal(1, np.random.default_rng(0), np.array([deck], dtype=np.int8))
        player = np.zeros(1, dtype=np.int8)
        view = game.observe(game.information(states, player), player)[0]
        for block in places:
            view[block.start : block.stop] = 0
        views.append(view)
    np.testing.assert_allclose(views[0], views[1], atol=1e-6)


def test_afterstates_show_their_phase():
    game, states = table(TWO)
    player = np.zeros(1, dtype=np.int8)
    known = step(game, game.information(states, player), CALL)
    block = game.spec.block("phase")
    assert game.observe(known, player)[0, block.start : block.stop].argmax() == UNRESOLVED
