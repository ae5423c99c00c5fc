"""JSON messages of games, tables and results. Tables are described by the InfoStates of the player's seat."""

from typing import Any

from cardlab.games.catalogue import make_game
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import OPEN, RESIGNED, DealRow, GameRow
from cardlab_play.offered_games import OFFERED_GAMES, GameOption, OfferedGame
from cardlab_play.table_store import LiveTable


def games_message(agents: AgentCatalog) -> list[dict[str, Any]]:
    """All games with their options, agents and searches."""
    return [_game_message(name, offered, agents) for name, offered in OFFERED_GAMES.items()]


def table_message(live: LiveTable, agents: AgentCatalog) -> dict[str, Any]:
    """The full state of a table."""
    table, row = live.table, live.row
    return {
        "id": row.id,
        "game": live.game.spec.name,
        "title": OFFERED_GAMES[live.game.spec.name].title,
        "options": row.deal.options,
        "seat": table.seat,
        "seats": seats_message(row.deal, agents),
        "number": len(table.actions),
        "status": "over" if table.is_over else "your_turn",
        "view": table.view(),
        "legal": table.legal_moves(),
        "events": table.recent_events(),
        "deal": {"id": row.deal_id, "kind": row.kind, "counts": row.counts},
        "result": result_message(live, agents) if table.is_over else None,
    }


def listing_message(row: GameRow, agents: AgentCatalog) -> dict[str, Any]:
    """A table's entry in the list of open tables."""
    return {
        "id": row.id,
        "game": row.deal.game,
        "title": OFFERED_GAMES[row.deal.game].title,
        "seats": seats_message(row.deal, agents),
        "number": len(row.actions),
        "status": "your_turn" if row.status == OPEN else "over",
        "started": row.began.isoformat(),
        "last_move": row.moved.isoformat(),
    }


def seats_message(deal: DealRow, agents: AgentCatalog) -> list[dict[str, Any]]:
    """[P] title and agent of each seat."""
    seats: list[dict[str, Any]] = [
        {"title": agents.title(AgentChoice(**player)), "agent": player["agent"], "search": player["search"]}
        for player in deal.opponents
    ]
    seats.insert(deal.seat, {"title": "You", "agent": None, "search": None})
    return [{"player": player, **seat} for player, seat in enumerate(seats)]


def result_message(live: LiveTable, agents: AgentCatalog) -> dict[str, Any]:
    """The result of a finished game."""
    payoffs = live.table.payoffs()
    payoff = payoffs[live.table.seat]
    deal = live.row.deal
    par = deal.par_payoff
    par_pending = par is None and not live.par_failed
    return {
        "payoff": payoff,
        "payoffs": payoffs,
        "won": _won(payoffs, live.table.seat, par),
        "text": _text(live.game.spec.name, payoff, len(payoffs)),
        "resigned": live.row.status == RESIGNED,
        "par": {"title": agents.title(live.par), "payoff": par} if par is not None or par_pending else None,
    }


def _won(payoffs: list[float], seat: int, par: float | None) -> bool | None:
    """Whether the player beats all others, in one-player games par. None for a tie or without par."""
    own = payoffs[seat]
    others = [payoff for player, payoff in enumerate(payoffs) if player != seat]
    if not others:
        others = [] if par is None else [par]
    if not others or own == max(others):
        return None
    return own > max(others)


def _text(game: str, payoff: float, num_players: int) -> str:
    if num_players == 1:
        return f"You scored {payoff:g} {'point' if payoff == 1 else 'points'}"
    if game in ("thirty_one", "five_o"):
        return "You won" if payoff > 0 else "A tie" if payoff == 0 else "You lost"
    unit = "point" if abs(payoff) == 1 else "points"
    return f"You won {payoff:g} {unit}" if payoff > 0 else f"You lost {-payoff:g} {unit}" if payoff else "A tie"


def _game_message(name: str, offered: OfferedGame, agents: AgentCatalog) -> dict[str, Any]:
    game = make_game(name)
    smallest = largest = game.spec.num_players
    for option in offered.options:
        if option.key == "num_players":
            largest = max(int(value) for value in option.values)
    advisor = agents.advisor(game).agent
    return {
        "game": name,
        "title": offered.title,
        "unit": offered.unit,
        "players": {"min": smallest, "max": largest},
        "options": [_option_message(option) for option in offered.options],
        "agents": [
            {
                "agent": entry.agent,
                "title": entry.title,
                "kind": entry.kind,
                "required_options": dict(entry.required_options),
                "searches": list(entry.searches),
            }
            for entry in agents.entries(game)
        ],
        "searches": [{"search": key, "title": search.title} for key, search in agents.searches.items()],
        "default_agent": advisor,
        "advisor": advisor,
    }


def _option_message(option: GameOption) -> dict[str, Any]:
    numbers = [value for value in option.values if isinstance(value, int)]
    values = sorted(numbers) if numbers else list(option.values)
    return {
        "key": option.key,
        "title": option.title,
        "values": values,
        "labels": list(option.labels) or [str(value) for value in values],
        "default": option.values[0],
    }
