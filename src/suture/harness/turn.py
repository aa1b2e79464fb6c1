"""One turn, from top to bottom: take the session, heal it, ask the model, run its calls, until it has answered.

    take the session -> close what a dead turn left -> heal the calls that were cut off -> take up the user's messages
    -> [ ask the model -> record its answer with its calls -> run them ]* -> record the end -> give the session back

Order is the point. What is about to happen is on disk before it happens, and what happened before anything else does,
so whoever comes after a kill finds out from the store how far each call had come.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from suture.errors import BusyError, FencedError, StoreError
from suture.harness.asking import ask, shown
from suture.harness.calls import Calls
from suture.harness.collect import Answer
from suture.harness.endings import Ending, closing
from suture.harness.healing import Healing, heal
from suture.harness.hooks import StepContext, TurnContext, observe, resolved
from suture.harness.line import INSIDE
from suture.harness.notices import (
    ApprovalNeeded,
    ClientNeeded,
    MessageTaken,
    Notice,
    StepDone,
    TranscriptRepaired,
    TurnDone,
    TurnOpened,
)
from suture.harness.tools import AnyTool
from suture.harness.tracing import repaired, turn_span
from suture.store.base import Lease
from suture.transcript import ToolPart
from suture.transcript.events import (
    CallSettled,
    Event,
    LeafMoved,
    MessageAdded,
    Outcome,
    StepAdded,
    TurnBegan,
    TurnEnded,
)

if TYPE_CHECKING:
    from suture.harness.agent import Agent
    from suture.harness.session import Session

__all__ = ["Turn"]

_Heard: TypeAlias = "asyncio.Queue[Notice | BaseException | None]"

_LOG = logging.getLogger("suture.harness")

_OUTCOMES: Final[dict[Ending, Outcome]] = {
    "stopped": "stopped",
    "timeout": "failed",
    "fault": "failed",
}


class Turn:
    """The driver of one turn. All ways in lead here."""

    def __init__(
        self,
        session: Session,
        trigger: Literal["message", "resume", "regenerate"],
        *,
        message: str | None = None,
        leaf: LeafMoved | None = None,
        tools: Mapping[str, AnyTool] = MappingProxyType({}),
    ) -> None:
        """Nothing happens yet.

        Args:
            session: Where it answers.
            trigger: Why.
            message: The message that it was started for.
            leaf: Where it goes back to before anything else.
            tools: What it has beside the session's tools.
        """
        self.session: Session = session
        self.agent: Agent = session.agent
        self.trigger: Literal["message", "resume", "regenerate"] = trigger
        self.message: str | None = message
        self.leaf: LeafMoved | None = leaf
        self.id: str = self.agent.runtime.new_id()
        self.stopping: bool = False
        self.began: bool = False
        self.steps: int = 0
        """How many steps it has begun."""
        self.lease: Lease | None = None
        self.answer: Answer | None = None
        """What the model is saying now, not recorded yet."""
        self.calling: Answer | None = None
        """The answer whose calls are not recorded yet: clients may know of them, and answer them."""
        self.early: dict[str, CallSettled] = {}
        """What clients made of these calls meanwhile."""
        self._heard: _Heard = asyncio.Queue()
        self.audience: list[_Heard] = [self._heard]
        """Whoever is told what happens."""
        self._tools = tools
        self._entered = False
        self._from = contextvars.copy_context()  # whoever asked, not whoever was before it in the line
        self._rest: asyncio.Future[Any] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def toolbox(self) -> dict[str, AnyTool]:
        """The tools by name: the session's, and before them this turn's own."""
        return {**self.session.toolbox, **self._tools}

    # --- from outside -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._drive(), name=f"suture turn {self.id}", context=self._from)
        self._task.add_done_callback(self._never_ran)

    def _never_ran(self, _: asyncio.Task[None]) -> None:
        """A task that was cancelled before its first step has told nobody, and still stands in the line."""
        if not self._entered:
            self._say(
                TurnDone(session=self.session.name, turn=self.id, outcome="stopped", detail="it had not begun"), None
            )
            self.session.line.leave(self)

    async def notices(self) -> AsyncIterator[Notice]:
        """What happens, until the turn is over.

        Raises:
            BusyError, StoreError: the turn could not begin, or could not be recorded.
        """
        while (notice := await self._heard.get()) is not None:
            if isinstance(notice, BaseException):
                raise notice
            yield notice

    async def stop(self) -> None:
        """End it, and wait until it is over and recorded."""
        self.stopping = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(self._task)

    def tell(self, notice: Notice) -> None:
        """Pass something on to whoever listens."""
        self.agent.runtime.broadcast(notice)
        self._say(notice)

    def _say(self, *words: Notice | BaseException | None) -> None:
        for heard in self.audience:
            for word in words:
                heard.put_nowait(word)

    # --- before it begins -------------------------------------------------------------------------------------------

    def let_rest(self, then: Callable[[Any], None]) -> None:
        """Let it wait until no message has come for a while."""
        self._rest = asyncio.ensure_future(self.agent.runtime.sleep(self.agent.debounce))
        self._rest.add_done_callback(then)

    @property
    def rested(self) -> bool:
        """Whether it has waited long enough."""
        return self._rest is None or self._rest.done()

    def give_up(self, outcome: Literal["stopped", "superseded"], why: str) -> None:
        """It will not begin; tell who waits for it."""
        if self._rest is not None:
            self._rest.cancel()
        self._say(TurnDone(session=self.session.name, turn=self.id, outcome=outcome, detail=why), None)

    # --- the whole --------------------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        self._entered = True
        INSIDE.set(self)
        words: list[Notice | BaseException | None] = [None]
        try:
            await self._taken()
        except asyncio.CancelledError:
            over = TurnDone(session=self.session.name, turn=self.id, outcome="stopped", detail="it had not begun")
            words = [over, None]
        except BaseException as error:  # noqa: BLE001 (whoever listens gets it, whatever it is)
            words = [error, None]
        self._say(*words)
        self.session.line.leave(self)

    async def _taken(self) -> None:
        store = self.agent.opened
        self.lease = await self._take()
        alive = asyncio.create_task(self._stay_alive(self.lease))
        try:
            with turn_span(self) as ended:
                await self.session.load()
                end = await self._bounded()
                ended(end)
        finally:
            alive.cancel()
        with contextlib.suppress(StoreError):  # then the lease runs out by itself
            await store.release(self.lease)
        await self._told(end)

    async def _take(self) -> Lease:
        """The session; a dead process is not waited for.

        Raises:
            BusyError: a living one is answering.
        """
        store, runtime = self.agent.opened, self.agent.runtime
        try:
            return await store.take(self.session.name, runtime.owner)
        except BusyError as busy:
            if not runtime.is_gone(busy.owner):
                raise
            return await store.take(self.session.name, runtime.owner, instead_of=busy.owner)

    async def _stay_alive(self, lease: Lease) -> None:
        # Where the session was taken over, the next append finds out.
        with contextlib.suppress(FencedError):
            while True:
                await self.agent.runtime.sleep(lease.seconds / 3)
                await self.agent.opened.renew(lease)

    async def _bounded(self) -> TurnDone:
        """The turn, and what comes of it in every case but a kill."""
        limit = asyncio.timeout(self.agent.turn_timeout)
        try:
            try:
                async with limit:
                    outcome, detail = await self._run()
            except asyncio.CancelledError:
                return await asyncio.shield(self._cut_off("stopped", "stopped by the user", None))
            except FencedError:
                raise
            except Exception as error:  # noqa: BLE001 (a turn that fails is a turn that ends)
                if limit.expired():
                    late = f"the turn took longer than {self.agent.turn_timeout or 0:g} s"
                    return await asyncio.shield(self._cut_off("timeout", late, None))
                return await asyncio.shield(self._cut_off("fault", f"{type(error).__name__}: {error}", error))
        except FencedError as fenced:
            return TurnDone(session=self.session.name, turn=self.id, outcome="interrupted", detail=str(fenced))
        return TurnDone(session=self.session.name, turn=self.id, outcome=outcome, detail=detail)

    async def _cut_off(self, ending: Ending, detail: str, error: Exception | None) -> TurnDone:
        """Record what there is of the answer, settle every call that ran or was to run, and end the turn."""
        done = TurnDone(session=self.session.name, turn=self.id, outcome=_OUTCOMES[ending], detail=detail, error=error)
        conversation = await self.session.load()
        open_turn = conversation.head.turn
        if open_turn is None and self.began:
            ended: Any = conversation.head.ended
            return msgspec.structs.replace(done, outcome=ended)
        if open_turn != self.id:
            # This turn had not begun; one that is open is a dead one's.
            dead = [TurnEnded(turn=open_turn, outcome="interrupted")] if open_turn is not None else []
            await self.record([*dead, TurnBegan(turn=self.id, trigger="resume")])
        # A client may have answered a call while it was being written: whether it was is known by now.
        events = self._partial() or [
            event
            for event in self._early()
            if isinstance(event, CallSettled) and conversation.call(event.call) is not None
        ]
        answered = {event.call for event in events if isinstance(event, CallSettled)}
        cut = [part for event in events if isinstance(event, StepAdded) for part in event.parts]
        parts = [
            part
            for part in (*cut, *self.session.waiting)
            if isinstance(part, ToolPart) and not part.settled and part.call_id not in answered
        ]
        waits = ("awaiting_client", "awaiting_approval")
        events += [closing(part, ending) for part in parts if ending == "stopped" or part.cause not in waits]
        await self.record([*events, TurnEnded(turn=self.id, outcome=_OUTCOMES[ending], detail=detail)])
        return done

    def _partial(self) -> list[Event]:
        """What the model had said when it was cut off."""
        answer, self.answer = self.answer, None
        if answer is None or not answer.pieces:
            return []
        return self._answered(answer, finish="cut")

    async def _told(self, end: TurnDone) -> None:
        """The session is free again: what the last hooks do may begin another turn, and wait for it."""
        conversation = self.session.conversation
        answer = conversation.head.answer if self.began else None
        message = conversation.message(answer) if answer else None
        end = msgspec.structs.replace(end, message=answer)
        self.tell(end)
        self.session.line.leave(self)
        if isinstance(end.error, Exception):
            await observe(self.agent.on_error, end.error)
        await observe(self.agent.on_response, message, end)

    # --- its course -------------------------------------------------------------------------------------------------

    async def _run(self) -> tuple[Outcome, str]:
        if self.stopping:
            raise asyncio.CancelledError
        healing = await self._begin()
        calls = Calls(self)
        await calls.run(healing.again)
        if waiting := self._waiting(healing):
            return await self._end("parked", waiting)
        if not self._owes_an_answer():
            return await self._end("completed", "there was nothing to answer")
        context = self._context()
        await resolved(self.agent.before_turn(context))
        for number in range(1, context.max_steps + 1):
            parts = await self._step(context, number)
            asked = [part for part in parts if isinstance(part, ToolPart)]
            if not asked:
                return "completed", ""
            await calls.run([part for part in asked if not part.settled])
            if waiting := self._waiting(None):
                return await self._end("parked", waiting)
        return await self._end("out_of_steps", f"no answer after {context.max_steps} steps")

    async def _begin(self) -> Healing:
        """Close what a dead turn left, heal, and take up what the user said: one batch, before anything else."""
        conversation = self.session.conversation
        agent = self.agent
        says_something = bool(conversation.inputs.keys() - self.session.line.claimed())
        healing = heal(
            conversation.open_calls(),
            self.toolbox,
            agent.repair_interrupted_tool_part,
            message=says_something or self.trigger == "regenerate",
            shown=conversation.is_shown,
        )
        events: list[Event] = []
        if conversation.head.turn is not None:
            events.append(TurnEnded(turn=conversation.head.turn, outcome="interrupted"))
        events.append(TurnBegan(turn=self.id, trigger=self.trigger))
        events += healing.repairs
        events += [self.leaf] if self.leaf is not None else []
        leaf = self.leaf.leaf if self.leaf is not None else conversation.head.leaf
        taken: list[str] = []
        others = self.session.line.claimed()
        for name, admitted in conversation.inputs.items():
            if name in others:
                continue
            events.append(
                MessageAdded(message=name, role="user", parent=leaf, parts=admitted.parts, metadata=admitted.metadata)
            )
            taken.append(name)
            leaf = name
        self.began = True
        await self.record(events)
        self.tell(TurnOpened(session=self.session.name, turn=self.id))
        if healing.repairs:
            repaired(self, len(healing.repairs))
            for note in healing.notes:
                _LOG.info("session %s: %s", self.session.name, note)
            self.tell(TranscriptRepaired(session=self.session.name, turn=self.id, repairs=healing.repairs))
        for name in taken:
            message = conversation.message(name)
            self.tell(MessageTaken(session=self.session.name, turn=self.id, message=message))
        return healing

    def metadata(self) -> dict[str, Any]:
        """What came with the user's message that is being answered."""
        asked = next((each for each in reversed(self.session.conversation.messages()) if each.role == "user"), None)
        return dict(asked.metadata) if asked is not None and asked.metadata else {}

    def _owes_an_answer(self) -> bool:
        """Whether the conversation ends with the user, or with the outcome of a call, and was not stopped there."""
        if self.trigger == "resume" and self.session.conversation.head.ended == "stopped":
            return False
        conversation = self.session.conversation
        if conversation.head.leaf is None:
            return False
        last = conversation.message(conversation.head.leaf)
        return last.role == "user" or (bool(last.parts) and isinstance(last.parts[-1], ToolPart))

    def _context(self) -> TurnContext:
        agent = self.agent
        assert agent.model is not None and not isinstance(agent.model, str)  # noqa: PT018 - what `Agent` sees to
        return TurnContext(
            session=self.session.name,
            turn=self.id,
            trigger=self.trigger,
            model=agent.model,
            instructions=agent.instructions,
            tools=list(self.toolbox),
            settings=dict(agent.settings),
            metadata=self.metadata(),
            max_steps=agent.max_steps,
        )

    async def _step(self, turn: TurnContext, number: int) -> Sequence[Any]:
        """Ask the model once, and record its answer; where it made no call, with the end of the turn."""
        self.steps = number
        context = StepContext(
            session=turn.session,
            turn=turn.turn,
            number=number,
            model=turn.model,
            instructions=turn.instructions,
            messages=shown(self.session, self.id, self.tell),
            tools=list(turn.tools),
            settings=dict(turn.settings),
        )
        await resolved(self.agent.before_step(context))
        answer = await ask(context, self)
        finish = answer.finish.reason if answer.finish else "cut"
        events = self._answered(answer, finish=finish)
        step = next(event for event in events if isinstance(event, StepAdded))
        if not any(isinstance(part, ToolPart) for part in step.parts):
            events.append(TurnEnded(turn=self.id, outcome="completed"))
        self.answer = None
        await self.record(events)
        while self.early:  # what came while the answer was being written
            await self.record(self._early())
        self.calling = None
        self.tell(
            StepDone(
                session=self.session.name,
                turn=self.id,
                message=step.message,
                parts=step.parts,
                finish=finish,
                usage=answer.usage,
            )
        )
        await observe(self.agent.on_step, step)
        return self.session.conversation.message(step.message).parts[-len(step.parts) :] if step.parts else ()

    def _answered(self, answer: Answer, *, finish: str) -> list[Event]:
        """The events that record an answer."""
        conversation, agent = self.session.conversation, self.agent
        parts = answer.parts([name for name, tool in self.toolbox.items() if tool.client])
        name = conversation.head.answer
        events: list[Event] = []
        if name is None:
            name = agent.runtime.new_id()
            events.append(MessageAdded(message=name, role="assistant", parent=conversation.head.leaf))
        model = answer.finish.model if answer.finish else ""
        events.append(
            StepAdded(message=name, parts=tuple(parts), finish=finish, usage=answer.usage or None, model=model)
        )
        events += self._early()
        return events

    def _early(self) -> list[Event]:
        early, self.early = self.early, {}
        return list(early.values())

    # --- recording --------------------------------------------------------------------------------------------------

    async def record(self, events: Sequence[Event]) -> None:
        """Write events down under this turn's epoch.

        Raises:
            FencedError: the session was taken over.
        """
        assert self.lease is not None
        await self.session.record(events, epoch=self.lease.epoch)

    async def _end(self, outcome: Outcome, detail: str) -> tuple[Outcome, str]:
        await self.record([TurnEnded(turn=self.id, outcome=outcome, detail=detail)])
        return outcome, detail

    def _waiting(self, healing: Healing | None) -> str:
        """What the turn waits for, in words; empty where it can go on.

        What an earlier turn left waiting keeps only a turn waiting that was to go on with it.
        """
        if healing is not None and self.trigger != "resume":
            return ""
        conversation = self.session.conversation
        answer = conversation.head.answer
        parts = [
            place.part
            for place in conversation.open_calls()
            if isinstance(place.part, ToolPart) and place.message == answer
        ]
        for part in parts:
            needed = ApprovalNeeded if part.state == "approval-requested" else ClientNeeded
            self.tell(needed(session=self.session.name, turn=self.id, call=part))
        return ", ".join(f"{part.name} ({part.call_id})" for part in parts)
