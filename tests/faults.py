"""The sixteen ways a history breaks on which repair engines were compared, as data, rendered into each format.

Notation: steps are separated by `|`. `U1` is a user's text, `A1` an assistant's. `A1 c1 c2` is a text with two calls,
`- c1` a call without text, `-` an assistant's message with nothing in it. `R1=c1 R2=c2` are results for these calls,
written down together; `S1=c1` is a result that another tool made up because it had none. Each call has arguments of
its own, so that two calls of one id stay two calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.verdict import SYNTHETIC, Verdict, judge

__all__ = ["FAULTS", "FORMATS", "Fault", "Verdict", "judge", "render"]

FORMATS = ("openai_chat", "anthropic", "openai_responses", "ai_sdk_ui")
TOOL = "look_up"


@dataclass(frozen=True)
class Fault:
    """One broken history.

    Attributes:
        about: how it looks, and what made it so.
        steps: the history in the notation of this file.
        in_ui: whether it can exist where call and result are one part: there no result is lost, late or double, and an
            assistant's message with nothing in it is legal.
    """

    about: str
    steps: str
    in_ui: bool = False


FAULTS = {
    "valid": Fault("a complete round trip; nothing to repair", "U1 | A1 c1 | R1=c1 | A2 | U2", in_ui=True),
    "trailing_open": Fault("killed while the tool ran; the call is the last thing recorded", "U1 | A1 c1", in_ui=True),
    "middle_open": Fault(
        "killed while the tool ran; the user went on talking", "U1 | A1 c1 | U2 | A2 | U3", in_ui=True
    ),
    "parallel_half": Fault("one of three had answered at the cut", "U1 | A1 c1 c2 c3 | R1=c1 | U2", in_ui=True),
    "orphan_head": Fault("trimmed between call and result; the result now comes first", "R9=c9 | A1 | U1"),
    "orphan_middle": Fault("a result whose call was never recorded", "U1 | A1 | R9=c9 | U2 | A2 | U3"),
    "late_after_user": Fault("the real result was recorded after the user spoke", "U1 | A1 c1 | U2 | R1=c1 | A2 | U3"),
    "late_after_assistant": Fault("… after the assistant had answered", "U1 | A1 c1 | U2 | A2 | R1=c1 | U3"),
    "dup_synthetic_then_real": Fault(
        "closed by another tool, then the real result came", "U1 | A1 c1 | S1=c1 R1=c1 | U2"
    ),
    "dup_across_turns": Fault("a second result, after the answer", "U1 | A1 c1 | R1=c1 | A2 | R1b=c1 | U2"),
    "reused_id_2nd_open": Fault(
        "one id for two calls; the later is open", "U1 | A1 c1 | R1=c1 | A2 | U2 | A3 c1 | U3", in_ui=True
    ),
    "reused_id_1st_open": Fault(
        "one id for two calls; the earlier is open", "U1 | A1 c1 | U2 | A2 c1 | R1=c1 | U3", in_ui=True
    ),
    "dup_call_one_message": Fault(
        "one id for two calls of one message", "U1 | A1 c1 c1 | R1=c1 R2=c1 | U2", in_ui=True
    ),
    "result_before_call": Fault("written down in the wrong order", "U1 | R1=c1 | A1 c1 | U2"),
    "empty_assistant": Fault("stopped before the first token", "U1 | - | U2"),
    "split_results": Fault(
        "results of one group in two messages, in another order", "U1 | A1 c1 c2 | R2=c2 | R1=c1 | U2"
    ),
}


def render(name: str, format: str) -> list[Any] | None:
    """Render a fault; None where it cannot exist in the format."""
    fault = FAULTS[name]
    if format == "ai_sdk_ui":
        return _ui(_parse(fault.steps)) if fault.in_ui else None
    renderers: dict[str, Callable[[Step], Iterator[Any]]] = {
        "openai_chat": _chat,
        "anthropic": _anthropic,
        "openai_responses": _responses,
    }
    return [message for step in _parse(fault.steps) for message in renderers[format](step)]


@dataclass(frozen=True)
class Step:
    """One step of the notation: a text and calls as (id, number), or results as (id, text)."""

    role: str
    text: str = ""
    calls: tuple[tuple[str, int], ...] = ()
    results: tuple[tuple[str, str], ...] = ()


def _parse(steps: str) -> list[Step]:
    """Read the notation, numbering the calls."""
    number = 0
    parsed: list[Step] = []
    for words in (step.split() for step in steps.split("|")):
        if "=" in words[0]:
            parsed.append(Step("results", results=tuple(_result(word) for word in words)))
            continue
        ids = words[1:]
        calls = tuple(zip(ids, range(number, number + len(ids)), strict=True))
        number += len(ids)
        role = "user" if words[0].startswith("U") else "assistant"
        parsed.append(Step(role, "" if words[0] == "-" else f"[{words[0]}]", calls))
    return parsed


def _result(word: str) -> tuple[str, str]:
    """Read `R1=c1`. Brackets keep R1 from being found in R1b."""
    text, call_id = word.split("=")
    return call_id, SYNTHETIC if text.startswith("S") else f"[{text}]"


def _chat(step: Step) -> Iterator[Any]:
    """Render a step for Chat Completions."""
    for call_id, text in step.results:
        yield {"role": "tool", "tool_call_id": call_id, "content": text}
    if step.role == "user":
        yield {"role": "user", "content": step.text}
    elif step.role == "assistant":
        calls = [
            {"id": call_id, "type": "function", "function": {"name": TOOL, "arguments": json.dumps({"n": number})}}
            for call_id, number in step.calls
        ]
        yield {"role": "assistant", "content": step.text, **({"tool_calls": calls} if calls else {})}


def _anthropic(step: Step) -> Iterator[Any]:
    """Render a step for Anthropic; results written down together are one message."""
    if step.role == "user":
        yield {"role": "user", "content": step.text}
    elif step.role == "results":
        results = [{"type": "tool_result", "tool_use_id": call_id, "content": text} for call_id, text in step.results]
        yield {"role": "user", "content": results}
    else:
        text = [{"type": "text", "text": step.text}] if step.text else []
        calls = [
            {"type": "tool_use", "id": call_id, "name": TOOL, "input": {"n": number}} for call_id, number in step.calls
        ]
        yield {"role": "assistant", "content": [*text, *calls]}


def _responses(step: Step) -> Iterator[Any]:
    """Render a step for Responses."""
    for call_id, text in step.results:
        yield {"type": "function_call_output", "call_id": call_id, "output": text}
    if step.role == "user":
        yield {"role": "user", "content": step.text}
    elif step.text or (step.role == "assistant" and not step.calls):
        yield {"role": "assistant", "content": step.text}
    for call_id, number in step.calls:
        yield {"type": "function_call", "call_id": call_id, "name": TOOL, "arguments": json.dumps({"n": number})}


def _ui(steps: list[Step]) -> list[Any]:
    """Render a whole history for the AI SDK: what an assistant does between two user texts is one message."""
    messages: list[Any] = []
    for place, step in enumerate(steps):
        if step.role == "results":
            continue
        if step.role == "user" or not messages or messages[-1]["role"] == "user":
            messages.append({"id": f"m{place}", "role": step.role, "parts": []})
        parts = messages[-1]["parts"]
        if step.role == "assistant" and (step.text or step.calls):
            parts.append({"type": "step-start"})
        if step.text:
            parts.append({"type": "text", "text": step.text})
        answers = steps[place + 1].results if place + 1 < len(steps) else ()
        parts += _ui_calls(step, list(answers))
    return messages


def _ui_calls(step: Step, answers: list[tuple[str, str]]) -> Iterator[Any]:
    """Render the calls of a step with the results that the next step holds, by order."""
    for call_id, number in step.calls:
        part = {"type": f"tool-{TOOL}", "toolCallId": call_id, "input": {"n": number}}
        mine = next((answer for answer in answers if answer[0] == call_id), None)
        if mine is None:
            yield {**part, "state": "input-available"}
        else:
            answers.remove(mine)
            yield {**part, "state": "output-available", "output": mine[1]}
