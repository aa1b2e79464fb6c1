"""`suture.harness.arguments`: what a model gave, as the function takes it, or a sentence for the model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import PurePath
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.harness import ArgumentsError, ToolContext, tool
from tests.harness.test_schema import Cat, Color, Dog, Filter, Node, Options, Page, Person, brief, of_type


class Even(msgspec.Struct):
    """A type with a check of its own."""

    number: int

    def __post_init__(self) -> None:
        """Raise what a user may raise."""
        if self.number == 13:
            raise RuntimeError("unlucky")
        if self.number % 2:
            error = ValueError("the number is odd")
            error.errors = ["odd"]  # type: ignore[attr-defined]
            raise error


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    """A type that takes no other fields."""

    color: Color | None = None
    next: Closed | None = None


class Strict(pydantic.BaseModel):
    """A model that takes nothing but what it asks for."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid")
    when: datetime


def decoded(hint: Any, value: Any) -> Any:
    """One value as a parameter of a type gets it."""
    return tool(of_type(hint), name="f").decode({"x": value})["x"]


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, 5, 5),
        (int, "5", 5),
        (int, 5.0, 5),
        (int, 10**40, 10**40),
        (float, "1.5", 1.5),
        (bool, "true", True),
        (int | None, "null", None),
        (str, "5", "5"),
        (str, "\ud800", "\ud800"),
        (Any, {"a": [1, None]}, {"a": [1, None]}),
        (Color, "red", Color.RED),
        (list[Color], ["red", "blue"], [Color.RED, Color.BLUE]),
        (Literal[1, 2], "1", 1),
        (set[int], [1, "2"], {1, 2}),
        (tuple[int, str], ["1", "x"], (1, "x")),
        (datetime, "2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (Decimal, "1.50", Decimal("1.50")),
        (UUID, str(UUID(int=1)), UUID(int=1)),
        (bytes, "aGk=", b"hi"),
        (Filter, {"field": "a", "color": "blue"}, Filter("a", Color.BLUE)),
        (Page, {"number": "2", "filter": {"field": "a"}}, Page(2, Filter("a"))),
        (Options, {"deep": True}, {"deep": True}),
        (Cat | Dog, {"type": "dog", "tricks": []}, Dog([])),
        (Node, {"name": "a", "children": [{"name": "b"}]}, Node("a", [Node("b")])),
        (list[Person], [{"name": "a", "address": {"city": "b"}}], [Person(name="a", address={"city": "b"})]),  # type: ignore[arg-type]
        (Strict, {"when": "2026-01-31T12:00:00Z"}, Strict(when=datetime(2026, 1, 31, 12, tzinfo=UTC))),
    ],
    ids=brief,
)
def test_what_fits(hint: Any, value: Any, expected: Any) -> None:
    """Values become what the function asks for, text too where it reads as that."""
    got = decoded(hint, value)

    assert expected == got
    assert type(expected) is type(got)


