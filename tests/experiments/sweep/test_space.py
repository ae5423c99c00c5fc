"""Entries of conf/sweep/ become dimensions: what is sampled lies in them, what is no entry is named."""

from itertools import product
from typing import Any

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.values import with_values
from cardlab.experiments.sweep.group_option import ABSENT, value_at
from cardlab.experiments.sweep.space import MAX_GRID_POINTS, Space

CONFIG: dict[str, Any] = {
    "agent": {"gamma": 1.0, "epochs": 2, "double": True, "epsilon_start": None, "loss": "mse"},
    "network": {"widths": [64, 64]},
    "seed": 7,
}


def sample(space: Space, params: dict[str, Any]) -> dict[str, Any]:
    """The values of a trial with these parameters."""
    study = optuna.create_study()
    study.enqueue_trial(params)
    return space.suggest(study.ask())


def samples(space: Space, number: int, seed: int = 0) -> list[dict[str, Any]]:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    return [space.suggest(study.ask()) for _ in range(number)]


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 2**31))
def test_float_ranges_hold_their_samples(low: float, width: float, seed: int) -> None:
    space = Space.parse({"agent.gamma": {"low": low, "high": low + width}}, CONFIG)
    for values in samples(space, 5, seed):
        assert isinstance(values["agent.gamma"], float)
        assert low <= values["agent.gamma"] <= low + width


def test_whole_bounds_around_a_fraction_are_a_range_of_fractions() -> None:
    space = Space.parse({"agent.gamma": {"low": 0, "high": 1}, "agent.epochs": {"low": 1, "high": 4}}, CONFIG)
    found = samples(space, 50)
    assert any(0 < values["agent.gamma"] < 1 for values in found)
    assert {values["agent.epochs"] for values in found} == {1, 2, 3, 4}
    assert all(type(values["agent.epochs"]) is int for values in found)


def test_steps_and_scales() -> None:
    entries = {
        "agent.gamma": {"low": 0.5, "high": 1.0, "step": 0.2},
        "agent.epochs": {"low": 1, "high": 64, "log": True},
        "agent.epsilon_start": {"low": 1e-4, "high": 1.0, "log": True},
    }
    found = samples(Space.parse(entries, CONFIG), 300)
    assert {round(values["agent.gamma"], 9) for values in found} == {0.5, 0.7, 0.9}
    below = sum(values["agent.epsilon_start"] < 1e-2 for values in found)
    assert 100 < below < 200, "half of the decades hold half of the samples"


def test_choices_that_are_no_scalars_come_back_as_they_were() -> None:
    choices = [[64], [128, 128], {"a": 1}]
    space = Space.parse({"network.widths": choices, "agent.double": [1, True]}, CONFIG)
    found = samples(space, 60)
    assert all(choice in [values["network.widths"] for values in found] for choice in choices)
    assert {type(values["agent.double"]) for values in found} == {int, bool}, "Optuna alone takes 1 for true"
    first = found[0]
    encoded = {d.key: d.encode(first[d.key]) for d in space.dimensions}
    assert space.decode(encoded) == sample(space, encoded)


def test_a_condition_is_decided_by_what_is_searched_or_else_by_the_configuration() -> None:
    entries = {
        "agent.epsilon_start": {"low": 0.1, "high": 1.0, "when": {"agent.double": True, "seed": [7, 8]}},
        "agent.double": [True, False],
    }
    for values in samples(Space.parse(entries, CONFIG), 30):
        assert ("agent.epsilon_start" in values) == values["agent.double"]
    nested = {"agent.epsilon_start": {"low": 0.1, "high": 1.0, "when": {"agent": {"double": False}}}}
    assert samples(Space.parse(nested, CONFIG), 3) == [{}, {}, {}]


def test_the_grid_is_the_product_without_what_a_condition_leaves_out() -> None:
    entries = {
        "agent.gamma": {"low": 0.0, "high": 1.0, "step": 0.25},
        "agent.epochs": {"low": 1, "high": 3},
        "agent.loss": {"choices": ["mse", "huber"], "when": {"agent.double": False}},
        "agent.double": [True, False],
    }
    space = Space.parse(entries, CONFIG)
    points = [frozenset(space.decode(point).items()) for point in space.grid()]
    expected = {
        frozenset({"agent.gamma": gamma, "agent.epochs": epochs, "agent.double": double}.items())
        | (frozenset() if double else {("agent.loss", loss)})
        for gamma, epochs, double, loss in product(
            [0.0, 0.25, 0.5, 0.75, 1.0], [1, 2, 3], [True, False], ["mse", "huber"]
        )
    }
    assert set(points) == expected
    assert len(points) == len(expected) == 45


def test_grids_without_an_end_are_refused() -> None:
    with pytest.raises(InvalidOption, match=r"sweep\.space\.agent\.gamma=.*a range with a step"):
        Space.parse({"agent.gamma": {"low": 0.0, "high": 1.0}}, CONFIG).grid()
    with pytest.raises(InvalidOption, match=f"more than {MAX_GRID_POINTS:,} points"):
        Space.parse({"agent.epochs": {"low": 1, "high": MAX_GRID_POINTS + 1}}, CONFIG).grid()


