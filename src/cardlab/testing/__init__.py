"""Checks of a game, agent, network or learner of your own. Each failure is one sentence that says what to change.

check_game(game)                                      # all of them; or one test for each:

@pytest.mark.parametrize("check", GAME_CHECKS)
def test_game(check):
    check(game, seed=0)
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from cardlab.games.base import determinizes
from cardlab.games.protocol import Game, HasActionFeatures, HasPrivilegedFeatures, HasSymmetries
from cardlab.testing.game_checks import GAME_CHECKS
from cardlab.testing.part_checks import check_agent, check_learner, check_network
from cardlab.testing.positions import CheckFailed, sample

__all__ = [
    "GAME_CHECKS",
    "CheckFailed",
    "check_agent",
    "check_game",
    "check_learner",
    "check_network",
    "missing_abilities",
    "sample",
]


def check_game(game: Game, seed: int = 0) -> tuple[str, ...]:
    """Make all GAME_CHECKS; returns a line for each ability or option that the game leaves out. Raises CheckFailed.

    Without `determinize` no check finds a leak; a line then names the fields that `information` blanks.
    """
    for check in GAME_CHECKS:
        check(game, seed)
    return (
        *missing_abilities(game),
        *_free_options(game),
        *(() if determinizes(game) else (_blanked_fields(game, seed),)),
    )


def missing_abilities(game: Game) -> tuple[str, ...]:
    """What the game leaves out, and which learners and searches it cannot have for that: a line for each."""
    return tuple(
        f"{name} is left out: no {without}"
        for name, without, found in (
            ("determinize", "search, and no agent.successors", determinizes(game)),
            ("action_features", "network=actions", isinstance(game, HasActionFeatures)),
            ("privileged", "agent.critic=all_cards", isinstance(game, HasPrivilegedFeatures)),
            ("augment", "agent.symmetries", isinstance(game, HasSymmetries)),
        )
        if not found
    )


def _free_options(game: Game) -> Iterator[str]:
    """The options of the game that a policy does not depend on."""
    own = fields(game) if is_dataclass(game) and not isinstance(game, type) else ()
    names = [entry.name for entry in own if entry.init and not entry.metadata.get("training_only")]
    if free := [name for name in names if name not in game.spec.options]:
        yield f"spec.options leaves out {', '.join(free)}: a policy plays with other values than it was trained with"


def _blanked_fields(game: Game, seed: int) -> str:
    """Which fields of the record `information` blanks for the player to move, as far as random play shows."""
    names = game.state_dtype.names or ()
    blanked = {
        name
        for states, movers in sample(game, seed)
        for name, known in ((name, game.information(states, movers)[name]) for name in names)
        if known.tobytes() != states[name].tobytes()
    }
    hidden, shown = ([name for name in names if (name in blanked) == wanted] for wanted in (True, False))
    return (
        f"determinize is left out: no check finds a leak; information blanks {', '.join(hidden) or 'nothing'}, "
        f"and shows all of {', '.join(shown) or 'nothing'}"
    )
