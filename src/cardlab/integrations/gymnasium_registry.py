"""The games in Gymnasium's registry: `register_games()`, then `gymnasium.make("cardlab/Big2-v0")` or `make_vec`."""

from gymnasium.envs.registration import register, registry

from cardlab.games.catalogue import GAMES


def environment_id(game: str) -> str:
    """`poker_squares` as `cardlab/PokerSquares-v0`."""
    return f"cardlab/{''.join(word.capitalize() for word in game.split('_'))}-v0"


def register_games() -> None:
    """Register every game; once more does nothing."""
    for game in GAMES:
        if environment_id(game) not in registry:
            register(
                id=environment_id(game),
                entry_point="cardlab.integrations.gymnasium_env:make_env",
                vector_entry_point="cardlab.integrations.gymnasium_vector:make_vector",
                kwargs={"game": game},
            )
