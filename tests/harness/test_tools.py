"""`suture.harness.tools`: what a function becomes, and what is refused when it is decorated."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest

from suture.errors import ToolDefinitionError, UsageError
from suture.harness import Tool, tool


def look(what: str, limit: int = 3) -> str:
    """Look for it.

    Args:
        what: A word.
        limit: How many.
    """
    return what * limit


async def look_later(what: str) -> str:
    """Look for it, later."""
    return what


@pytest.mark.parametrize("made", [tool(look), tool()(look), tool(effect="once")(look), tool(look, timeout=None)])
def test_all_ways_to_decorate_are_one(made: Tool[..., Any]) -> None:
    """With and without parentheses, and as a plain call; what was not said is the default."""
    assert made.function is look
    assert ("look", "Look for it.") == (made.name, made.description)
    assert made.schema["properties"]["what"] == {"type": "string", "description": "A word."}
    options = (made.effect, made.timeout, made.needs_approval, made.client, made.parallel, made.max_output)
    assert options == ("once", None, False, False, True, 100_000)


def test_a_tool_is_still_the_function() -> None:
    """It is called as before, says its name and signature as before, and can be a key."""
    made = tool(look)

    assert made("a", limit=2) == "aa"
    assert inspect.signature(made) == inspect.signature(look)
    assert made.__name__ == "look"
    assert {made: 1}[made] == 1
    coroutine = tool(look_later)("a")
    assert inspect.iscoroutine(coroutine)
    coroutine.close()


def test_what_is_said_goes_before_what_is_read() -> None:
    """Name, description and schema by hand; the docstring's sentences on parameters are not needed then."""
    schema = {"type": "object", "properties": {"what": {"type": "string"}}}

    made = tool(look, name="find", description="Finds.", schema=schema)

    assert ("find", "Finds.", schema) == (made.name, made.description, made.schema)
    assert tool(look, description="").description == ""
    schema["type"] = "array"
    assert made.schema["type"] == "object"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "error"),
        ({"effect": "once"}, "error"),
        ({"effect": "idempotent"}, "retry"),
        ({"effect": "pure"}, "retry"),
        ({"effect": "pure", "client": True}, "hold"),
        ({"client": True}, "hold"),
        ({"client": True, "if_interrupted": "answer_by_next_message"}, "answer_by_next_message"),
        ({"effect": "pure", "if_interrupted": "error"}, "error"),
        ({"if_interrupted": "hold"}, "hold"),
    ],
)
def test_what_becomes_of_an_interrupted_call(options: dict[str, Any], expected: str) -> None:
    """What was asked for, or what fits the kind and the effect of the tool."""
    assert expected == tool(look, **options).when_interrupted


@pytest.mark.parametrize(
    ("options", "argument", "expected"),
    [
        ({"name": "a b"}, "name", "1 to 64 letters"),
        ({"name": ""}, "name", "1 to 64 letters"),
        ({"name": "a" * 65}, "name", "1 to 64 letters"),
        ({"name": "größe"}, "name", "1 to 64 letters"),
        ({"name": "a\n"}, "name", "1 to 64 letters"),
        ({"name": 3}, "name", "1 to 64 letters"),
        ({"description": 3}, "description", "text"),
        ({"effect": "twice"}, "effect", "one of 'pure', 'idempotent', 'once'"),
        ({"effect": ["once"]}, "effect", "one of 'pure'"),
        ({"effect": None}, "effect", "one of 'pure'"),
        ({"timeout": 0}, "timeout", "a number of seconds above 0"),
        ({"timeout": -1}, "timeout", "a number of seconds above 0"),
        ({"timeout": math.inf}, "timeout", "a number of seconds above 0"),
        ({"timeout": math.nan}, "timeout", "a number of seconds above 0"),
        ({"timeout": True}, "timeout", "a number of seconds above 0"),
        ({"timeout": "5"}, "timeout", "a number of seconds above 0"),
        ({"needs_approval": "yes"}, "needs_approval", "a bool or a function"),
        ({"client": 1}, "client", "a bool"),
        ({"if_interrupted": "again"}, "if_interrupted", "one of 'error', 'retry', 'hold', 'answer_by_next_message'"),
        ({"if_interrupted": "retry"}, "if_interrupted", "another value for effect='once'"),
        ({"if_interrupted": "retry", "client": True}, "if_interrupted", "another value for effect='once'"),
        ({"parallel": "no"}, "parallel", "a bool"),
        ({"max_output": 0}, "max_output", "a number of characters above 0"),
        ({"max_output": True}, "max_output", "a number of characters above 0"),
        ({"max_output": 1e3}, "max_output", "a number of characters above 0"),
        ({"schema": {"type": "string"}}, "schema", "a JSON Schema with the type 'object'"),
        ({"schema": []}, "schema", "a JSON Schema with the type 'object'"),
        ({"schema": {"type": "object", "default": object()}}, "schema", "a JSON Schema with the type 'object'"),
    ],
)
def test_a_wrong_option_is_refused_at_once(options: dict[str, Any], argument: str, expected: str) -> None:
    """The error names the option, what it takes, and what it got."""
    with pytest.raises(ToolDefinitionError) as caught:
        tool(**options)(look)

    assert (argument, True) == (caught.value.argument, caught.value.expected.startswith(expected))
    assert f"{argument}: expected {expected}" in str(caught.value)
    assert isinstance(caught.value, UsageError)


class Called:
    """An object that can be called."""

    def __call__(self) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("thing", "argument"),
    [("look", "function"), (Called, "function"), (Called(), "function"), (tool(look), "function"), (3, "function")],
    ids=["text", "class", "object", "tool", "number"],
)
def test_only_a_function_becomes_a_tool(thing: Any, argument: str) -> None:
    """Anything else is an error of whoever wrote it, said at once."""
    with pytest.raises(
        ToolDefinitionError, match="expected a function or a bound method, got an object of type"
    ) as caught:
        tool(thing)

    assert argument == caught.value.argument


def test_a_lambda_needs_a_name() -> None:
    """Its own is none that a model could use."""
    with pytest.raises(ToolDefinitionError, match="name: expected 1 to 64 letters, digits, _ or -, got '<lambda>'"):
        tool(lambda: None)

    assert tool(lambda: 1, name="one")() == 1


def test_a_client_tool_needs_no_body() -> None:
    """Its function only says what it takes."""

    @tool(client=True)
    def ask(question: str) -> str: ...  # type: ignore[empty-body]

    assert ask.client
    assert list(ask.schema["properties"]) == ["question"]
