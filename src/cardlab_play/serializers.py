"""How strong agents are, in words: from the evaluations of the champions and of the policies of the benchmark."""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cardlab.agents.specs import CHAMPION, SEED, champion_folder
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import OPEN, RESIGNED, DealRow, GameRow
from cardlab_play.offered_games import offered_games
from cardlab_play.table import LiveTable
from cardlab_play.views.game_view import Json

OWN_SCORE = "self"  # the reference that holds an agent's own score, in games of one player


def strength_text(game: Game, agent: str, models: Path) -> str | None:
    """How an offered agent does against the strongest reference, or the champion against it. None without figures."""
    players, offered = game.spec.num_players, offered_games()[game.spec.name]
    own = _evaluation(game.spec.name, Path(agent), models)
    evaluation = own or _evaluation(game.spec.name, Path(CHAMPION), models) or {"references": {}}
    references: dict[str, Any] = evaluation["references"]
    name = agent
    if own is not None:
        name = OWN_SCORE if players == 1 else min(references, key=lambda reference: references[reference]["mean"])
    if name not in references:
        return "Plays at random" if agent == "random" else None
    figures = references[name]
    if players == 1:
        return f"Scores {_points(figures)} a game"
    number, rate = ("one", "two", "three")[players - 2], _percent(figures["win_rate"])
    if own is None:
        text = f"The champion wins {rate} against {'it' if players == 2 else f'{number} of them'}"
    else:
        text = f"Wins {rate} against {'an opponent' if players == 2 else f'{number} opponents'} {_rival(game, name)}"
    points = "" if offered.prize else f", {_points(figures, signed=True)} a game"
    if any(option.key == "num_players" for option in offered.options):
        return f"{text}{points} ({players} players)"
    return text + points + ("" if players == 2 else f" (equal players: {_percent(1 / players)} each)")


def _rival(game: Game, reference: str) -> str:
    """What a reference is to a player: its level where it is one."""
    for level, agent in offered_games()[game.spec.name].levels.items():
        if agent == reference:
            return f"of the level {level}"
    if reference.startswith("threshold:level:"):
        return f"calling from {reference.rpartition(':')[2]} points on"
    return f"named {reference.replace('_', ' ').replace(':', ' ')}"


def _percent(share: float) -> str:
    """As the page writes it: `45 %`."""
    return f"{share:.0%}".replace("%", " %")


def _points(figures: dict[str, Any], *, signed: bool = False) -> str:
    mean = f"{round(figures['mean'], 1) + 0.0:{'+' if signed else ''}.1f}".replace("-", "−")
    return f"{mean} ± {(figures['high'] - figures['low']) / 2:.1f} points"


def _evaluation(name: str, agent: Path, models: Path) -> dict[str, Any] | None:
    """The evaluation of the champion, or of a policy in `models`: the file of its experiment in results/ beside it."""
    if str(agent) == CHAMPION:
        return _read((champion_folder(name) or Path()) / "evaluation.json")
    if not agent.is_relative_to(models):
        return None
    experiment = agent.relative_to(models).parts[0]
    evaluation = _read(models.absolute().parent / "results" / experiment / "evaluation.json")
    by_seed = {} if evaluation is None else evaluation.get("by_seed", {})
    return by_seed.get(agent.name.removeprefix(SEED), evaluation)


def _read(path: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        return json.loads(path.read_text("utf-8"))
    return None


def games_message(agents: AgentCatalog) -> list[Json]:
    """All games with their options, agents and searches."""
    return [_game_message(name, agents) for name in offered_games()]


def table_message(live: LiveTable, agents: AgentCatalog) -> Json:
    """The full state of a table."""
    table, row = live.table, live.row
    return {
        "id": row.id,
        "game": row.deal.game,
        "title": offered_games()[row.deal.game].title,
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
        "title": offered_games()[row.deal.game].title,
        "seats": seats_message(row.deal, agents),
        "number": len(row.actions),
        "status": "your_turn" if row.status == OPEN else "over",
        "started": row.began.isoformat(),
        "last_move": row.moved.isoformat(),
    }


def seats_message(deal: DealRow, agents: AgentCatalog) -> list[Json]:
    """[P] title and agent of each seat."""
    seats: list[Json] = [agents.message(AgentChoice(**agent)) for agent in deal.opponents]
    seats.insert(deal.seat, {"title": "You", "agent": None, "search": None})
    return [{"player": player, **seat} for player, seat in enumerate(seats)]


def par_message(deal: DealRow, agents: AgentCatalog) -> Json:
    """The par agent of a deal and its payoff, None while it plays."""
    return {**agents.message(AgentChoice(**deal.par)), "payoff": deal.par_payoff}


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
    payoff, prize = payoffs[seat], offered_games()[game].prize
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
    offered, game = offered_games()[name], make_game(name)
    numbers = [game.spec.num_players]
    for option in offered.options:
        if option.key == "num_players":
            numbers += [int(value) for value in option.values]
    advisor = agents.advisor(game).agent
    return {
        "game": name,
        "title": offered.title,
        "unit": offered.unit,
        "levels": agents.levels(game),
        "players": {"min": min(numbers), "max": max(numbers)},
        "options": [option.model_dump() for option in offered.options],
        "agents": [
            {**asdict(entry), "strength": strength_text(game, entry.agent, Path(agents.options.models))}
            for entry in agents.entries(game)
        ],
        "searches": [{"search": key, "title": search.title} for key, search in agents.searches.items()],
        "default_agent": advisor,
        "advisor": advisor,
    }
