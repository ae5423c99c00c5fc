"""Nothing hidden leaves the server: cards that a person may not know change no byte of what is sent.

Each case is two deals and opponents who show nothing of what they alone know. Two servers with the same ids play the
same moves at them, and every reply is compared: status, headers and body, of tables, moves, errors, deals and advice.
"""

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
import requests
import torch

from cardlab.agents.policies import describe, save_policy
from cardlab.games.cards.deck import parse_card
from cardlab.games.catalogue import make_game
from cardlab.games.protocol import Game, States
from cardlab.games.thirty_one.actions import DRAW, KEEP_HAND, SWAP_FIRST
from cardlab.networks.mlp import MLPOptions
from cardlab_play.deals import Deal
from cardlab_play.players import Players
from play_server import options_in, running

SHUFFLED = np.random.default_rng(11).permutation(52).astype(np.int8)
POLICIES = {"big2": "softmax", "thirty_one": "softmax", "five_o": "action_value"}


class LastLegal:
    """Passes at Big 2 whenever that is allowed, and shows nothing of its hand."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def act(self, info_states, players, rng):
        legal = self.game.legal_actions(info_states)
        return (legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)).astype(np.int16)


class Discards:
    """Draws at Thirty-One, and then discards `card` if it has it, wherever it came from; else what it drew."""

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
    """A deal with this deck, and this seed of what comes after it."""

    deck: tuple[int, ...] = ()
    later: int = 0

    def states(self, game: Game) -> States:
        decks, seeds = np.array([self.deck], dtype=np.int8), np.array([self.later], dtype=np.uint64)
        return game.deal(1, np.random.default_rng(0), decks, seeds)


@dataclass(frozen=True)
class Case:
    """Two deals that look alike to the person in `order` up to the reply to move `equal`, or to the end."""

    order: dict[str, Any]
    decks: tuple[np.ndarray, np.ndarray]
    later: tuple[int, int] = (1, 1)
    puppet: Any = LastLegal
    equal: int | None = None
    ends_alike: bool = False  # even what is shown in the end is the same
    calls_at: int = 99  # Thirty-One: the turn in which the person calls


def big2_case() -> Case:
    """The others' cards dealt anew among them; who has the 3 of diamonds stays, since it is played at once."""
    other, lowest = SHUFFLED.copy(), parse_card("3d")
    places = np.flatnonzero((np.arange(52) // 13 != 1) & (lowest != SHUFFLED))
    other[places] = np.random.default_rng(1).permutation(other[places])
    return Case({"game": "big2", "seat": 1}, (SHUFFLED, other))


def thirty_one_case(num_players: int, seat: int) -> Case:
    """The others' hands changed for cards that lie so deep in the stock that nobody draws them."""
    other = SHUFFLED.copy()
    hands = [place for place in range(3 * num_players) if place // 3 != seat]
    deep = np.arange(52 - len(hands), 52)
    other[hands], other[deep] = SHUFFLED[deep], SHUFFLED[hands]
    order = {"game": "thirty_one", "seat": seat, "options": {"num_players": num_players}}
    return Case(order, (SHUFFLED, other), puppet=partial(Discards, -2), calls_at=1 if num_players > 2 else 4)


def swapped_or_kept_case() -> Case:
    """The opponent discards one card: in one deal out of the hand, in the other what was just drawn."""
    other = SHUFFLED.copy()
    other[[3, 8]] = SHUFFLED[[8, 3]]  # a card of player 1's hand, and the second of the stock, which player 1 draws
    order = {"game": "thirty_one", "seat": 0}
    return Case(order, (SHUFFLED, other), puppet=partial(Discards, int(SHUFFLED[3])), ends_alike=True, calls_at=3)


def next_round_case() -> Case:
    """The same first round, another order of all that come after it."""
    return Case({"game": "thirty_one", "seat": 0}, (SHUFFLED, SHUFFLED), (1, 2), partial(Discards, -2), calls_at=3)


def five_o_case(seat: int, hidden_round: int) -> Case:
    """What the opponent draws in the hidden round, changed for each other's and for cards that are never drawn."""
    other = SHUFFLED.copy()
    first = 10 + 10 * (hidden_round - 2)
    places = [*range(first + 1 - seat, first + 10, 2), 50, 51]
    other[places] = np.roll(SHUFFLED[places], 1)
    order = {"game": "five_o", "seat": seat, "options": {"hidden_round": hidden_round}}
    return Case(order, (SHUFFLED, other))


def deck_case(order: dict[str, Any], known: int, equal: int) -> Case:
    """The same `known` cards, then another order: the next one is turned up by move `equal`."""
    other = SHUFFLED.copy()
    other[known:] = np.roll(SHUFFLED[known:], 1)
    return Case(order, (SHUFFLED, other), equal=equal, ends_alike=known == 25 and equal == 25)


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


class Wire:
    """One of the two servers, asked for raw replies."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.http = requests.Session()
        self.table: Any = None

    def ask(self, method: str, path: str, **given: Any) -> tuple[int, dict[str, str], bytes]:
        reply = self.http.request(method, self.base + path, **given)
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
        save_policy(folder / "models" / name, describe(game, network, plays, {}), network.build(game.spec))
    return folder


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_what_a_person_may_not_know_changes_no_byte(name, folder, tmp_path, monkeypatch):
    case = CASES[name]
    load = Players.load

    def with_puppets(self, game, player):
        return case.puppet(game) if player.agent == "random" else load(self, game, player)

    monkeypatch.setattr(Players, "load", with_puppets)
    servers = [
        served(folder, tmp_path / part, deck, later)
        for part, deck, later in zip("ab", case.decks, case.later, strict=True)
    ]
    with servers[0] as one, servers[1] as other:
        _play_both(case, [Wire(one.base), Wire(other.base)])


def served(folder, own, deck, later):
    ids = count()
    return running(
        options_in(
            own,
            models=str(folder / "models"),
            searches={"monte_carlo": "monte_carlo:simulations:16"},
            advice_deals=8,
            secret="x" * 16,
        ),
        deal_of=lambda seed: Stacked(seed, tuple(deck.tolist()), later),
        fresh_seed=lambda: b"s" * 32,
        make_id=lambda: f"table{next(ids)}",
    )


def _play_both(case: Case, wires: list[Wire]) -> None:
    rng = np.random.default_rng(4)
    order = {**case.order, "opponents": [{"agent": "random"}], "par": {"agent": "random"}}
    both(wires, "POST", "/api/tables", json=order)
    moves = 0
    while True:
        table = wires[0].table
        ask_around(wires, table, case.order["game"], moves)
        body = {"action": choose(table, rng, case.calls_at), "number": table["number"]}
        replies = [wire.ask("POST", f"/api/tables/{table['id']}/moves", json=body) for wire in wires]
        assert [reply[0] for reply in replies] == [200, 200]
        moves += 1
        if moves == case.equal or shown(wires) or wires[0].table["status"] == "over":
            break
        if case.equal is None or moves < case.equal:
            assert replies[0] == replies[1]
    assert without_shown(wires[0].table) == without_shown(wires[1].table)
    assert (replies[0] == replies[1]) is case.ends_alike  # where not, the deals did differ


def both(wires, method, path, **given):
    replies = [wire.ask(method, path, **given) for wire in wires]
    assert replies[0] == replies[1]
    assert replies[0][0] < 500


def ask_around(wires, table, game, moves):
    """Everything else that can be asked of a table under way."""
    path = f"/api/tables/{table['id']}"
    both(wires, "GET", path)
    both(wires, "GET", f"{path}/history")
    both(wires, "GET", f"/api/deals/{table['deal']['id']}")
    both(wires, "GET", f"{path}/replay")
    both(wires, "POST", f"{path}/moves", json={"action": 0, "number": table["number"] + 1})
    both(wires, "POST", f"{path}/moves", json={"action": 32_000, "number": table["number"]})
    if moves % 6 == 0:
        both(wires, "GET", f"{path}/advice")
    if moves % 12 == 0:
        both(wires, "GET", f"{path}/advice", params={"search": "monte_carlo"})


def choose(table, rng, calls_at):
    """A legal action: at random, at Big 2 no pass, at Thirty-One nothing but draws until the call."""
    legal = table["legal"]
    if table["game"] == "thirty_one":
        kinds = {choice["kind"]: choice["action"] for choice in legal}
        if "call" in kinds and table["view"]["turns"] // len(table["seats"]) >= calls_at:
            return kinds["call"]
        return kinds.get("draw", legal[int(rng.integers(len(legal)))]["action"])
    free = [choice["action"] for choice in legal if choice.get("kind") != "pass"] or [legal[0]["action"]]
    return int(rng.choice(free))


def shown(wires):
    return any(event["kind"] == "showdown" for event in wires[0].table["events"])


def without_shown(table):
    """All events of the last reply that came before the cards were shown or turned up."""
    kept = []
    for event in table["events"]:
        if event["kind"] == "showdown":
            break
        kept.append({key: value for key, value in event.items() if key != "view"})
    return kept[:1] if table["game"] != "thirty_one" else kept
