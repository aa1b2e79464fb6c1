"""OpenAI Chat Completions: the `messages` of `/v1/chat/completions`, and of all hosts that speak it.

Quirks handled here:
- a result is a message of its own, role `tool`, right after the assistant message that made the call;
- arguments are JSON text; `content` is null or absent beside calls;
- custom tools take free text; the old `function_call` pairs with role `function` by name and place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from suture.transcript import (
    Contract,
    Entry,
    FilePart,
    Limits,
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
from suture.transcript.parts import MALFORMED
from suture.wire.base import ABSENT, Request, patch, patch_list, read_arguments
from suture.wire.look.openai_chat import continues, fits, makes_call, mentions, scan

__all__ = ["NAME", "ROOT", "RULES", "continues", "decode", "encode", "fits", "limits", "makes_call", "mentions", "scan"]

NAME: Final = "openai_chat"
ROOT: Final = "messages"

_LIMITS: Final = Limits(
    results="adjacent",
    id_max=40,
    name_pattern=r"[a-zA-Z0-9_-]+",
    name_max=128,
    arguments="text",
    result_content="text",
)

_MUST_FOLLOW = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: call_…"
)
_MUST_RESPOND = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
_NO_NULL = "Invalid value for 'content': expected a string, got null."

RULES: Final = {
    "lone-surrogate": Contract(
        "OCC-07",
        "seen",
        "The request body is not valid JSON: no low surrogate in string: line 1 column 129185 (char 129184)",
        "anthropics/claude-code#6273",
    ),
    "unanswered-call": Contract("OCC-01", "seen", _MUST_FOLLOW, "BerriAI/litellm#10083"),
    "orphan-result": Contract("OCC-02", "seen", _MUST_RESPOND),
    "result-before-call": Contract("OCC-02", "seen", _MUST_RESPOND),
    "misplaced-result": Contract("OCC-03", "seen", _MUST_FOLLOW, "BerriAI/litellm#10083"),
    "duplicate-result": Contract("OCC-04", "seen", "Duplicate value for 'tool_call_id' of 'call_…' in message[2]"),
    "placeholder-result": Contract("OCC-01", "inferred"),
    "duplicate-call-id": Contract("OCC-04", "seen", "Duplicate value for 'tool_call_id' of 'call_…' in message[2]"),
    "missing-call-id": Contract("OCC-04", "documented"),
    "malformed-call-id": Contract(
        "OCC-05",
        "seen",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, "
        "but got a string with length 43 instead.",
        "vercel/ai#5171",
    ),
    "malformed-tool-name": Contract(
        "OCC-09",
        "seen",
        "Invalid 'tools[0].function.name': string does not match pattern. Expected … '^[a-zA-Z0-9_-]+$'",
    ),
    "arguments-encoding": Contract("OCC-08", "documented", source="openai SDK: arguments is a string"),
    "truncated-arguments": Contract("OCC-12", "documented", source="openai SDK docstring"),
    "arguments-not-an-object": Contract("OCC-12", "documented", source="openai SDK docstring"),
    "doubly-encoded-arguments": Contract("OCC-12", "documented", source="openai SDK docstring"),
    "empty-tool-calls": Contract(
        "OCC-06",
        "seen",
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
        "openai/openai-node#1341",
    ),
    "malformed-call": Contract("OCC-14", "documented", source="openai SDK: tool call types"),
    "malformed-block": Contract("OCC-07", "documented", source="openai SDK: content part types"),
    "unknown-role": Contract("OCC-02", "documented", source="openai SDK: roles"),
    "empty-message": Contract("OCC-07", "seen", _NO_NULL, "vercel/ai#13744"),
    "result-content": Contract("OCC-11", "documented", source="openai SDK: tool content is text"),
}

_REASONING_KEYS: Final = ("reasoning_content", "reasoning", "reasoning_details")


def limits(request: Request, /) -> Limits:
    """The same under every request."""
    return _LIMITS


# --- reading --------------------------------------------------------------------------------------------------------


def decode(messages: Iterable[tuple[int, Any]], /) -> list[Entry]:
    """Each wire message as an entry."""
    return [_entry(index, message) for index, message in messages]


def _entry(index: int, wire: dict[str, Any]) -> Entry:
    origin = Origin((index,), wire)
    role, odd = wire.get("role"), None
    if not isinstance(role, str) or role not in _ROLES:
        role, odd = _implied_role(wire), {"unknown": role}
    if role == "assistant":
        return _assistant(index, wire, origin, odd)
    if role == "function" and isinstance(wire.get("tool_call_id"), str):
        role, odd = "tool", {"unknown": role}
    if role in ("tool", "function"):
        return Entry("tool", (_result(wire, origin, role),), origin, metadata=odd)
    parts = tuple(_content(wire.get("content"), index))
    notes = {"role": role} if role == "developer" else odd
    return Entry("user" if role == "user" else "system", parts, origin, metadata=notes, keeps=wire.get("content") == "")


_ROLES: Final = frozenset({"user", "assistant", "system", "developer", "tool", "function"})


def _implied_role(wire: dict[str, Any]) -> str:
    """The role that a message of an unknown one has by what it holds: the user's, where nothing else is sure."""
    if isinstance(wire.get("tool_call_id"), str):
        return "tool"
    return "assistant" if wire.get("tool_calls") else "user"


