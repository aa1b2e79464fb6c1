"""A conversation: what was said, what waits, and how it goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

import msgspec

from suture.errors import UsageError
from suture.harness.intake import SAYABLE, Received, received
from suture.harness.line import Line
from suture.harness.notices import Notice, TurnDone
from suture.harness.outputs import outcome_of
from suture.harness.tools import AnyTool, client_tool, named
from suture.harness.turn import Turn
from suture.transcript import Message, Part, TextPart, ToolPart, output_text
from suture.transcript.codec import plain
from suture.transcript.conversation import Conversation
from suture.transcript.events import (
    Admitted,
    ApprovalAnswered,
    CallSettled,
    ClientToolsSet,
    Compacted,
    Event,
    LeafMoved,
    Outcome,
    Withdrawn,
)
from suture.transcript.tools import ToolSpec

if TYPE_CHECKING:
    from suture.harness.agent import Agent

__all__ = ["Reply", "RunOptions", "Session"]

_LOG = logging.getLogger("suture.harness")

_NO_REASON: Final = "The client refused this tool call, and gave no reason."


class RunOptions(TypedDict, total=False):
    """What `Session.run` may be given beside the message; see there."""

    id: str | None
    metadata: Mapping[str, Any] | None
    tools: Iterable[AnyTool | Callable[..., Any]]
    client_tools: Iterable[ToolSpec] | None


class Reply(msgspec.Struct, frozen=True):
    """What came of a turn."""

    text: str
    """The answer's text; empty where there is none."""
    outcome: Outcome | Literal["superseded", "declined"]
    detail: str
    message: Message | None
    """The answer, with its calls."""


