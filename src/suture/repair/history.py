"""Walking over a history: what most rules do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from suture.transcript import Message, Part, ReasoningPart, StepStart, ToolPart

__all__ = ["edit_parts", "tail_calls", "with_parts"]


def with_parts(message: Message, parts: Iterable[Part]) -> Message:
    """`message` with other parts."""
    return msgspec.structs.replace(message, parts=tuple(parts))


def edit_parts(messages: list[Message], edit: Callable[[Part], Iterable[Part]]) -> list[Message]:
    """Each part replaced by what `edit` makes of it; messages in which nothing changed stay the same objects."""
    result = []
    for message in messages:
        parts = tuple(new for part in message.parts for new in edit(part))
        same = len(parts) == len(message.parts) and all(a is b for a, b in zip(parts, message.parts, strict=True))
        result.append(message if same else with_parts(message, parts))
    return result


def tail_calls(messages: list[Message]) -> set[int]:
    """The identities of the calls that end the history: nothing came after them but their own results.

    They may be running still; calls further up cannot be.
    """
    found: set[int] = set()
    for message in reversed(messages):
        inside: list[ToolPart] = []
        for part in reversed(message.parts):
            if isinstance(part, ToolPart):
                inside.append(part)
            elif isinstance(part, StepStart):
                break
            elif not inside and not isinstance(part, ReasoningPart):
                return found
        found.update(map(id, inside))
        if not all(isinstance(part, ToolPart | ReasoningPart) for part in message.parts):
            break
    return found