def _assistant(index: int, wire: dict[str, Any], origin: Origin, odd: dict[str, Any] | None) -> Entry:
    items: list[Part | Result] = []
    for key in _REASONING_KEYS:
        value = wire.get(key)
        if value is not None:
            text = value if isinstance(value, str) else ""
            items.append(ReasoningPart(text=text, payload=value, key=key, origin=Origin((index, key), value)))
    items += _content(wire.get("content"), index)
    calls = wire.get("tool_calls")
    calls = [calls] if isinstance(calls, dict) and calls else calls
    if isinstance(calls, list):
        items += (_call(call, Origin((index, "tool_calls", n), call)) for n, call in enumerate(calls))
    elif calls:
        items.append(OpaquePart(MALFORMED, calls, Origin((index, "tool_calls"), calls)))
    if isinstance(wire.get("function_call"), dict):
        items.append(_legacy_call(wire["function_call"], Origin((index, "function_call"), wire["function_call"])))
    notes = odd or {}
    if "tool_calls" in wire and not (isinstance(calls, list) and calls):
        notes["empty"] = "tool_calls"
    keeps = bool(wire.get("refusal") or wire.get("audio")) or any(isinstance(i, ReasoningPart) for i in items)
    called = any(isinstance(item, ToolPart) for item in items)
    if (keeps and wire.get("content") is None and not called) or (wire.get("content") == [] and (called or keeps)):
        notes["null"] = "content"
    return Entry("assistant", tuple(items), origin, metadata=notes or None, keeps=keeps)


def _content(content: Any, index: int) -> Iterator[Part]:
    """Text and blocks; nothing for null, empty text and an empty list."""
    if isinstance(content, str):
        if content:
            yield TextPart(content, Origin((index, "content"), content))
    elif isinstance(content, list):
        for n, block in enumerate(content):
            yield _block(block, Origin((index, "content", n), block))
    elif content is not None:
        yield OpaquePart(MALFORMED, content, Origin((index, "content"), content))


_FILES: Final = frozenset({"image_url", "input_audio", "file"})


def _block(block: Any, origin: Origin) -> Part:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return TextPart(block["text"], origin)
    if kind == "text" or not kind or not isinstance(kind, str):
        return OpaquePart(MALFORMED, block, origin)
    if kind in _FILES:
        image = block.get("image_url")
        return FilePart(kind, image.get("url") if isinstance(image, dict) else None, origin)
    return OpaquePart(str(kind), block, origin)


def _call(wire: Any, origin: Origin) -> Part:
    if not isinstance(wire, dict):
        return OpaquePart(MALFORMED, wire, origin)
    call_id = wire.get("id")
    call_id = call_id if isinstance(call_id, str) else ""
    if wire.get("type") == "custom" and isinstance(wire.get("custom"), dict):
        custom = wire["custom"]
        value = custom.get("input")
        flaws = () if isinstance(value, str) else ("input",)
        name = _text(custom.get("name"))
        return ToolPart(call_id=call_id, name=name, input=value, kind="custom", flaws=flaws, origin=origin)
    function = wire.get("function")
    function = function if isinstance(function, dict) else {}
    value, raw = read_arguments(function.get("arguments"))
    flaws = () if wire.get("type") == "function" else ("type",)
    name = _text(function.get("name"))
    return ToolPart(call_id=call_id, name=name, input=value, raw_input=raw, flaws=flaws, origin=origin)


def _legacy_call(wire: dict[str, Any], origin: Origin) -> ToolPart:
    value, raw = read_arguments(wire.get("arguments"))
    return ToolPart(call_id="", name=_text(wire.get("name")), input=value, raw_input=raw, kind="legacy", origin=origin)


