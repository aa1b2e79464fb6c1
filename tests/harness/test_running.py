"""`suture.harness.running`: whatever a tool does, one outcome comes of it."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from suture.errors import UsageError
from suture.harness import Outcome, ToolContext, run, tool

pytestmark = pytest.mark.anyio

WHO = contextvars.ContextVar("WHO", default="nobody")


def double(x: int) -> int:
    """In a thread."""
    return 2 * x


async def double_later(x: int) -> int:
    """In the caller's task."""
    await asyncio.sleep(0)
    return 2 * x


def count(x: int) -> Iterator[int]:
    """Step by step, in a thread."""
    yield from range(2 * x + 1)


async def count_later(x: int) -> AsyncIterator[int]:
    """Step by step."""
    for number in range(2 * x + 1):
        yield number


@functools.wraps(double_later)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    """Wrap a coroutine function in a plain one, as decorators do."""
    return double_later(*args, **kwargs)


async def hand_on(x: int) -> Any:
    """Give back the stream itself."""
    return count_later(x)


@pytest.mark.parametrize("function", [double, double_later, count, count_later, wrapped, hand_on])
async def test_every_kind_of_function(function: Any, ctx: ToolContext) -> None:
    """Synchronous, asynchronous, a decorated one; of a stream the last value counts."""
    assert Outcome("output-available", 4, "ok") == await run(tool(function, timeout=10), {"x": "2"}, ctx)


async def test_a_stream_without_values(ctx: ToolContext) -> None:
    """There is no last value."""

    async def empty() -> AsyncIterator[int]:
        for each in list[int]():
            yield each

    def nothing() -> Iterator[int]:
        yield from ()

    for function in (empty, nothing):
        assert Outcome("output-available", None, "ok") == await run(tool(function), {}, ctx)


async def test_the_context_is_filled_in(ctx: ToolContext) -> None:
    """For a function that asks for it; a model cannot."""

    def where(*, note: str = "", ctx: ToolContext) -> list[Any]:
        return [note, ctx.session, ctx.turn, ctx.call, ctx.attempt]

    assert ["", "s", "t", "c", 1] == (await run(tool(where), {}, ctx)).output
    assert (await run(tool(where), {"ctx": {"session": "other"}}, ctx)).kind == "invalid"
    by_hand = tool(where, schema={"type": "object"})
    assert ["a", "s", "t", "c", 1] == (await run(by_hand, {"note": "a"}, ctx)).output


@pytest.mark.parametrize("arguments", [{}, {"x": "a"}, {"x": 1, "y": 2}, [], None, "{}"])
async def test_arguments_that_do_not_fit(arguments: Any, ctx: ToolContext) -> None:
    """The tool does not run; the text says so, and what was expected."""
    ran: list[int] = []

    outcome = await run(_noting(ran), arguments, ctx)

    assert ("output-error", "invalid", []) == (outcome.state, outcome.kind, ran)
    assert outcome.output.startswith("The tool did not run, as its arguments do not fit: ")


def _noting(ran: list[int]) -> Any:
    def note(x: int) -> None:
        ran.append(x)

    return tool(note)


async def test_where_functions_run(ctx: ToolContext) -> None:
    """A synchronous one beside the event loop, with the caller's context variables; an asynchronous one in the task."""

    def here() -> list[Any]:
        return [threading.current_thread() is threading.main_thread(), WHO.get()]

    async def later() -> list[Any]:
        return [asyncio.current_task() is task, WHO.get()]

    WHO.set("me")
    task = asyncio.current_task()

    assert [False, "me"] == (await run(tool(here), {}, ctx)).output
    assert [True, "me"] == (await run(tool(later), {}, ctx)).output


async def test_synchronous_functions_do_not_wait_for_one_another(ctx: ToolContext) -> None:
    """Forty that wait for all the others to be there, too."""
    barrier = threading.Barrier(40, timeout=30)

    def meet() -> None:
        barrier.wait()

    outcomes = await asyncio.gather(*(run(tool(meet), {}, ctx) for _ in range(40)))

    assert {outcome.kind for outcome in outcomes} == {"ok"}


def fail() -> None:
    """In a thread."""
    raise ValueError("bad luck")


async def fail_later() -> None:
    """In the task."""
    raise ValueError("bad luck")


async def fail_in_a_stream() -> AsyncIterator[int]:
    """After a value."""
    yield 1
    raise ValueError("bad luck")


@pytest.mark.parametrize("function", [fail, fail_later, fail_in_a_stream])
async def test_an_exception_is_an_outcome(function: Any, ctx: ToolContext) -> None:
    """Its type and message, and no more."""
    assert Outcome("output-error", "ValueError: bad luck", "error") == await run(tool(function), {}, ctx)


