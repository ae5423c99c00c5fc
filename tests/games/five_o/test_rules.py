"""The rules one by one, and random play against a plain game."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.core.messages import InvalidOption
from cardlab.games.cards.deck import parse_cards
from cardlab.games.cards.hands import keys_of
from cardlab.games.five_o import rules
from cardlab.games.five_o.game import FiveO
from cardlab.games.protocol import NO_PLAYER, InfoStates, States
from games.five_o.slow_game import SlowGame
from games.five_o.tables import stopped_at, to_move

hidden_rounds = st.sampled_from([4, 5])
decks = st.permutations(range(52))


def deal(game: FiveO, deck: list[int]) -> States:
    return game.deal(1, np.random.default_rng(0), np.array([deck], dtype=np.int8))


def play_one(game: FiveO, states: States | InfoStates, column: int) -> None:
    game.apply(states, np.array([column], dtype=np.int16))


@settings(max_examples=20, deadline=None)
@given(decks, hidden_rounds, st.randoms(use_true_random=False))
def test_random_play_agrees_with_the_plain_game(deck: list[int], hidden_round: int, random: object) -> None:
    game, slow = FiveO(hidden_round=hidden_round), SlowGame(deck, hidden_round)
    states = deal(game, deck)
    while True:
        assert game.current_player(states)[0] == slow.mover
        assert np.flatnonzero(game.legal_actions(states)[0]).tolist() == slow.legal()
        for player in (0, 1):
            agrees_with(game.information(states, np.array([player], dtype=np.int8)), slow, player)
        if slow.over:
            break
        column = random.choice(slow.legal())  # type: ignore[attr-defined]
        slow.place(column)
        play_one(game, states, column)
    won, lost = slow.won()
    assert states[0]["won"].tolist() == [won, lost]
    assert game.payoffs(states)[0, 0] == (won >= 3) - (lost >= 3)


def agrees_with(known: InfoStates, slow: SlowGame, player: int) -> None:
    """The InfoState shows exactly what the plain game shows."""
    state = known[0]
    for side, columns in enumerate(slow.seen_by(player)):
        for column, cards in enumerate(columns):
            assert state["sizes"][side, column] == len(cards)
            assert state["columns"][side, column].tolist() == cards + [-1] * (5 - len(cards))
            known_cards = np.array([card for card in cards if card >= 0], dtype=np.int8)
            assert state["keys"][side, column] == keys_of(known_cards)
    turn = slow.placed
    assert state["turn"] == turn
    if turn < 40:
        assert state["deck"][turn] == slow.card_seen_by(player)
    assert (np.delete(state["deck"], turn) if turn < 40 else state["deck"]).tolist() == [-1] * (39 if turn < 40 else 40)


def test_deal_order() -> None:
    deck = list(range(52))
    states = deal(FiveO(), deck)
    assert states[0]["columns"][0, :, 0].tolist() == [0, 1, 2, 3, 4]
    assert states[0]["columns"][1, :, 0].tolist() == [5, 6, 7, 8, 9]
    assert states[0]["deck"].tolist() == list(range(10, 50))


def test_every_game_has_twenty_placements_each() -> None:
    game = FiveO()
    states = game.deal(3, np.random.default_rng(0))
    players = []
    while not game.is_over(states).all():
        players.append(int(game.current_player(states)[0]))
        game.apply(states, game.legal_actions(states).argmax(axis=1).astype(np.int16))
    assert players == [0, 1] * 20
    assert (states["sizes"] == 5).all()


def test_the_fifth_card_is_face_down_its_column_is_not() -> None:
    game = FiveO()
    states = stopped_at(game, 30, 1, seed=3)
    play_one(game, states, 2)  # player 0's first card of the last round
    other = game.information(states, np.array([1], dtype=np.int8))
    assert other[0]["sizes"][0].tolist() == [4, 4, 5, 4, 4]
    assert other[0]["columns"][0, 2, 4] == -1
    assert states[0]["columns"][0, 2, 4] >= 0
    own = game.information(states, np.array([0], dtype=np.int8))
    assert own[0]["columns"][0, 2, 4] == states[0]["columns"][0, 2, 4]
    assert own[0]["deck"][31] == -1  # nor is the card that player 1 drew seen


def test_hidden_round_4_hides_the_fourth_card_and_shows_the_fifth() -> None:
    game = FiveO(hidden_round=4)
    states = stopped_at(game, 36, 1, seed=3)
    other = game.information(states, np.array([1], dtype=np.int8))
    assert (other[0]["columns"][0, :, 3] == -1).all()
    assert (other[0]["columns"][0, :, 4] == states[0]["columns"][0, :, 4]).all()
    assert other[0]["deck"][36] == states[0]["deck"][36]  # the card of round 5 is turned up for both


SHOWDOWN = (
    "Ac Ad Ah As 2c|Kc Kd Kh 3c 3d|4c 5d 6h 7s 8c|9c 9d 9h Jc Qd|2d 2h 5c 7c 8d",
    "Qc Qh Qs 4d 4h|2s 3h 3s 5h 6c|Tc Td 5s 6d 7d|Jd Jh Js 6s 4s|Th Ts 7h 8h 9s",
)


@pytest.mark.parametrize(
    ("own", "opposite", "won"),
    [
        (*SHOWDOWN, [3, 2]),
        (SHOWDOWN[1], SHOWDOWN[0], [2, 3]),
        # 2 to 1 with two ties: a draw
        ("2c 3d 4h 5s 7c|2d 3h 4s 5c 7d|Ac Kd Qh Js 9c|Ad Kh Qs Jc 9d|Th Ts 8c 6d 6h",
         "2h 3s 4c 5d 7h|2s 3c 4d 5h 7s|Kc Qd Jh 9s 8d|Ks Qc Jd 9h 8h|Tc Td Ah As 6c", [2, 1]),
    ],
)  # fmt: skip
def test_showdown(own: str, opposite: str, won: list[int]) -> None:
    columns = [[parse_cards(words).tolist() for words in text.split("|")] for text in (own, opposite)]
    deck = [column[0] for side in columns for column in side]
    for slot in range(1, 5):
        for column in range(5):
            deck += [columns[0][column][slot], columns[1][column][slot]]
    deck += [card for card in range(52) if card not in deck]
    game = FiveO()
    states = deal(game, deck)
    for turn in range(40):
        play_one(game, states, turn // 2 % 5)
    assert states[0]["won"].tolist() == won
    wins = (won[0] >= 3) - (won[1] >= 3)
    assert game.payoffs(states)[0].tolist() == [wins, -wins]


def test_afterstate_waits_for_the_next_card() -> None:
    game = FiveO()
    known, _ = to_move(game, stopped_at(game, 7, 1, seed=1))
    play_one(game, known, int(game.legal_actions(known)[0].argmax()))
    assert game.current_player(known)[0] == NO_PLAYER
    assert not game.is_over(known)[0]
    kept = known.tobytes()
    play_one(game, known, 0)
    assert known.tobytes() == kept


def test_own_afterstate_in_the_hidden_round_is_what_one_knows() -> None:
    """The opponent's card is hidden, so the afterstate waits for no card."""
    game = FiveO()
    states = stopped_at(game, 32, 1, seed=1)
    known, players = to_move(game, states)
    column = int(game.legal_actions(known)[0].argmax())
    play_one(game, known, column)
    play_one(game, states, column)
    assert known.tobytes() == game.information(states, players).tobytes()
    play_one(game, known, int(game.legal_actions(known)[0].argmax()))  # the opponent places a card unseen
    assert game.current_player(known)[0] == NO_PLAYER  # one's own next card is not drawn