class Session:
    """One conversation of an agent. Made by `Agent.session`."""

    def __init__(self, agent: Agent, name: str) -> None:
        """Nothing is loaded yet."""
        self.agent: Agent = agent
        self.name: str = name
        self.conversation: Conversation = Conversation()
        self._number = 0
        self.line: Line = Line()
        self._lock: tuple[asyncio.AbstractEventLoop | None, asyncio.Lock] = (None, asyncio.Lock())
        self._clients: tuple[tuple[ToolSpec, ...], dict[str, AnyTool]] = ((), {})
        self._tasks: set[asyncio.Task[None]] = set()

    # --- what is there ----------------------------------------------------------------------------------------------

    async def load(self) -> Conversation:
        """What is recorded by now, by whomever."""
        async with self._recording():
            await self._catch_up()
        return self.conversation

    @property
    def messages(self) -> list[Message]:
        """The conversation as it was last loaded; outside of an event loop, as it is now.

        Raises:
            StoreError: the store cannot be read.
        """
        if not _in_loop():
            asyncio.run(self.load())
        return list(self.conversation.messages())

    @property
    def waiting(self) -> list[ToolPart]:
        """The calls that wait for a person or a client, as far as they were loaded."""
        return [place.part for place in self.conversation.open_calls() if isinstance(place.part, ToolPart)]

    @property
    def toolbox(self) -> dict[str, AnyTool]:
        """The tools by name: those that the client runs, and before them the agent's."""
        specs = self.conversation.client_tools
        if specs is not self._clients[0]:
            self._clients = specs, {spec.name: client_tool(spec) for spec in specs}
        return {**self._clients[1], **self.agent.toolbox}

    # --- turns ------------------------------------------------------------------------------------------------------

    async def run(
        self,
        text: str | Sequence[Part],
        *,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tools: Iterable[AnyTool | Callable[..., Any]] = (),
        client_tools: Iterable[ToolSpec] | None = None,
    ) -> AsyncIterator[Notice]:
        """Answer a message; what happens, as it happens. The turn goes on when nobody listens any more.

        The message is recorded first. Where the session is being answered already, it waits for its turn; `overlap` of
        the agent says otherwise.

        Args:
            text: What the user says: a text, or parts.
            id: The message's id: given twice, it is taken once.
            metadata: What is to be known with the message: the hooks and the tools of its turn are given it, also
                after a restart; the model is not.
            tools: Tools of this turn alone, run here. They are not there any more after a restart.
            client_tools: The tools that the client runs from now on, in place of those it named before; None: the same.

        Raises:
            UsageError: the message is empty, or this is called inside of a turn of this session.
            ToolDefinitionError: a client's tool has a name or a schema that is none.
            BusyError: another process is answering in this session; the message waits.
            StoreError: the message cannot be recorded.
        """
        parts = (TextPart(plain(text)),) if isinstance(text, str) else tuple(text)
        if not any(not isinstance(part, TextPart) or part.text.strip() for part in parts):
            raise UsageError("Session.run: expected a message that says something, got an empty one")
        if strange := [type(part).__name__ for part in parts if not isinstance(part, SAYABLE)]:
            raise UsageError(f"Session.run: expected texts, files and data in a message, got {', '.join(strange)}")
        self.line.refuse_inside("Session.run")
        overlap = self.agent.overlap if self.line.busy else "queue"
        if overlap == "drop":
            yield TurnDone(session=self.name, turn="", outcome="declined", detail="another message is being answered")
            return
        message = id or self.agent.runtime.new_id()
        turn = Turn(self, "message", message=message, tools=named(tools))
        events: list[Event] = [Admitted(message=message, parts=parts, metadata=dict(metadata) if metadata else None)]
        events += [] if client_tools is None else [_client_tools(client_tools)]
        with self.line.coming():
            await self.record(events, key=f"message:{message}")
        self.line.join(turn, overlap)
        async for notice in turn.notices():
            yield notice

    async def resume(self) -> AsyncIterator[Notice]:
        """Go on where a turn waited for a person or a client, or was cut off; nothing happens where there is no need.

        Raises:
            UsageError: this is called inside of a turn of this session.
            BusyError: another process is answering in this session.
        """
        self.line.refuse_inside("Session.resume")
        turn = Turn(self, "resume")
        self.line.join(turn, "queue")
        async for notice in turn.notices():
            yield notice

    async def regenerate(self, message: str | None = None) -> AsyncIterator[Notice]:
        """Answer a message once more; the answer that it had stays, as another branch, and is not shown.

        Args:
            message: The id of a user's message, or of the answer to it; None: the last one.

        Raises:
            UsageError: there is no such message, or this is called inside of a turn of this session.
            BusyError: another process is answering in this session.
        """
        self.line.refuse_inside("Session.regenerate")
        await self.load()
        path = self.conversation.path()
        if message is not None:
            path = path[: path.index(message) + 1] if message in path else []
        asked = next((name for name in reversed(path) if self.conversation.message(name).role == "user"), None)
        if asked is None:
            expected = "a conversation with a user's message" if message is None else "the id of a message in it"
            raise UsageError(f"Session.regenerate: expected {expected}, got {message or 'none'}")
        turn = Turn(self, "regenerate", leaf=LeafMoved(leaf=asked))
        self.line.join(turn, "queue")
        async for notice in turn.notices():
            yield notice

    def run_sync(self, text: str | Sequence[Part], **options: Unpack[RunOptions]) -> Reply:
        """Answer a message, and wait for the end; the options are those of `run`.

        Raises:
            UsageError: it is called from within an event loop; use `run` there.
        """
        return self._blocking(self.run(text, **options))

    def resume_sync(self) -> Reply:
        """Go on, and wait for the end."""
        return self._blocking(self.resume())

    async def reply(self, notices: AsyncIterator[Notice]) -> Reply:
        """What comes of a turn, once all its notices have come."""
        end: TurnDone | None = None
        async for notice in notices:
            end = notice if isinstance(notice, TurnDone) else end
        message = self.conversation.message(end.message) if end and end.message else None
        text = output_text(tuple(part for part in message.parts if isinstance(part, TextPart))) if message else ""
        return Reply(text, end.outcome if end else "completed", end.detail if end else "", message)

    async def stop(self) -> None:
        """End the turn that runs, and whatever waits: messages, and calls, each of which is settled.

        Nothing old runs after it, also after a restart; what is said next does.

        Raises:
            UsageError: this is called inside of a turn of this session.
        """
        self.line.refuse_inside("Session.stop")
        self.line.clear()
        await self.load()
        if self.conversation.inputs:
            await self.record([Withdrawn(message=name) for name in self.conversation.inputs])
        if self.line.running is not None:
            await self.line.running.stop()
        await self.load()
        if self.conversation.head.turn is not None or self.waiting:
            turn = Turn(self, "resume")
            turn.stopping = True
            self.line.join(turn, "queue")
            async for _ in turn.notices():
                pass

    async def clear(self) -> None:
        """Stop, and begin anew: an empty conversation, without the client's tools. The log still has all of it.

        Raises:
            UsageError: this is called inside of a turn of this session.
        """
        await self.stop()
        await self.record([LeafMoved(leaf=None), ClientToolsSet(tools=())])

    async def fork(self, at: str | None) -> None:
        """Go back to a message: what is said next follows it, and what followed it is another branch.

        Raises:
            UsageError: there is no such message, or a turn is running.
        """
        await self.load()
        if at is not None and not self.conversation.has_message(at):
            raise UsageError(f"Session.fork: expected the id of a message, got {at!r}")
        if self.conversation.head.turn is not None:
            raise UsageError("Session.fork: expected no turn to be running; stop it first")
        await self.record([LeafMoved(leaf=at)])

    async def compact(self, summary: str, *, keep: int = 4) -> bool:
        """Show the model a summary in place of everything before the last messages; nothing is removed.

        Args:
            summary: What the model is told instead.
            keep: How many messages stay at least; what is kept begins with a user's message.

        Returns:
            False where there is nothing before them, or a call in it still waits.
        """
        await self.load()
        messages = self.conversation.messages()
        starts = [
            at for at, message in enumerate(messages[: max(len(messages) - keep + 1, 0)]) if message.role == "user"
        ]
        start = starts[-1] if starts else 0
        open_calls = any(not part.settled for m in messages[:start] for part in m.parts if isinstance(part, ToolPart))
        if not start or open_calls:
            return False
        await self.record([Compacted(summary=summary, first_kept=str(messages[start].id))])
        return True

    # --- answers from outside ---------------------------------------------------------------------------------------

    async def approve(self, call: str) -> bool:
        """Let a call run; `resume` runs it. False where it does not wait for an approval."""
        return await self._decide(call, approved=True, reason=None)

    async def deny(self, call: str, reason: str | None = None) -> bool:
        """Refuse a call; `resume` tells the model. False where it does not wait for an approval."""
        return await self._decide(call, approved=False, reason=reason)

    async def tool_result(self, call: str, output: Any = None, *, error: str | None = None) -> bool:
        """Take what a client made of a call, or the late result of a tool. A real result replaces a synthetic one.

        Returns:
            False where there is no such call, or it has its result.
        """
        await self.load()
        place = self.conversation.call(call)
        running = self.line.running
        if place is None and running is not None and running.calling is not None:
            # The model still speaks, and the client was faster.
            name = running.calling.named(call)
            known = running.toolbox.get(name or "")
            if known is None or not known.client or call in running.early:
                return False
            running.early[call] = self._outcome(call, known.name, output, error)
            return True
        if place is None or not isinstance(place.part, ToolPart) or (place.part.settled and not place.part.synthetic):
            return False
        await self.record([self._outcome(call, place.part.name, output, error)])
        return True

    async def receive(self, messages: Sequence[Message], *, client_tools: Iterable[ToolSpec] | None = None) -> Received:
        """Take what is new in a client's list of messages; `resume` goes on with it.

        New is what only a client can know: what the user wrote, how a person decided, what came of a client's tool.
        Whatever else the list says, what is known here stays. Taking the same list twice changes nothing.

        Args:
            messages: The client's messages, in their order.
            client_tools: See `run`.

        Raises:
            ToolDefinitionError, StoreError: see `run`.
        """
        await self.load()
        found = received(
            messages,
            self.conversation,
            self.toolbox,
            new_id=self.agent.runtime.new_id,
            settle=lambda call, part: self._outcome(
                call, part.name, part.output, part.error_text if part.state != "output-available" else None
            ),
        )
        found.events += [] if client_tools is None else [_client_tools(client_tools)]
        if found.events:
            await self.record(found.events)
        return found

    def _outcome(self, call: str, name: str, output: Any, error: str | None) -> CallSettled:
        known = self.toolbox.get(name)
        outcome = outcome_of(output if error is None else error, known.max_output if known else 100_000)
        state = outcome.state if error is None else "output-error"
        return CallSettled(call=call, state=state, output=outcome.output or (_NO_REASON if error is not None else None))

    async def _decide(self, call: str, *, approved: bool, reason: str | None) -> bool:
        await self.load()
        place = self.conversation.call(call)
        if place is None or not isinstance(place.part, ToolPart) or place.part.state != "approval-requested":
            return False
        await self.record([ApprovalAnswered(call=call, approved=approved, reason=reason)])
        return True

    # --- inside -----------------------------------------------------------------------------------------------------

    async def record(self, events: Sequence[Event], *, epoch: int = 0, key: str = "") -> None:
        """Write events down; once this returns, they are on disk and in the conversation.

        Raises:
            FencedError, EventError, StoreError: see `Store.append`.
        """
        work = asyncio.ensure_future(self._record(events, epoch, key))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            # What was begun is finished, so that whoever was cancelled knows what is recorded.
            await asyncio.wait([work])
            raise

    async def _record(self, events: Sequence[Event], epoch: int, key: str) -> None:
        async with self._recording():
            number = await self.agent.opened.append(self.name, events, epoch=epoch, key=key)
            if not key and number == self._number + len(events):
                for event in events:
                    self.conversation.apply(event)
                self._number = number
            else:
                await self._catch_up()

    def _recording(self) -> asyncio.Lock:
        """One at a time reads and writes; each `run_sync` has an event loop of its own, and a lock belongs to one."""
        loop = asyncio.get_running_loop()
        if self._lock[0] is not loop:
            self._lock = loop, asyncio.Lock()
        return self._lock[1]

    async def _catch_up(self) -> None:
        """Take in what was recorded since, by this process or another."""
        store = self.agent.opened
        if not self._number:
            loaded = await store.load(self.name)
            self.conversation, self._number = loaded.conversation, loaded.number
            return
        async for recorded in store.events(self.name, after=self._number):
            self.conversation.apply(recorded.event)
            self._number = recorded.number

    def _blocking(self, notices: AsyncIterator[Notice]) -> Reply:
        """A turn in a loop of its own; connections end with the loop."""
        if _in_loop():
            raise UsageError("run_sync: expected no running event loop; use `async for … in session.run(…)` here")

        async def whole() -> Reply:
            try:
                return await self.reply(notices)
            finally:
                await self.agent.disconnect()

        return asyncio.run(whole())

    def in_background(self, work: Coroutine[Any, Any, None], what: str) -> None:
        """Do something that nobody waits for; where it fails, the log says so."""
        task = asyncio.create_task(work)
        self._tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if not task.cancelled() and task.exception() is not None:
                _LOG.error("session %s: %s was lost: %s", self.name, what, task.exception())

        task.add_done_callback(done)


def _client_tools(specs: Iterable[ToolSpec]) -> ClientToolsSet:
    given = tuple(specs)
    for spec in given:
        client_tool(spec)
    return ClientToolsSet(tools=given)


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
