"""Policies of other libraries in the arena."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cardlab
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import IllegalAction
from cardlab.integrations import as_agent, sb3_agent
from policy_functions import lowest, lowest_of_all


@pytest.mark.parametrize("name", ["poker_squares", "thirty_one", "five_o", "big2", "open_face"])
def test_a_function_plays_in_the_arena_alone_and_batched(name: str) -> None:
    game = cardlab.make_game(name)
    field = ["random"] * (game.spec.num_players - 1)
    one = cardlab.play_match(game, [as_agent(game, lowest), *field], num_deals=4, seed=0)
    many = cardlab.play_match(game, [as_agent(game, lowest_of_all, batched=True), *field], num_deals=4, seed=0)
    assert one.mean == many.mean
    assert one.interval == many.interval


def test_a_game_may_be_named() -> None:
    named, made = as_agent("thirty_one", lowest), as_agent(cardlab.make_game("thirty_one"), lowest)
    game = cardlab.make_game("thirty_one")
    first, second = (cardlab.play_match(game, [agent, "random"], num_deals=4, seed=0) for agent in (named, made))
    assert first.mean == second.mean


def test_a_function_sees_what_the_environment_shows() -> None:
    from cardlab.integrations import make_aec  # noqa: PLC0415

    game = cardlab.make_game("five_o")
    env = make_aec(game)
    env.reset(seed=4)
    shown = env.observe(env.agent_selection)
    player = np.array([env.possible_agents.index(env.agent_selection)], dtype=np.int8)
    seen: list[dict[str, np.ndarray]] = []

    def watching(observation: dict[str, np.ndarray]) -> int:
        seen.append(observation)
        return lowest(observation)

    as_agent(game, watching).act(game.information(env._states, player), player, np.random.default_rng(0))
    np.testing.assert_array_equal(seen[0]["observation"], shown["observation"])
    np.testing.assert_array_equal(seen[0]["action_mask"], shown["action_mask"])
    assert seen[0]["action_mask"].dtype == np.int8


def test_a_function_travels_to_other_processes() -> None:
    game = cardlab.make_game("open_face")
    alone = cardlab.play_match(game, [as_agent(game, lowest), "random"], num_deals=40, seed=0, chunk=10)
    shared = cardlab.play_match(game, [as_agent(game, lowest), "random"], num_deals=40, seed=0, chunk=10, processes=2)
    assert alone.mean == shared.mean


@pytest.mark.parametrize("answer", [-1, 25, 10_000])
def test_what_a_function_may_not_do_is_named(answer: int) -> None:
    game = cardlab.make_game("poker_squares")
    agent = as_agent(game, lambda _: answer)
    with pytest.raises(IllegalAction, match=f"poker_squares: action {answer} is not legal in game 0"):
        cardlab.play_match(game, [agent], num_deals=2, seed=0)


@pytest.mark.parametrize(
    "answer", [lambda each: np.zeros(len(each["observation"])), lambda _: None, lambda _: "0", lambda _: [[0], [0, 1]]]
)
@pytest.mark.parametrize("batched", [False, True])
def test_answers_that_are_no_actions_are_named(answer: Callable[..., Any], batched: bool) -> None:
    game = cardlab.make_game("poker_squares")
    with pytest.raises(IllegalAction, match=r"^poker_squares: actions: must be .*whole numbers"):
        cardlab.play_match(game, [as_agent(game, answer, batched=batched)], num_deals=2, seed=0)


class Unmasked:
    def predict(self, observation: object, deterministic: bool = False) -> object:
        return observation, deterministic


class Careless:
    def act(self, info_states: object) -> object:
        return info_states


def test_functions_of_the_wrong_form_are_named_before_anything_is_played() -> None:
    game = cardlab.make_game("poker_squares")
    with pytest.raises(
        InvalidOption, match=r"^Unmasked.predict=.*: must be a function of \(observation, .*action_masks"
    ):
        sb3_agent(game, Unmasked())  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match=r"^function=.*: must be a function of \(observation\)"):
        as_agent(game, lambda _, __: 0)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match=r"^function=int: must be a function of"):
        as_agent(game, 3)  # type: ignore[arg-type]
    for entry in (Careless(), object()):
        with pytest.raises(InvalidOption, match=r"\.act=.*: must be a function of \(info_states, players, rng\)"):
            cardlab.play_match(game, [entry], num_deals=2, seed=0)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("make_aec", "pettingzoo"),
        ("make_env", "gymnasium"),
        ("make_vector", "gymnasium"),
        ("make_sb3", "stable_baselines3"),
    ],
)
def test_without_the_extra_one_line_names_it(name: str, library: str) -> None:
    """In a process of its own, in which the library cannot be found."""
    code = f"import sys; sys.modules[{library!r}] = None; import cardlab.integrations; cardlab.integrations.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(
        f"MissingExtra: cardlab.integrations.{name}: needs {library}; pip install 'cardlab[integrations]'"
    )


def test_agents_need_no_extra() -> None:
    code = (
        "import sys\nfor name in ('gymnasium', 'pettingzoo', 'stable_baselines3', 'torch'): sys.modules[name] = None\n"
    )
    code += "import cardlab.integrations\nassert cardlab.integrations.as_agent and cardlab.integrations.ParallelGames"
    subprocess.run([sys.executable, "-c", code], check=True)
