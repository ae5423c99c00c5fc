"""What players know: sight of the discard pile, the formed stock, filling in the rest, and play on InfoStates."""

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.games.cards.deck import UNKNOWN, cards_text, parse_card
from cardlab.games.loop import play
from cardlab.games.protocol import NO_PLAYER, InfoStates, States
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.record import OVER, UNRESOLVED
from games.thirty_one.slow_match import CALL, DRAW, KEEP, TAKE, step, table

TWO = "2c 3d Kh  4c 5d Qh  7s 9s Td"
COLLECTOR = "2h 3h 4h  2c 3c 4c  7s  8s 9s Ts"  # player 1 takes the spades that player 0 leaves


def seen_by(game, states, player):
    return game.information(states, np.full(len(states), player, dtype=np.int8))


def hand(states, player):
    return cards_text(states[0]["hands"][player])


def many(game, info_states, count, seed=0, **options):
    """`count` full states of the one InfoState."""
    copies = InfoStates(np.repeat(info_states, count))
    players = copies["owner"].copy()
    return game.determinize(copies, players, np.random.default_rng(seed), **options)


def test_hands_stock_and_seed_are_hidden():
    game, states = table(TWO)
    known = seen_by(game, states, 1)
    assert hand(known, 1) == "4c 5d Qh"
    assert hand(known, 0) == "?? ?? ??"
    assert (known[0]["stock"] == UNKNOWN).all()
    assert known[0]["seed"] == 0
    assert cards_text([known[0]["top"]]) == "7s"


def test_a_drawn_card_is_seen_by_who_drew_it():
    game, states = table(TWO)
    step(game, states, DRAW)
    assert cards_text([seen_by(game, states, 0)[0]["drawn"]]) == "9s"
    assert seen_by(game, states, 1)[0]["drawn"] == UNKNOWN


def test_a_taken_card_is_known_while_it_is_held():
    game, states = table(TWO)
    step(game, states, TAKE)
    assert cards_text([seen_by(game, states, 1)[0]["drawn"]]) == "7s"
    step(game, states, 3)
    assert hand(seen_by(game, states, 1), 0) == "?? ?? 7s"
    step(game, states, DRAW, KEEP, DRAW, 5)
    assert hand(seen_by(game, states, 1), 0) == "?? ?? ??"
    assert cards_text([states[0]["top"]]) == "7s"


def test_a_known_card_tells_nothing_of_where_it_lies():
    """The king of hearts is the last of one hand and the first of the other."""
    views = []
    for cards in ("2c 3d 7c", "Qs Ks As"):
        game, states = table(f"{cards}  4c 5d Qh  Kh")
        step(game, states, TAKE, 3)
        views.append(seen_by(game, states, 1)[0]["hands"][0].tolist())
    assert views[0] == views[1] == [UNKNOWN, UNKNOWN, parse_card("Kh")]


def test_all_hands_are_shown_at_the_end():
    game, states = table(TWO, lives=1)
    step(game, states, CALL)
    assert hand(seen_by(game, states, 0), 1) == "4c 5d Qh"


def long_round(num_players, seed=3, **options):
    """Positions after a reshuffle, one per step: the game, the states, and the set that formed the stock."""
    game = ThirtyOne(num_players=num_players, max_turns=1000, **options)
    rng = np.random.default_rng(seed)
    states = game.deal(40, rng)
    states["caller"] = num_players  # nobody sits there: no call, and no end of the round
    for step_count, _ in enumerate(play(game, states, [RandomAgent(game)], rng)):
        if step_count > 400:
            break
    states["caller"] = NO_PLAYER
    assert (states["reshuffles"] > 0).all()
    return game, states


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_determinize_keeps_the_formed_stock_and_the_counts(num_players):
    game, states = long_round(num_players)
    known = seen_by(game, states, 0)
    whole = game.determinize(known, np.zeros(len(known), dtype=np.int8), np.random.default_rng(1))
    for state, info in zip(whole, known, strict=True):
        formed = {card for card in range(52) if int(info["restocked"]) >> card & 1}
        assert set(state["stock"][: state["stock_left"]].tolist()) <= formed
        for player in range(1, num_players):
            held = [card for card in state["hands"][player] if not int(state["visible"]) >> int(card) & 1]
            assert sum(card in formed for card in held) == info["from_stock"][player]
    assert (whole["hands"] != states["hands"]).any() or num_players == 2


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_determinize_places_every_card_once(num_players):
    for game, states in [long_round(num_players), (ThirtyOne(num_players=num_players), None)]:
        start = game.deal(40, np.random.default_rng(5)) if states is None else states
        whole = game.determinize(seen_by(game, start, 1), np.ones(40, dtype=np.int8), np.random.default_rng(1))
        for state in whole:
            pile = [card for card in range(52) if int(state["discards"]) >> card & 1]
            held = state["hands"][state["hands"] >= 0].tolist()
            pending = [state["drawn"]] if state["drawn"] >= 0 else []
            assert sorted([*state["stock"][: state["stock_left"]], *held, *pile, *pending]) == list(range(52))


