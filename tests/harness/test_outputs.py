"""`suture.harness.outputs`: whatever a tool gives back can be stored, sent, and read back as it is."""

from __future__ import annotations

import collections
import enum
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.harness.outputs import Outcome, cut, failed, outcome_of


class Point(msgspec.Struct):
    """A struct."""

    x: int
    data: Any = None


@dataclass
class Line:
    """A dataclass."""

    start: Point


class Model(pydantic.BaseModel):
    """A model."""

    when: datetime
    more: Any = None


class Color(enum.Enum):
    """An enum."""

    RED = "red"


class Word(str):
    """Text of a type of its own."""

    __slots__ = ()


class Wrong:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
CIRCULAR = Point(1)
CIRCULAR.data = CIRCULAR
NamedPoint = collections.namedtuple("NamedPoint", "x y")  # noqa: PYI024 - users have them


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ("", ""),
        ("text", "text"),
        ("half \ud83d", "half �"),
        (Word("w"), "w"),
        (None, None),
        (True, True),
        (0.5, 0.5),
        (2**64 - 1, 2**64 - 1),
        ([1, (2, 3)], [1, [2, 3]]),
        ({"a": {"\ud800": "\udfff"}}, {"a": {"�": "�"}}),
        ({1: "a", None: "b"}, {"1": "a", "null": "b"}),
        ({Color.RED: 1}, {"red": 1}),
        ({uuid.UUID(int=0): 1}, {str(uuid.UUID(int=0)): 1}),
        (Color.RED, "red"),
        (Point(1, [NOON]), {"x": 1, "data": ["2026-01-31T12:00:00Z"]}),
        (Line(Point(1)), {"start": {"x": 1, "data": None}}),
        (Model(when=NOON), {"when": "2026-01-31T12:00:00Z", "more": None}),
        ([Point(1, Model(when=NOON))], [{"x": 1, "data": {"when": "2026-01-31T12:00:00Z", "more": None}}]),
        (Decimal("1.50"), "1.50"),
        (NamedPoint(1, 2), [1, 2]),
        (collections.Counter("aa"), {"a": 2}),
        (msgspec.structs.replace(Point(1), data=msgspec.UNSET), {"x": 1}),
        ([], []),
    ],
    ids=ascii,
)
def test_what_json_can_hold(value: Any, output: Any) -> None:
    """It becomes a plain JSON value; text stays text; half characters are replaced."""
    assert Outcome("output-available", output, "ok") == outcome_of(value, 1000)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b"abc", "bytes: b'abc'"),
        (b"x" * 1000, f"bytes: b'{'x' * 497}…"),
        (bytearray(b"abc"), "bytearray: bytearray(b'abc')"),
        ({"a": [b"abc"]}, "bytes inside of dict: {'a': [b'abc']}"),
        (Point(1, b"abc"), "bytes inside of Point: Point(x=1, data=b'abc')"),
        ({1}, "set: {1}"),
        ([frozenset()], "frozenset inside of list: [frozenset()]"),
        (float("nan"), "float (ValueError: "),
        ({"a": float("inf")}, "dict (ValueError: "),
        (10**5000, "int (ValueError: "),
        (CIRCLE, "list (ValueError: Circular reference detected): [[...]]"),
        (CIRCULAR, "Point (RecursionError: "),
        ({(1, 2): 3}, "dict (TypeError: "),
        (PurePosixPath("a"), "PurePosixPath: PurePosixPath('a')"),
        (1j, "complex: 1j"),
        (ValueError("x"), "ValueError: ValueError('x')"),
        ((each for each in "ab"), "generator: <generator object"),
        ([Point(1, {"a": object()})], "object inside of list: [Point("),
        ([Wrong()], "Wrong inside of list"),
    ],
    ids=lambda value: ascii(type(value)),
)
def test_what_json_cannot_hold(value: Any, says: str) -> None:
    """An honest error: names the type and shows what there was, so that nothing is lost that could be said."""
    outcome = outcome_of(value, 1000)

    assert ("output-error", "error") == (outcome.state, outcome.kind)
    assert outcome.output.startswith(f"the tool returned a value that JSON cannot hold: {says}")
    assert len(outcome.output) < 1000
    msgspec.json.encode(outcome.output)


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (nested(101), "[" * 101 + "]" * 101),
        ({"a": nested(500)}, '{"a":' + "[" * 500 + "]" * 500 + "}"),
        ({1: "a", "1": "b"}, '{"1":"a","1":"b"}'),
    ],
    ids=["101 levels", "500 levels", "one key twice"],
)
def test_what_would_not_be_read_back_as_it_is_becomes_text(value: Any, text: str) -> None:
    """Nothing of it is lost, as JSON text."""
    assert Outcome("output-available", text, "ok") == outcome_of(value, 10_000)


