"""What a tool shows while it runs, and what comes of it when nobody waits any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from suture.harness import ToolContext, tool
from suture.harness.endings import ENDINGS
from suture.harness.notices import CallProgress
from suture.harness.runtime import Runtime
from suture.store.memory import MemoryStore
from suture.transcript import CAUSES
from suture.transcript.events import CallProgressed, CallSettled
from tests.harness.agents import ToolLog, call, calling, eventually, heard, made, outcome, says
from tests.harness.test_endings import until

pytestmark = pytest.mark.anyio


@tool
async def streams() -> AsyncIterator[int]:
    """Yield in the loop."""
    for number in range(3):
        yield number
        await asyncio.sleep(0)


@tool
def yields() -> Iterator[int]:
    """Yield in a thread."""
    yield from range(3)


@tool
async def tells(ctx: ToolContext) -> int:
    """Say so."""
    for number in range(3):
        ctx.progress(number)
    await asyncio.sleep(0)
    return 2


@pytest.mark.parametrize("each", [streams, yields, tells], ids=lambda each: each.name)
async def test_tl8_what_a_tool_shows_is_passed_on(each: Any) -> None:
    """Every value, before the outcome, which is the last one and final."""
    session = made(calling(each.name), "ok", tools=[each]).session("s")
    notices = await heard(session.run("go"))
    assert [0, 1, 2] == [notice.output for notice in notices if isinstance(notice, CallProgress)]
    assert ("output-available", 2, False) == (*outcome(call(session, each.name)), call(session, each.name).preliminary)


async def stuck(store: MemoryStore, **options: Any) -> Any:
    """A session whose tool has shown that it is half way, and goes no further."""

    @tool(name="work", **options)
    async def work(ctx: ToolContext) -> None:
        ctx.progress("half way")
        await asyncio.Event().wait()

    session = made(calling("work"), "ok", tools=[work], store=store).session("s")
    turn = asyncio.create_task(heard(session.run("go")))
    await until(lambda: "work" in repr(session.waiting) and call(session, "work").preliminary)
    return session, turn


async def test_tr_p4_what_was_shown_is_kept_over_a_kill() -> None:
    """6.7 (5): a value that was not the last is no result: the call failed, and says how far it had come."""
    store = MemoryStore()
    session, turn = await stuck(store)
    store._sessions["s"].owner = ""
    again = made("ok", tools=[ToolLog().tool("work")], store=store).session("s")
    await says(again, "go on")
    last = "Its last preliminary output was: half way"
    assert ("output-error", f"{CAUSES['started']} {last}") == outcome(call(again, "work"))
    turn.cancel()
    await session.stop()


async def test_tr_p4_stop_says_how_far_it_had_come() -> None:
    """The same where the turn ends around it."""
    session, turn = await stuck(MemoryStore())
    await session.stop()
    await turn
    text = f"{ENDINGS['stopped']['started']} Its last preliminary output was: half way"
    assert ("output-error", text) == outcome(call(session, "work"))


async def test_what_is_shown_often_is_written_now_and_then() -> None:
    """Each write waits for the disk: in between, the newest value is what counts."""
    pauses: list[float] = []
    pause = asyncio.Event()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await (pause if seconds == 1.0 else asyncio.Event()).wait()

    @tool
    async def work(ctx: ToolContext) -> str:
        for number in range(100):
            ctx.progress(number)
            await asyncio.sleep(0)
        pause.set()
        for _ in range(10):
            await asyncio.sleep(0)
        return "done"

    session = made(calling("work"), "ok", tools=[work], runtime=Runtime(sleep=sleep)).session("s")
    await says(session, "go")
    events = [recorded.event async for recorded in session.agent.opened.events("s")]
    kept = [event.output for event in events if isinstance(event, CallProgressed)]
    assert (2, 99) == (len(kept), kept[-1])
    assert 1.0 in pauses


async def test_a_late_result_is_the_real_one() -> None:
    """A thread cannot be stopped: what it gives back behind its time limit is what became of the call."""
    gate, over = threading.Event(), threading.Event()

    @tool(timeout=0.01)
    def pay() -> str:
        gate.wait(10)
        over.set()
        return "paid"

    session = made(calling("pay"), "ok", tools=[pay]).session("s")
    await says(session, "go")
    assert ("output-error", True) == (call(session, "pay").state, call(session, "pay").synthetic)
    assert "may have taken effect" in call(session, "pay").output
    gate.set()
    await asyncio.to_thread(over.wait, 10)
    await eventually(lambda: not call(session, "pay").synthetic)
    assert ("output-available", "paid") == outcome(call(session, "pay"))
    events = [recorded.event async for recorded in session.agent.opened.events("s")]
    assert [True, False] == [event.synthetic for event in events if isinstance(event, CallSettled)]


async def test_a_late_result_that_cannot_be_kept(caplog: pytest.LogCaptureFixture) -> None:
    """The store is closed by then: the log says what was lost."""
    gate = threading.Event()

    @tool(timeout=0.01)
    def pay() -> str:
        gate.wait(10)
        return "paid"

    class Full(MemoryStore):
        full = False

        async def append(self, *arguments: Any, **options: Any) -> int:
            if self.full:
                raise OSError("no space left")
            return await super().append(*arguments, **options)

    store = Full()
    session = made(calling("pay"), "ok", tools=[pay], store=store).session("s")
    await says(session, "go")
    store.full = True
    gate.set()
    await eventually(lambda: "was lost" in caplog.text)
    assert "session s: the late result of 'call_0_0' was lost: no space left" in caplog.text
