"""`suture.harness.schema`: the JSON Schema of a function's arguments."""

from __future__ import annotations

import enum
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import msgspec
import pydantic
import pytest

from suture.errors import ToolDefinitionError
from suture.harness import ToolContext, tool


class Color(enum.Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


class Filter(msgspec.Struct):
    """Which ones."""

    field: str
    color: Color = Color.RED


@dataclass
class Page:
    """Which part."""

    number: int
    filter: Filter


class Options(TypedDict):
    """How."""

    deep: bool
    title: NotRequired[str]


class Node(msgspec.Struct):
    """A tree."""

    name: str
    children: list[Node] = []


class Cat(msgspec.Struct, tag="cat"):
    """One of two."""

    lives: int


class Dog(msgspec.Struct, tag="dog"):
    """The other."""

    tricks: list[str]


class Address(pydantic.BaseModel):
    """Where."""

    city: str


class Person(pydantic.BaseModel):
    """Who."""

    name: str = pydantic.Field(min_length=1)
    address: Address | None = None
    title: str = "none"


class Chain(pydantic.BaseModel):
    """A chain."""

    rest: Chain | None = None


COLOR = {"description": "A color.", "enum": ["blue", "red"]}
FILTER = {
    "description": "Which ones.",
    "type": "object",
    "properties": {"field": {"type": "string"}, "color": {**COLOR, "default": "red"}},
    "required": ["field"],
}
NULL = {"type": "null"}
STRING = {"type": "string"}
PERSON = {
    "description": "Who.",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "address": {
            "anyOf": [
                {"description": "Where.", "type": "object", "properties": {"city": STRING}, "required": ["city"]},
                NULL,
            ],
            "default": None,
        },
        "title": {"type": "string", "default": "none"},
    },
    "required": ["name"],
}
UNSAYABLE = object()