def test_determinize_is_uniform():
    game, states = table(TWO)
    whole = many(game, seen_by(game, states, 0), 40_000)
    held = np.bincount(whole["hands"][:, 1].ravel(), minlength=52)
    following = np.bincount(whole["stock"][:, 44], minlength=52)
    unseen = [card for card in range(52) if card not in {*states[0]["hands"][0].tolist(), int(states[0]["top"])}]
    assert held.sum() == held[unseen].sum()
    assert (abs(held[unseen] - 40_000 * 3 / 48) < 5 * 2500**0.5).all()
    assert (abs(following[unseen] - 40_000 / 48) < 5 * 834**0.5).all()
    assert len(np.unique(whole["seed"])) == 40_000


def test_determinize_by_weights():
    game, states = table(TWO)
    weights = np.zeros((5000, 2, 52), dtype=np.float32)
    ace, king = parse_card("As"), parse_card("Ks")
    weights[:, 1, [ace, king]] = 1
    weights[:, 1, parse_card("2s")] = 2
    weights[:, 1, parse_card("7s")] = 9  # lies on the pile
    weights[2500:, 1, parse_card("2s")] = 0  # the third card is then any
    whole = many(game, seen_by(game, states, 0), 5000, weights=weights)
    assert {cards_text(cards) for cards in whole["hands"][:2500, 1]} == {"2s Ks As"}
    assert all({ace, king} <= set(cards.tolist()) for cards in whole["hands"][2500:, 1])
    assert len(np.unique(whole["hands"][2500:, 1])) == 48


def test_weights_are_proportions():
    game, states = table(COLLECTOR)
    step(game, states, *[DRAW, KEEP, TAKE, 3] * 2)
    known = seen_by(game, states, 0)
    assert hand(known, 1) == "?? 8s 9s"
    weights = np.zeros((20_000, 2, 52), dtype=np.float32)
    weights[:, 1, parse_card("As")] = 48
    weights[:, 1, parse_card("Ks")] = 16
    held = many(game, known, 20_000, weights=weights)["hands"][:, 1]
    share = (held == parse_card("As")).any(axis=1).mean()
    assert abs(share - 0.75) < 0.02


def test_a_draw_of_an_info_state_is_unknown():
    game, states = table(TWO)
    known = step(game, seen_by(game, states, 0), DRAW)
    assert known[0]["drawn"] == UNKNOWN
    assert known[0]["stock_left"] == 44
    assert game.legal_actions(known)[0].tolist() == [False] * 3 + [True] * 4
    after = step(game, known, 3)
    assert hand(after, 0) == "?? 3d Kh"
    assert game.current_player(after)[0] == 1
    whole = many(game, after, 50)
    assert len(np.unique(whole["hands"][:, 0], axis=0)) > 20
    assert (whole["hands"] >= 0)[:, :2].all()


def test_what_is_discarded_unseen_is_filled_in():
    game, states = table(TWO)
    known = step(game, seen_by(game, states, 0), DRAW, KEEP)
    assert known[0]["top"] == UNKNOWN
    whole = many(game, known, 50)
    assert (whole["top"] >= 0).all()
    assert len(np.unique(whole["top"])) > 20


@pytest.mark.parametrize("num_players", [2, 4])
def test_own_decisions_agree_with_the_truth_byte_for_byte(num_players):
    """But for what is drawn: everything that an owner's action leads to is known, unless the round ends."""
    game, rng = ThirtyOne(num_players=num_players), np.random.default_rng(2)
    states = game.deal(200, rng)
    compared = 0
    for count, moves in enumerate(play(game, states, [RandomAgent(game)], rng)):
        known = InfoStates(moves.info_states.copy())
        game.apply(known, moves.actions)
        truth = game.information(States(states[moves.rows]), moves.players)
        same = (moves.actions != DRAW) & (known["phase"] != UNRESOLVED)
        assert known[same].tobytes() == truth[same].tobytes()
        compared += same.sum()
        if count > 60:
            break
    assert compared > 1000


def test_a_showdown_of_hidden_cards_waits():
    game, states = table(TWO, reward="shaped")
    known = step(game, seen_by(game, states, 0), CALL)
    assert known[0]["phase"] == UNRESOLVED
    assert not game.is_over(known)[0]
    assert game.current_player(known)[0] == NO_PLAYER
    assert not game.legal_actions(known).any()
    assert not game.payoffs(known).any()
    assert known[0]["lives"][:2].tolist() == [3, 3]
    kept = known.tobytes()
    game.apply(known, np.array([DRAW], dtype=np.int16))
    assert known.tobytes() == kept


@pytest.mark.parametrize(("lives", "phase"), [(1, OVER), (3, UNRESOLVED)])
def test_a_showdown_of_known_cards_settles_what_ends_the_match(lives, phase):
    game, states = table(COLLECTOR, lives=lives)
    step(game, states, *[DRAW, KEEP, TAKE, 3] * 3)
    known = seen_by(game, states, 0)
    assert hand(known, 1) == "8s 9s Ts"
    step(game, known, CALL)
    assert known[0]["player"] == 1
    step(game, known, TAKE, 3)
    assert known[0]["phase"] == phase
    assert known[0]["lives"][:2].tolist() == ([0, 1] if phase == OVER else [3, 3])
    assert (game.payoffs(known) != 0).any() == (phase == OVER)