def _result(wire: dict[str, Any], origin: Origin, role: str) -> Result:
    content = wire.get("content")
    output: Any = content
    if isinstance(content, list):
        output = tuple(_block(b, Origin((*origin.at, "content", n), b)) for n, b in enumerate(content))
    call_id = wire.get("tool_call_id")
    return Result(
        call_id=call_id if isinstance(call_id, str) else "",
        name=_text(wire.get("name")),
        output=output,
        kind="legacy" if role == "function" else "function",
        origin=origin,
        container=origin,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# --- printing -------------------------------------------------------------------------------------------------------


def encode(messages: Sequence[Message], limits: Limits, /) -> list[Any]:
    """Each message, and behind an assistant message the results of its calls."""
    printed: list[Any] = []
    for message in messages:
        printed.append(_print(message))
        calls = [part for part in message.parts if isinstance(part, ToolPart) and part.settled]
        calls += [p for p in message.parts if isinstance(p, ToolPart) and p.preliminary and p.outcome_origin]
        calls.sort(key=_place)
        printed += map(_print_result, calls)
    return printed


def _place(part: ToolPart) -> tuple[bool, int | str]:
    """Results that stand where they belong keep their order; the others come after them, in the calls' order."""
    at = part.outcome_origin.at if part.outcome_origin else ()
    return (not at, at[0] if at else 0)


def _print(message: Message) -> Any:
    wire = message.origin.wire if message.origin else None
    first = message.parts[0] if message.parts else None
    if isinstance(first, OpaquePart) and first.kind == "result":
        return first.value
    if message.role != "assistant":
        return patch(wire, role=_role(message), content=_print_content(message.parts, wire, silent=False))
    calls = [part for part in message.parts if isinstance(part, ToolPart) and part.kind != "legacy"]
    legacy = [part for part in message.parts if isinstance(part, ToolPart) and part.kind == "legacy"]
    spoken = [p for p in message.parts if not isinstance(p, ToolPart | ReasoningPart)]
    silent = bool(calls or legacy) or "null" in (message.metadata or {})
    fields = {"role": "assistant", "content": _print_content(spoken, wire, silent=silent)}
    reasoning = {part.key or "reasoning_content": part for part in message.parts if isinstance(part, ReasoningPart)}
    for key in _REASONING_KEYS:
        if key in reasoning or (wire is not None and wire.get(key) is not None):
            fields[key] = _thought(reasoning[key]) if key in reasoning else ABSENT
    if calls:
        fields["tool_calls"] = patch_list(wire.get("tool_calls") if wire else None, [_print_call(c) for c in calls])
    elif not (message.metadata or {}).get("empty"):
        fields["tool_calls"] = ABSENT
    if legacy:
        fields["function_call"] = _print_legacy(legacy[0])
    elif wire is not None and isinstance(wire.get("function_call"), dict):
        fields["function_call"] = ABSENT
    return patch(wire, **fields)


def _thought(part: ReasoningPart) -> Any:
    """What stood under the key; of reasoning that stood nowhere yet its text."""
    return part.text if part.origin is None and part.payload is None else part.payload


def _role(message: Message) -> str:
    return str((message.metadata or {}).get("role", message.role))


def _print_content(parts: Sequence[Part], wire: Any, *, silent: bool) -> Any:
    """Content in the shape it had: text stays text, blocks stay blocks; `silent`, it may be null."""
    old = wire.get("content", ABSENT) if wire is not None else None
    if not parts:
        return old if old == "" or (silent and (old is None or old is ABSENT)) else (None if silent else "")
    if len(parts) == 1 and parts[0].origin is not None and parts[0].origin.wire is old:
        return old if not isinstance(parts[0], TextPart) or parts[0].text == old else parts[0].text
    if isinstance(old, list) or not all(isinstance(part, TextPart) for part in parts):
        return patch_list(old, [_print_block(part) for part in parts])
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))


def _print_block(part: Part) -> Any:
    wire = part.origin.wire if part.origin else None
    if isinstance(part, TextPart):
        return patch(wire if isinstance(wire, dict) else None, type="text", text=part.text)
    if isinstance(part, FilePart) and wire is None:
        return {"type": "image_url", "image_url": {"url": part.url}}
    return wire


def _print_call(part: ToolPart) -> Any:
    wire = part.origin.wire if part.origin else None
    if part.kind == "custom":
        custom = patch(wire.get("custom") if wire else None, name=part.name, input=part.input)
        return patch(wire, id=part.call_id, type="custom", custom=custom)
    old = wire.get("function") if wire else None
    function = patch(old if isinstance(old, dict) else None, name=part.name, arguments=_arguments(part))
    return patch(wire, id=part.call_id, type="function", function=function)


def _print_legacy(part: ToolPart) -> Any:
    return patch(part.origin.wire if part.origin else None, name=part.name, arguments=_arguments(part))


def _arguments(part: ToolPart) -> str:
    return part.raw_input if part.raw_input is not None else dumps(part.input)


def _print_result(part: ToolPart) -> Any:
    wire = part.outcome_origin.wire if part.outcome_origin else None
    content = _print_output(part.output, wire.get("content") if wire else None)
    if part.kind == "legacy":
        return patch(wire, role="function", name=part.name, content=content)
    return patch(wire, role="tool", tool_call_id=part.call_id, content=content)


def _print_output(output: Any, old: Any) -> Any:
    if output is old or isinstance(output, str):
        return output
    if isinstance(output, tuple):
        return patch_list(old, [_print_block(part) for part in output])
    return output_text(output)
