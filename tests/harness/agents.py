"""Agents for tests: scripted models, tools that remember what they did, and a driver that keeps what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from suture.harness import Agent, Session, tool
from suture.harness.notices import Notice, TranscriptRepaired, TurnDone
from suture.harness.tools import AnyTool
from suture.models import ModelRequest, Piece, Step, scripted
from suture.store import Store
from suture.store.memory import MemoryStore
from suture.transcript import Message, TextPart, ToolPart

__all__ = [
    "Slow",
    "ToolLog",
    "call",
    "calling",
    "calls",
    "dead",
    "eventually",
    "heard",
    "made",
    "outcome",
    "repairs",
    "says",
    "texts",
]


class ToolLog:
    """What the tools of a test did."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.ran: list[tuple[str, Any]] = []

    def tool(self, name: str, function: Callable[..., Any] | None = None, **options: Any) -> AnyTool:
        """A tool that is remembered here, and then does what `function` does."""

        async def body(value: Any = None) -> Any:
            self.ran.append((name, value))
            if function is None:
                return f"{name} {value}"
            result = function(value)
            return await result if hasattr(result, "__await__") else result

        body.__name__ = name
        made: AnyTool = tool(**options)(body)
        return made

    @property
    def names(self) -> list[str]:
        """The tools that ran, in order."""
        return [name for name, _ in self.ran]


def calling(*calls: str | tuple[str, Any], text: str = "", ids: Sequence[str] = ()) -> Step:
    """A step that makes calls; a name alone is called without arguments."""
    made = tuple((each, {}) if isinstance(each, str) else each for each in calls)
    return Step(text=text, calls=made, ids=tuple(ids))


def made(
    *script: Step | str,
    tools: Sequence[AnyTool] = (),
    store: Store | None = None,
    kind: type[Agent] = Agent,
    **options: Any,
) -> Agent:
    """An agent that plays a script."""
    return kind(model=scripted(list(script)), tools=tools, store=store or MemoryStore(), **options)


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to that")


class Slow:
    """A model that speaks until it comes to a None, and goes on at each `more.release()`."""

    name = "slow"

    def __init__(self, *answers: Sequence[Piece | None]) -> None:
        """One list a request."""
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.more = asyncio.Semaphore(0)

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[Piece]:
        """See `Model`."""
        self.requests.append(request)
        for piece in self.answers[len(self.requests) - 1]:
            if piece is None:
                await self.more.acquire()
            else:
                yield piece


async def says(session: Session, text: str, **options: Any) -> TurnDone:
    """One turn, to its end."""
    *_, end = [notice async for notice in session.run(text, **options)]
    assert isinstance(end, TurnDone)
    return end


async def heard(notices: Any) -> list[Any]:
    """All that a turn tells."""
    return [notice async for notice in notices]


async def dead(agent: Agent, name: str, *events: Any) -> Session:
    """A session in which a process died after these events."""
    await agent.opened.append(name, events)
    return agent.session(name)


def calls(session: Session) -> list[ToolPart]:
    """The calls of a conversation, in order."""
    return [part for m in session.conversation.messages() for part in m.parts if isinstance(part, ToolPart)]


def call(session: Session, name: str) -> ToolPart:
    """The call of a tool."""
    return next(part for part in calls(session) if part.name == name)


def outcome(part: ToolPart) -> tuple[str, Any]:
    """A call's state and output."""
    return part.state, part.output


def texts(messages: Sequence[Message] | ModelRequest) -> list[str]:
    """What is said in words."""
    listed = messages.messages if isinstance(messages, ModelRequest) else messages
    return [part.text for message in listed for part in message.parts if isinstance(part, TextPart)]


def repairs(notices: Sequence[Notice]) -> list[Any]:
    """The calls that were repaired."""
    return [repair.call for notice in notices if isinstance(notice, TranscriptRepaired) for repair in notice.repairs]
