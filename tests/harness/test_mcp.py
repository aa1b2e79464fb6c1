"""`suture.harness.mcp`: the tools of real MCP servers, in processes of their own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from suture.errors import SutureError, ToolDefinitionError, ToolServerError, UsageError
from suture.harness import AnyTool, Outcome, ToolContext, run
from suture.harness.mcp import mcp_tools
from tests.harness.agents import call, calling, made, outcome, says

pytestmark = pytest.mark.anyio

SERVER = (sys.executable, str(Path(__file__).with_name("mcp_server.py")))
PLENTY = 60
"""Seconds that no test takes, however slow the machine."""
SOON = 10
"""Seconds that nothing takes that has to happen at once."""


@pytest.fixture(autouse=True)
async def bounded() -> AsyncIterator[None]:
    """A test that hangs fails."""
    task = asyncio.current_task()
    assert task is not None
    timer = asyncio.get_running_loop().call_later(PLENTY, task.cancel)
    yield
    timer.cancel()


def named(tools: list[AnyTool]) -> dict[str, AnyTool]:
    """Tools by their names."""
    return {tool.name: tool for tool in tools}


def exists(path: Path) -> Callable[[], bool]:
    """Whether a file is there, by now."""
    return path.exists


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that a server does."""
    end = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def is_gone(process: int) -> bool:
    """Whether a process has ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


async def test_what_a_tool_is() -> None:
    """The server's name, description and schema; its hints say what running twice would mean."""
    async with mcp_tools(*SERVER, prefix="my_", timeout=5) as tools:
        found = named(tools)

    search = found["my_search"]
    assert ("Search the shelf.", "pure", 5) == (search.description, search.effect, search.timeout)
    assert ["query"] == search.schema["required"]
    assert {"idempotent", "once"} == {found["my_put"].effect, found["my_nothing"].effect}


async def test_what_the_user_says_of_effects_counts() -> None:
    """Before the server's hints, and for tools without any."""
    effects: Any = {"search": "once", "nothing": "pure"}
    async with mcp_tools(*SERVER, effect="idempotent", effects=effects) as tools:
        found = {name: tool.effect for name, tool in named(tools).items()}

    assert ("once", "pure", "idempotent") == (found["search"], found["nothing"], found["both"])


async def test_names_that_providers_refuse() -> None:
    """They become others, each another one and always the same; those that fit stay as they are."""
    async with mcp_tools(*SERVER) as tools, mcp_tools(*SERVER, prefix="a" * 55) as long:
        names = {tool.name for tool in (*tools, *long)}

    assert len(names) == 2 * len(tools)
    assert [] == [name for name in names if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)]
    assert {"search", "look_at_it_b44cf8354130", "a" * 55 + "search"} <= names


RESULTS: list[tuple[str, dict[str, Any], Any]] = [
    ("search", {"query": "x", "limit": 2}, "x 0\nx 1"),
    ("search", {"query": "x"}, "x 0\nx 1\nx 2"),
    ("put", {"name": "n", "self": "s", "ctx": "c"}, {"name": "n", "self": "s", "ctx": "c"}),
    ("both", {}, {"structured": {"a": 1}, "content": ["[image left out: image/png, 5 bytes]"]}),
    ("nothing", {}, None),
]
SHOWN = """here:
[image left out: image/png, 5 bytes]
[link to a resource: a book, shelf://1]
[resource shelf://2]
Call me Ishmael.
[resource left out: shelf://3, of unknown type, 2 bytes]"""


async def test_results(ctx: ToolContext) -> None:
    """Text is text, structured content a JSON value, and what is neither is at least named."""
    async with mcp_tools(*SERVER) as tools:
        found = named(tools)
        for name, arguments, expected in [*RESULTS, ("look_at_it_b44cf8354130", {}, SHOWN)]:
            assert Outcome("output-available", expected, "ok") == await run(found[name], arguments, ctx)


async def test_errors(ctx: ToolContext) -> None:
    """They are outcomes with the server's own words."""
    said = {
        "text": "no such\nshelf",
        "structured": '{"why": "fire"}',
        "silent": "The tool failed, and the server does not say why.",
        "protocol": "the shelf is on fire",
    }
    async with mcp_tools(*SERVER) as tools:
        for how, expected in said.items():
            ended = await run(named(tools)["fail"], {"how": how}, ctx)
            assert Outcome("output-error", f"ToolServerError: {expected}", "error") == ended


async def test_arguments_that_do_not_fit(ctx: ToolContext) -> None:
    """The server checks them, and says which."""
    async with mcp_tools(*SERVER) as tools:
        ended = await run(named(tools)["search"], {"limit": "many"}, ctx)

    assert ended.state == "output-error"
    assert "query" in ended.output


