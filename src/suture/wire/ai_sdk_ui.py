"""The Vercel AI SDK's `UIMessage`, as `useChat` sends it and apps store it: majors 5 and 6, and the parts of major 4.

Quirks handled here:
- a call and its outcome are one part, told apart by its `state`; each state has fields of its own (`ai_sdk_ui_states`);
- the tool's name is in the part's type, `tool-<name>`, or in `toolName` of a `dynamic-tool`;
- a call that was approved and stands in the last step is run by the SDK itself; every other open one is refused;
- what AI SDK 4 stored is refused by later majors (`ai_sdk_ui_shapes`);
- part types that nobody knows, data, sources and metadata are carried through as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from suture.transcript import (
    Contract,
    DataPart,
    Entry,
    Fault,
    FilePart,
    Limits,
    Message,
    OpaquePart,
    Origin,
    Part,
    ReasoningPart,
    SourcePart,
    StepStart,
    TextPart,
    ToolPart,
    output_text,
)
from suture.transcript.ids import derive
from suture.wire.ai_sdk_ui_shapes import (
    is_legacy_tool,
    is_tool,
    modern_message,
    modern_part,
    modern_tool,
    tool_input,
    tool_name,
)
from suture.wire.ai_sdk_ui_states import REQUIRES_INPUT, approval_for, consistent
from suture.wire.base import ABSENT, Request, patch, patch_list
from suture.wire.look.ai_sdk_ui import continues, fits, makes_call, mentions, scan

__all__ = [
    "NAME",
    "ROOT",
    "RULES",
    "continues",
    "decode",
    "encode",
    "fits",
    "limits",
    "makes_call",
    "mentions",
    "scan",
]

NAME: Final = "ai_sdk_ui"
ROOT: Final = "messages"

_LIMITS: Final = Limits(results="inside", arguments="any", empty_user="drop", id_scope="message")

_SCHEMA = "AI_TypeValidationError: Type validation failed"
_MISSING = "AI_MissingToolResultsError: Tool result is missing for tool call …"
_SOURCE = "ai 6: validate-ui-messages.ts"

RULES: Final = {
    "lone-surrogate": Contract(
        "AIU-01",
        "seen",
        "The request body is not valid JSON: no low surrogate in string: line 1 column 129185 (char 129184)",
        "anthropics/claude-code#6273",
    ),
    "unanswered-call": Contract("AIU-03", "documented", _MISSING, "ai 6: convert-to-language-model-prompt.ts"),
    "unfinished-result": Contract("AIU-04", "documented", source="ai 6: convert-to-model-messages.ts"),
    "unanswered-approval": Contract("AIU-04", "documented", _MISSING, "vercel/ai#9968"),
    "placeholder-result": Contract("AIU-03", "inferred", source="mastra-ai/mastra#18034"),
    "missing-step": Contract("AIU-06", "documented", source="ai 6: convert-to-model-messages.ts"),
    "duplicate-call-id": Contract("AIU-03", "inferred"),
    "missing-call-id": Contract("AIU-01", "documented", _SCHEMA, _SOURCE),
    "truncated-arguments": Contract("AIU-02", "documented", source="ai 6: convert-to-model-messages.ts"),
    "arguments-not-an-object": Contract("AIU-08", "documented", source="ai 6: convert-to-model-messages.ts"),
    "arguments-encoding": Contract("AIU-08", "documented", source="ai 6: convert-to-model-messages.ts"),
    "tool-state": Contract("AIU-01", "documented", _SCHEMA, _SOURCE),
    "legacy-tool-part": Contract("AIU-01", "documented", _SCHEMA, _SOURCE),
    "message-shape": Contract("AIU-09", "documented", _SCHEMA, _SOURCE),
    "empty-message": Contract("AIU-09", "documented", "Message must contain at least one part", _SOURCE),
    "unfinished-server-call": Contract("AIU-07", "inferred"),
}


def limits(request: Request, /) -> Limits:
    """The same under every request."""
    return _LIMITS


# --- reading --------------------------------------------------------------------------------------------------------


def decode(messages: Iterable[tuple[int, Any]], /) -> list[Entry]:
    """Each wire message as an entry; what is wrong in a record stands among the entry's faults."""
    return [_entry(index, message) for index, message in messages]


