"""No rule changes unseen: each game of the catalogue has a playthrough in readable text, and still plays it."""

import pytest

from games.playthrough import FOLDER, playthrough
from games.variants import VARIANTS


@pytest.mark.parametrize("name", VARIANTS)
def test_the_game_still_plays_as_written(name: str) -> None:
    assert playthrough(name) == (FOLDER / f"{name}.txt").read_text()