def test_the_baseline_is_the_configuration_where_the_space_has_it() -> None:
    entries = {
        "agent.gamma": {"low": 0.5, "high": 1.0, "step": 0.25},
        "agent.epochs": {"low": 3, "high": 9},
        "network.widths": [[8], [64, 64]],
        "agent.epsilon_start": {"low": 0.1, "high": 1.0},
    }
    space = Space.parse(entries, CONFIG)
    assert space.decode(space.baseline()) == {"agent.gamma": 1.0, "network.widths": [64, 64]}
    shifted = Space.parse({"agent.gamma": {"low": 0.1, "high": 1.2, "step": 0.4}}, CONFIG)
    assert shifted.baseline() == {}, "1.0 lies between two steps"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"low": 1.0, "high": 0.0}, "low below high"),
        ({"low": 0.5, "high": 0.5}, "low below high"),
        ({"low": "a", "high": 1.0}, "low below high"),
        ({"low": True, "high": 2}, "low below high"),
        ({"low": 0.0, "high": float("inf")}, "low below high"),
        ({"low": 0, "high": 10**400}, "low below high"),
        ({"low": 0.0, "high": 1.0, "step": 2.0}, "low below high"),
        ({"low": 0.0, "high": 1.0, "log": True}, "above 0"),
        ({"low": 0.1, "high": 1.0, "log": True, "step": 0.1}, "above 0"),
        ({"low": 0.1, "high": 1.0, "log": "yes"}, "low below high"),
        ({"low": 0.1}, r"\{low: …, high: …\}"),
        ({"low": 0.1, "high": 1.0, "lgo": True}, r"\{low: …, high: …\}"),
        ({"choices": 3}, "choices"),
        ([1.0], "two or more different choices"),
        ([0.9, 0.9], "two or more different choices"),
        (0.9, r"\{low: …, high: …\}"),
        ({"low": 0.1, "high": 1.0, "when": 3}, r"when: \{KEY: VALUE\}"),
        ({"low": 0.1, "high": 1.0, "when": {"agent.nothing": 3}}, r"when\.agent\.nothing=\[3\]: no such key"),
        ({"low": 0.1, "high": 1.0, "when": {"agent.gamma": 3}}, "does not depend on itself"),
    ],
)
def test_what_is_no_entry_is_said_in_one_line(entry: object, said: str) -> None:
    with pytest.raises(InvalidOption, match=said) as refusal:
        Space.parse({"agent.gamma": entry}, CONFIG)
    assert str(refusal.value).startswith("sweep.space.agent.gamma")
    assert "\n" not in str(refusal.value)


def test_conditions_in_a_circle_are_refused() -> None:
    entries = {
        "agent.gamma": {"low": 0.1, "high": 1.0, "when": {"agent.double": True}},
        "agent.double": {"choices": [True, False], "when": {"agent.gamma": 1.0}},
    }
    with pytest.raises(InvalidOption, match="does not depend on itself"):
        Space.parse(entries, CONFIG)


CHOSEN: dict[str, Any] = {
    "agent": {
        "choices": {
            "ppo": {"name": "ppo", "gamma": 1.0, "clip": 0.2},
            "dqn": {"name": "dqn", "gamma": 0.9, "n_step": 3, "target_update": 5},
        }
    },
    "network": {"choices": {"mlp": {"name": "mlp", "widths": [8]}, "lines": {"name": "lines", "pooling": "mean"}}},
    "agent.ppo.gamma": {"low": 0.5, "high": 1.0},
    "agent.dqn.gamma": [0.8, 0.9],
    "agent.target_update": {"choices": [5, 10], "when": {"agent.n_step": 3}},
    "agent.clip": {"choices": [0.1, 0.2], "when": {"agent": "ppo"}},
    "network.widths": [[8], [16]],
}
BASE: dict[str, Any] = {
    "agent": {"name": "dqn", "gamma": 0.9, "n_step": 3, "target_update": 5},
    "network": {"name": "mlp", "widths": [8]},
}


def test_a_trial_has_the_keys_of_the_options_that_it_chose() -> None:
    space = Space.parse(CHOSEN, BASE)
    seen: set[str] = set()
    for values in samples(space, 40):
        agent, network = str(values["agent"]), str(values["network"])
        own = {"ppo": {"agent.gamma", "agent.clip"}, "dqn": {"agent.gamma", "agent.target_update"}}[agent]
        own |= {"network.widths"} if network == "mlp" else set()
        assert set(values) == {"agent", "network", *own}
        config = with_values(BASE, values)
        assert (config["agent"]["name"], config["network"]["name"]) == (agent, network)
        assert config["agent"]["gamma"] == values["agent.gamma"]
        seen.add(agent + network)
    assert len(seen) == 4
    assert BASE["network"]["widths"] == [8], "values are set in a copy"
    assert CHOSEN["agent"]["choices"]["dqn"]["gamma"] == 0.9


def test_the_experiment_itself_and_every_choice_lie_in_such_a_space() -> None:
    space = Space.parse(CHOSEN, BASE)
    params = {"agent": "dqn", "network": "mlp", "agent.dqn.gamma": 0.9}
    assert space.baseline() == {**params, "agent.target_update": 5, "network.widths": "[8]"}
    assert with_values(BASE, space.decode(space.baseline())) == BASE
    other = {**BASE, "agent": {"name": "td"}}
    assert set(Space.parse(CHOSEN, other).baseline()) == {"network", "network.widths"}
    for dimension, values in space.extremes():
        assert value_at(with_values(BASE, values), dimension.key) is not ABSENT


def test_the_grid_of_such_a_space_has_each_combination_once() -> None:
    entries = {key: entry for key, entry in CHOSEN.items() if key != "agent.ppo.gamma"}
    points = Space.parse(entries, BASE).grid()
    assert len(points) == len({tuple(point.items()) for point in points}) == (2 + 2 * 2) * (2 + 1)


def test_a_condition_names_an_option_that_can_be_chosen() -> None:
    entries = {**CHOSEN, "agent.clip": {"choices": [0.1, 0.2], "when": {"agent": "pp"}}}
    with pytest.raises(InvalidOption, match=r"sweep\.space\.agent\.clip\.when\.agent=\[pp\]: must be one of ppo, dqn"):
        Space.parse(entries, BASE)
