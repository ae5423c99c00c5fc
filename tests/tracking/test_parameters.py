import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlflow.utils.validation import _validate_param_name

from cardlab.tracking.parameters import flatten, legal_name

names = st.text("abc_", min_size=1, max_size=4)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | st.text(max_size=8)
groups = st.recursive(leaves | st.lists(leaves, max_size=3), lambda inner: st.dictionaries(names, inner, max_size=3))
configs = st.dictionaries(names, groups, min_size=1, max_size=3)


@settings(max_examples=50)
@given(configs)
def test_every_leaf_is_found_at_its_path(config: dict[str, object]) -> None:
    flat = flatten(config)
    for key, text in flat.items():
        value: object = config
        for part in key.split("."):
            assert isinstance(value, dict)
            value = value[part]
        assert text == (value if isinstance(value, str) else json.dumps(value, default=str))


def test_values_read_as_in_the_configuration_files() -> None:
    config = {"agent": {"gamma": 0.99, "lr": 3e-5, "dueling": True, "clip": None, "net": {}, "layers": [64, "x"]}}
    assert flatten(config) == {
        "agent.gamma": "0.99",
        "agent.lr": "3e-05",
        "agent.dueling": "true",
        "agent.clip": "null",
        "agent.net": "{}",
        "agent.layers": '[64, "x"]',
    }


def test_what_is_too_long_for_mlflow_is_cut_with_a_mark() -> None:
    flat = flatten({"long": "x" * 10_000, "fits": "x" * 6000})
    assert len(flat["long"]) == 6000
    assert flat["long"].endswith("… (cut)")
    assert flat["fits"] == "x" * 6000


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab./=[]-:\n ä", max_size=8) | st.text(max_size=300), unique=True))
def test_names_are_legal_and_stay_apart(names: list[str]) -> None:
    legal = {name: legal_name(name) for name in names}
    assert len(set(legal.values())) == len(names)
    for mapped in legal.values():
        _validate_param_name(mapped)
        assert len(mapped) <= 250


@pytest.mark.parametrize("name", ["loss/value", "seed_1/strength/threshold.level.30", "agent.lr", "a b", "a/..b"])
def test_a_legal_name_stays(name: str) -> None:
    assert legal_name(name) == name