@pytest.mark.parametrize("player", [0, 1])
def test_last_card_is_unresolved_for_who_cannot_see_all(player: int) -> None:
    game = FiveO()
    states = stopped_at(game, 39, 4, seed=2)
    players = np.full(4, player, dtype=np.int8)
    known = game.information(states, players)
    game.apply(known, game.legal_actions(states).argmax(axis=1).astype(np.int16))
    assert (known["phase"] == rules.UNRESOLVED).all()
    assert not game.is_over(known).any()
    assert (game.current_player(known) == NO_PLAYER).all()
    assert not game.payoffs(known).any()
    settled = game.determinize(known, players, np.random.default_rng(0))
    assert game.is_over(settled).all()


def test_the_showdown_shows_all() -> None:
    game = FiveO()
    states = stopped_at(game, 40, 2, seed=2)
    known = game.information(states, np.zeros(2, dtype=np.int8))
    assert (known["columns"] == states["columns"]).all()
    assert game.is_over(known).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(31, 39), hidden_rounds, st.integers(0, 99))
def test_determinize_deals_every_card_once(turn: int, hidden_round: int, seed: int) -> None:
    game = FiveO(hidden_round=hidden_round)
    known, players = to_move(game, stopped_at(game, turn, 3, seed))
    whole = game.determinize(known, players, np.random.default_rng(seed))
    for state in whole:
        cards = np.concatenate([state["columns"].ravel(), state["deck"]])
        cards = cards[cards >= 0]
        assert len(cards) == len(set(cards.tolist())) == 50
    assert (game.information(whole, players) == known).all()


@pytest.mark.parametrize("options", [{"hidden_round": 3}, {"payoff": "points"}])
def test_options_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(InvalidOption, match="game"):
        FiveO(**options)  # type: ignore[arg-type]