async def test_a_result_that_breaks_the_servers_promise(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcome says that the call may have taken effect."""
    import mcp

    async def call_tool(*_: Any) -> Any:
        raise RuntimeError("Invalid structured content")

    monkeypatch.setattr(mcp.Client, "call_tool", call_tool)
    async with mcp_tools(*SERVER) as tools:
        ended = await run(named(tools)["nothing"], {}, ctx)

    assert ended.output.endswith("not as announced; the call may have taken effect: Invalid structured content")


async def test_arguments_that_cannot_be_sent(ctx: ToolContext) -> None:
    """Half a character is replaced; what cannot be written is that call's error, and not the connection's end."""
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    async with mcp_tools(*SERVER) as tools:
        search = named(tools)["search"]
        for query in (float("nan"), deep):
            ended = await run(search, {"query": query}, ctx)
            assert ended.output.startswith("ToolServerError: The call did not run, as its arguments cannot be sent")

        assert (await run(search, {"query": "a\ud800", "limit": 1}, ctx)).output == "a\ufffd 0"
        assert (await run(search, {"query": "a", "a\ud800": [1e300, 2**70], "limit": 1}, ctx)).output == "a 0"


async def test_in_an_agent() -> None:
    """A turn that calls the server."""
    async with mcp_tools(*SERVER) as tools:
        agent = made(calling(("search", {"query": "a", "limit": 1}), "nothing"), "Found.", tools=tools)
        session = agent.session("s")
        await says(session, "search")

    assert ("output-available", "a 0") == outcome(call(session, "search"))
    assert ("output-available", None) == outcome(call(session, "nothing"))


async def test_calls_from_several_tasks_at_once(tmp_path: Path, ctx: ToolContext) -> None:
    """Each gets its own answer, and none waits for another."""
    async with mcp_tools(*SERVER) as tools:
        found = named(tools)
        slow = asyncio.create_task(run(found["wait"], {"marks": str(tmp_path), "seconds": 600}, ctx))
        ended = await asyncio.gather(
            *(run(found["search"], {"query": str(number), "limit": 1}, ctx) for number in range(50))
        )
        assert not slow.done()
        slow.cancel()

    assert [f"{number} 0" for number in range(50)] == [each.output for each in ended]


async def test_a_cancelled_call(tmp_path: Path, ctx: ToolContext) -> None:
    """The server is told, and goes on answering others."""
    async with mcp_tools(*SERVER) as tools:
        found = named(tools)
        slow = asyncio.create_task(run(found["wait"], {"marks": str(tmp_path), "seconds": 600}, ctx))
        await until(exists(tmp_path / "began"))
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        await until(exists(tmp_path / "cancelled"))

        assert (await run(found["nothing"], {}, ctx)).kind == "ok"


async def test_a_call_that_takes_too_long(tmp_path: Path, ctx: ToolContext) -> None:
    """The time limit of each tool ends it, and the server is told."""
    async with mcp_tools(*SERVER, timeout=0.5) as tools:
        ended = await run(named(tools)["wait"], {"marks": str(tmp_path), "seconds": 600}, ctx)
        await until(exists(tmp_path / "cancelled"))

    assert ended.kind == "timeout"


async def test_leaving_while_a_call_is_in_flight(tmp_path: Path, ctx: ToolContext) -> None:
    """It ends with an error that leaves open whether it took effect; the server's process ends."""
    async with mcp_tools(*SERVER) as tools:
        found = named(tools)
        (process, _) = (await run(found["whoami"], {}, ctx)).output["result"]
        slow = asyncio.create_task(run(found["wait"], {"marks": str(tmp_path), "seconds": 600}, ctx))
        await until(exists(tmp_path / "began"))
        started = time.monotonic()

    ended = await slow
    assert time.monotonic() - started < SOON
    assert ended.output == (
        "ToolServerError: The connection to the MCP server 'shelf' is closed, and no result came: if the call had "
        "reached the server, it may have taken effect."
    )
    assert is_gone(process)
    after = await run(found["nothing"], {}, ctx)
    assert after.output == "ToolServerError: The MCP server 'shelf' is not connected any more: the call did not run."


async def test_a_server_that_dies(ctx: ToolContext) -> None:
    """The call that it died of has an error, so has every later one, and leaving is as ever."""
    async with mcp_tools(*SERVER, timeout=None) as tools:
        found = named(tools)
        for name in ("die", "nothing", "nothing"):
            ended = await asyncio.wait_for(run(found[name], {}, ctx), SOON)
            assert ended.state == "output-error"
            assert "The connection to the MCP server 'shelf' is closed" in ended.output


async def test_a_server_that_is_killed_between_calls(ctx: ToolContext) -> None:
    """The next call has an error at once."""
    async with mcp_tools(*SERVER, timeout=None) as tools:
        found = named(tools)
        (process, _) = (await run(found["whoami"], {}, ctx)).output["result"]
        os.kill(process, signal.SIGKILL)

        ended = await asyncio.wait_for(run(found["nothing"], {}, ctx), SOON)

    assert "is closed, and no result came" in ended.output


async def test_left_in_another_task(ctx: ToolContext) -> None:
    """Entered here, left there: nobody has to know of the SDK's scopes."""
    stack = AsyncExitStack()
    tools = await asyncio.create_task(stack.enter_async_context(mcp_tools(*SERVER)))
    assert (await run(named(tools)["nothing"], {}, ctx)).kind == "ok"

    await asyncio.create_task(stack.aclose())


async def test_cancelled_while_it_is_open(ctx: ToolContext) -> None:
    """The server's process ends, and the cancellation goes on."""
    process: list[int] = []

    async def body() -> None:
        async with mcp_tools(*SERVER) as tools:
            process.append((await run(named(tools)["whoami"], {}, ctx)).output["result"][0])
            await asyncio.sleep(600)

    task = asyncio.create_task(body())
    await until(lambda: bool(process))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(process[0])


async def test_cancelled_while_it_starts() -> None:
    """The server's process does not stay behind."""

    async def body() -> None:
        async with mcp_tools(*SERVER, "late"):
            raise AssertionError

    task = asyncio.create_task(body())
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [] == [each.get_name() for each in asyncio.all_tasks() if each.get_name().startswith("suture mcp")]


async def test_another_event_loop(ctx: ToolContext) -> None:
    """Such as `run_sync` makes: an error in place of a hang."""
    async with mcp_tools(*SERVER) as tools:
        nothing = named(tools)["nothing"]
        ended = await asyncio.to_thread(lambda: asyncio.run(run(nothing, {}, ctx)))

    assert ended.output.endswith("can only be called there: the call did not run.")


async def test_the_environment(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server gets what it is given, and not all that we have."""
    monkeypatch.setenv("SHELF", "ours")
    for env, expected in ((None, None), ({"SHELF": "theirs"}, "theirs")):
        async with mcp_tools(*SERVER, env=env) as tools:
            ended = await run(named(tools)["whoami"], {}, ctx)
            assert expected == ended.output["result"][1]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("no-such-program-at-all", "--key=secret"), "'no-such-program-at-all' cannot be used: FileNotFoundError"),
        ((sys.executable, "-c", "pass"), "cannot be used: MCPError: Connection closed"),
        ((*SERVER, "late"), "cannot be used: it was not ready within 1 s"),
    ],
)
async def test_a_server_that_does_not_start(command: tuple[str, ...], expected: str) -> None:
    """One error that says why, soon, and without the arguments: they may hold a key."""
    with pytest.raises(ToolServerError, match=re.escape(expected)) as caught:
        async with mcp_tools(*command, start_timeout=1 if "late" in command else SOON):
            raise AssertionError

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"effects": {"find": "pure"}}, UsageError),
        ({"effects": {"search": "harmless"}}, ToolDefinitionError),
        ({"timeout": 0}, ToolDefinitionError),
        ({"url": "http://localhost"}, UsageError),
        ({"headers": {"a": "b"}}, UsageError),
    ],
)
async def test_wrong_options(options: Any, error: type[SutureError]) -> None:
    """A name that is misspelt must not pass for a policy."""
    with pytest.raises(error):
        async with mcp_tools(*SERVER, **options):
            raise AssertionError


async def test_neither_a_command_nor_a_url() -> None:
    """There is nothing to connect to."""
    with pytest.raises(UsageError, match="either a command"):
        async with mcp_tools():
            raise AssertionError


async def test_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(UsageError, match=re.escape('pip install "suture[mcp]"')):
        async with mcp_tools(*SERVER):
            raise AssertionError


async def test_over_http(tmp_path: Path, ctx: ToolContext) -> None:
    """The same tools, results, cancellations and ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(*SERVER, "http", str(port), stderr=asyncio.subprocess.DEVNULL)
    try:
        await until(lambda: _answers(port))
        async with mcp_tools(url=f"http://127.0.0.1:{port}/mcp", headers={"x-key": "k"}, timeout=20) as tools:
            found = named(tools)
            assert (await run(found["search"], {"query": "q", "limit": 1}, ctx)).output == "q 0"
            slow = asyncio.create_task(run(found["wait"], {"marks": str(tmp_path), "seconds": 600}, ctx))
            await until(exists(tmp_path / "began"))
            slow.cancel()
            await until(exists(tmp_path / "cancelled"))
            process.kill()
            await process.wait()
            ended = await run(found["nothing"], {}, ctx)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()

    assert ended.state == "output-error"
    assert ended.kind == "error"


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


async def test_no_http_server() -> None:
    """One error, soon, that names the host and not the path: it may hold a key."""
    with pytest.raises(ToolServerError, match=r"'127\.0\.0\.1' cannot be used") as caught:
        async with mcp_tools(url="http://127.0.0.1:9/mcp?key=secret", start_timeout=SOON):
            raise AssertionError

    assert "secret" not in str(caught.value)
