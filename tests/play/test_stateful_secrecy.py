"""Two players with two servers on one database send any requests in any order: no answer has a hidden card.

The cards that a player may know of a deal are computed from the stored deal and actions. While a game of the player
with a deal counts, or is the player's only game with it, each answer about that deal is searched for other cards,
payoffs and par: status line, headers and body. Lists, standings and errors have no cards at all. Log lines have none
either. Stored moves are taken back in practice games only.
"""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from sqlalchemy import select
from sqlalchemy.orm import Session

from cardlab.games.big2.actions import DECK_CARD
from cardlab.games.big2.rules import PLAYED
from cardlab.games.cards.deck import card_text
from cardlab.games.make_game import make_game
from cardlab_play.database import OPEN, GameRow
from cardlab_play.deals import Deal
from play_server import RunningServer, local_session, make_options, run_server

CARD = re.compile(r"(?<![\w-])[2-9TJQKA][cdhs](?![\w-])")
PLAYERS, SERVERS = st.integers(0, 1), st.integers(0, 1)
KINDS = ["fresh", "daily", "practice"]
PARTS = ["", "/history", "/replay", "/advice?agent=random", "deal"]
PICK, RECENT = st.integers(0, 1700), st.integers(0, 3)
REQUESTS: dict[str, dict[str, Any]] = {
    "big2": {"game": "big2", "seat": 1, "opponents": [{"agent": "lowest"}], "par": {"agent": "random"}},
    "poker_squares": {"game": "poker_squares", "par": {"agent": "random"}},
}


def known_cards(row: GameRow) -> set[str]:
    """The cards of a stored game that its player has seen."""
    game = make_game(row.deal.game, **row.deal.options)
    states = Deal(row.deal.seed).states(game)
    if row.deal.game == "poker_squares":
        return set(map(card_text, states["deck"][0][: len(row.actions) + 1].tolist()))
    own = states["place"][0] == row.deal.seat
    for action in row.actions:
        game.apply(states, np.array([action], dtype=np.int16))
    return {card_text(int(DECK_CARD[card])) for card in np.flatnonzero(own | (states["place"][0] >= PLAYED))}


def without_belief(advice: Any) -> str:
    """Advice without the list of cards that the player cannot see, which is the same for all deals."""
    return json.dumps({key: value for key, value in advice.items() if key not in ("belief", "observation")})


@dataclass(frozen=True)
class OpenedTable:
    player: int
    path: str
    game: str
    deal: str


