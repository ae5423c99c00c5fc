"""Positions that the checks look at, and their failures."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import IllegalAction, Moves, play
from cardlab.games.protocol import (
    NO_PLAYER,
    Game,
    Players,
    States,
)

NOT_IN_DIGEST = "shows positions to checks, which decide nothing else"
GAMES = 12  # that a check plays
_STEPS = 8  # positions of a game that a check looks at, at least, where a game is that long
NO_ACTION = "legal_actions must have an action for the current player; current_player is NO_PLAYER if no one decides"


class CheckFailed(AssertionError):
    """A part breaks a rule of its protocol; the message says which, and what to change."""


def positions(game: Game, seed: int, num_games: int = GAMES, every: int = 1) -> Iterator[tuple[States, States, Moves]]:
    """Every so many steps of random play: the states before, the states after, what was played.

    Short games are looked at more often: at each step, if they have fewer than 16 decisions.
    """
    every = min(every, max(1, game.spec.max_decisions // _STEPS))
    rng = np.random.default_rng(seed)
    states = game.deal(num_games, rng)
    before = States(states.copy())
    try:
        for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng, ask_forced=True)):
            if step % every == 0:
                yield before, states, moves
            before = States(states.copy())
    except IllegalAction as error:  # random play takes legal actions only
        decides = game.current_player(states) != NO_PLAYER
        require(game.legal_actions(states)[decides].any(axis=1).all(), NO_ACTION)
        raise CheckFailed(f"the lists and masks of legal actions differ ({error})") from error


def sample(game: Game, seed: int, count: int = 6) -> list[tuple[States, Players]]:
    """Positions of random play with a current player, and that player."""
    found = [(States(before[moves.rows]), moves.players) for before, _, moves in positions(game, seed)]
    picks = np.random.default_rng(seed).choice(len(found), size=min(count, len(found)), replace=False)
    return [found[pick] for pick in sorted(picks)]


def require(holds: Any, sentence: str) -> None:
    """Raise CheckFailed unless `holds`."""
    if not holds:
        raise CheckFailed(sentence)


def require_array(name: str, found: Any, shape: tuple[int, ...], dtype: Any) -> None:
    """Raise CheckFailed unless `found` is a finite array of this shape and type."""
    require(isinstance(found, np.ndarray), f"{name} must return an array, not {type(found).__name__}")
    require(found.shape == shape, f"{name} must have the shape {list(shape)}, not {list(found.shape)}")
    require(found.dtype == dtype, f"{name} must be {np.dtype(dtype).name}, not {found.dtype}")
    require(np.isfinite(found).all(), f"{name} must be finite")
