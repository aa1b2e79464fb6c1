"""Kills an agent at every crossing of every port, takes its session up again, and checks what must hold.

A port is what an agent reaches the world by: its store, its model, its tools, its clock, and those who listen. A
crossing is one step over one of them, in or out. What is killed does nothing any more, as a process that is dead: its
store takes nothing from it, whatever its clean-up tries.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import msgspec

from suture.harness import Agent, Session
from suture.harness.notices import Notice
from suture.harness.running import Outcome
from suture.harness.runtime import Runtime
from suture.harness.tools import AnyTool, ToolContext
from suture.models.base import ModelRequest, Piece, closing
from suture.store import LEASE, Lease, Loaded, Recorded, SessionInfo, Store
from suture.testing.invariants import broken_promises
from suture.transcript.events import Event

__all__ = ["Crash", "Killed", "Report", "aftermath", "attempt", "crash_matrix"]


class Killed(BaseException):
    """The process is dead from here on."""


class Crash:
    """Counts crossings, and kills at one of them."""

    def __init__(
        self, at: int | None = None, *, die: Callable[[], None] = lambda: None, owner: str = "crash-test"
    ) -> None:
        """`at` is the number of the crossing to die at, from 0; None lives.

        `die` may be a real end of the process; then `owner` is to be its own, so that others see that it is gone.
        """
        self.at: int | None = at
        self.owner: str = owner
        self.die: Callable[[], None] = die
        self.crossings: list[str] = []
        self.dead: bool = False

    def cross(self, port: str) -> None:
        """Step over a port.

        Raises:
            Killed: here, or because it was killed before.
        """
        if self.dead:
            raise Killed(port)
        self.crossings.append(port)
        if self.at is not None and len(self.crossings) > self.at:
            self.dead = True
            self.die()
            raise Killed(port)


class Report(msgspec.Struct):
    """What a matrix found."""

    crossings: list[str] = []
    """The crossings of the whole scenario, in order: there was one run for each."""
    broken: list[str] = []
    """Each promise that was not kept, with the crossing at which the agent was killed."""


async def crash_matrix(
    make: Callable[[Store, Runtime], Agent],
    scenario: Callable[[Session], Awaitable[Any]],
    *,
    store: Callable[[], Store],
    session: str = "crash",
    go_on: str = "go on",
    limit: int | None = None,
) -> Report:
    """Run a scenario once for each of its crossings, killed there, and go on from what is left.

    Args:
        make: Makes the agent; called again after each kill. Its `model` and tools must be ready to be asked again.
        scenario: What is done with the session: `run` it, approve, stop.
        store: Makes a new, empty store.
        session: The name of the session.
        go_on: What the user says afterwards.
        limit: At most this many kills, spread over all crossings; None: all.

    Returns:
        What was crossed, and what did not hold: nothing, where all is well.
    """
    whole = Crash()
    await attempt(make, scenario, store(), session, crash=whole, runs=Counter())
    report = Report(crossings=whole.crossings)
    for at in _spread(len(whole.crossings), limit):
        kept = store()
        runs = Counter[str]()
        await attempt(make, scenario, kept, session, crash=Crash(at), runs=runs)
        where = f"killed at crossing {at} ({whole.crossings[at]})"
        report.broken += [f"{where}: {what}" for what in await aftermath(make, kept, session, go_on, runs=runs)]
        await kept.close()
    return report


async def aftermath(
    make: Callable[[Store, Runtime], Agent], store: Store, session: str, go_on: str, *, runs: Counter[str]
) -> list[str]:
    """Each promise that is not kept by a session that was cut off, once it has gone on.

    `runs` counts how often the tool of each call was run before.
    """
    before = [recorded.event async for recorded in store.events(session)]
    asked: list[ModelRequest] = []
    agent = make(store, _runtime(Crash(), runs, "after"))
    agent.model = _Watched(agent.model, Crash(), asked)
    async for _ in agent.session(session).run(go_on):
        pass
    events = [recorded.event async for recorded in store.events(session)]
    return list(broken_promises(before, events, asked, runs, agent.toolbox))


def _spread(count: int, limit: int | None) -> Sequence[int]:
    if limit is None or limit >= count:
        return range(count)
    return sorted({at * count // limit for at in range(limit)})


async def attempt(
    make: Callable[[Store, Runtime], Agent],
    scenario: Callable[[Session], Awaitable[Any]],
    store: Store,
    session: str,
    *,
    crash: Crash,
    runs: Counter[str],
) -> None:
    """The scenario, until it is over or dead."""
    others = asyncio.all_tasks()
    agent = make(_Probed(store, crash), _runtime(crash, runs, "before"))
    agent.model = _Watched(agent.model, crash, [])
    work = asyncio.ensure_future(_run(scenario, agent.session(session)))
    await asyncio.wait([work])
    left = asyncio.all_tasks() - others
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    error = work.exception() if not work.cancelled() else None
    if error is not None and not crash.dead:
        raise error


async def _run(scenario: Callable[[Session], Awaitable[Any]], session: Session) -> None:
    await scenario(session)


def _runtime(crash: Crash, runs: Counter[str], name: str) -> Runtime:
    numbers = iter(range(10**9))
    plain = Runtime()

    async def run_tool(tool: AnyTool, arguments: dict[str, Any], context: ToolContext) -> Outcome:
        crash.cross("tool starts")
        runs[context.call] += 1
        outcome = await plain.run_tool(tool, arguments, context)
        crash.cross("tool ends")
        return outcome

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)
        crash.cross("clock")

    def broadcast(notice: Notice) -> None:
        crash.cross(f"broadcast {type(notice).__name__}")

    return Runtime(
        owner=crash.owner,
        new_id=lambda: f"{name}-{next(numbers)}",
        sleep=sleep,
        run_tool=run_tool,
        broadcast=broadcast,
    )


class _Watched:
    """A model whose every piece is a crossing, and whose requests are kept."""

    def __init__(self, model: Any, crash: Crash, requests: list[ModelRequest]) -> None:
        self.model, self.crash, self.requests = model, crash, requests
        self.name: str = model.name

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[Piece]:
        self.requests.append(request)
        self.crash.cross("model is asked")
        async with closing(self.model.stream(request)) as pieces:
            async for piece in pieces:
                self.crash.cross(f"model says {type(piece).__name__}")
                yield piece
        self.crash.cross("model is done")


class _Probed:
    """A store whose every call is a crossing on its way in and on its way out."""

    def __init__(self, store: Store, crash: Crash) -> None:
        self.store, self.crash = store, crash

    @property
    def url(self) -> str:
        return self.store.url

    async def append(self, session: str, events: Sequence[Event], *, epoch: int = 0, key: str = "") -> int:
        what = "+".join(type(event).__name__ for event in events)
        self.crash.cross(f"before append {what}")
        number = await self.store.append(session, events, epoch=epoch, key=key)
        self.crash.cross(f"after append {what}")
        return number

    async def load(self, session: str) -> Loaded:
        self.crash.cross("load")
        return await self.store.load(session)

    async def events(self, session: str, after: int = 0) -> AsyncIterator[Recorded]:
        self.crash.cross("events")
        async for recorded in self.store.events(session, after):
            yield recorded

    async def take(self, session: str, owner: str, *, lease: float = LEASE, instead_of: str = "") -> Lease:
        self.crash.cross("before take")
        taken = await self.store.take(session, owner, lease=lease, instead_of=instead_of)
        self.crash.cross("after take")
        return taken

    async def renew(self, lease: Lease) -> None:
        self.crash.cross("renew")
        await self.store.renew(lease)

    async def release(self, lease: Lease) -> None:
        self.crash.cross("release")
        await self.store.release(lease)

    async def sessions(self) -> list[SessionInfo]:
        self.crash.cross("sessions")
        return await self.store.sessions()

    async def search(self, text: str, *, limit: int = 20) -> list[tuple[str, str]]:
        self.crash.cross("search")
        return await self.store.search(text, limit=limit)

    async def delete(self, session: str) -> None:
        self.crash.cross("delete")
        await self.store.delete(session)

    async def close(self) -> None:
        """The store outlives whoever is killed."""
