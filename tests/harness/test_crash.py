"""The crash matrix: scenarios and stores, killed at every crossing of every port, and gone on from what is left."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from suture.errors import ModelError
from suture.harness import Agent, Runtime, Session, tool
from suture.models import ModelRequest, Step, scripted
from suture.store import Store, open_store
from suture.testing import Report, crash_matrix
from suture.transcript import StepStart, TextPart

pytestmark = pytest.mark.anyio

STORES = ("memory",)


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
        model=scripted(answer), tools=[charge, look, pay, ask], store=store, runtime=runtime
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
    "compaction": (playing(calls(LOOK), "done"), compacted, 100),
}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_killed_anywhere_it_goes_on(name: str, kind: str, tmp_path: Path) -> None:
    """Every promise holds after a kill at every crossing."""
    make, scenario, least = SCENARIOS[name]
    numbers = itertools.count()
    report: Report = await crash_matrix(
        make,
        scenario,
        store=lambda: open_store("memory:" if kind == "memory" else f"{kind}:{tmp_path / str(next(numbers))}"),
    )

    assert [] == report.broken
    assert len(report.crossings) >= least


async def test_a_scenario_that_fails_by_itself_is_no_crash() -> None:
    """Its error comes out."""

    async def wrong(_: Session) -> None:
        raise KeyError("typo")

    with pytest.raises(KeyError, match="typo"):
        await crash_matrix(playing("x"), wrong, store=lambda: open_store("memory:"))


MUTANTS: dict[str, tuple[str, str, Any, str]] = {
    "a tool that may run once is run again": ("suture.harness.healing", "_SERVER", {"error": "run"}, "may run once"),
    "nothing is healed": ("suture.harness.turn", "heal", None, "would refuse the request"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
async def test_the_matrix_sees_what_is_wrong(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no promise if nothing can break it."""
    import importlib

    from suture.harness.healing import Healing

    module, attribute, value, expected = MUTANTS[mutant]
    home = importlib.import_module(module)
    if isinstance(value, dict):
        monkeypatch.setattr(home, attribute, {**getattr(home, attribute), **value})
    else:
        monkeypatch.setattr(home, attribute, lambda *_, **__: Healing())
        monkeypatch.setattr("suture.harness.asking.stubbed", lambda message: message)
    make, scenario, _ = SCENARIOS["one tool"]
    report = await crash_matrix(make, scenario, store=lambda: open_store("memory:"))

    assert any(expected in broken for broken in report.broken)