@pytest.mark.parametrize("error", [StopIteration(1), StopAsyncIteration(), TimeoutError("theirs"), RecursionError()])
@pytest.mark.parametrize("seconds", [None, 30])
async def test_odd_exceptions(error: Exception, seconds: float | None, ctx: ToolContext) -> None:
    """What means something to the event loop, or could be taken for our own timeout, is an error like any other."""

    def odd() -> None:
        raise error

    async def odd_later() -> None:
        raise error

    for function in (odd, odd_later):
        outcome = await run(tool(function, timeout=seconds), {}, ctx)

        assert ("output-error", "error") == (outcome.state, outcome.kind)
        assert type(error).__name__ in outcome.output


async def test_a_result_that_json_cannot_hold(ctx: ToolContext) -> None:
    """An honest error, though the tool ran."""

    def unique() -> set[int]:
        return {1}

    outcome = await run(tool(unique), {}, ctx)

    assert Outcome("output-error", "the tool returned a value that JSON cannot hold: set: {1}", "error") == outcome


async def test_a_long_result_is_cut_to_what_the_tool_keeps(ctx: ToolContext) -> None:
    """`max_output` is the tool's."""

    def long() -> str:
        return "abcdef"

    outcome = await run(tool(long, max_output=2), {}, ctx)

    assert outcome.output == "a\n[… 4 characters left out …]\nf"


async def test_a_timeout_of_an_asynchronous_function(ctx: ToolContext) -> None:
    """It is cancelled, cleans up, and the outcome says that it may have taken effect."""
    cleaned: list[bool] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append(True)

    async def slow_stream() -> AsyncIterator[int]:
        yield 1
        await slow()

    for function in (slow, slow_stream):
        outcome = await run(tool(function, timeout=0.02), {}, ctx)

        assert outcome == Outcome(
            "output-error",
            "The tool gave no result within 0.02 s; it was still running when the time was up: "
            "it may have taken effect.",
            "timeout",
        )
    assert cleaned == [True, True]


async def test_a_timeout_of_a_synchronous_function(ctx: ToolContext) -> None:
    """The caller goes on at once; the thread does, too, and what it gives back in the end is dropped."""
    go, done = threading.Event(), threading.Event()

    def slow() -> str:
        go.wait(30)
        done.set()
        return "late"

    outcome = await run(tool(slow, timeout=0.02), {}, ctx)

    assert (outcome.kind, done.is_set()) == ("timeout", False)
    assert "it was still running when the time was up: it may have taken effect" in outcome.output
    go.set()
    assert await asyncio.to_thread(done.wait, 30)
    await asyncio.sleep(0.01)


async def test_a_function_that_answers_its_cancellation_has_answered(ctx: ToolContext) -> None:
    """A result that was given back in the end is a result."""

    async def stubborn() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "partial"
        return "never"

    assert Outcome("output-available", "partial", "ok") == await run(tool(stubborn, timeout=0.02), {}, ctx)


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("seconds", [None, 60])
async def test_a_cancellation_passes_through(sync: bool, seconds: float | None, ctx: ToolContext) -> None:
    """Whoever cancels a turn decides what becomes of its calls."""
    go = threading.Event()
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        loop.call_soon_threadsafe(started.set)
        go.wait(30)

    async def wait_later() -> None:
        started.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(run(tool(wait if sync else wait_later, timeout=seconds), {}, ctx))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()


class Killed(BaseException):
    """What is no `Exception`."""


@pytest.mark.parametrize("error", [Killed, asyncio.CancelledError])
async def test_what_is_no_exception_passes_through(error: type[BaseException], ctx: ToolContext) -> None:
    """From the task, and from a thread."""

    def end() -> None:
        raise error

    async def end_later() -> None:
        raise error

    for function in (end, end_later):
        with pytest.raises(error):
            await run(tool(function, timeout=60), {}, ctx)


async def test_a_client_tool_does_not_run_here(ctx: ToolContext) -> None:
    """Calling this for one is a mistake of ours, not of the model."""
    ran: list[int] = []

    with pytest.raises(UsageError, match="runs at the client"):
        await run(tool(client=True)(_noting(ran).function), {"x": 1}, ctx)

    assert ran == []


async def test_a_thread_that_cannot_start(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has no more threads: an error, not a traceback."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    outcome = await run(tool(double), {"x": 1}, ctx)

    assert Outcome("output-error", "RuntimeError: can't start new thread", "error") == outcome


PROGRAM = """
import asyncio, time
from suture.harness import ToolContext, run, tool

def {name}() -> None:
    {body}

print(asyncio.run(run(tool({name}, timeout=0.05), {{}}, ToolContext("s", "t", "c", 1))).kind)
"""


@pytest.mark.parametrize(
    ("body", "code", "printed"), [("time.sleep(60)", 0, "timeout"), ("raise SystemExit(3)", 3, ""), ("pass", 0, "ok")]
)
def test_a_process_ends_when_it_wants_to(body: str, code: int, printed: str) -> None:
    """A function that never ends keeps neither `asyncio.run` nor the process; one that exits does so."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name="f", body=body)], capture_output=True, text=True, check=False
    )

    assert (code, printed, "") == (done.returncode, done.stdout.strip(), done.stderr)
    assert time.monotonic() - began < 30