@pytest.mark.parametrize(
    ("hint", "value", "says"),
    [
        (int, "abc", 'x: expected an integer, got "abc"'),
        (int, 5.5, "x: expected an integer, got 5.5"),
        (int, None, "x: expected an integer, got null"),
        (int, "1" * 5000, f'x: expected a smaller number, got "{"1" * 99}…'),
        (int | None, [], "x: expected an integer or null, got []"),
        (str, 3, "x: expected a string, got 3"),
        (bool, "yes", 'x: expected true or false, got "yes"'),
        (Annotated[int, msgspec.Meta(ge=1, le=50)], 51, "x: expected an integer <= 50, got 51"),
        (Annotated[str, msgspec.Meta(min_length=3)], "ab", 'x: expected a string of length >= 3, got "ab"'),
        (Annotated[str, msgspec.Meta(pattern="^a, got 1$")], "b", "x: expected a string matching regex '^a, got 1$'"),
        (tuple[int, int], [1], "x: expected an array of length 2, got [1]"),
        (list[int], "[1]", 'x: expected an array, got "[1]"'),
        (list[int], [1, "a"], 'x[1]: expected an integer, got "a"'),
        (dict[str, int], {"k": "a"}, "x[...]: expected an integer"),
        (dict[int, int], {"k": 1}, "x: a key: expected an integer"),
        (set[Any], [[]], "x: this value does not fit, got [[]]"),
        (Color, "green", 'x: expected one of "blue", "red", got "green"'),
        (Color, 3, "x: expected a string, got 3"),
        (list[Color], ["red", "green"], 'x[1]: expected one of "blue", "red", got "green"'),
        (tuple[int, Color], [1, "green"], 'x[1]: expected one of "blue", "red", got "green"'),
        (Color | None, "green", 'x: expected one of "blue", "red", got "green"'),
        (Literal["a", "b"], "c", 'x: expected one of "a", "b", got "c"'),
        (Color, "\ud800", 'x: this value does not fit, got "�"'),
        (datetime, "today", 'x: expected a date and time such as 2026-01-31T12:00:00Z, got "today"'),
        (UUID, "1", 'x: expected a UUID, got "1"'),
        (bytes, "!", 'x: expected base64 text, got "!"'),
        (Filter, {}, 'x: expected an object with the field "field", got {}'),
        (Page, {"number": 1, "filter": {"field": 2}}, "x.filter.field: expected a string, got 2"),
        (dict[str, Filter], {"k": {"field": "a", "color": "green"}}, 'x[...].color: expected one of "blue", "red"'),
        (Cat | Dog, {"type": "cow"}, 'x.type: expected one of "cat", "dog", got "cow"'),
        (Node, {"name": "a", "children": [{"name": 1}]}, "x.children[0].name: expected a string, got 1"),
        (Even, {"number": 3}, 'x: the number is odd, got {"number": 3}'),
        (list[Even], [{"number": 13}], 'x: this value does not fit, got [{"number": 13}]'),
        (Closed, {"a": 1}, 'x: expected an object without the field "a", got {"a": 1}'),
        (Closed, {"next": {"color": "green"}}, 'x.next.color: expected one of "blue", "red", got "green"'),
        (Annotated[PurePath, msgspec.Meta(extra_json_schema={"type": "string"})], "a", "x: this value does not fit"),
        (int, {1}, "x: expected an integer, got set"),
        (int, object(), "x: this value does not fit, got object"),
        (Person, {"name": 1}, "x.name: Input should be a valid string, got 1"),
        (list[Person], [{"name": "a", "address": {}}], "x[0].address.city: Field required"),
        (Person, {"name": "\ud800"}, "x: Invalid JSON"),
        (Strict, {"when": "2026-01-31T12:00:00Z", "b": 1}, "x.b: Extra inputs are not permitted, got 1"),
    ],
    ids=brief,
)
def test_what_does_not_fit(hint: Any, value: Any, says: str) -> None:
    """The message names the path, what was expected, and what came; it can be stored and sent."""
    with pytest.raises(ArgumentsError) as caught:
        decoded(hint, value)

    assert str(caught.value).startswith(says)
    msgspec.json.encode(str(caught.value))


def test_what_is_nested_too_deeply() -> None:
    """A sentence, not an exhausted stack; what is nested as deep as a decoder takes is taken."""
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    assert deep == decoded(Any, deep)
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(ArgumentsError, match=r"^x: nested too deeply$"):
        decoded(Any, deep)


def search(query: str, limit: Annotated[int, msgspec.Meta(le=50)] = 10, where: Filter | None = None) -> None:
    """Three parameters, one of them required."""


def nothing(ctx: ToolContext) -> None:
    """No parameters for a model."""


@pytest.mark.parametrize(
    ("function", "arguments", "problems"),
    [
        (search, {"q": "a"}, ("q: unknown argument; there are query, limit, where", "query: required, but not given")),
        (
            search,
            {"query": 1, "limit": 51, "a": 1, "b": 2},
            (
                "a, b: unknown arguments; there are query, limit, where",
                "query: expected a string, got 1",
                "limit: expected an integer <= 50, got 51",
            ),
        ),
        (search, [], ("expected an object that holds the arguments, got []",)),
        (search, None, ("expected an object that holds the arguments, got null",)),
        (search, "{}", ('expected an object that holds the arguments, got "{}"',)),
        (search, {"query": "a", 1: 2}, ("1: unknown argument; there are query, limit, where",)),
        (nothing, {"ctx": {}}, ("ctx: unknown argument; there are none",)),
        (of_type(int), {"x": 1, "\ud800": 1}, ("�: unknown argument; there is x",)),
    ],
    ids=brief,
)
def test_every_problem_is_named_at_once(
    function: Callable[..., Any], arguments: Any, problems: tuple[str, ...]
) -> None:
    """A model can mend all of them in its next try."""
    with pytest.raises(ArgumentsError) as caught:
        tool(function, name="f").decode(arguments)

    assert problems == caught.value.problems
    assert "; ".join(problems) == str(caught.value)