def _entry(index: int, wire: dict[str, Any]) -> Entry:
    if "parts" not in wire and isinstance(wire.get("content"), list):
        # Another format: nothing here is ours to read.
        return Entry("system", (OpaquePart("message", wire, Origin((index,), wire)),), Origin((index,), wire))
    modern, wrong = modern_message(wire, index)
    faults: list[Fault] = []
    if wrong:
        message = f"the message does not have its shape: {', '.join(wrong)}"
        faults.append(Fault(rule="message-shape", at=(index,), message=message, action="given it", wire=wire))
    parts = [new for n, part in enumerate(modern["parts"]) for new in _part(part, (index, "parts", n), faults)]
    role = modern["role"]
    if role != "assistant":
        parts = [_foreign(part) for part in parts]
    texts = [part for part in parts if isinstance(part, TextPart)]
    if texts and not any(text.text for text in texts) and all(isinstance(p, TextPart | StepStart) for p in parts):
        # The SDK leaves out empty texts, and sends a message without content: these carry no more than a border does.
        parts = [StepStart(part.origin) for part in parts]
    return Entry(
        role,
        tuple(parts),
        Origin((index,), modern),
        id=modern["id"],
        # For an answer without any part that it sends, the SDK sends nothing at all: it does no harm.
        keeps=role == "assistant" and not texts,
        faults=tuple(faults),
    )


def _foreign(part: Part) -> Part:
    """A part as it stands with the user or the system: what only an answer has means nothing there."""
    if isinstance(part, ReasoningPart | StepStart) and part.origin is not None:
        return OpaquePart("part", part.origin.wire, part.origin)
    return part


def _part(wire: Any, at: tuple[int | str, ...], faults: list[Fault]) -> Iterator[Part]:
    """The part; nothing where there is nothing in it."""
    if is_tool(wire):
        yield _tool(wire, at, faults)
        return
    if isinstance(wire, dict) and not wire.get("type") and "toolCallId" in wire:
        message = f"a part of the type {wire.get('type')!r} holds a call"
        faults.append(Fault(rule="message-shape", at=at, message=message, action="made a call", wire=wire))
        yield _tool({**wire, "type": "dynamic-tool"}, at, faults)
        return
    modern = modern_part(wire)
    if modern is not wire or wire is None:
        kind = wire.get("type") if isinstance(wire, dict) else None
        message = f"a part of the type {kind!r} does not have its shape"
        action = "dropped: it carries nothing" if modern is None else "given it"
        faults.append(Fault(rule="message-shape", at=at, message=message, action=action, wire=wire))
    if modern is not None:
        yield _plain(modern, Origin(at, modern))


def _plain(wire: Any, origin: Origin) -> Part:
    """A part that is no call."""
    kind = wire.get("type") if isinstance(wire, dict) else None
    if kind == "text":
        return TextPart(wire["text"], origin)
    if kind == "reasoning":
        return ReasoningPart(text=wire["text"], payload=wire.get("providerMetadata"), origin=origin)
    if kind == "step-start":
        return StepStart(origin)
    if kind == "file":
        return FilePart(_text(wire.get("mediaType")), _text(wire.get("url")), origin)
    if kind in ("source-url", "source-document"):
        return SourcePart(wire, origin)
    if isinstance(kind, str) and kind.startswith("data-"):
        return DataPart(kind.removeprefix("data-"), wire.get("data"), origin)
    return OpaquePart(str(kind), wire, origin)


def _tool(wire: dict[str, Any], at: tuple[int | str, ...], faults: list[Fault]) -> ToolPart:
    modern = modern_tool(wire) if is_legacy_tool(wire) else wire
    call_id, name = _text(modern.get("toolCallId")), tool_name(modern)
    if modern is not wire:
        message = f"the call {call_id!r} of {name!r} is a part of AI SDK 4"
        action = f"made a part of the type {modern['type']!r}"
        faults.append(Fault(rule="legacy-tool-part", at=at, message=message, action=action, call_id=call_id, wire=wire))
    mended, wrong, lost = consistent(modern)
    wrong = wrong or ("" if name else "it names no tool")
    if wrong:
        message = f"the call {call_id!r} of {name!r}: {wrong}"
        action = f"read as {mended['state']!r}"
        faults.append(
            Fault(rule="tool-state", at=at, message=message, action=action, call_id=call_id, lost=lost, wire=wire)
        )
    state = mended["state"]
    return ToolPart(
        call_id=call_id,
        name=name,
        input=tool_input(mended),
        state=state,
        output=_outcome(mended, state),
        approval=mended.get("approval"),
        executor="provider" if mended.get("providerExecuted") is True else "host",
        preliminary=state == "output-available" and mended.get("preliminary") is True,
        origin=Origin(at, mended),
    )


