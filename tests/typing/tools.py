"""Tools, written the way a user would. Nothing here runs: mypy and pyright read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, assert_type

import msgspec

from suture.errors import ToolDefinitionError
from suture.harness import ArgumentsError, Outcome, Tool, ToolContext, run, tool


@tool
def look(query: str, limit: Annotated[int, msgspec.Meta(le=50)] = 10) -> list[str]:
    return [query] * limit


@tool(effect="pure", timeout=5, needs_approval=lambda arguments: bool(arguments["query"]))
async def look_later(query: str, *, ctx: ToolContext) -> str:
    return query + ctx.call


@tool()
async def count(to: int) -> AsyncIterator[int]:
    for number in range(to):
        yield number


async def allowed(arguments: dict[str, Any]) -> bool:
    return "query" in arguments


async def using(ctx: ToolContext) -> None:
    assert_type(look("a", limit=3), list[str])
    assert_type(await look_later("a", ctx=ctx), str)
    assert_type(count(3), AsyncIterator[int])
    assert_type(tool(str.upper, name="upper", needs_approval=allowed)("a"), str)
    assert_type(await run(look, {"query": "a"}, ctx), Outcome)
    tools: list[Tool[..., Any]] = [look, look_later, count]
    for each in tools:
        assert_type(each.schema, dict[str, Any])
        assert_type(each.timeout, float | None)


def failing() -> str:
    try:
        look.decode({"query": 3})
    except ArgumentsError as error:
        assert_type(error.problems, tuple[str, ...])
    except ToolDefinitionError as error:
        return error.expected
    return ""
