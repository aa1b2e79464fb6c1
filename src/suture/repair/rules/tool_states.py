"""The record of a call says one thing: its state and its fields agree.

Only formats in which call and outcome are one record can break these rules. What is wrong inside a record, its reader
has seen (`Fault`); here it is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.foreign import is_placeholder, is_synthetic
from suture.repair.history import edit_parts
from suture.repair.rule import Example, Rule
from suture.repair.rules.orphans import UNKNOWN_TOOL
from suture.transcript import Fault, Message, Part, ToolPart, output_text

__all__ = ["RULES", "apply"]


def _example(part: dict[str, Any], **message: Any) -> Example:
    return Example(
        "ai_sdk_ui",
        [
            {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Weather?"}]},
            {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, part], **message},
            {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "and?"}]},
        ],
    )


RULES = (
    Rule(
        code="SU408",
        name="tool-state",
        summary="A tool part has the fields of its state, and no others.",
        why="Parts are edited by hand, half saved, or written by a backend in another language: a state without its "
        "output, an error's text beside an output, a key that is null where it has to be absent, no name, no approval.",
        fix="A settled state stands, and texts that do not fit it are added to its own; an open state with an outcome "
        "is settled by it. Keys that say nothing are removed. The report quotes what the state has no place for.",
        example=_example(
            {
                "type": "tool-weather",
                "toolCallId": "c1",
                "state": "output-available",
                "input": {"city": "Oslo"},
                "errorText": "timeout",
            }
        ),
    ),
    Rule(
        code="SU409",
        name="legacy-tool-part",
        summary="A tool part has the shape of AI SDK 5 and 6.",
        why="The messages were stored by AI SDK 4: call and result lie in a `tool-invocation`, which later majors "
        "refuse.",
        fix="The part becomes `tool-<name>` with the same id, input and result. An open call is then settled like any "
        "other.",
        example=_example(
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "result",
                    "toolCallId": "c1",
                    "toolName": "weather",
                    "args": {"city": "Oslo"},
                    "result": "4 C",
                },
            }
        ),
    ),
    Rule(
        code="SU414",
        name="message-shape",
        summary="A message has an id and a list of parts, each in the shape that AI SDK 5 and 6 read.",
        why="The messages were stored by AI SDK 4, or written by hand or by a backend in another language.",
        fix="Content, reasoning, tool invocations and attachments of AI SDK 4 become parts; an id is derived from the "
        "place; keys that are null where they have to be absent are removed.",
        example=_example({"type": "reasoning", "reasoning": "the user wants the weather", "details": []}),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Report what the readers of the records found, and mend what needs a look at the outcome."""
    if bench.limits.results != "inside":
        return messages
    return edit_parts([_reported(message, bench) for message in messages], lambda part: _mend(part, bench))


def _reported(message: Message, bench: Bench) -> Message:
    """The message with no faults left but those that the target takes."""
    if not message.faults:
        return message
    left = tuple(fault for fault in message.faults if not _report(fault, bench))
    return msgspec.structs.replace(message, faults=left)


def _report(fault: Fault, bench: Bench) -> bool:
    return bench.report(fault.rule, fault.at, fault.message, fault.action, call_id=fault.call_id, lost=fault.lost)


def _mend(part: Part, bench: Bench) -> Iterator[Part]:
    if not isinstance(part, ToolPart):
        yield part
        return
    where = part.origin.at if part.origin else ()
    if not part.name and bench.applies("tool-state"):
        part = msgspec.structs.replace(part, name=UNKNOWN_TOOL)
    if part.state == "output-available" and not part.preliminary:
        part = _outcome(part, where, bench)
    yield part


def _outcome(part: ToolPart, where: tuple[int | str, ...], bench: Bench) -> ToolPart:
    """A success that no tool wrote is none: a placeholder is not final, an abort is an error."""
    if is_placeholder(part.output):
        return msgspec.structs.replace(part, preliminary=True)
    if not is_synthetic(part.output):
        return part
    why = f"the call {part.call_id!r} of {part.name!r} was cut off, and is stored as a success"
    if not bench.report("placeholder-result", where, why, "marked as an error, with its text", call_id=part.call_id):
        return part
    return part.settle(output_text(part.output))
