"""JSON messages of games, tables and results. Tables are described by the InfoStates of the player's seat."""

from dataclasses import asdict
from pathlib import Path

from cardlab.games.make_game import make_game
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import OPEN, RESIGNED, DealRow, GameRow
from cardlab_play.live_table import LiveTable
from cardlab_play.offered_games import OFFERED_GAMES, GameOption
from cardlab_play.strengths import strength_text
from cardlab_play.views.protocol import Json


def games_message(agents: AgentCatalog) -> list[Json]:
    """All games with their options, agents and searches."""
    return [_game_message(name, agents) for name in OFFERED_GAMES]


def table_message(live: LiveTable, agents: AgentCatalog) -> Json:
    """The full state of a table."""
    table, row = live.table, live.row
    return {
        "id": row.id,
        "game": row.deal.game,
        "title": OFFERED_GAMES[row.deal.game].title,
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


def listing_message(row: GameRow, agents: AgentCatalog) -> Json:
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


def seats_message(deal: DealRow, agents: AgentCatalog) -> list[Json]:
    """[P] title and agent of each seat."""
    seats: list[Json] = [{"title": agents.title(AgentChoice(**agent)), **agent} for agent in deal.opponents]
    seats.insert(deal.seat, {"title": "You", "agent": None, "search": None})
    return [{"player": player, **seat} for player, seat in enumerate(seats)]


def par_message(deal: DealRow, agents: AgentCatalog) -> Json:
    """The par agent of a deal and its payoff, None while it plays."""
    return {"title": agents.title(AgentChoice(**deal.par)), **deal.par, "payoff": deal.par_payoff}


def result_message(live: LiveTable, agents: AgentCatalog) -> Json:
    """The result of a finished game."""
    payoffs, deal = live.table.payoffs(), live.row.deal
    payoff = payoffs[live.table.seat]
    return {
        "payoff": payoff,
        "payoffs": payoffs,
        "won": _won(payoffs, live.table.seat, deal.par_payoff),
        "text": result_text(deal.game, payoffs, live.table.seat),
        "resigned": live.row.status == RESIGNED,
        "par": None if deal.par_payoff is None and live.par_failed else par_message(deal, agents),
    }


def _won(payoffs: list[float], seat: int, par: float | None) -> bool | None:
    """Whether the player beats all others, in one-player games par. None for a tie or without par."""
    others = payoffs[:seat] + payoffs[seat + 1 :] or ([] if par is None else [par])
    if not others or payoffs[seat] == max(others):
        return None
    return payoffs[seat] > max(others)


def result_text(game: str, payoffs: list[float], seat: int) -> str:
    """The result in words: You lost the match; You won, +12 points."""
    payoff, prize = payoffs[seat], OFFERED_GAMES[game].prize
    unit = "point" if abs(payoff) == 1 else "points"
    if len(payoffs) == 1:
        return f"You scored {payoff:g} {unit}"
    best = "You won" if payoffs.count(payoff) == 1 else "You tied"
    outcome = best if payoff == max(payoffs) else "You lost"
    if prize:
        return f"{outcome} the {prize}"
    sign = "+" if payoff > 0 else "−" if payoff < 0 else ""
    return f"{outcome}, {sign}{abs(payoff):g} {unit}"


def _game_message(name: str, agents: AgentCatalog) -> Json:
    offered, game = OFFERED_GAMES[name], make_game(name)
    numbers = [game.spec.num_players]
    for option in offered.options:
        if option.key == "num_players":
            numbers += [int(value) for value in option.values]
    advisor = agents.advisor(game).agent
    return {
        "game": name,
        "title": offered.title,
        "unit": offered.unit,
        "levels": [asdict(level) for level in agents.levels(game)],
        "players": {"min": min(numbers), "max": max(numbers)},
        "options": [_option_message(option) for option in offered.options],
        "agents": [
            {**asdict(entry), "strength": strength_text(game, entry.agent, Path(agents.options.models))}
            for entry in agents.entries(game)
        ],
        "searches": [{"search": key, "title": search.title} for key, search in agents.searches.items()],
        "default_agent": advisor,
        "advisor": advisor,
    }


def _option_message(option: GameOption) -> Json:
    """The option with its values in order."""
    values = list(option.values) if option.labels else sorted(map(int, option.values))
    labels = option.labels or tuple(map(str, values))
    return {"key": option.key, "title": option.title, "values": values, "labels": labels, "default": option.values[0]}
