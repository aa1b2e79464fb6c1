"""What becomes of the calls that an earlier turn left open, before a new one begins.

A call that somebody can still answer is not broken: it waits. What nobody will finish is settled, as the agent's hook
shapes it; what may be run again is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal

import msgspec

from suture.harness.tools import AnyTool
from suture.repair.settle import shape
from suture.transcript import Message, Part, TextPart, ToolPart
from suture.transcript.codec import dumps
from suture.transcript.events import PartReplaced
from suture.transcript.fold import Place

__all__ = ["Healing", "as_text", "decide", "heal", "question", "stubbed", "waits"]

Decision = Literal["keep", "settle", "run"]

_SERVER: Final[dict[str, Decision]] = {
    "error": "settle",
    "retry": "run",
    "hold": "keep",
    "answer_by_next_message": "settle",
}
"""What `if_interrupted` makes of a call that we run."""

_CLIENT: Final[dict[str, Decision]] = {
    "error": "settle",
    "retry": "keep",
    "hold": "keep",
    "answer_by_next_message": "settle",
}
"""What it makes of a call that waits for a client, when the user writes instead."""


class Healing(msgspec.Struct):
    """What there is to do."""

    repairs: list[PartReplaced] = []
    again: list[ToolPart] = []
    """Calls to run before the model is asked."""
    notes: list[str] = []
    """How each repair came about, in words."""


def decide(part: ToolPart, tool: AnyTool | None, *, message: bool) -> Decision:
    """What becomes of an open call.

    Args:
        part: The call.
        tool: The tool as the agent has it now; None where there is none of that name.
        message: Whether the user wrote something new, so that a question may have its answer.
    """
    if part.state == "approval-requested":
        return "keep"
    if tool is None or part.executor == "provider" or part.state == "input-streaming":
        return "settle"
    if tool.client:
        return _CLIENT[tool.when_interrupted] if message else "keep"
    if part.state == "approval-responded" and part.cause == "not_started":
        return "run"
    return _SERVER[tool.when_interrupted]


def heal(
    places: Iterable[Place],
    tools: Mapping[str, AnyTool],
    hook: Callable[[ToolPart], Part],
    *,
    message: bool,
    shown: Callable[[str], bool],
) -> Healing:
    """What there is to do about the open calls of a session.

    Args:
        places: The open calls, of all branches.
        tools: The agent's tools by name.
        hook: The agent's `repair_interrupted_tool_part`.
        message: Whether the user wrote something new.
        shown: Whether a message is part of the conversation; on other branches nothing is run.
    """
    healing = Healing()
    for place in places:
        part = place.part
        if not isinstance(part, ToolPart):
            continue
        decision = decide(part, tools.get(part.name), message=message)
        if decision == "run" and not shown(place.message):
            decision = "settle"
        if decision == "run":
            healing.again.append(part)
        elif decision == "settle":
            new, how = shape(part, hook)
            healing.repairs.append(
                PartReplaced(
                    message=place.message, index=place.index, part=new, rule="unanswered-call", call=part.call_id
                )
            )
            healing.notes.append(f"the call {part.call_id!r} of {part.name!r}: {how}")
    return healing


def question(part: ToolPart) -> str:
    """What a call asks the user, as text: the user's next message is the answer to it."""
    asked = part.input if isinstance(part.input, dict) else {}
    texts = [asked[key] for key in ("question", "message", "text", "prompt") if isinstance(asked.get(key), str)]
    return texts[0] if texts and texts[0] else f"{part.name}: {dumps(part.input)}"


def waits(part: ToolPart) -> bool:
    """Whether it is known what an open call waits for."""
    return part.cause in _WAITING


def stubbed(message: Message) -> Message:
    """A message as it may be sent: an open call says what it waits for, in words that are never stored.

    One of which nobody knows what it waits for is left out.
    """
    parts: list[Part] = []
    for part in message.parts:
        if not isinstance(part, ToolPart) or part.settled:
            parts.append(part)
        elif waits(part):
            parts.append(part.settle(_WAITING[part.cause or ""]))
    return msgspec.structs.replace(message, parts=tuple(parts))


_WAITING: Final = {
    "awaiting_approval": "This tool call waits for a person's approval: it has not run yet.",
    "awaiting_client": "This tool call was given to the client, which has not answered yet.",
    "started": "This tool call has started; its result is not known yet.",
    "not_started": "This tool call has not run yet.",
}


def as_text(part: ToolPart) -> TextPart:
    """A question to the user in place of the call that asked it."""
    return TextPart(question(part))
