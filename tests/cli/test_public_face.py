"""The names of `import cardlab`: there, lazy, and usable as the README says."""

import subprocess
import sys

import pytest

import cardlab


def modules_after(code: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in shown.stdout.split()}


def test_importing_costs_nothing() -> None:
    assert not {"numpy", "numba", "torch", "hydra", "lightning", "mlflow"} & modules_after("import cardlab")


def test_the_error_of_an_option_needs_no_pydantic() -> None:
    assert "pydantic" not in modules_after("import cardlab; cardlab.InvalidOption")


def test_a_game_and_a_scripted_match_need_no_torch() -> None:
    code = (
        "import cardlab\n"
        "game = cardlab.make_game('poker_squares')\n"
        "agent = cardlab.load_agent(game, 'random')\n"
        "cardlab.play_match(game, [agent], num_deals=2, seed=0)"
    )
    assert "torch" not in modules_after(code)


def test_every_name_is_there() -> None:
    for name in cardlab.__all__:
        assert getattr(cardlab, name) is not None
    assert set(cardlab.__all__) <= set(dir(cardlab))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'cardlab' has no attribute 'nothing'"):
        cardlab.nothing  # noqa: B018


def test_a_match_by_names() -> None:
    game = cardlab.make_game("thirty_one")
    agent = cardlab.load_agent(game, "threshold", level=30)
    match = cardlab.play_match(game, [agent, "random"], num_deals=20, seed=0)
    assert match.num_deals == 20
    assert match.interval[0] <= match.mean <= match.interval[1]
    assert match.win_rate is not None
    assert match.win_rate > 0.5