class TwoPlayers(RuleBasedStateMachine):
    """Rules are requests about one of the last tables, of either player."""

    servers: list[RunningServer]
    logged: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.http = [local_session(), local_session()]
        self.tables: list[OpenedTable] = []
        self.rows: dict[str, GameRow] = {}  # by the table's path

    def send(self, player: int, server: int, method: str, path: str, body: Any = None, deal: str = "") -> Any:
        """Send a request about a deal, or about none, and search the answer. Returns its JSON if it succeeds."""
        before = self.counting(player)
        reply = self.http[player].request(method, self.servers[server].base + path, json=body)
        assert reply.status_code < 500, reply.text
        if reply.status_code == 201:
            table = reply.json()
            deal = table["deal"]["id"]
            self.tables.append(OpenedTable(player, f"/api/tables/{table['id']}", table["game"], deal))
        if method != "GET":
            self.read_rows()
        after = self.counting(player)
        body_text = without_belief(reply.json()) if reply.ok and "/advice" in path else reply.text
        found = {card for text in (body_text, str(reply.headers)) for card in CARD.findall(text)}
        if not deal or not reply.ok:
            assert not found, reply.text
        elif deal in after and (deal in before or reply.status_code == 201):
            assert found <= known_cards(after[deal]), reply.text
            assert '"payoff' not in reply.text
        return reply.json() if reply.ok else None

    def read_rows(self) -> None:
        """Read all games. Actions are only added, and only the first game of a player with a deal counts."""
        ids = [table.path.rpartition("/")[2] for table in self.tables]
        with Session(self.servers[0].dispatcher.store.engine) as session:
            rows = session.scalars(select(GameRow).where(GameRow.id.in_(ids))).unique().all()
        first: dict[tuple[int, str], str] = {}
        old, self.rows = self.rows, {f"/api/tables/{row.id}": row for row in rows}
        for path in (table.path for table in self.tables):
            row = self.rows[path]
            assert path not in old or not row.counts or row.actions[: len(old[path].actions)] == old[path].actions
            assert first.setdefault((row.user_id, row.deal_id), row.id) == row.id or not row.counts

    def counting(self, player: int) -> dict[str, GameRow]:
        """The games of a player that count, or are the only ones with their deal, and are not over, by deal."""
        own = [self.rows[table.path] for table in self.tables if table.player == player]
        deals = [row.deal_id for row in own]
        return {row.deal_id: row for row in own if (row.counts or deals.count(row.deal_id) == 1) and row.status == OPEN}

    @rule(player=PLAYERS, server=SERVERS, game=st.sampled_from(sorted(REQUESTS)), kind=st.sampled_from(KINDS))
    def open(self, player: int, server: int, game: str, kind: str) -> None:
        body = {"game": game, "deal": "daily"} if kind == "daily" else REQUESTS[game]
        body = {**body, "practice": True} if kind == "practice" else body
        self.send(player, server, "POST", "/api/tables", body)

    @precondition(lambda self: self.tables)
    @rule(player=PLAYERS, server=SERVERS, recent=RECENT)
    def open_again(self, player: int, server: int, recent: int) -> None:
        table = self.table(recent)
        self.send(player, server, "POST", "/api/tables", {"game": table.game, "deal": table.deal})

    @precondition(lambda self: self.tables)
    @rule(player=PLAYERS, server=SERVERS, recent=RECENT, choice=PICK, late=st.sampled_from([0, 0, 0, 0, 1, -1]))
    def move(self, player: int, server: int, recent: int, choice: int, late: int) -> None:
        """A move, now and then with another number, and an illegal one every tenth time."""
        opened = self.table(recent)
        table = self.send(player, server, "GET", opened.path, deal=opened.deal) or {"number": 1, "legal": []}
        legal = [move["action"] for move in table["legal"]]
        action = legal[choice % len(legal)] if legal and choice % 10 else choice
        body = {"action": action, "number": max(0, table["number"] + late)}
        self.send(player, 1 - server, "POST", f"{opened.path}/moves", body, opened.deal)

    @precondition(lambda self: self.tables)
    @rule(player=PLAYERS, server=SERVERS, recent=RECENT)
    def resign(self, player: int, server: int, recent: int) -> None:
        opened = self.table(recent)
        body = {"number": len(self.rows[opened.path].actions)}
        self.send(player, server, "POST", f"{opened.path}/resignation", body, opened.deal)

    @precondition(lambda self: self.tables)
    @rule(player=PLAYERS, server=SERVERS, recent=RECENT)
    def undo(self, player: int, server: int, recent: int) -> None:
        opened = self.table(recent)
        before = self.rows[opened.path]
        body = {"number": len(before.actions)}
        done = self.send(player, server, "POST", f"{opened.path}/undo", body, opened.deal)
        after = self.rows[opened.path].actions
        assert (len(after) < len(before.actions)) == (done is not None)
        assert not done or (not before.counts and before.status == OPEN)

    @precondition(lambda self: self.tables)
    @rule(player=PLAYERS, server=SERVERS, recent=RECENT, part=st.sampled_from(PARTS))
    def look(self, player: int, server: int, recent: int, part: str) -> None:
        opened = self.table(recent)
        path = f"/api/deals/{opened.deal}" if part == "deal" else opened.path + part
        self.send(player, server, "GET", path, deal=opened.deal)

    @rule(
        player=PLAYERS,
        server=SERVERS,
        path=st.sampled_from(["tables", "daily", "session", "games", "leaderboard?game=big2", "nothing", "../secret"]),
    )
    def look_elsewhere(self, player: int, server: int, path: str) -> None:
        self.send(player, server, "GET", f"/api/{path}")

    def table(self, recent: int) -> OpenedTable:
        return self.tables[-1 - recent % len(self.tables)]

    def teardown(self) -> None:
        assert not [line for line in self.logged if CARD.search(line)]


@pytest.fixture
def machine(tmp_path) -> Iterator[type[TwoPlayers]]:
    options = make_options(tmp_path, secret="x" * 16)
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())
    with ExitStack() as stack:
        servers = [stack.enter_context(run_server(options)) for _ in range(2)]
        logging.getLogger().addHandler(handler)
        stack.callback(logging.getLogger().removeHandler, handler)
        yield type("Machine", (TwoPlayers,), {"servers": servers, "logged": logged})


def search(machine: type[TwoPlayers], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_no_answer_has_a_hidden_card(machine):
    search(machine, 12, 20)


@pytest.mark.slow
def test_no_answer_has_a_hidden_card_in_long_games(machine):
    search(machine, 40, 60)