def brief(value: object) -> str:
    """A value in the id of a case, the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", ascii(value))[:40]


def of_type(hint: Any, default: Any = UNSAYABLE) -> Callable[..., Any]:
    """A function with one parameter `x` of a type."""

    def without(x: Any) -> None:
        pass

    def with_default(x: Any = default) -> None:
        pass

    function = without if default is UNSAYABLE else with_default
    function.__annotations__ = {"x": hint}
    return function


def schema_of(hint: Any, default: Any = UNSAYABLE) -> Any:
    """The schema of that parameter."""
    return tool(of_type(hint, default), name="f").schema["properties"]["x"]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, STRING),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (object, {}),
        (None, NULL),
        (dict, {"type": "object"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, Color], {"type": "object", "additionalProperties": COLOR}),
        (int | None, {"anyOf": [{"type": "integer"}, NULL]}),
        (Optional[Color], {"anyOf": [COLOR, NULL]}),  # noqa: UP045 - as users of old write it
        (Annotated[int, msgspec.Meta(ge=1, le=50)], {"type": "integer", "minimum": 1, "maximum": 50}),
        (Annotated[str, msgspec.Meta(description="A word.")], {"type": "string", "description": "A word."}),
        (Annotated[int, "a note"], {"type": "integer"}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Color, COLOR),
        (datetime, {"type": "string", "format": "date-time"}),
        (datetime | None, {"anyOf": [{"type": "string", "format": "date-time"}, NULL]}),
        (date, {"type": "string", "format": "date"}),
        (Filter, FILTER),
        (list[Filter], {"type": "array", "items": FILTER}),
        (
            Page,
            {
                "description": "Which part.",
                "type": "object",
                "properties": {"number": {"type": "integer"}, "filter": FILTER},
                "required": ["number", "filter"],
            },
        ),
        (
            Options,
            {
                "description": "How.",
                "type": "object",
                "properties": {"deep": {"type": "boolean"}, "title": STRING},
                "required": ["deep"],
            },
        ),
        (
            Cat | Dog,
            {
                "anyOf": [
                    {
                        "description": "One of two.",
                        "type": "object",
                        "properties": {"type": {"enum": ["cat"]}, "lives": {"type": "integer"}},
                        "required": ["type", "lives"],
                    },
                    {
                        "description": "The other.",
                        "type": "object",
                        "properties": {"type": {"enum": ["dog"]}, "tricks": {"type": "array", "items": STRING}},
                        "required": ["type", "tricks"],
                    },
                ]
            },
        ),
        (Person, PERSON),
        (list[Person], {"type": "array", "items": PERSON}),
        (Person | None, {"anyOf": [PERSON, NULL]}),
    ],
    ids=brief,
)
def test_the_schema_of_a_type(hint: Any, schema: Any) -> None:
    """Complete in itself, without references and without the names of classes."""
    assert schema == schema_of(hint)


@pytest.mark.parametrize(
    ("hint", "default", "schema"),
    [
        (int, 3, {"type": "integer", "default": 3}),
        (Color, Color.BLUE, {**COLOR, "default": "blue"}),
        (int, None, {"anyOf": [{"type": "integer"}, NULL], "default": None}),
        (float, float("nan"), {"type": "number"}),
        (Any, object, {}),
        (Person, Person(name="x"), PERSON),
    ],
    ids=brief,
)
def test_a_default(hint: Any, default: Any, schema: Any) -> None:
    """It is shown where JSON can hold it; one of None takes null, too."""
    assert schema == schema_of(hint, default)
    assert tool(of_type(hint, default), name="f").schema["required"] == []


def test_the_whole() -> None:
    """An object of all parameters with what the docstring says; nothing else is taken; the context is not shown."""

    def search(  # type: ignore[no-untyped-def]
        query: str,
        where: Filter,
        note,  # noqa: ANN001 - takes anything
        *,
        limit: Annotated[int, msgspec.Meta(description="At most.")] = 10,
        ctx: ToolContext,
    ) -> Undefined:  # type: ignore[name-defined] # noqa: F821 - what comes back need not be known here
        """Search.

        Args:
            query: Words.
            where: In what.
            note: What else.
            limit: How many.
            ctx: Where the call stands.
        """

    made = tool(search)

    assert made.schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words."},
            "where": {**FILTER, "description": "In what."},
            "note": {"description": "What else."},
            "limit": {"type": "integer", "description": "At most.", "default": 10},
        },
        "required": ["query", "where", "note"],
        "additionalProperties": False,
    }
    assert made.wants_context


def test_a_function_without_parameters() -> None:
    """An empty object, and nothing else."""
    empty = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    assert empty == tool(lambda: None, name="f").schema


@pytest.mark.parametrize("hint", [Node, Chain, dict[str, Node | None], list[Chain]], ids=brief)
def test_a_type_that_contains_itself_is_defined_beside(hint: Any) -> None:
    """It cannot be written out; the schema carries its definition, and every reference is to one that is there."""
    schema = tool(of_type(hint), name="f").schema

    def references(node: Any) -> set[str]:
        found: set[str] = {node["$ref"]} if isinstance(node, dict) and "$ref" in node else set()
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        return found.union(*map(references, children))

    assert {f"#/$defs/{name}" for name in schema["$defs"]} == references(schema)
    assert len(schema["$defs"]) == 1


def test_properties_that_are_called_like_keywords() -> None:
    """A field named `title`, `default`, `properties` or `$ref` is a field."""

    class Odd(msgspec.Struct):
        title: Color
        default: Color
        properties: Color
        discriminator: Color
        ref: Color = msgspec.field(name="$ref")

    schema = schema_of(Odd)

    names = ["title", "default", "properties", "discriminator", "$ref"]
    assert schema["properties"] == dict.fromkeys(names, COLOR)
    assert schema["required"] == names


def test_types_that_are_defined_inside_of_functions() -> None:
    """Annotations are text in this file; what they name is found where the function was written."""

    class Inner(msgspec.Struct):
        value: int

    @tool
    def direct(inner: Inner, many: list[Inner]) -> None:
        pass

    def written(inner: Inner) -> None:
        pass

    def elsewhere() -> Any:
        Inner = str  # noqa: N806, F841 - a name that must not be taken for the other
        return tool(written)

    assert direct.schema["properties"]["inner"]["properties"] == {"value": {"type": "integer"}}
    assert direct.schema["properties"]["many"]["items"]["properties"] == {"value": {"type": "integer"}}
    assert elsewhere().schema["properties"]["inner"]["properties"] == {"value": {"type": "integer"}}


class Service:
    """An object with a method."""

    def look(self, what: str, *, limit: int = 3) -> list[str]:
        """Look for it."""
        return [what] * limit

    def odd(self, *args: int, **rest: int) -> None:
        """Not for a model."""


def test_a_bound_method() -> None:
    """Its object is no parameter."""
    made = tool(Service().look)

    assert list(made.schema["properties"]) == ["what", "limit"]
    assert made("x", limit=2) == ["x", "x"]


def test_a_wrapped_function_shows_the_signature_of_what_it_wraps() -> None:
    """A decorator that follows the custom (`functools.wraps`) changes nothing for the model."""
    import functools

    def look(what: Color) -> None:
        """Look."""

    @tool
    @functools.wraps(look)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        pass

    assert wrapper.name == "look"
    assert wrapper.schema["properties"] == {"what": COLOR}


def positional(a: int, /) -> None:
    """No model can give it."""


def star(*a: int) -> None:
    """No model can give it."""


def more(**a: int) -> None:
    """No model can know it."""


def misnamed(context: ToolContext) -> None:
    """A context by another name."""


@pytest.mark.parametrize(
    ("function", "argument", "says"),
    [
        (positional, "a", "given by its name, got a positional-only one"),
        (star, "a", r"given by its name, got \*a"),
        (more, "a", r"a schema= that says which there are, got \*\*a"),
        (misnamed, "context", "expected the name ctx for a ToolContext, got context"),
        (Service.look, "self", "expected a function or a bound method, got a method without its object"),
        (Service().odd, "args", r"given by its name, got \*args"),
        (of_type(complex), "x", r"expected a type that JSON can hold \(str, .*\), got complex: .* is not supported"),
        (of_type(Filter | Page), "x", "more than one dict-like type"),
        (of_type(Person | Address), "x", "more than one custom type"),
        (of_type("Nowhere"), "x", "a type that is known where the function is, got 'Nowhere': name 'Nowhere' is not"),
        (of_type(3, None), "x", "a type that is known where the function is, got 3: unsupported operand"),
        (of_type("a b"), "x", "a type that is known where the function is"),
        (of_type(Annotated[str, msgspec.Meta(ge=1)]), "x", "a type that JSON can hold"),
        (print, "args", r"got \*args"),
    ],
    ids=brief,
)
def test_what_no_model_can_give_is_refused_at_once(function: Any, argument: str, says: str) -> None:
    """The error says which parameter it is, and what was expected."""
    with pytest.raises(ToolDefinitionError, match=says) as caught:
        tool(function, name="f")

    assert ("f", argument) == (caught.value.tool, caught.value.argument)


def test_a_context_that_only_type_checkers_know() -> None:
    """Linters move such an import away; the name is enough."""
    namespace: dict[str, Any] = {}
    source = "from __future__ import annotations\ndef f(a: int, ctx: ToolContext) -> Unknown: ..."
    exec(source, namespace)  # noqa: S102 - a module that does not import it

    made = tool(namespace["f"])

    assert (made.wants_context, list(made.schema["properties"])) == (True, ["a"])


def test_a_signature_that_cannot_be_read() -> None:
    """As some functions of extension modules have none."""

    def odd() -> None:
        pass

    odd.__signature__ = "none"  # type: ignore[attr-defined]

    with pytest.raises(ToolDefinitionError, match="function: expected one whose signature can be read"):
        tool(odd)


def test_nothing_loads_pydantic() -> None:
    """Models are known by what they can do."""
    program = (
        "import sys, suture.harness\n"
        "suture.harness.tool(lambda x: x, name='f')\n"
        "assert not {'pydantic', 'anyio', 'openai', 'anthropic'} & set(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", program], check=True)
