"""The types of records and of their parts (OpenAI Responses): each fits who says it and what it answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import edit_calls, with_parts
from suture.repair.pairing import Answer, Pairing, Slot
from suture.repair.rule import Example, Rule
from suture.repair.rules.items import ELSEWHERE
from suture.repair.rules.orphans import UNKNOWN_TOOL
from suture.repair.settle import default_outcome
from suture.transcript import (
    FilePart,
    Message,
    OpaquePart,
    Origin,
    Part,
    ReasoningPart,
    Result,
    TextPart,
    ToolPart,
    output_text,
)
from suture.transcript.codec import dumps

__all__ = ["RULES", "apply", "fit"]

_USER = {"role": "user", "content": "look"}
_SHOT = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
_CHECK = {"id": "sc_1", "code": "malicious_instructions", "message": "The page gives instructions."}
_LOOK = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "call_1",
    "status": "completed",
    "action": {"type": "screenshot"},
    "pending_safety_checks": [_CHECK],
}
_SHELL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "call_1",
    "status": "completed",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
}
_CUSTOM = {"type": "custom_tool_call", "call_id": "call_1", "name": "sh", "input": "ls"}

RULES = (
    Rule(
        code="SU109",
        name="result-type",
        summary="A result is of the type that answers its call's type, and its content has that type's shape.",
        why="A client answers every call as if it were a function's, or wrote a text where a screenshot belongs.",
        fix="The result is written as the type that belongs to its call. Where that type cannot hold what the tool "
        "said, the pair becomes a plain function call and its result: nothing of either is lost.",
        example=Example(
            "openai_responses",
            [_USER, _CUSTOM, {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"}],
        ),
    ),
    Rule(
        code="SU112",
        name="shell-result-keys",
        summary="The result of a local shell call bears the call's `id` and its `call_id`.",
        why="The official types ask for `id` alone, a widely used client writes `call_id` alone.",
        fix="Both keys are there: either reader is served.",
        example=Example(
            "openai_responses",
            [_USER, _SHELL, {"type": "local_shell_call_output", "call_id": "call_1", "output": "a.txt"}],
        ),
    ),
    Rule(
        code="SU404",
        name="part-type",
        summary="What the assistant said is `output_text` or `refusal`, everything else is `input_…`.",
        why="A history was put together from another format's parts, or one type was used for every role.",
        fix="The part is written under the type that belongs to its message. An assistant's message cannot hold "
        "images: a text says that one was there, and the report has it.",
        example=Example(
            "openai_responses",
            [_USER, {"role": "assistant", "content": [{"type": "input_text", "text": "4 C."}]}],
        ),
    ),
    Rule(
        code="SU706",
        name="unacknowledged-safety-check",
        summary="The result of a computer call acknowledges the safety checks that the call was held up by.",
        why="The client does not know of safety checks, or the person did not agree.",
        fix="Only a person can agree, so no acknowledgement is made up; and the screenshot is real, so it stays. The "
        "pair becomes a plain function call `computer` with the action as its arguments, and the screenshot as its "
        "result: that says what was asked and what was seen, and claims no consent. The checks are in the report.",
        example=Example(
            "openai_responses", [_USER, _LOOK, {"type": "computer_call_output", "call_id": "call_1", "output": _SHOT}]
        ),
    ),
)

_TEXTS: Final = frozenset({"", "text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
"""Types of parts that are text, whoever says it; what has no type at all counts as text."""

_FREE_TEXT: Final = frozenset({"function", "custom"})
"""Kinds of calls whose result is text or parts of input."""

_NEEDS_ACTION: Final = frozenset({"computer", "local_shell", "shell", "apply_patch"})
"""Kinds of calls that are nothing without the action that was asked for."""


# --- between a call and its result ----------------------------------------------------------------------------------


def fit(pairing: Pairing, bench: Bench) -> None:
    """Make each result one that answers its call, by its type and by its shape."""
    if not bench.applies("result-type"):
        return
    for slot in pairing.slots:
        for answer in slot.answers[:1]:
            if _is_void(slot, answer, bench):
                slot.answers = []
            elif slot.part.kind == ELSEWHERE:
                _adopt(slot, answer, bench)
            else:
                _fit(slot, answer, bench)


def _is_void(slot: Slot, answer: Answer, bench: Bench) -> bool:
    """Whether a result says nothing at all: then none was recorded. A patch may; its status says enough."""
    result = answer.result
    if result.output is not None or result.kind == "apply_patch":
        return False
    what = f"the result of {slot.part.call_id!r} has no content"
    return _report("result-content", result, what, "taken as not recorded", bench)


def _adopt(slot: Slot, answer: Answer, bench: Bench) -> None:
    """A call that only the server holds is of the kind that it is answered as."""
    result = answer.result
    slot.part = msgspec.structs.replace(slot.part, kind=f"{ELSEWHERE}:{result.kind}")
    if result.kind in _FREE_TEXT:
        answer.result = _texts(result, retyped=False, bench=bench)


def _fit(slot: Slot, answer: Answer, bench: Bench) -> None:
    part, result = slot.part, answer.result
    holds = part.kind in _FREE_TEXT or _holds(part.kind, result.output)
    shape = f"is a {result.kind} result, not one" if result.kind != part.kind else "has not the shape"
    what = f"the result of {part.call_id!r} {shape} that answers a {part.kind} call"
    action = "written as the type that answers the call" if holds else "written as a function call and its result"
    retyped = result.kind != part.kind
    if (retyped or not holds) and not _report("result-type", result, what, action, bench):
        return
    if not holds:
        slot.part, answer.result = _as_function(part), _as_function_result(result)
        return
    if retyped:
        result = msgspec.structs.replace(result, kind=part.kind, origin=_bare(result.origin))
    if part.kind in _FREE_TEXT:
        result = _texts(result, retyped=retyped, bench=bench)
    elif part.kind == "computer" and (checks := _open_checks(part, result)):
        what = f"the safety checks of {part.call_id!r} are not acknowledged"
        action = "written as a function call and its result, the screenshot in it"
        if _report("unacknowledged-safety-check", result, what, action, bench, lost=dumps(checks)):
            slot.part, result = _as_function(part), _as_function_result(result)
    elif part.kind == "local_shell" and not retyped:
        _shell_keys(part, result, bench)
    answer.result = result


def _report(rule: str, result: Result, what: str, action: str, bench: Bench, *, lost: str | None = None) -> bool:
    return bench.report(rule, result.origin.at, what, action, call_id=result.call_id or None, lost=lost)


def _bare(origin: Origin) -> Origin:
    """A result without the fields that belong to its old type, its own id among them."""
    wire = origin.wire or {}
    return Origin(origin.at, {key: wire[key] for key in ("type", "call_id", "output", "caller") if key in wire} or None)


def _shell_keys(part: ToolPart, result: Result, bench: Bench) -> None:
    """Report a local shell result that bears one of its two keys, or a wrong one; printing writes both."""
    wire = result.origin.wire
    if not (isinstance(wire.get("id"), str) and wire["id"]) or wire.get("call_id") != part.call_id:
        _report(
            "shell-result-keys", result, "a local shell result needs `id` and `call_id`", "both were written", bench
        )


def _open_checks(part: ToolPart, result: Result) -> list[Any]:
    """The safety checks of a computer call that its result does not acknowledge.

    Both lists are read where they stand: no neutral form has a place for them, and nothing but this rule needs one.
    """
    pending = part.origin.wire.get("pending_safety_checks") if part.origin else None
    given = result.origin.wire.get("acknowledged_safety_checks")
    agreed = [check.get("id") for check in given if isinstance(check, dict)] if isinstance(given, list) else []
    checks = pending if isinstance(pending, list) else []
    return [check for check in checks if isinstance(check, dict) and check.get("id") not in agreed]


def _holds(kind: str, output: Any) -> bool:
    """Whether a result of this kind can say this."""
    if kind == "computer":
        return isinstance(output, tuple) and len(output) == 1 and isinstance(output[0], FilePart)
    if kind in ("shell", "tool_search"):
        return isinstance(output, tuple) and not any(isinstance(part, FilePart) for part in output)
    return isinstance(output, str) or (kind == "apply_patch" and output is None)


def _texts(result: Result, *, retyped: bool, bench: Bench) -> Result:
    """The result of a function: text, or parts of input."""
    output: Any = result.output
    if isinstance(output, str):
        return result
    if not isinstance(output, tuple):
        what = f"the result of {result.call_id!r} is neither text nor parts"
        if retyped or _report("result-content", result, what, "printed as text", bench):
            return msgspec.structs.replace(result, output=output_text(output))
        return result
    parts = tuple(_input_part(part) for part in output)
    if all(a is b for a, b in zip(parts, output, strict=True)):
        return result
    what = f"the result of {result.call_id!r} has parts that are no input"
    if retyped or _report("part-type", result, what, "written as input parts", bench):
        return msgspec.structs.replace(result, output=parts)
    return result


def _input_part(part: Part) -> Part:
    if not isinstance(part, OpaquePart) or (part.kind.startswith("input_") and part.kind not in _TEXTS):
        return part
    return TextPart(_said(part))


def _said(part: OpaquePart) -> str:
    """The text of a part: its own where it is one of text, else its JSON."""
    value = part.value
    if isinstance(value, dict) and part.kind in _TEXTS and (part.kind or "text" in value):
        value = value.get("refusal" if part.kind == "refusal" else "text")
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value)


# --- pairs that cannot stay what they are ---------------------------------------------------------------------------


def _as_function(part: ToolPart) -> ToolPart:
    """A call of another kind as a plain function call: the kind as its name, what was asked for as its arguments."""
    value = part.input if isinstance(part.input, dict) else {"input": part.input}
    return msgspec.structs.replace(
        part,
        kind="function",
        name=part.kind if part.name in ("", UNKNOWN_TOOL) else part.name,
        input=value,
        raw_input=dumps(value),
        item_id=None,
        origin=Origin(part.origin.at, _bound(part.origin.wire)) if part.origin else None,
        output=_function_output(part.output),
        outcome_origin=Origin(part.outcome_origin.at, _bound(part.outcome_origin.wire))
        if part.outcome_origin
        else None,
    )


def _as_function_result(result: Result) -> Result:
    if result.kind == "function":
        return msgspec.structs.replace(result, output=_function_output(result.output))
    return msgspec.structs.replace(
        result,
        kind="function",
        state="output-available",
        output=_function_output(result.output),
        origin=Origin(result.origin.at, _bound(result.origin.wire)),
    )


def _bound(wire: dict[str, Any] | None) -> dict[str, Any] | None:
    """What is left of a record that is written anew: the program that made the call, if one did."""
    return {"caller": wire["caller"]} if wire and wire.get("caller") is not None else None


def _function_output(output: Any) -> Any:
    """An outcome as a function's: text, or parts of input."""
    if output is None or isinstance(output, str):
        return output or ""
    if not isinstance(output, tuple):
        return output_text(output)
    parts = tuple(_input_part(part) for part in output)
    if all(isinstance(part, TextPart) for part in parts):
        return output_text(parts)
    return parts


