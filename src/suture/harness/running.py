"""Running one call of a tool, to exactly one outcome."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from typing import Any, Final

from suture.errors import UsageError
from suture.harness.arguments import ArgumentsError
from suture.harness.context import ToolContext
from suture.harness.outputs import Outcome, failed, outcome_of
from suture.harness.tools import Tool

__all__ = ["Outcome", "run"]

_INVALID: Final = "The tool did not run, as its arguments do not fit: {problems}"
_LATE: Final = (
    "The tool gave no result within {seconds:g} s; it was still running when the time was up: it may have taken effect."
)


async def run(tool: Tool[..., Any], arguments: Any, ctx: ToolContext) -> Outcome:
    """Validate the arguments of a call, run the tool, and give back what became of it.

    A synchronous function runs in a thread of its own, in a copy of the caller's context variables; an asynchronous one
    in the caller's task. Of a generator function the last value counts; every one is shown as progress.

    Whatever the tool does is an outcome; only what is no `Exception` passes through: a cancellation, Ctrl-C, an exit.

    When the time is up, an asynchronous function is cancelled, and has until its own cleanup ends. **A synchronous one
    cannot be stopped: its thread goes on**, until it is done or the process ends. The outcome says so: it may have
    taken effect; what it gives back in the end goes to `ctx.late`. The same holds for a synchronous function whose
    caller is cancelled.

    Args:
        tool: One that runs here.
        arguments: What the model gave, decoded from JSON.
        ctx: Where the call stands, for a function that takes a `ctx`.

    Raises:
        UsageError: the tool runs at the client.
    """
    if tool.client:
        raise UsageError(f"tool {tool.name!r} runs at the client")
    try:
        given = tool.decode(arguments)
    except ArgumentsError as error:
        return Outcome("output-error", _INVALID.format(problems=error), "invalid")
    if tool.wants_context:
        given["ctx"] = ctx
    limit = asyncio.timeout(tool.timeout)
    try:
        async with limit:
            value = await _result(tool, given, ctx)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything
        if isinstance(error, TimeoutError) and limit.expired():
            return Outcome("output-error", _LATE.format(seconds=tool.timeout or 0), "timeout")
        return failed(error)
    return outcome_of(value, tool.max_output)


async def _result(tool: Tool[..., Any], given: dict[str, Any], ctx: ToolContext) -> Any:
    """What the function gives back in the end."""
    function: Callable[..., Any] = tool.function
    if inspect.isasyncgenfunction(function):
        return await _last(function(**given), ctx)
    if inspect.iscoroutinefunction(function):
        value = await function(**given)
    else:
        value = await _in_thread(tool, lambda: _whole(function(**given), ctx), ctx)
    if inspect.isawaitable(value):  # a coroutine function inside of a plain one, such as a decorator's
        value = await value
    return await _last(value, ctx) if inspect.isasyncgen(value) else value


async def _last(values: Any, ctx: ToolContext) -> Any:
    """The last value of an asynchronous generator; None where it has none."""
    value = None
    stream: AsyncIterator[Any]
    async with aclosing(values) as stream:
        async for each in stream:
            value = each
            ctx.progress(value)
    return value


def _whole(value: Any, ctx: ToolContext) -> Any:
    """What a plain function gave back; of a generator the last value."""
    if not inspect.isgenerator(value):
        return value
    last = None
    for each in value:
        last = each
        ctx.progress(last)
    return last


async def _in_thread(tool: Tool[..., Any], call: Callable[[], Any], ctx: ToolContext) -> Any:
    """What `call` gives back or raises, from a thread of its own.

    Not from a pool (`asyncio.to_thread`): a call that never ends would take one of its few threads for good, and
    `asyncio.run` would wait for it at the end. This thread is a daemon: nobody waits for it.
    """
    loop = asyncio.get_running_loop()
    landed: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not landed.done():
            landed.set_result((value, error))
        else:  # whoever waited was told that the time was up, or was cancelled
            ctx.late(outcome_of(value, tool.max_output) if error is None else failed(error))

    def work() -> None:
        value, problem = None, None
        try:
            value = context.run(call)
        except BaseException as error:  # noqa: BLE001 - also an exit has to reach who waits
            problem = error
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, value, problem)

    threading.Thread(target=work, name=f"suture tool {tool.name}", daemon=True).start()
    value, problem = await landed
    if problem is not None:
        raise problem
    return value