@pytest.mark.parametrize("value", [2**64, [-(2**70)], 10**300, 10**4000], ids=lambda value: f"{str(value)[:5]}…")
def test_a_large_number_keeps_its_digits(value: Any) -> None:
    """As a number or, where the decoder has none so large, as text."""
    output = outcome_of(value, 10_000).output

    assert value == (json.loads(output) if isinstance(output, str) else output)
    assert output == msgspec.json.decode(msgspec.json.encode(output))


def test_a_hundred_levels_are_kept() -> None:
    """And a wide value is not taken for a deep one."""
    wide: list[Any] = [[] for _ in range(1000)]

    assert nested(100) == outcome_of(nested(100), 10_000).output
    assert wide == outcome_of(wide, 10_000).output


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abc\n[… 1 characters left out …]\nefg"),
        ("abcdefg", 5, "abc\n[… 2 characters left out …]\nfg"),
        ("abcdefg", 1, "a\n[… 6 characters left out …]\n"),
        ("a" * 1_234_567, 2, "a\n[… 1,234,565 characters left out …]\na"),
    ],
)
def test_a_long_text_is_cut_in_its_middle(text: str, longest: int, expected: str) -> None:
    """Head and tail are kept, and the text says how much is missing."""
    assert expected == cut(text, longest)
    assert expected == outcome_of(text, longest).output


def test_a_long_value_becomes_a_cut_text() -> None:
    """Half a JSON value is none; what is left of it is text, and says so."""
    outcome = outcome_of(["x" * 10] * 100, 40)

    assert outcome.output == '["xxxxxxxxxx","xxxxx\n[… 1,261 characters left out …]\nxxxxx","xxxxxxxxxx"]'
    assert outcome.state == "output-available"


def test_fifty_megabytes_are_cut() -> None:
    """In text with half characters, too."""
    output = outcome_of("\ud800é" * 25_000_000, 1000).output

    assert len(output) < 1100
    assert output.startswith("�é�é")
    assert "49,999,000 characters" in output


def test_a_result_is_not_shared_with_the_tool() -> None:
    """What the tool does to its objects later changes nothing that was recorded."""
    value = {"a": [1]}
    outcome = outcome_of(value, 1000)
    value["a"].append(2)

    assert {"a": [1]} == outcome.output


class Silent(Exception):  # noqa: N818 - as users name them
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (ValueError(), "ValueError"),
        (KeyError("a"), "KeyError: 'a'"),
        (Silent(), "Silent"),
        (ValueError("\ud800"), "ValueError: �"),
        (ValueError("x" * 3000), f"ValueError: {'x' * 1987}…"),
        (
            ExceptionGroup("two", [ValueError("a"), KeyError()]),
            "ExceptionGroup: two (2 sub-exceptions) (ValueError: a; KeyError)",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exception_is_its_type_and_its_message(error: Exception, text: str) -> None:
    """No traceback, and never more than 2,000 characters."""
    assert Outcome("output-error", text, "error") == failed(error)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.binary(max_size=3)
    | st.sampled_from([Color.RED, NOON, Decimal("NaN"), Point(1, {2}), 10**30, uuid.UUID(int=1), msgspec.UNSET])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(), max_size=2) | st.integers() | st.none() | st.uuids(), inner, max_size=3
        )
        | st.builds(Point, st.integers(), inner)
        | st.builds(Model, when=st.just(NOON), more=inner)
        | st.tuples(inner, inner)
    ),
    max_leaves=6,
)


@given(VALUES, st.integers(1, 200))
def test_any_value_becomes_one_outcome_that_is_read_back_as_it_is(value: Any, longest: int) -> None:
    """What is stored is what is read: through the strict encoder and back, nothing changes."""
    outcome = outcome_of(value, longest)

    assert outcome == msgspec.convert(msgspec.json.decode(msgspec.json.encode(outcome)), Outcome)
    assert len(json.dumps(outcome.output, ensure_ascii=False)) <= 1000
