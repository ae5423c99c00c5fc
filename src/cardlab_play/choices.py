"""What can be chosen before a game: games, options, agents and searches."""

from typing import Any

from cardlab.games.catalogue import make_game
from cardlab_play.players import Players
from cardlab_play.settings import SETTINGS, Choice, Setting


def choices_message(players: Players) -> list[dict[str, Any]]:
    """Every game."""
    return [_game_message(name, setting, players) for name, setting in SETTINGS.items()]


def _game_message(name: str, setting: Setting, players: Players) -> dict[str, Any]:
    game = make_game(name)
    least = most = game.spec.num_players
    for choice in setting.choices:
        if choice.key == "num_players":
            most = max(int(value) for value in choice.values)
    advisor = players.advisor(game).agent
    return {
        "game": name,
        "title": setting.title,
        "unit": setting.unit,
        "players": {"least": least, "most": most},
        "options": [_option_message(choice) for choice in setting.choices],
        "agents": [
            {
                "agent": entry.agent,
                "title": entry.title,
                "kind": entry.kind,
                "needs": dict(entry.needs),
                "searches": list(entry.searches),
            }
            for entry in players.listed(game)
        ],
        "searches": [{"search": key, "title": search.title} for key, search in players.searches.items()],
        "default_agent": advisor,
        "advisor": advisor,
    }


def _option_message(choice: Choice) -> dict[str, Any]:
    numbers = [value for value in choice.values if isinstance(value, int)]
    values = sorted(numbers) if numbers else list(choice.values)
    return {
        "key": choice.key,
        "title": choice.title,
        "values": values,
        "words": list(choice.words) or [str(value) for value in values],
        "default": choice.values[0],
    }
