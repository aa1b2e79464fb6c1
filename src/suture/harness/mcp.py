"""The tools of MCP servers as tools of an agent, through the official SDK (the extra `mcp`).

>>> async with mcp_tools("python", "-m", "server", effects={"search": "pure"}) as tools:
...     agent = Agent(model=..., tools=[*tools, my_tool])

The SDK's connection consists of task groups, which have to be entered and left in one task and cancel that task when
they fail. So it lives in a task of its own: whoever enters `mcp_tools` may leave it in another task, and is never
cancelled by it. A single call is a message and an answer, and is awaited in the task that makes it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from suture.errors import ToolServerError, UsageError
from suture.harness.tools import NAME, AnyTool, Effect, tool
from suture.transcript.codec import plain

if TYPE_CHECKING:
    from mcp import Client, types
    from mcp.client import Transport

__all__ = ["mcp_tools"]

_LOG = logging.getLogger("suture.harness")
_LONGEST_NAME: Final = 64
_PATIENCE: Final = 10.0
"""How many seconds a connection may take to end by itself: the SDK ends a stubborn process within 7."""
_UNUSABLE: Final = "The MCP server {server!r} cannot be used: {problem}"
_UNCONNECTED: Final = "The MCP server {server!r} is not connected any more: the call did not run."
_LOST: Final = (
    "The connection to the MCP server {server!r} is closed, and no result came: if the call had reached the server, it "
    "may have taken effect."
)
_ELSEWHERE: Final = (
    "The MCP server {server!r} was connected in another event loop, and can only be called there: the call did not run."
)
_UNSENDABLE: Final = "The call did not run, as its arguments cannot be sent to the MCP server {server!r}: {problem}"
_MISFIT: Final = (
    "The MCP server {server!r} gave a result that is not as announced; the call may have taken effect: {problem}"
)


@asynccontextmanager
async def mcp_tools(
    *command: str,
    url: str | None = None,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    effect: Effect = "once",
    effects: Mapping[str, Effect] | None = None,
    prefix: str = "",
    timeout: float | None = 60,  # noqa: ASYNC109 - of each call, not of this function
    start_timeout: float = 60,
) -> AsyncIterator[list[AnyTool]]:
    """The tools of one MCP server, as long as the context is open.

    Each has the server's name, description and schema, and may be called from any task of this event loop, also at
    once. Text comes back as text, several pieces joined by newlines, structured content as the JSON value; of images
    and other content a line says what there was. What a server reports as an error is raised with its text. Once the
    connection is closed, from whichever side, calls fail at once with a sentence that says whether they may have run;
    so do those in flight. A server that died is not started again: enter the context anew.

    Args:
        command: The program that is the server, and its arguments: they talk over its standard input and output.
        url: In place of a command: where a server answers over HTTP.
        headers: Sent with each HTTP request.
        env: Variables for the command, beside the few that are inherited (`PATH`, `HOME` and the like).
        effect: What running a call twice would mean, for tools of which nothing else is known.
        effects: The same by the server's names of tools. Where a tool is not named here, the server's word counts: a
            `readOnlyHint` makes it `pure`, an `idempotentHint` `idempotent`. Name the tools of servers that you do not
            trust.
        prefix: Stands before each name. A name that providers would refuse is made one that they take: always the
            same, and another one for another name.
        timeout: How many seconds a call may take; None: any number.
        start_timeout: How many seconds the server may take to start and to list its tools.

    Raises:
        UsageError: the SDK is not installed, the arguments do not fit together, or `effects` names an unknown tool.
        ToolDefinitionError: an effect, a time limit or a schema that no tool can have.
        ToolServerError: the server cannot be started or reached, or does not list its tools.
    """
    if bool(command) == bool(url) or (headers and command) or (env and url):
        raise UsageError("mcp_tools: expected either a command, with or without env, or a url, with or without headers")
    try:
        from mcp import Client as _  # noqa: F401, PLC0415 - not there before its version 2
    except ImportError as error:
        raise UsageError('MCP servers need the official SDK: pip install "suture[mcp]"') from error
    connection = _Connection(command, url or "", dict(headers or {}), dict(env or {}))
    try:
        listed = await connection.ready(start_timeout)
        yield _tools(connection, listed, effect, effects or {}, prefix=prefix, timeout=timeout)
    finally:
        await connection.close()


class _Connection:
    """A connection in a task of its own."""

    def __init__(self, command: Sequence[str], url: str, headers: dict[str, str], env: dict[str, str]) -> None:
        """Begins to connect, in the event loop that runs."""
        import anyio  # noqa: PLC0415 - comes with the SDK

        self.command, self.url, self.headers, self.env = command, url, headers, env
        # Neither a command's arguments nor the path of a URL: both may hold a key, and a model reads this.
        self.server: str = Path(command[0]).name if command else urlsplit(url).hostname or "http"
        self._loop = asyncio.get_running_loop()
        self._client: Client | None = None
        self._ready: asyncio.Future[list[types.Tool]] = self._loop.create_future()
        self._leave = asyncio.Event()
        # To give up by. The SDK shields its ending of the process from this, but cannot from `Task.cancel`.
        self._scope = anyio.CancelScope()
        self._task = asyncio.create_task(self._live(), name=f"suture mcp {self.server}")

    async def ready(self, seconds: float) -> list[types.Tool]:
        """Wait until it is connected, and give back the tools there are."""
        either: set[asyncio.Future[Any]] = {self._task, self._ready}
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            return self._ready.result()
        error = self._error() if self._task.done() else None
        raise self._failed(_UNUSABLE, _said(error) if error else f"it was not ready within {seconds:g} s") from error

    async def close(self) -> None:
        """Disconnect; calls in flight fail."""
        self._leave.set()
        if not self._ready.done():
            self._scope.cancel()
        # `wait` leaves the task alone where we are cancelled: the connection ends all the same.
        _, running = await asyncio.wait({self._task}, timeout=_PATIENCE)
        if running:
            self._scope.cancel()
            await asyncio.wait(running)
        error = self._error()
        if error is not None and self._ready.done():
            _LOG.warning("the connection to the MCP server %r did not end well: %s", self.server, _said(error))

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool of the server."""
        from mcp import MCPError, types  # noqa: PLC0415 - an extra

        if asyncio.get_running_loop() is not self._loop:
            raise self._failed(_ELSEWHERE)
        if self._client is None:
            raise self._failed(_UNCONNECTED)
        try:
            sent = _sendable(name, arguments)
        except Exception as error:
            raise self._failed(_UNSENDABLE, _said(error)) from error
        try:
            result = await self._client.call_tool(name, sent)
        except MCPError as error:
            # Servers use this code for errors of their own, too.
            lost = (error.code, error.message) == (types.CONNECTION_CLOSED, "Connection closed")
            raise self._failed(_LOST) if lost else ToolServerError(error.message, server=self.server) from error
        except (RuntimeError, ValueError) as error:  # what the SDK raises where it checked a result
            raise self._failed(_MISFIT, str(error)) from error
        if result.is_error:
            raise ToolServerError(_error_text(result), server=self.server)
        return _value(result)

    def _error(self) -> BaseException | None:
        """What the connection ended with."""
        return None if self._task.cancelled() else self._task.exception()

    def _failed(self, sentence: str, problem: str = "") -> ToolServerError:
        return ToolServerError(sentence.format(server=self.server, problem=problem), server=self.server)

    async def _live(self) -> None:
        """Connect, and stay connected until asked to leave."""
        from mcp import Client  # noqa: PLC0415 - an extra

        with self._scope:
            try:
                async with AsyncExitStack() as stack:
                    client = await stack.enter_async_context(Client(await self._transport(stack), cache=None))
                    listed = await client.list_tools()
                    tools = list(listed.tools)
                    while listed.next_cursor is not None:
                        listed = await client.list_tools(cursor=listed.next_cursor)
                        tools += listed.tools
                    self.server = client.server_info.name if client.server_info else self.server
                    self._client = client
                    self._ready.set_result(tools)
                    await self._leave.wait()
                    self._client = None  # before the connection ends: what is called from now on did not run
            finally:
                self._client = None

    async def _transport(self, stack: AsyncExitStack) -> Transport:
        if self.url:
            import httpx2  # noqa: PLC0415 - comes with the SDK
            from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - an extra

            limits = httpx2.Timeout(30, read=None)  # how long an answer may take is the tool's to say
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=self.headers, timeout=limits))
            return streamable_http_client(self.url, http_client=http)
        from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415 - an extra

        # What the server logs. Not `sys.stderr`, which may be anything without a file descriptor, as in notebooks.
        log = sys.__stderr__ or stack.enter_context(open(os.devnull, "w"))  # noqa: ASYNC230, PTH123, SIM115
        program, *arguments = self.command
        return stdio_client(StdioServerParameters(command=program, args=arguments, env=self.env), errlog=log)


