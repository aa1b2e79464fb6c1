"""Messages and parts of AI SDK 4, and of careless writers, in the shapes that AI SDK 5 and 6 read.

The recipe for messages without parts is that of AI SDK 4 itself (`getMessageParts` of `@ai-sdk/ui-utils` 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from suture.transcript.codec import dumps
from suture.transcript.ids import derive
from suture.wire.base import ABSENT, patch

__all__ = ["is_legacy_tool", "modern_message", "modern_part", "modern_tool"]

_STATES: Final = {"partial-call": "input-streaming", "call": "input-available", "result": "output-available"}
_OPTIONAL: Final = {
    "text": ("state", "providerMetadata"),
    "reasoning": ("id", "state", "providerMetadata"),
    "source-url": ("title", "providerMetadata"),
    "source-document": ("filename", "providerMetadata"),
    "file": ("filename", "providerMetadata"),
}
_MOVED: Final = {"toolInvocations": list, "reasoning": str}
"""Keys of a message of AI SDK 4 that become parts. `content` stays: there it says the same as the parts."""
_STEP: Final = {"type": "step-start"}


def modern_message(wire: dict[str, Any], index: int) -> tuple[dict[str, Any], list[str]]:
    """The message with an id and its parts, and what was wrong; the very object where nothing was."""
    fields: dict[str, Any] = {}
    wrong: list[str] = []
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


def _media_type(url: str) -> str:
    """The media type that a data URL names."""
    named = url[5:].partition(",")[0].partition(";")[0] if url.startswith("data:") else ""
    return named or "application/octet-stream"


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
    """Any other part in its shape of today; the very object where it has it, or where nobody knows what it is."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "source":
        return _source(part)
    if kind not in _OPTIONAL:
        return part
    fields: dict[str, Any] = {key: ABSENT for key in _OPTIONAL[kind] if part.get(key, ABSENT) is None}
    if kind == "reasoning" and not isinstance(part.get("text"), str) and isinstance(part.get("reasoning"), str):
        fields |= {"text": part["reasoning"], "reasoning": ABSENT}
    elif kind in ("text", "reasoning") and not isinstance(part.get("text"), str):
        fields["text"] = "" if part.get("text") is None else dumps(part["text"])
    elif kind == "file" and "mediaType" not in part and isinstance(part.get("mimeType"), str):
        fields |= {"mediaType": part["mimeType"], "mimeType": ABSENT}
        fields |= _url(part) if "url" not in part else {}
    return patch(part, **fields)


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
        return part
    rest = {key: value for key, value in source.items() if key not in ("sourceType", "id") and value is not None}
    return {"type": "source-url", "sourceId": source["id"], **rest}
