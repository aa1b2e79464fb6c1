"""Running the calls of a step: each is gated, its start recorded, run, its outcome recorded when it lands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from suture.errors import FencedError
from suture.harness.hooks import Allow, Ask, Block, Substitute, observe, resolved
from suture.harness.notices import CallEnded, CallRunning
from suture.harness.outputs import Outcome, outcome_of
from suture.harness.progress import Progress
from suture.harness.tools import AnyTool, ToolContext
from suture.harness.tracing import tool_span
from suture.repair.settle import default_outcome
from suture.transcript import ToolPart
from suture.transcript.events import ApprovalAsked, CallSettled, CallStarted

if TYPE_CHECKING:
    from suture.harness.agent import Agent
    from suture.harness.turn import Turn

__all__ = ["Calls"]


class Calls:
    """The calls of one turn."""

    def __init__(self, turn: Turn) -> None:
        """Nothing runs yet."""
        self.turn: Turn = turn
        self.agent: Agent = turn.agent
        self._room = asyncio.Semaphore(turn.agent.max_parallel)

    async def run(self, parts: Sequence[ToolPart]) -> None:
        """Run calls until each has its outcome or waits for somebody: at once, but for tools that run alone.

        Raises:
            FencedError: the session was taken over; what had landed by then was recorded as a late result.
        """
        together: list[ToolPart] = []
        for part in parts:
            tool = self.turn.toolbox.get(part.name)
            if tool is None or tool.parallel:
                together.append(part)
                continue
            await self._all(together)
            together = []
            await self._one(part)
        await self._all(together)

    async def _all(self, parts: Sequence[ToolPart]) -> None:
        tasks = [asyncio.create_task(self._one(part)) for part in parts]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _one(self, part: ToolPart) -> None:
        tool = self.turn.toolbox.get(part.name)
        if tool is None:
            known = ", ".join(sorted(self.turn.toolbox)) or "none"
            await self._settle(part, _failed(f"There is no tool {part.name!r}; the tools are: {known}."))
            return
        async with self._room:
            gate = await self._gate(part, tool)
            if isinstance(gate, dict):
                await self._execute(part, tool, gate)
            elif gate is not None:
                await self._settle(part, gate)

    async def _gate(self, part: ToolPart, tool: AnyTool) -> dict[str, Any] | Outcome | None:
        """The arguments to run a call with, an outcome in place of running it, or None: it waits."""
        arguments: dict[str, Any] = part.input
        approved = bool(part.approval and part.approval.get("approved"))
        if not approved and await self._needs_approval(tool, arguments):
            await self._ask(part)
            return None
        try:
            decision = await resolved(self.agent.before_tool_call(part))
        except Exception as error:  # noqa: BLE001 (the hook is the user's code; the model is told)
            return _failed(f"{type(error).__name__}: {error}")
        match decision:
            case Block(reason):
                return _failed(reason)
            case Substitute(output):
                return outcome_of(output, tool.max_output)
            case Ask() if not approved:
                await self._ask(part)
                return None
            case Allow(changed) if changed is not None:
                if approved:
                    return _failed("The arguments were to be changed after a person had approved them: it did not run.")
                arguments = changed
        return None if tool.client else arguments

    async def _needs_approval(self, tool: AnyTool, arguments: dict[str, Any]) -> bool:
        needs = tool.needs_approval
        if not callable(needs):
            return bool(needs)
        try:
            return bool(await resolved(needs(arguments)))
        except Exception:  # noqa: BLE001 (a question that cannot be answered is one for a person)
            return True

    async def _ask(self, part: ToolPart) -> None:
        await self.turn.record([ApprovalAsked(call=part.call_id, approval=self.agent.runtime.new_id())])

    async def _execute(self, part: ToolPart, tool: AnyTool, arguments: dict[str, Any]) -> None:
        turn = self.turn
        attempt = part.attempts + 1
        await turn.record([CallStarted(call=part.call_id, attempt=attempt)])
        turn.tell(CallRunning(session=turn.session.name, turn=turn.id, call=part))
        progress = Progress(turn, part, tool.max_output)
        context = ToolContext(
            session=turn.session.name,
            turn=turn.id,
            call=part.call_id,
            attempt=attempt,
            metadata=turn.metadata(),
            progress=progress.show,
            late=lambda outcome: self._late(part, outcome),
        )
        with tool_span(turn, part, arguments, attempt) as landed:
            try:
                async with progress.kept():
                    outcome = await self.agent.runtime.run_tool(tool, arguments, context)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                outcome = _failed("CancelledError: what the tool waited for was cancelled.")
            landed(outcome)
        await self._settle(progress.part, outcome)

    async def _settle(self, part: ToolPart, outcome: Outcome) -> None:
        turn = self.turn
        landed = _landed(part, outcome)
        try:
            await turn.record([landed])
        except FencedError:
            # The session went on without us; what the tool did is true all the same.
            await turn.session.record([landed])
            raise
        place = turn.session.conversation.call(part.call_id)
        if place is not None and isinstance(place.part, ToolPart):
            turn.tell(CallEnded(session=turn.session.name, turn=turn.id, call=place.part))
            await observe(self.agent.after_tool_call, place.part)

    def _late(self, part: ToolPart, outcome: Outcome) -> None:
        """A tool whose time was up has come to its end after all: that is the call's real outcome."""
        session = self.turn.session
        session.in_background(session.record([_landed(part, outcome)]), f"the late result of {part.call_id!r}")


def _landed(part: ToolPart, outcome: Outcome) -> CallSettled:
    """The event for what became of a call. That the time was up is our word, not the tool's: its own may yet come."""
    if outcome.kind == "timeout":
        text = default_outcome(part, outcome.output)
        return CallSettled(call=part.call_id, state=outcome.state, output=text, synthetic=True, cause="started")
    return CallSettled(call=part.call_id, state=outcome.state, output=outcome.output)


def _failed(text: str) -> Outcome:
    return Outcome(state="output-error", output=text, kind="error")
