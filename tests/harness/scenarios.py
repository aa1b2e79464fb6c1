"""What is done with an agent that is going to be killed: the scenarios of the crash tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from suture.errors import ModelError
from suture.harness import Agent, Runtime, Session, ToolContext, tool
from suture.models import ModelRequest, Step, scripted
from suture.store import Store
from suture.transcript import StepStart, TextPart

__all__ = ["SCENARIOS", "playing"]


@tool(effect="once")
async def charge(amount: int) -> str:
    """Charge the card."""
    await asyncio.sleep(0)
    return f"charged {amount}"


@tool(effect="pure")
async def look(what: str) -> str:
    """Look something up."""
    await asyncio.sleep(0)
    return f"found {what}"


@tool(effect="once", needs_approval=True)
async def pay(amount: int) -> str:
    """Pay, if a person agrees."""
    return f"paid {amount}"


@tool(effect="once")
async def build(ctx: ToolContext) -> str:
    """Build something, and show how far it is."""
    for done in ("half", "nearly all"):
        ctx.progress(done)
        await asyncio.sleep(0)
    return "built"


@tool(client=True)
def ask(question: str) -> str:
    """Ask the user."""
    raise AssertionError(question)


def playing(*steps: Step | str) -> Callable[[Store, Runtime], Agent]:
    """An agent that plays steps, and says that it goes on when it is told to."""

    def answer(request: ModelRequest) -> Step | str:
        last = [part.text for part in request.messages[-1].parts if isinstance(part, TextPart)]
        if request.messages[-1].role == "user" and last == ["go on"]:
            return "going on"
        done = sum(isinstance(part, StepStart) for part in request.messages[-1].parts)
        return steps[min(done, len(steps) - 1)]

    return lambda store, runtime: Agent(
        model=scripted(answer), tools=[charge, look, pay, build, ask], store=store, runtime=runtime
    )


async def once(session: Session) -> None:
    """One turn."""
    async for _ in session.run("do it"):
        pass


async def approved(session: Session) -> None:
    """A turn that waits for a person, who agrees."""
    await once(session)
    for part in session.waiting:
        await session.approve(part.call_id)
    async for _ in session.resume():
        pass


async def answered(session: Session) -> None:
    """A turn that waits for a client, which answers."""
    await once(session)
    for part in session.waiting:
        await session.tool_result(part.call_id, "blue")
    async for _ in session.resume():
        pass


async def stopped(session: Session) -> None:
    """A turn that is stopped while a tool runs."""
    async for notice in session.run("do it"):
        if type(notice).__name__ == "CallRunning":
            await session.stop()


async def overlapping(session: Session) -> None:
    """Another message comes while the first one is being answered."""

    async def another() -> None:
        async for _ in session.run("that too"):
            pass

    more: asyncio.Task[None] | None = None
    async for notice in session.run("do it"):
        if type(notice).__name__ == "CallRunning" and more is None:
            more = asyncio.create_task(another())
    if more is not None:
        await more


async def compacted(session: Session) -> None:
    """Two turns, then a summary, then another one."""
    await once(session)
    await once(session)
    await session.compact("they did it", keep=2)
    await once(session)


def calls(*made: tuple[str, Any], text: str = "") -> Step:
    """A step with calls."""
    return Step(text=text, calls=made)


CHARGE, LOOK = ("charge", {"amount": 5}), ("look", {"what": "it"})

SCENARIOS: dict[str, tuple[Callable[[Store, Runtime], Agent], Callable[[Session], Awaitable[None]], int]] = {
    "no tools": (playing("hello there"), once, 20),
    "one tool": (playing(calls(CHARGE, text="now"), "done"), once, 35),
    "three parallel": (playing(calls(CHARGE, LOOK, CHARGE), "done"), once, 50),
    "two steps": (playing(calls(LOOK), calls(CHARGE), "done"), once, 50),
    "approval": (playing(calls(("pay", {"amount": 5})), "done"), approved, 45),
    "client tool": (playing(calls(("ask", {"question": "Which?"}), LOOK), "done"), answered, 45),
    "stop in flight": (playing(calls(CHARGE, LOOK), "done"), stopped, 25),
    "provider fault": (playing(Step(text="let me", calls=(CHARGE,), fault=ModelError("down"))), once, 15),
    "progress": (playing(calls(("build", {})), "done"), once, 40),
    "two messages": (playing(calls(CHARGE), "done"), overlapping, 60),
    "compaction": (playing(calls(LOOK), "done"), compacted, 100),
}
