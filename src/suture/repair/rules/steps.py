"""Inside one message, each answer of the model is a step of its own."""

from __future__ import annotations

from typing import Any

from suture.repair.bench import Bench
from suture.repair.history import with_parts
from suture.repair.rule import Example, Rule
from suture.transcript import FilePart, Message, Part, ReasoningPart, StepStart, TextPart, ToolPart

__all__ = ["RULES", "apply"]


def _call(call_id: str, path: str, output: str) -> dict[str, Any]:
    return {
        "type": "tool-read",
        "toolCallId": call_id,
        "state": "output-available",
        "input": {"path": path},
        "output": output,
    }


RULES = (
    Rule(
        code="SU110",
        name="missing-step",
        summary="Between two answers of the model stands a `step-start`.",
        why="Messages were put together by hand or from another format. The AI SDK then sends both answers as one: "
        "the second call stands before the result of the first, which some providers refuse, and the text between them "
        "seems to have been said before anything was known.",
        fix="A `step-start` is put behind the calls that text or reasoning and then further calls follow.",
        example=Example(
            "ai_sdk_ui",
            [
                {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "compare a and b"}]},
                {
                    "id": "a1",
                    "role": "assistant",
                    "parts": [
                        {"type": "step-start"},
                        _call("c1", "a", "1"),
                        {"type": "text", "text": "Now the other one."},
                        _call("c2", "b", "2"),
                    ],
                },
            ],
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Part the steps that have run into each other."""
    if not bench.applies("missing-step"):
        return messages
    return [_parted(message, bench) if message.role == "assistant" else message for message in messages]


def _parted(message: Message, bench: Bench) -> Message:
    parts = message.parts
    borders = {end for end, call in _borders(parts) if _report(call, bench)}
    if not borders:
        return message
    return with_parts(
        message, (new for n, part in enumerate(parts) for new in ((StepStart(), part) if n in borders else (part,)))
    )


def _borders(parts: tuple[Part, ...]) -> list[tuple[int, ToolPart]]:
    """Where a step is over although nothing says so, each with the call that shows it.

    A call that is still open is not over, and the provider's own calls have their results in the same answer.
    """
    found: list[tuple[int, ToolPart]] = []
    end, settled, spoken = 0, True, False
    for number, part in enumerate(parts):
        if isinstance(part, StepStart):
            end, settled, spoken = 0, True, False
        elif isinstance(part, ToolPart):
            ours = part.executor != "provider"
            if ours and spoken:
                found += [(end, part)] if settled else []
                end, settled, spoken = 0, True, False
            if ours or (end and not spoken):
                end, settled = number + 1, settled and (part.settled or not ours)
        elif end and _speaks(part):
            spoken = True
    return found


def _speaks(part: Part) -> bool:
    """Whether the model said something here: white space between calls is no answer of its own."""
    return isinstance(part, ReasoningPart | FilePart) or (isinstance(part, TextPart) and bool(part.text.strip()))


def _report(call: ToolPart, bench: Bench) -> bool:
    where = call.origin.at if call.origin else ()
    message = f"the call {call.call_id!r} belongs to another step than the calls before it"
    return bench.report("missing-step", where, message, "a step-start was put between them", call_id=call.call_id)
