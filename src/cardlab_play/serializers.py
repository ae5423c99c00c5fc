"""Tables as messages: what a person is told of one, from the InfoStates of their seat."""

from typing import Any

from cardlab_play.database import GIVEN_UP, OPEN, DealRow, GameRow
from cardlab_play.players import Player, Players
from cardlab_play.settings import SETTINGS
from cardlab_play.table_store import Held


def table_message(held: Held, players: Players) -> dict[str, Any]:
    """The whole table."""
    table, row = held.table, held.row
    return {
        "id": row.id,
        "game": held.game.spec.name,
        "title": SETTINGS[held.game.spec.name].title,
        "options": row.deal.options,
        "seat": table.seat,
        "seats": seats_message(row.deal, players),
        "number": len(table.actions),
        "status": "over" if table.over else "your_turn",
        "view": table.picture(),
        "legal": table.choices(),
        "events": table.news(),
        "deal": {"id": row.deal_id, "kind": row.kind, "counts": row.counts},
        "result": result_message(held, players) if table.over else None,
    }


def listed_message(row: GameRow, players: Players) -> dict[str, Any]:
    """A table in a list."""
    return {
        "id": row.id,
        "game": row.deal.game,
        "title": SETTINGS[row.deal.game].title,
        "seats": seats_message(row.deal, players),
        "number": len(row.actions),
        "status": "your_turn" if row.status == OPEN else "over",
        "started": row.began.isoformat(),
        "moved": row.moved.isoformat(),
    }


def seats_message(deal: DealRow, players: Players) -> list[dict[str, Any]]:
    """[P] who sits where."""
    seats: list[dict[str, Any]] = [
        {"title": players.title(Player(**player)), "agent": player["agent"], "search": player["search"]}
        for player in deal.opponents
    ]
    seats.insert(deal.seat, {"title": "You", "agent": None, "search": None})
    return [{"player": player, **seat} for player, seat in enumerate(seats)]


def result_message(held: Held, players: Players) -> dict[str, Any]:
    """How a game that is over came out."""
    payoffs = held.table.payoffs()
    payoff = payoffs[held.table.seat]
    deal = held.row.deal
    par = deal.par_payoff
    awaited = par is None and not held.par_fails  # it takes longer than the game did
    return {
        "payoff": payoff,
        "payoffs": payoffs,
        "won": _won(payoffs, held.table.seat, par),
        "text": _text(held.game.spec.name, payoff, len(payoffs)),
        "given_up": held.row.status == GIVEN_UP,
        "par": {"title": players.title(held.par), "payoff": par} if par is not None or awaited else None,
    }


def _won(payoffs: list[float], seat: int, par: float | None) -> bool | None:
    """Whether the person did best, alone better than par; None for a tie, or for a game alone without par."""
    own = payoffs[seat]
    rivals = [payoff for player, payoff in enumerate(payoffs) if player != seat]
    if not rivals:
        rivals = [] if par is None else [par]
    if not rivals or own == max(rivals):
        return None
    return own > max(rivals)


def _text(game: str, payoff: float, num_players: int) -> str:
    if num_players == 1:
        return f"You scored {payoff:g} {'point' if payoff == 1 else 'points'}"
    if game in ("thirty_one", "five_o"):
        return "You won" if payoff > 0 else "A tie" if payoff == 0 else "You lost"
    unit = "point" if abs(payoff) == 1 else "points"
    return f"You won {payoff:g} {unit}" if payoff > 0 else f"You lost {-payoff:g} {unit}" if payoff else "A tie"