def _tools(
    connection: _Connection,
    listed: Sequence[types.Tool],
    effect: Effect,
    effects: Mapping[str, Effect],
    *,
    prefix: str,
    timeout: float | None,
) -> list[AnyTool]:
    known = {each.name for each in listed}
    unknown = sorted(effects.keys() - known)
    if unknown:
        there_are = ", ".join(sorted(known)) or "none"
        raise UsageError(f"mcp_tools: effects: the server has no tool {unknown[0]!r}; its tools are: {there_are}")
    made: dict[str, AnyTool] = {}
    for each in listed:
        name = _name(prefix + each.name)
        if name in made:
            raise UsageError(f"mcp_tools: the server has two tools with the name {name!r}")
        made[name] = _tool(connection, each, name, effects.get(each.name) or _hinted(each) or effect, timeout)
    return list(made.values())


def _tool(connection: _Connection, listed: types.Tool, name: str, effect: Effect, timeout: float | None) -> AnyTool:
    async def call(**arguments: Any) -> Any:  # it has no parameters, so any name may be an argument's
        return await connection.call(listed.name, arguments)

    return tool(
        call,
        name=name,
        description=listed.description or listed.title or "",
        effect=effect,
        timeout=timeout,
        schema={"type": "object", **listed.input_schema},
    )


