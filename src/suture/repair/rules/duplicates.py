"""A call has one result. Real beats synthetic; a second real text is kept under the same call."""

from __future__ import annotations

from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.foreign import is_placeholder, is_synthetic
from suture.repair.pairing import Answer, Pairing, Slot
from suture.repair.rule import Example, Rule
from suture.transcript import Result, TextPart, output_text

__all__ = ["RULES", "apply", "merge_outputs"]

RULES = (
    Rule(
        code="SU105",
        name="duplicate-result",
        summary="A tool call has one result.",
        why="A tool that was thought lost answers after all, a repair wrote a substitute before the real result came, "
        "or "
        "a history was saved twice. Providers refuse a second result for one call.",
        fix="One result stays. A real one wins over a synthetic one, in either order, also over a text that another "
        "program "
        "wrote. Identical ones become one. Two different real ones both stay, as the texts of the one result.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "How many files?"},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "toolu_1", "name": "count", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_1",
                            "content": "Tool was interrupted.",
                            "is_error": True,
                        },
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42 files"},
                    ],
                },
            ],
        ),
    ),
    Rule(
        code="SU106",
        name="placeholder-result",
        summary="A result is what the tool answered, not a note that it is still running or was cut off.",
        why="Some programs write a placeholder when a tool starts and replace it later; when they are killed in "
        "between, "
        "the placeholder passes for the result. Others store an abort as a success.",
        fix="The call is settled as interrupted, and the placeholder's text is quoted in the outcome. "
        "An abort that was stored as a success is marked as an error, with its own text.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "Weather?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "IN_PROGRESS"},
                {"role": "user", "content": "never mind"},
            ],
        ),
    ),
)


def apply(pairing: Pairing, bench: Bench) -> None:
    """Leave each call with at most one answer."""
    for slot in pairing.slots:
        if len(slot.answers) > 1:
            _choose(slot, bench)


def _choose(slot: Slot, bench: Bench) -> None:
    """Keep the first real answer (else the first there is) and the other real texts with it."""
    reals = [a for a in slot.answers if not is_synthetic(a.result.output) and not is_placeholder(a.result.output)]
    kept = reals[0] if reals else slot.answers[0]
    output = kept.result.output
    seen = [_signature(output)]
    for answer in slot.answers:
        if answer is kept:
            continue
        if answer not in reals:
            action, lost = "dropped: a real result is there", None
        elif _signature(answer.result.output) in seen:
            action, lost = "dropped: it says the same as the one that is kept", None
        else:
            action, lost = "its content was added to the result that is kept", None
            output = merge_outputs(output, answer.result.output)
            seen.append(_signature(answer.result.output))
        if not reals:
            action = "dropped: it stands for a result that never came, like the one that is kept"
        _report(answer, action, lost, bench)
    slot.answers = [kept if output is kept.result.output else _with_output(kept, output)]


def _report(answer: Answer, action: str, lost: str | None, bench: Bench) -> None:
    call_id = answer.result.call_id
    message = f"the call {call_id!r} has more than one result"
    bench.report("duplicate-result", answer.result.origin.at, message, action, call_id=call_id, lost=lost)


def _with_output(answer: Answer, output: Any) -> Answer:
    result: Result = msgspec.structs.replace(answer.result, output=output)
    return Answer(result, answer.entry, answer.turn, answer.exchange)


def _signature(output: Any) -> Any:
    """What makes two outcomes the same: their text, and every part that is not text."""
    if not isinstance(output, tuple):
        return output_text(output), []
    return output_text(output), [part.origin and part.origin.wire for part in output if not isinstance(part, TextPart)]


def merge_outputs(first: Any, second: Any) -> Any:
    """Both outcomes as one: text under text, or the parts of both where one has more than text."""
    if isinstance(first, tuple) or isinstance(second, tuple):
        return (*_parts(first), TextPart("[another result of the same call]"), *_parts(second))
    return f"{output_text(first)}\n\n[another result of the same call]\n{output_text(second)}"


def _parts(output: Any) -> tuple[Any, ...]:
    if isinstance(output, tuple):
        return output
    text = output_text(output)
    return (TextPart(text),) if text else ()
