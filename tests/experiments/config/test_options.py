"""From mappings to option dataclasses: keys, types, and what is said when they are wrong."""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.core.messages import InvalidOption, unknown_key
from cardlab.core.options import Flag, Number, Text, Whole, check_whole, checked, option, options


@options("agent.inner")
class Inner:
    depth: Whole = option(1, "depth")


@options("agent")
class Options:
    name: ClassVar[str] = "options"
    rounds: Whole
    rate: Number = option(0.5, "rate", ge=0, le=1)
    loss: Literal["mse", "huber"] = option("mse", "loss")
    greedy: Flag = option(True, "greedy")
    label: Text = option("", "label")
    start: Number | None = option(None, "start", gt=0)
    widths: tuple[Whole, ...] = option((1,), "widths", min_length=1, max_length=16)
    pair: tuple[Whole, Text] = option((1, "a"), "pair")
    names: Sequence[Text] = option((), "names")
    weights: Mapping[str, Number] = option({}, "weights", factory=dict)
    inner: Inner = option(Inner(), "inner", factory=Inner)

    def __post_init__(self) -> None:
        if self.rate == self.start:
            raise InvalidOption("agent.rate", self.rate, "another than agent.start")


def refusal(data: Mapping[str, Any]) -> str:
    with pytest.raises(InvalidOption) as caught:
        Options(**{"rounds": 1, **data})
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_every_type_is_converted() -> None:
    given: dict[str, Any] = {"rounds": 1e6, "rate": 1, "loss": "huber", "greedy": False, "label": "x", "start": None}
    given |= {
        "widths": [8, 4.0],
        "pair": [2, "b"],
        "names": ["p", "q"],
        "weights": {"random": 1},
        "inner": {"depth": 3},
    }
    built = Options(**given)
    assert built == Options(
        1_000_000, 1.0, "huber", False, "x", None, (8, 4), (2, "b"), ["p", "q"], {"random": 1.0}, Inner(3)
    )
    assert type(built.rounds) is int
    assert type(built.rate) is float
    assert all(type(width) is int for width in built.widths)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rounds": 1.5}, "agent.rounds=1.5: must be a whole number"),
        ({"rounds": True}, "agent.rounds=true: must be a whole number"),
        ({"rounds": float("nan")}, "agent.rounds=nan: must be a whole number"),
        ({"rounds": float("inf")}, "agent.rounds=inf: must be a whole number"),
        ({"rate": "fast"}, "agent.rate=fast: must be a number in [0, 1]"),
        ({"rate": 2}, "agent.rate=2: must be a number in [0, 1]"),
        ({"rate": None}, "agent.rate=null: must be a number in [0, 1]"),
        ({"start": "soon"}, "agent.start=soon: must be a number above 0 or null"),
        ({"loss": "l1"}, "agent.loss=l1: must be one of mse, huber"),
        ({"rate": float("nan")}, "agent.rate=nan: must be a number in [0, 1]"),
        ({"rate": True}, "agent.rate=true: must be a number in [0, 1]"),
        ({"rate": "0.5"}, "agent.rate='0.5': must be a number in [0, 1]"),
        ({"start": float("inf")}, "agent.start=inf: must be a number above 0 or null"),
        ({"rate": 1, "start": 1}, "agent.rate=1: must be another than agent.start"),
        ({"widths": []}, "agent.widths=[]: must be a list of 1 to 16 entries, as in [a,b]"),
        ({"greedy": 1}, "agent.greedy=1: must be true or false"),
        ({"label": 3}, "agent.label=3: must be text"),
        ({"widths": 3}, "agent.widths=3: must be a list of 1 to 16 entries, as in [a,b]"),
        ({"widths": "12"}, "agent.widths=12: must be a list of 1 to 16 entries, as in [a,b]"),
        ({"widths": [1, "a"]}, "agent.widths[1]=a: must be a whole number"),
        ({"pair": [1]}, "agent.pair=[1]: must be a list of 2 entries"),
        ({"weights": [1]}, "agent.weights=[1]: must be a mapping, as in {name: value}"),
        ({"weights": {"greedy": "x"}}, "agent.weights.greedy=x: must be a number"),
        ({"inner": {"depth": "x"}}, "agent.inner.depth=x: must be a whole number"),
    ],
)
def test_a_wrong_value_is_named(data: dict[str, Any], said: str) -> None:
    assert refusal(data) == said


def test_a_positional_argument_is_named_like_a_keyword() -> None:
    with pytest.raises(InvalidOption, match=r"^agent\.rate=-1\.0: must be a number in \[0, 1\]$"):
        Options(1, -1.0)


def test_values_are_shown_as_they_are_written() -> None:
    said = [str(InvalidOption("key", value, "another")) for value in (None, True, [None, "a", (1, False)], {"a": None})]
    assert [text.partition(":")[0] for text in said] == ["key=null", "key=true", "key=[null,a,[1,false]]", "key={a"]
    assert str(InvalidOption("key", 5000 * "9", "short")) == f"key={100 * '9'}… (5000 characters): must be short"
    assert str(InvalidOption("key", 16**5000, "short")) == f"key=0x1{97 * '0'}… (5003 characters): must be short"


def test_a_huge_number_is_refused_in_words() -> None:
    with pytest.raises(InvalidOption, match=r"characters\): must be a whole number in \[1, 9\.22337e\+18\]$"):
        check_whole("key", 10**400, 1)
    check_whole("key", 2**63 - 1, 1)


def test_an_unknown_key_is_named_with_its_neighbours() -> None:
    said = refusal({"rat": 1})
    assert said.startswith("agent.rat=1: no such key; did you mean agent.rate? agent takes rounds, rate, loss")


def test_a_missing_key_is_named() -> None:
    with pytest.raises(InvalidOption, match=r"agent\.rounds=\(left out\): must be given"):
        Options()


def test_a_refusal_crosses_processes() -> None:
    error = unknown_key("agent.gama", 1, ["agent.gamma"])
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("limits", [{"ge": 3}, {"lt": 0}])
def test_a_default_is_validated(limits: dict[str, int]) -> None:
    @options("agent")
    class Wrong:
        depth: Whole = option(2, "depth", **limits)

    with pytest.raises(InvalidOption, match=r"^agent\.depth=2: must be a whole number"):
        Wrong()


@given(st.integers(-(2**53), 2**53))
def test_whole_floats_become_the_same_integer(number: int) -> None:
    converted = checked("key", float(number), Whole)
    assert converted == number
    assert type(converted) is int


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_lists_become_tuples_of_the_same_numbers(numbers: list[float]) -> None:
    assert checked("key", numbers, tuple[Number, ...]) == tuple(numbers)


@given(st.one_of(st.none(), st.floats(allow_nan=False), st.text(), st.lists(st.integers())))
def test_a_type_that_only_its_owner_can_check_is_let_through(value: object) -> None:
    assert checked("key", value, Any) is value