def _hinted(listed: types.Tool) -> Effect | None:
    """What the server says of running a tool twice."""
    hints = listed.annotations
    if hints is not None and hints.read_only_hint:
        return "pure"
    return "idempotent" if hints is not None and hints.idempotent_hint else None


def _name(name: str) -> str:
    """A name that every provider takes; a made one ends in a hash of the name that it stands for."""
    if NAME.fullmatch(name):
        return name
    mark = "_" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[: _LONGEST_NAME - len(mark)] + mark


def _sendable(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without half characters.

    Raises whatever is wrong with them: what the SDK cannot write would end its connection, and with it all other calls.
    """
    from mcp.types import JSONRPCRequest  # noqa: PLC0415 - an extra

    sent: dict[str, Any] = json.loads(plain(json.dumps(arguments, ensure_ascii=False, allow_nan=False)))
    params = {"name": name, "arguments": sent}
    JSONRPCRequest(jsonrpc="2.0", id=0, method="tools/call", params=params).model_dump_json()
    return sent


def _value(result: types.CallToolResult) -> Any:
    """What a call gave, as a value that JSON can hold."""
    pieces = [_shown(piece) for piece in result.content]
    if result.structured_content is None:
        return "\n".join(pieces) if pieces else None
    # Beside structured content, text is the same once more, for clients that know text alone; anything else is not.
    others = [text for piece, text in zip(result.content, pieces, strict=True) if piece.type != "text"]
    return {"structured": result.structured_content, "content": others} if others else result.structured_content


def _error_text(result: types.CallToolResult) -> str:
    """What the server says of a call that failed."""
    text = "\n".join(_shown(piece) for piece in result.content)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return text or "The tool failed, and the server does not say why."


def _shown(piece: types.ContentBlock) -> str:
    """A piece of content as text: what it says, or what it is."""
    match piece.type:
        case "text":
            return piece.text
        case "image" | "audio":
            return f"[{piece.type} left out: {piece.mime_type}, {_size(piece.data)}]"
        case "resource_link":
            return f"[link to a resource: {piece.title or piece.name}, {piece.uri}]"
        case "resource":
            found = piece.resource
            if hasattr(found, "text"):
                return f"[resource {found.uri}]\n{found.text}"
            return f"[resource left out: {found.uri}, {found.mime_type or 'of unknown type'}, {_size(found.blob)}]"


def _size(base64: str) -> str:
    return f"{len(base64) * 3 // 4 - base64[-2:].count('='):,} bytes"


def _said(error: BaseException) -> str:
    """The cause of an error: task groups wrap what one of their tasks raised."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
