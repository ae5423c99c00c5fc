"""What can be chosen before a game: games, options, agents and searches."""

from typing import Any

from cardlab.games.catalogue import make_game
from cardlab.serving.options import PlayOptions
from cardlab.serving.players import Players
from cardlab.serving.settings import SETTINGS, Choice, Setting


def choices_message(players: Players, options: PlayOptions) -> list[dict[str, Any]]:
    """Every game."""
    return [_game_message(name, setting, players, options) for name, setting in SETTINGS.items()]


def _game_message(name: str, setting: Setting, players: Players, options: PlayOptions) -> dict[str, Any]:
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
        "searches": [{"search": name, "title": name.replace("_", " ").capitalize()} for name in options.searches],
        "default_agent": advisor,
        "advisor": advisor,
    }


def _option_message(choice: Choice) -> dict[str, Any]:
    numbers = [value for value in choice.values if isinstance(value, int)]
    return {
        "key": choice.key,
        "title": choice.title,
        "values": sorted(numbers) if numbers else list(choice.values),
        "default": choice.values[0],
    }
