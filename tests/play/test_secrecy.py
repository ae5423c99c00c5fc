"""Hidden cards change no byte of a response.

A case has two deals that differ in hidden cards, and opponents whose moves do not depend on them. Two servers play the
same moves. All responses are compared: status, headers and body of tables, moves, errors, deals and advice.
"""

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
import torch

from cardlab.agents.policy_files import describe, save_policy
from cardlab.games.cards.deck import parse_card
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game, States
from cardlab.games.thirty_one.record import DRAW, KEEP_HAND, SWAP_FIRST
from cardlab.networks.mlp_options import MLPOptions
from cardlab_play.agent_catalog import AgentCatalog
from cardlab_play.deals import Deal
from play_server import local_session, make_options, run_server
from plays import PLAYS

SHUFFLED = np.random.default_rng(11).permutation(52).astype(np.int8)
POLICIES = {"big2": "softmax", "thirty_one": "softmax", "five_o": "action_value"}


class LastLegal:
    """Plays the last legal action: at Big 2 a pass if it is legal."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def act(self, info_states, players, rng):
        legal = self.game.legal_actions(info_states)
        return (legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)).astype(np.int16)


class Discards:
    """Draws at Thirty-One, then discards `card` if it holds it, else the drawn card."""

    def __init__(self, card: int, game: Game) -> None:
        self.card = card

    def act(self, info_states, players, rng):
        state = info_states[0]
        if state["phase"] == 0:
            return np.array([DRAW], dtype=np.int16)
        hand = state["hands"][players[0]].tolist()
        action = SWAP_FIRST + hand.index(self.card) if self.card in hand else KEEP_HAND
        return np.array([action], dtype=np.int16)


@dataclass(frozen=True)
class Stacked(Deal):
    """A deal with a given deck and a given seed of later shuffles."""

    deck: tuple[int, ...] = ()
    later: int = 0

    def states(self, game: Game) -> States:
        decks, seeds = np.array([self.deck], dtype=np.int8), np.array([self.later], dtype=np.uint64)
        return game.deal(1, np.random.default_rng(0), decks, seeds)


@dataclass(frozen=True)
class Case:
    """Two deals that are alike for the player up to the reply to move `equal`, or to the end."""

    table_request: dict[str, Any]
    decks: tuple[np.ndarray, np.ndarray]
    later: tuple[int, int] = (1, 1)
    scripted_agent: Any = LastLegal
    equal: int | None = None
    ends_alike: bool = False  # the revealed cards are equal too
    calls_at: int = 99  # Thirty-One: the turn in which the player calls


def big2_case() -> Case:
    """The other players' cards are dealt again among them, except for the 3 of diamonds, which is played at once."""
    other, lowest = SHUFFLED.copy(), parse_card("3d")
    places = np.flatnonzero((np.arange(52) // 13 != 1) & (lowest != SHUFFLED))
    other[places] = np.random.default_rng(1).permutation(other[places])
    return Case({"game": "big2", "seat": 1}, (SHUFFLED, other))


def thirty_one_case(num_players: int, seat: int) -> Case:
    """The other players' hands are exchanged for cards so deep in the stock that no player draws them."""
    other = SHUFFLED.copy()
    hands = [place for place in range(3 * num_players) if place // 3 != seat]
    deep = np.arange(52 - len(hands), 52)
    other[hands], other[deep] = SHUFFLED[deep], SHUFFLED[hands]
    table_request = {"game": "thirty_one", "seat": seat, "options": {"num_players": num_players}}
    return Case(
        table_request, (SHUFFLED, other), scripted_agent=partial(Discards, -2), calls_at=1 if num_players > 2 else 4
    )


def swapped_or_kept_case() -> Case:
    """The opponent discards one card: in one deal out of the hand, in the other what was just drawn."""
    other = SHUFFLED.copy()
    other[[3, 8]] = SHUFFLED[[8, 3]]  # a card of player 1's hand, and the second of the stock, which player 1 draws
    table_request = {"game": "thirty_one", "seat": 0}
    return Case(
        table_request,
        (SHUFFLED, other),
        scripted_agent=partial(Discards, int(SHUFFLED[3])),
        ends_alike=True,
        calls_at=3,
    )


def next_round_case() -> Case:
    """The same first round, another order of all that come after it."""
    return Case({"game": "thirty_one", "seat": 0}, (SHUFFLED, SHUFFLED), (1, 2), partial(Discards, -2), calls_at=3)


def five_o_case(seat: int, hidden_round: int) -> Case:
    """What the opponent draws in the hidden round, changed for each other's and for cards that are never drawn."""
    other = SHUFFLED.copy()
    first = 10 + 10 * (hidden_round - 2)
    places = [*range(first + 1 - seat, first + 10, 2), 50, 51]
    other[places] = np.roll(SHUFFLED[places], 1)
    table_request = {"game": "five_o", "seat": seat, "options": {"hidden_round": hidden_round}}
    return Case(table_request, (SHUFFLED, other))


def deck_case(table_request: dict[str, Any], known: int, equal: int) -> Case:
    """The same `known` cards, then another order: the next one is turned up by move `equal`."""
    other = SHUFFLED.copy()
    other[known:] = np.roll(SHUFFLED[known:], 1)
    return Case(table_request, (SHUFFLED, other), equal=equal, ends_alike=known == 25 and equal == 25)


CASES = {
    "big2": big2_case(),
    "thirty_one": thirty_one_case(2, 0),
    "thirty_one of five": thirty_one_case(5, 2),
    "thirty_one swapped or kept": swapped_or_kept_case(),
    "thirty_one next round": next_round_case(),
    "five_o": five_o_case(0, 5),
    "five_o second": five_o_case(1, 5),
    "five_o round four": five_o_case(0, 4),
    **{f"poker_squares {k}": deck_case({"game": "poker_squares"}, k, k) for k in (1, 13, 25)},
    "open_face 10": deck_case({"game": "open_face"}, 10, 5),
    "open_face 25": deck_case({"game": "open_face"}, 25, 13),
}

QUICK = ("big2", "thirty_one", "thirty_one swapped or kept", "five_o", "poker_squares 13", "open_face 10")


class Connection:
    """Raw HTTP access to one server."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.http = local_session()
        self.table: Any = None

    def send(self, method: str, path: str, **options: Any) -> tuple[int, dict[str, str], bytes]:
        reply = self.http.request(method, self.base + path, **options)
        kept = {key: value for key, value in reply.headers.items() if key.lower() not in ("date", "set-cookie")}
        if reply.headers["content-type"] == "application/json" and "id" in reply.json() and "/deals/" not in path:
            self.table = reply.json()
        return reply.status_code, kept, reply.content


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrecy")
    for name, plays in POLICIES.items():
        torch.manual_seed(0)
        game, network = make_game(name), MLPOptions(widths=(8,))
        save_policy(folder / "models" / name, describe(game, network, PLAYS[plays], {}), network.build(game.spec))
    return folder


@pytest.mark.parametrize("practice", [False, True], ids=["counts", "practice"])
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_hidden_cards_change_no_byte_of_a_response(name, practice, folder, tmp_path, monkeypatch):
    case = CASES[name]
    load = AgentCatalog.load

    def with_puppets(self, game, player):
        return case.scripted_agent(game) if player.agent == "random" else load(self, game, player)

    monkeypatch.setattr(AgentCatalog, "load", with_puppets)
    servers = [
        serve(folder, tmp_path / part, deck, later)
        for part, deck, later in zip("ab", case.decks, case.later, strict=True)
    ]
    with servers[0] as one, servers[1] as other:
        _play_both(case, [Connection(one.base), Connection(other.base)], practice)


def serve(folder, own, deck, later):
    ids = count()
    return run_server(
        make_options(
            own,
            models=str(folder / "models"),
            searches={"monte_carlo": "monte_carlo:simulations:16"},
            advice_deals=8,
            secret="x" * 16,
        ),
        make_deal=lambda seed: Stacked(seed, tuple(deck.tolist()), later),
        make_seed=lambda: b"s" * 32,
        make_id=lambda: f"table{next(ids)}",
    )


def _play_both(case: Case, connections: list[Connection], practice: bool) -> None:
    rng = np.random.default_rng(4)
    table_request = {**case.table_request, "opponents": [{"agent": "random"}], "par": {"agent": "random"}}
    table_request["practice"] = practice
    compare(connections, "POST", "/api/tables", json=table_request)
    moves = 0
    while True:
        table = connections[0].table
        compare_other_requests(connections, table, case.table_request["game"], moves)
        if practice and moves == 2:
            compare(connections, "POST", f"/api/tables/{table['id']}/undo", json={"number": table["number"]})
            table, moves = connections[0].table, moves - 1
            practice = False  # once
        body = {"action": choose(table, rng, case.calls_at), "number": table["number"]}
        replies = [connection.send("POST", f"/api/tables/{table['id']}/moves", json=body) for connection in connections]
        assert [reply[0] for reply in replies] == [200, 200]
        moves += 1
        if moves == case.equal or revealed(connections) or connections[0].table["status"] == "over":
            break
        if case.equal is None or moves < case.equal:
            assert replies[0] == replies[1]
    assert events_before_reveal(connections[0].table) == events_before_reveal(connections[1].table)
    assert (replies[0] == replies[1]) is case.ends_alike  # otherwise the deals differ in visible cards


def compare(connections, method, path, **options):
    replies = [connection.send(method, path, **options) for connection in connections]
    assert replies[0] == replies[1]
    assert replies[0][0] < 500


def compare_other_requests(connections, table, game, moves):
    """Compare the responses of all other routes of a table."""
    path = f"/api/tables/{table['id']}"
    compare(connections, "GET", path)
    compare(connections, "GET", f"{path}/history")
    compare(connections, "GET", f"/api/deals/{table['deal']['id']}")
    compare(connections, "GET", f"{path}/replay")
    compare(connections, "POST", f"{path}/moves", json={"action": 0, "number": table["number"] + 1})
    compare(connections, "POST", f"{path}/moves", json={"action": 32_000, "number": table["number"]})
    if moves % 6 == 0:
        compare(connections, "GET", f"{path}/advice")
    if moves % 12 == 0:
        compare(connections, "GET", f"{path}/advice", params={"search": "monte_carlo"})


def choose(table, rng, calls_at):
    """A random legal action, at Big 2 no pass, at Thirty-One draws until the call."""
    legal = table["legal"]
    if table["game"] == "thirty_one":
        kinds = {choice["kind"]: choice["action"] for choice in legal}
        if "call" in kinds and table["view"]["turns"] // len(table["seats"]) >= calls_at:
            return kinds["call"]
        return kinds.get("draw", legal[int(rng.integers(len(legal)))]["action"])
    free = [choice["action"] for choice in legal if choice.get("kind") != "pass"] or [legal[0]["action"]]
    return int(rng.choice(free))


def revealed(connections):
    return any(event["kind"] == "showdown" for event in connections[0].table["events"])


def events_before_reveal(table):
    """Events of the last response before the cards are revealed."""
    kept = []
    for event in table["events"]:
        if event["kind"] == "showdown":
            break
        kept.append({key: value for key, value in event.items() if key != "view"})
    return kept[:1] if table["game"] != "thirty_one" else kept
