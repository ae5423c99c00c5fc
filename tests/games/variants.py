"""The option sets under which every game of the catalogue is tested; a game without an entry fails the suite."""

from typing import Any

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "poker_squares": [
        {},
        {"scoring": "british", "features": "paper"},
        {"scoring": "custom", "custom_scores": (-1, 0, 2, 3, 4, 5, 6, 7, 8, 9)},
    ],
    "thirty_one": [
        {},
        {"num_players": 4, "features": "paper"},
        {"num_players": 9, "lives": 1},
        {"num_players": 3, "max_turns": 7, "max_rounds": 2},
        {"reward": "shaped", "max_rounds": 8},
        {"num_players": 3, "play": "round", "reward": "shaped"},
    ],
    "five_o": [{}, {"payoff": "columns", "hidden_round": 4}, {"features": "chances"}, {"features": "prospects"}],
    "open_face": [{}, {"features": "paper"}],
    "big2": [
        {},
        {"features": "full", "opening": "choose"},
        {"features": "plans", "penalty": "doubled"},
        {"penalty": "doubled", "straight_flush": "unbeatable"},
    ],
}

CASES = [(name, options) for name, sets in VARIANTS.items() for options in sets]
IDS = [f"{name}-{'-'.join(map(str, options.values())) or 'default'}" for name, options in CASES]