def test_a_message_is_never_long() -> None:
    """A model that gives a thousand wrong arguments does not get them all back."""
    with pytest.raises(ArgumentsError) as caught:
        tool(search).decode({"x" * 50 + str(number): "y" * 1000 for number in range(1000)})

    assert len(str(caught.value)) <= 2000


def test_what_was_not_given_is_left_to_the_function() -> None:
    """Its defaults are its own."""
    assert {"query": "a"} == tool(search).decode({"query": "a"})


@pytest.mark.parametrize("schema", [None, {"type": "object"}])
def test_a_function_may_change_what_it_gets(schema: Any) -> None:
    """The recorded arguments stay what they were."""
    arguments = {"x": {"a": [1]}}

    tool(of_type(Any), name="f", schema=schema).decode(arguments)["x"]["a"].append(2)

    assert arguments == {"x": {"a": [1]}}


def by_hand(a: int, b: int = 2) -> None:
    """The types are not looked at."""


def anything(ctx: ToolContext, **rest: int) -> None:
    """Any name but one."""


@pytest.mark.parametrize(
    ("function", "arguments", "problem"),
    [
        (by_hand, {"a": "x"}, None),
        (by_hand, {"a": [], "b": None}, None),
        (by_hand, {}, "a: required, but not given"),
        (by_hand, {"a": 1, "c": 2}, "c: unknown argument; there are a, b"),
        (by_hand, 3, "expected an object that holds the arguments, got 3"),
        (anything, {}, None),
        (anything, {"a": 1, "b": {"c": [2]}}, None),
        (anything, {"a": 1, "ctx": 2}, "ctx: unknown argument; there are none"),
        (anything, {1: 2}, "1: unknown argument; there are none"),
    ],
)
def test_a_schema_given_by_hand(function: Callable[..., Any], arguments: Any, problem: str | None) -> None:
    """Arguments are taken as they are; only the function's own names still hold, as nothing could be called."""
    made = tool(function, schema={"type": "object", "properties": {"a": {"type": "integer"}}})

    if problem is None:
        assert arguments == made.decode(arguments)
    else:
        with pytest.raises(ArgumentsError, match=problem):
            made.decode(arguments)


def all_of_it(
    *,
    a: int,
    b: list[Annotated[str, msgspec.Meta(pattern="^a", max_length=3)]],
    c: Color | None = None,
    d: Filter | None = None,
    e: dict[str, Node] | None = None,
    f: Cat | Dog | None = None,
    g: set[Any] | None = None,
    h: datetime | None = None,
    i: Person | None = None,
    j: dict[int, float] | None = None,
    k: Even | None = None,
    l: Any = None,  # noqa: E741 - the names do not matter
) -> None:
    """A parameter of every kind."""


ANY_TEXT = st.text(st.characters(), max_size=4)
"""Half characters included."""
WORDS = st.sampled_from(
    [*"abcdefghijkl", "field", "color", "name", "children", "type", "cat", "lives", "red", "number"]
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | WORDS | st.sampled_from([10**400, -1, "13"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | ANY_TEXT, inner, max_size=4),
    max_leaves=6,
)
TOOL = tool(all_of_it)


@given(ANY_JSON | st.dictionaries(st.sampled_from("abcdefghijkl"), ANY_JSON, max_size=3))
def test_any_json_is_taken_or_refused_with_a_sentence(arguments: Any) -> None:
    """Never another exception, and the sentence can always be stored and sent."""
    try:
        assert TOOL.decode({"a": 1, "b": []} | arguments if isinstance(arguments, dict) else arguments)
    except ArgumentsError as error:
        msgspec.json.encode(str(error))
