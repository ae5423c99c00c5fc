"""Games of OpenSpiel: the checks of every game, play beside OpenSpiel's own states, and what is refused."""

import numpy as np
import pyspiel
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import play
from cardlab.games.make_game import game_data, game_of, make_game
from cardlab.games.protocol import InfoStates
from cardlab.integrations.open_spiel.game import OpenSpiel
from cardlab.testing import check_game

GAMES = (
    "blackjack",
    "blotto",
    "catch",
    "connect_four",
    "coop_to_1p",
    "euchre",
    "goofspiel(num_cards=4)",
    "hearts",
    "hex(board_size=3)",
    "kuhn_poker",
    "leduc_poker",
    "lewis_signaling",
    "liars_dice",
    "mnk(m=3,n=3,k=3)",
    "nim",
    "oshi_zumo(coins=4)",
    "phantom_ttt",
    "skat",
    "tic_tac_toe",
    "tiny_bridge_2p",
)


@pytest.mark.parametrize("text", GAMES)
def test_the_protocol_holds(text: str) -> None:
    check_game(OpenSpiel(text))


@pytest.mark.parametrize("text", ["leduc_poker", "euchre", "goofspiel(num_cards=4)", "pig(horizon=20)", "connect_four"])
def test_it_is_played_as_by_openspiel(text: str) -> None:
    game, own = OpenSpiel(text), pyspiel.load_game_as_turn_based(text)
    rng = np.random.default_rng(5)
    states = game.deal(20, rng)
    theirs = [own.new_initial_state() for _ in range(20)]
    before = np.zeros(20, dtype=int)

    def follow(moves: list[int], row: int) -> None:
        for move in states["history"][row, before[row] : states["length"][row]].tolist():
            assert theirs[row].is_chance_node() == (move < 0)
            theirs[row].apply_action(move if move >= 0 else -2 - move)
        before[row] = states["length"][row]

    for row in range(20):
        follow([], row)
    for moves in play(game, states, [RandomAgent(game)], rng, ask_forced=True):
        legal = game.legal_actions(moves.info_states)
        seen = game.observe(moves.info_states, moves.players)
        for place, row in enumerate(moves.rows.tolist()):
            state, player = theirs[row], int(moves.players[place])
            assert state.current_player() == player
            assert np.flatnonzero(legal[place]).tolist() == state.legal_actions()
            kind = own.get_type()
            recall = kind.provides_information_state_tensor and text not in ("pig(horizon=20)", "connect_four")
            tensor = state.information_state_tensor(player) if recall else state.observation_tensor(player)
            assert seen[place, : len(tensor)].tolist() == tensor
            follow([], row)
            assert np.allclose(game.payoffs(states)[row], state.returns())
            assert state.is_terminal() == bool(moves.over[place])


def test_chance_is_as_likely_as_it_should_be() -> None:
    states = OpenSpiel("kuhn_poker").deal(6000, np.random.default_rng(1))
    cards, counts = np.unique(states["history"][:, :2], axis=0, return_counts=True)
    assert len(cards) == 6
    assert counts.min() > 850
    assert counts.max() < 1150


def test_a_cache_that_overflows_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    game = OpenSpiel("leduc_poker")

    def end() -> bytes:
        states = game.deal(64, np.random.default_rng(3))
        for _ in play(game, states, [RandomAgent(game)], np.random.default_rng(4)):
            pass
        return states.tobytes()

    whole = end()
    monkeypatch.setattr(game._positions, "_most", 1)
    assert end() == whole


def test_determinized_deals_follow_their_probabilities() -> None:
    game = OpenSpiel("leduc_poker")
    states = game.deal(1, np.random.default_rng(2))
    known = InfoStates(np.repeat(game.information(states, game.current_player(states)), 4000))
    whole = game.determinize(known, np.zeros(4000, dtype=np.int8), np.random.default_rng(3))
    own, others = whole["history"][:, 0], whole["history"][:, 1]
    assert np.unique(own // -2).size <= 2  # suits may look alike, ranks do not
    _, counts = np.unique(others, return_counts=True)
    assert counts.max() < 1.25 * 4000 / 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leduc_pokr", "did you mean leduc_poker?"),
        ("leduc_poker(playrs=3)", "action_mapping, players"),
        ("leduc_poker(players=30)", "OpenSpiel can load"),
        ("mfg_garnet", "mean-field"),
        ("tarok", "chance outcomes"),
        ("cribbage", "tensor"),
        ("crazy_eights", "16384 bytes"),
        ("crossword", "can be played"),
    ],
)
def test_what_cannot_be_had_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InvalidOption, match=r"^game\.text=") as caught:
        OpenSpiel(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_version_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"game.version=1.0: must be 2"):
        OpenSpiel("kuhn_poker", version="1.0")


def test_parameters_make_another_game() -> None:
    plain, three = make_game("open_spiel", text="leduc_poker(players=2)"), OpenSpiel("leduc_poker(players=3)")
    assert (plain.spec.name, three.spec.name) == ("leduc_poker", "leduc_poker_players_3")
    assert game_of(game_data(three), "here") == three
    assert three.spec.options == {"text": "leduc_poker(players=3)", "version": three.version}


def test_a_player_sees_the_text_of_openspiel() -> None:
    game = OpenSpiel("leduc_poker")
    states = game.deal(1, np.random.default_rng(2))
    known = game.information(states, game.current_player(states))[0]
    assert "Private" in game.render(known)
    assert game.action_text(known, 1) == "Call"
