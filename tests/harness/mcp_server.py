"""An MCP server for tests, written with the official SDK: over standard input and output, or HTTP on a port."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

from mcp import MCPError
from mcp.server import MCPServer
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)

server = MCPServer("shelf")


@server.tool(annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True))
def search(query: str, limit: int = 3) -> CallToolResult:
    """Search the shelf."""
    return CallToolResult(content=[TextContent(text=f"{query} {number}") for number in range(limit)])


@server.tool(annotations=ToolAnnotations(idempotent_hint=True))
def put(name: str, self: str, ctx: str) -> dict[str, str]:
    """Put something on the shelf; its arguments have names that Python functions use."""
    return {"name": name, "self": self, "ctx": ctx}


@server.tool(name="look.at.it")
def look() -> CallToolResult:
    """Give all kinds of content."""
    return CallToolResult(
        content=[
            TextContent(text="here:"),
            ImageContent(data="aGVsbG8=", mime_type="image/png"),
            ResourceLink(name="a book", uri="shelf://1"),
            EmbeddedResource(resource=TextResourceContents(uri="shelf://2", text="Call me Ishmael.")),
            EmbeddedResource(resource=BlobResourceContents(uri="shelf://3", blob="aGk=")),
        ]
    )


@server.tool()
def both() -> CallToolResult:
    """Give structured content, and an image."""
    image = ImageContent(data="aGVsbG8=", mime_type="image/png")
    return CallToolResult(content=[TextContent(text='{"a": 1}'), image], structured_content={"a": 1})


@server.tool()
def nothing() -> CallToolResult:
    """Give nothing."""
    return CallToolResult(content=[])


@server.tool()
def fail(how: str) -> CallToolResult:
    """Fail in one of the ways there are."""
    if how == "protocol":
        raise MCPError(-32000, "the shelf is on fire")
    if how == "structured":
        return CallToolResult(content=[], structured_content={"why": "fire"}, is_error=True)
    content = [TextContent(text="no such"), TextContent(text="shelf")] if how == "text" else []
    return CallToolResult(content=list(content), is_error=True)


@server.tool()
async def wait(marks: str, seconds: float) -> str:
    """Leave a mark, wait, and leave another one: whether it was cancelled."""
    folder = Path(marks)
    (folder / "began").touch()
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        (folder / "cancelled").touch()
        raise
    return "waited"


@server.tool()
async def whoami() -> list[Any]:
    """Tell the process id and a variable."""
    return [os.getpid(), os.environ.get("SHELF")]


@server.tool()
def die() -> str:
    """End the process, without an answer."""
    os._exit(3)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["late"]:
            time.sleep(600)
        case ["http", port]:
            server.run("streamable-http", port=int(port))
        case _:
            server.run()
