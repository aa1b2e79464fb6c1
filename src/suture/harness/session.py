"""A conversation: what was said, what waits, and how it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from suture.errors import UsageError
from suture.harness.notices import Notice, TurnDone
from suture.harness.outputs import outcome_of
from suture.harness.turn import Turn
from suture.transcript import Message, Part, TextPart, ToolPart, output_text
from suture.transcript.codec import plain
from suture.transcript.conversation import Conversation
from suture.transcript.events import Admitted, ApprovalAnswered, CallSettled, Compacted, Event, LeafMoved, Outcome

if TYPE_CHECKING:
    from suture.harness.agent import Agent

__all__ = ["Reply", "Session"]


class Reply(msgspec.Struct, frozen=True):
    """What came of a turn."""

    text: str
    """The answer's text; empty where there is none."""
    outcome: Outcome
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
        self._turn: Turn | None = None
        self._recording = asyncio.Lock()

    # --- what is there ----------------------------------------------------------------------------------------------

    async def load(self) -> Conversation:
        """What is recorded by now, by whomever."""
        async with self._recording:
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

    # --- turns ------------------------------------------------------------------------------------------------------

    async def run(self, text: str | Sequence[Part], *, id: str | None = None) -> AsyncIterator[Notice]:
        """Answer a message; what happens, as it happens. The turn goes on when nobody listens any more.

        The message is recorded first. Where the session is being answered already, it waits, and the next turn takes
        it up.

        Args:
            text: What the user says: a text, or parts.
            id: The message's id: given twice, it is taken once.

        Raises:
            UsageError: the message is empty, or a turn of this session is running here.
            BusyError: another process is answering in this session.
            StoreError: the message cannot be recorded.
        """
        parts = (TextPart(plain(text)),) if isinstance(text, str) else tuple(text)
        if not any(not isinstance(part, TextPart) or part.text.strip() for part in parts):
            raise UsageError("Session.run: expected a message that says something, got an empty one")
        admitted = Admitted(message=id or self.agent.runtime.new_id(), parts=parts)
        await self.record([admitted], key=f"message:{admitted.message}")
        async for notice in self._go("message"):
            yield notice

    async def resume(self) -> AsyncIterator[Notice]:
        """Go on where a turn waited for a person or a client, or was cut off; nothing happens where there is no need.

        Raises:
            UsageError: a turn of this session is running here.
            BusyError: another process is answering in this session.
        """
        async for notice in self._go("resume"):
            yield notice

    async def regenerate(self) -> AsyncIterator[Notice]:
        """Answer the last message once more; the answer that it had stays, as another branch, and is not shown.

        Raises:
            UsageError: no message was sent yet, or a turn of this session is running here.
            BusyError: another process is answering in this session.
        """
        await self.load()
        asked = next((message for message in reversed(self.conversation.messages()) if message.role == "user"), None)
        if asked is None:
            raise UsageError("Session.regenerate: expected a conversation with a user's message, got none")
        async for notice in self._go("regenerate", LeafMoved(leaf=asked.id)):
            yield notice

    def run_sync(self, text: str | Sequence[Part], *, id: str | None = None) -> Reply:
        """Answer a message, and wait for the end.

        Raises:
            UsageError: it is called from within an event loop; use `run` there.
        """
        return _blocking(self.reply(self.run(text, id=id)))

    def resume_sync(self) -> Reply:
        """Go on, and wait for the end."""
        return _blocking(self.reply(self.resume()))

    async def reply(self, notices: AsyncIterator[Notice]) -> Reply:
        """What comes of a turn, once all its notices have come."""
        end: TurnDone | None = None
        async for notice in notices:
            end = notice if isinstance(notice, TurnDone) else end
        head = self.conversation.head
        message = self.conversation.message(head.answer) if head.answer else None
        text = output_text(tuple(part for part in message.parts if isinstance(part, TextPart))) if message else ""
        return Reply(text, end.outcome if end else "completed", end.detail if end else "", message)

    async def stop(self) -> None:
        """End the turn that runs, and whatever waits; every open call is settled. Nothing old runs after it."""
        if self._turn is not None:
            await self._turn.stop()
        await self.load()
        if self.conversation.head.turn is not None or self.waiting:
            turn = self._turn = Turn(self, "resume")
            turn.stopping = True
            turn.start()
            async for _ in turn.notices():
                pass

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
        if place is None or not isinstance(place.part, ToolPart) or (place.part.settled and not place.part.synthetic):
            return False
        known = self.agent.toolbox.get(place.part.name)
        outcome = outcome_of(output if error is None else error, known.max_output if known else 100_000)
        state = outcome.state if error is None else "output-error"
        await self.record([CallSettled(call=call, state=state, output=outcome.output)])
        return True

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
        async with self._recording:
            number = await self.agent.opened.append(self.name, events, epoch=epoch, key=key)
            if not key and number == self._number + len(events):
                for event in events:
                    self.conversation.apply(event)
                self._number = number
            else:
                await self._catch_up()

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

    async def _go(
        self, trigger: Literal["message", "resume", "regenerate"], leaf: LeafMoved | None = None
    ) -> AsyncIterator[Notice]:
        if self._turn is not None:
            raise UsageError(f"session {self.name!r} is answering already; wait for it, or stop it")
        turn = self._turn = Turn(self, trigger, leaf)
        turn.start()
        async for notice in turn.notices():
            yield notice

    def done(self, turn: Turn) -> None:
        """Forget a turn that is over."""
        if self._turn is turn:
            self._turn = None


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _blocking(work: Coroutine[Any, Any, Reply]) -> Reply:
    if _in_loop():
        work.close()
        raise UsageError("run_sync: expected no running event loop; use `async for … in session.run(…)` here")
    return asyncio.run(work)