def _outcome(wire: dict[str, Any], state: str) -> Any:
    if state == "output-error":
        return wire["errorText"]
    return wire["approval"].get("reason") if state == "output-denied" else wire.get("output")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# --- printing -------------------------------------------------------------------------------------------------------


def encode(messages: Sequence[Message], limits: Limits, /) -> list[Any]:
    """Each message with its parts; what no rule touched is printed as it was read."""
    return [_print(message) for message in messages]


def _print(message: Message) -> Any:
    wire = message.origin.wire if message.origin else None
    first = message.parts[0] if message.parts else None
    if isinstance(first, OpaquePart) and first.kind == "message":
        return first.value
    kept = {fault.at: fault.wire for fault in message.faults}
    if message.origin and message.origin.at in kept:
        wire = kept[message.origin.at]
    old = wire.get("parts") if wire else None
    parts = patch_list(old, [_print_part(part, kept) for part in message.parts])
    if wire is None:
        return {"id": message.id or f"msg_{derive('message', repr(parts))}", "role": message.role, "parts": parts}
    return patch(wire, parts=parts)


def _print_part(part: Part, kept: dict[Any, Any]) -> Any:
    wire = part.origin.wire if part.origin else None
    if part.origin and part.origin.at in kept:
        return kept[part.origin.at]
    if isinstance(part, ToolPart):
        return _print_tool(part, wire)
    if isinstance(part, TextPart):
        return patch(wire if isinstance(wire, dict) else None, type="text", text=part.text)
    if wire is not None:
        return wire
    if isinstance(part, OpaquePart):
        return part.value
    if isinstance(part, ReasoningPart):
        return {"type": "reasoning", "text": part.text}
    if isinstance(part, FilePart):
        return {"type": "file", "mediaType": part.media_type or "application/octet-stream", "url": part.url or ""}
    if isinstance(part, DataPart):
        return {"type": f"data-{part.name}", "data": part.data}
    return {"type": "step-start"} if isinstance(part, StepStart) else part.source


def _print_tool(part: ToolPart, wire: dict[str, Any] | None) -> dict[str, Any]:
    old = wire or {}
    fields: dict[str, Any] = {}
    if not wire or part.name != tool_name(wire):
        dynamic = old.get("type") == "dynamic-tool"
        fields |= {"toolName": part.name} if dynamic else {"type": f"tool-{part.name}"}
    fields |= {"toolCallId": part.call_id, "state": part.state}
    if not wire or part.input is not tool_input(wire) or ("input" not in wire and part.state in REQUIRES_INPUT):
        fields["input"] = part.input
    if not wire and part.executor == "provider":
        fields["providerExecuted"] = True
    result: dict[str, Any] = patch(wire, **fields, **_print_outcome(part, old))
    return result


def _print_outcome(part: ToolPart, old: dict[str, Any]) -> dict[str, Any]:
    """The fields of the part's state, and none of another's."""
    fields: dict[str, Any] = {"output": ABSENT, "errorText": ABSENT}
    denied = None
    if part.state == "output-available":
        fields["output"] = _print_output(part.output)
    elif part.state == "output-error":
        fields["errorText"] = output_text(part.output)
    elif part.state == "output-denied":
        denied = output_text(part.output) or None
    if part.preliminary and not old:
        fields["preliminary"] = True
    elif old.get("preliminary") is True and not part.preliminary:
        fields["preliminary"] = ABSENT
    given = part.approval if part.approval is not None else ABSENT
    approval, _ = approval_for(part.state, given, part.call_id, denied)
    return {**fields, "approval": approval}


def _print_output(output: Any) -> Any:
    """An outcome as JSON; that of another format, made of parts, as text where it is nothing else."""
    if not isinstance(output, tuple):
        return output
    if all(isinstance(part, TextPart) for part in output):
        return output_text(output)
    return [_print_part(part, {}) for part in output]
