"""Messages and parts of AI SDK 4, and of careless writers, in the shapes that AI SDK 5 and 6 read.

The recipe for messages without parts is that of AI SDK 4 itself (`getMessageParts` of `@ai-sdk/ui-utils` 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from suture.transcript.codec import dumps
from suture.transcript.ids import derive
from suture.wire.base import ABSENT, patch, read_arguments

__all__ = [
    "calls_in",
    "is_legacy_tool",
    "is_tool",
    "modern_message",
    "modern_part",
    "modern_tool",
    "tool_input",
    "tool_name",
]

_STATES: Final = {"partial-call": "input-streaming", "call": "input-available", "result": "output-available"}
_OPTIONAL: Final = {
    "text": ("state", "providerMetadata"),
    "reasoning": ("id", "state", "providerMetadata"),
    "source-url": ("title", "providerMetadata"),
    "source-document": ("filename", "providerMetadata"),
    "file": ("filename", "providerMetadata"),
}
_REQUIRED: Final = {
    "source-url": ("sourceId",),
    "source-document": ("sourceId", "mediaType", "title"),
    "file": ("mediaType",),
}
"""Texts that a part has to have; where one is missing and says nothing about the content, an empty one does."""
_ROLES: Final = ("system", "user", "assistant")
_MOVED: Final = {"toolInvocations": list, "reasoning": str}
"""Keys of a message of AI SDK 4 that become parts. `content` stays: there it says the same as the parts."""
_STEP: Final = {"type": "step-start"}


def modern_message(wire: dict[str, Any], index: int) -> tuple[dict[str, Any], list[str]]:
    """The message with an id and its parts, and what was wrong; the very object where nothing was."""
    fields: dict[str, Any] = {}
    wrong: list[str] = []
    if wire.get("role") not in _ROLES:
        wrong.append(f"its role is {wire.get('role')!r}")
        fields["role"] = "assistant" if wire.get("role") == "data" or calls_in(wire) else "user"
    if not isinstance(wire.get("id"), str):
        wrong.append("it has no id")
        fields["id"] = f"msg_{derive('message', index, wire.get('role'))}"
    parts = wire.get("parts")
    if not isinstance(parts, list):
        wrong.append("it has no list of parts")
        parts = list(_parts(wire))
        fields["parts"] = parts
        fields |= {key: ABSENT for key, kind in _MOVED.items() if isinstance(wire.get(key), kind)}
    attached = wire.get("experimental_attachments")
    if isinstance(attached, list):
        wrong.append("it has attachments beside its parts")
        fields |= {"parts": [*parts, *map(_attachment, attached)], "experimental_attachments": ABSENT}
    return (patch(wire, **fields), wrong) if wrong else (wire, wrong)


def _parts(wire: dict[str, Any]) -> Iterator[Any]:
    """The parts of a message that has none: what AI SDK 4 makes of its other keys, step by step."""
    calls = wire.get("toolInvocations")
    step: Any = None
    for call in calls if isinstance(calls, list) else ():
        now = call.get("step") if isinstance(call, dict) else None
        if step is not None and now != step:
            yield _STEP
        step = now
        yield {"type": "tool-invocation", "toolInvocation": call}
    said = [{"type": "reasoning", "text": wire["reasoning"]}] if isinstance(wire.get("reasoning"), str) else []
    for text in (wire.get("content"), wire.get("parts")):
        said += [{"type": "text", "text": text}] if isinstance(text, str) and text else []
    if calls and said:
        yield _STEP
    yield from said
    if isinstance(wire.get("parts"), dict):
        yield wire["parts"]


def _attachment(wire: Any) -> Any:
    if not isinstance(wire, dict) or not isinstance(wire.get("url"), str):
        return {"type": "data-attachment", "data": wire}
    part = {"type": "file", "mediaType": wire.get("contentType") or _media_type(wire["url"]), "url": wire["url"]}
    return {**part, "filename": wire["name"]} if isinstance(wire.get("name"), str) else part


def _media_type(url: Any) -> str:
    """The media type that a data URL names."""
    is_data = isinstance(url, str) and url.startswith("data:")
    named = url[len("data:") :].partition(",")[0].partition(";")[0] if is_data else ""
    return named or "application/octet-stream"


def is_tool(part: Any) -> bool:
    """Whether a part is a call."""
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and (kind == "dynamic-tool" or kind.startswith("tool-"))


def calls_in(message: Any) -> list[dict[str, Any]]:
    """The calls of a message, in the shape of today."""
    parts = message.get("parts")
    calls = [part for part in parts if is_tool(part)] if isinstance(parts, list) else []
    return [modern_tool(part) if is_legacy_tool(part) else part for part in calls]


def tool_name(wire: dict[str, Any]) -> str:
    """The tool's name: in the type, or beside it; empty where it is no text."""
    kind: str = wire["type"]
    name = wire.get("toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    return name if isinstance(name, str) else ""


def tool_input(wire: dict[str, Any]) -> Any:
    """The arguments, or the text of them where that is all there is.

    While they stream, `input` holds what could be made of `rawInput` so far: the text is the truth.
    """
    value, raw = wire.get("input"), wire.get("rawInput")
    if wire["state"] == "input-streaming" and isinstance(raw, str) and raw.strip():
        return value if isinstance(value, dict) and value == read_arguments(raw)[0] else raw
    return raw if value is None else value


def is_legacy_tool(part: dict[str, Any]) -> bool:
    """Whether a part holds a call as AI SDK 4 wrote it; a tool may also be named `invocation`."""
    return part.get("type") == "tool-invocation" and isinstance(part.get("toolInvocation"), dict)


def modern_tool(part: dict[str, Any]) -> dict[str, Any]:
    """A `tool-invocation` as a `tool-<name>`: same id, input, result, and every other key."""
    call = dict(part["toolInvocation"])
    name, state, args = call.pop("toolName", None), call.pop("state", None), call.pop("args", None)
    fields = {
        "type": f"tool-{name}" if isinstance(name, str) else "tool-",
        "toolCallId": call.pop("toolCallId", None),
        "state": _STATES.get(state, state) if isinstance(state, str) else state,
        "input": {} if args is None else args,
    }
    if "result" in call or state == "result":
        fields["output"] = call.pop("result", None)
    rest = {key: value for key, value in part.items() if key not in ("type", "toolInvocation")}
    return {**fields, **call, **rest}


def modern_part(part: Any) -> Any:
    """Any other part in its shape of today; None where it carries nothing.

    The very object where it has its shape. A type that the SDK does not know becomes data, which it takes and sends to
    nobody.
    """
    if not isinstance(part, dict):
        return {"type": "text", "text": part if isinstance(part, str) else dumps(part)} if part else None
    kind = part.get("type")
    if not isinstance(kind, str) or not kind:
        return _untyped(part)
    if kind == "source":
        return _source(part)
    if kind.startswith("data-"):
        return part if "data" in part else {**part, "data": None}
    if kind not in _OPTIONAL:
        return part if kind == "step-start" else _set_aside(part, kind)
    fields: dict[str, Any] = {key: ABSENT for key in _OPTIONAL[kind] if part.get(key, ABSENT) is None}
    fields |= _spoken(part) if kind in ("text", "reasoning") else _referred(part, kind)
    if kind in ("file", "source-url") and not isinstance(fields.get("url", part.get("url")), str):
        return _set_aside(part, kind)
    return patch(part, **fields)


def _untyped(part: dict[str, Any]) -> Any:
    """A part that has lost its type: its text, or all of it as data, which the SDK takes and sends to nobody."""
    rest = {key: value for key, value in part.items() if key != "type"}
    if isinstance(rest.get("text"), str):
        return modern_part({"type": "text", **rest})
    return _set_aside(rest, "unknown") if rest else None


def _set_aside(part: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"type": f"data-{kind}", "data": part}


def _spoken(part: dict[str, Any]) -> dict[str, Any]:
    """What text or reasoning lacks."""
    fields: dict[str, Any] = {}
    text = part.get("text")
    if part.get("state", "done") not in ("streaming", "done"):
        fields["state"] = ABSENT
    if not isinstance(text, str):
        old = part.get("reasoning")
        moved = part["type"] == "reasoning" and isinstance(old, str)
        fields["text"] = old if moved else "" if text is None else dumps(text)
        fields |= {"reasoning": ABSENT} if moved else {}
    return fields


def _referred(part: dict[str, Any], kind: str) -> dict[str, Any]:
    """What a file or a source lacks."""
    fields: dict[str, Any] = {}
    if kind == "file" and "mediaType" not in part and isinstance(part.get("mimeType"), str):
        fields |= {"mediaType": part["mimeType"], "mimeType": ABSENT}
        fields |= _url(part) if "url" not in part else {}
    for key in _REQUIRED.get(kind, ()):
        if key not in fields and not isinstance(part.get(key), str):
            fields[key] = _media_type(part.get("url")) if key == "mediaType" else ""
    return fields


def _url(part: dict[str, Any]) -> dict[str, Any]:
    """The bytes that AI SDK 4 kept under `data`, as a URL."""
    data = part.get("data")
    if not isinstance(data, str):
        return {}
    is_url = data.startswith(("data:", "http://", "https://"))
    return {"url": data if is_url else f"data:{part['mimeType']};base64,{data}", "data": ABSENT}


def _source(part: dict[str, Any]) -> dict[str, Any]:
    source = part.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("id"), str) or not isinstance(source.get("url"), str):
        return _set_aside(part, "source")
    rest = {key: value for key, value in source.items() if key not in ("sourceType", "id") and value is not None}
    return {"type": "source-url", "sourceId": source["id"], **rest}