# --- messages -------------------------------------------------------------------------------------------------------


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Make each part of a message one that its role may say, and each settled call one that can be written."""
    if not bench.applies("result-type"):
        return messages
    messages = edit_calls(messages, lambda part: _writable(part, bench))
    return [_spoken(message, bench) for message in messages]


def _writable(part: ToolPart, bench: Bench) -> ToolPart:
    """A call that a rule settled or rebuilt, as what can honestly be written: no screenshot and no action is forged."""
    if part.kind == "custom" and not isinstance(part.input, str):
        where = part.origin.at if part.origin else ()
        what = f"the input of {part.call_id!r} is not text"
        if bench.report("arguments-encoding", where, what, "printed as text", call_id=part.call_id):
            return msgspec.structs.replace(part, input="" if part.input is None else dumps(part.input))
        return part
    if part.origin is None and part.outcome_origin is not None and part.output is None and part.kind != "apply_patch":
        part = part.settle(default_outcome(part))
    if part.origin is None and part.kind in _FREE_TEXT:
        part = msgspec.structs.replace(part, output=_function_output(part.output))
    forged = (
        part.settled and part.outcome_origin is None and part.kind == "computer" and not _holds(part.kind, part.output)
    )
    return _as_function(part) if forged or (part.origin is None and part.kind in _NEEDS_ACTION) else part


_SAID_BY_ALL: Final = frozenset({TextPart, ToolPart, ReasoningPart})


def _spoken(message: Message, bench: Bench) -> Message:
    """A message whose parts are of the types that its role may say."""
    if _SAID_BY_ALL.issuperset(map(type, message.parts)):
        return message
    parts = tuple(new for part in message.parts for new in _part(part, message, bench))
    same = len(parts) == len(message.parts) and all(a is b for a, b in zip(parts, message.parts, strict=True))
    return message if same else with_parts(message, parts)


def _part(part: Part, message: Message, bench: Bench) -> Iterator[Part]:
    where = part.origin.at if isinstance(part, OpaquePart | FilePart) and part.origin else ()
    inside = len(where) > 1
    assistant = message.role == "assistant"
    if isinstance(part, OpaquePart) and inside and part.kind in _TEXTS and not (assistant and part.kind == "refusal"):
        done = bench.report(
            "part-type", where, f"the {message.role} does not say {part.kind!r}", "its type was changed"
        )
        text = _said(part)
        if not done:
            yield part
        elif text:
            yield TextPart(text, Origin(where, None))
    elif assistant and (isinstance(part, FilePart) or (isinstance(part, OpaquePart) and inside and _is_input(part))):
        kind = part.kind if isinstance(part, OpaquePart) else "input_image"
        value = part.origin.wire if part.origin else None
        lost = dumps(value) if value is not None else None
        what = f"an assistant's message cannot hold {kind!r}"
        done = bench.report(
            "part-type", where or (message.origin.at if message.origin else ()), what, "named", lost=lost
        )
        yield TextPart(f"[{kind}: not part of this history]") if done else part
    else:
        yield part


def _is_input(part: OpaquePart) -> bool:
    return part.kind.startswith("input_")
