"""Walking over a history: what most rules do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from suture.transcript import (
    DataPart,
    FilePart,
    Message,
    Part,
    ReasoningPart,
    SourcePart,
    StepStart,
    TextPart,
    ToolPart,
)

__all__ = ["edit_calls", "edit_parts", "last_step", "tail_calls", "with_parts"]


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


_ASIDE = (ReasoningPart, DataPart, SourcePart)
"""What may come while a call runs: it does not prove that the call is over."""


def edit_calls(messages: list[Message], edit: Callable[[ToolPart], Part]) -> list[Message]:
    """Each call replaced by what `edit` makes of it; messages in which nothing changed stay the same objects."""
    result = []
    for message in messages:
        changed: dict[int, Part] = {}
        for number, part in enumerate(message.parts):
            if type(part) is ToolPart and (edited := edit(part)) is not part:
                changed[number] = edited
        result.append(
            with_parts(message, (changed.get(n, part) for n, part in enumerate(message.parts))) if changed else message
        )
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
            elif not inside and not isinstance(part, _ASIDE):
                return found
        found.update(map(id, inside))
        if not all(isinstance(part, (ToolPart, *_ASIDE)) for part in message.parts):
            break
    return found


def last_step(messages: list[Message]) -> set[int]:
    """The identities of the calls in the last step that says anything, where the history ends with the assistant.

    Other than in `tail_calls`, text may follow them: inside one step it is part of the same answer.
    """
    found: set[int] = set()
    for message in reversed(messages):
        said = False
        for part in reversed(message.parts):
            if isinstance(part, StepStart) and said:
                return found
            said = said or isinstance(part, TextPart | ReasoningPart | FilePart | ToolPart)
            if isinstance(part, ToolPart):
                found.add(id(part))
        if said or message.role != "assistant":
            break
    return found
