"""Reading the `input` of OpenAI Responses: one item, one entry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from suture.transcript import Entry, FilePart, OpaquePart, Origin, Part, ReasoningPart, Result, TextPart, ToolPart
from suture.wire.base import read_arguments

__all__ = [
    "ASKED",
    "CALLS",
    "NOT_PRODUCED",
    "OUTPUTS",
    "ROLES",
    "UNTYPED",
    "decode",
    "has_role",
    "hosted",
    "is_typed",
    "kind_of",
]

CALLS: Final = {
    "function_call": "function",
    "custom_tool_call": "custom",
    "computer_call": "computer",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "tool_search_call": "tool_search",
}
"""The kinds of calls that the client answers, by the type of the item."""

OUTPUTS: Final = {
    "function_call_output": "function",
    "custom_tool_call_output": "custom",
    "computer_call_output": "computer",
    "local_shell_call_output": "local_shell",
    "shell_call_output": "shell",
    "apply_patch_call_output": "apply_patch",
    "tool_search_output": "tool_search",
}
"""The kinds of calls, by the type of the item that answers them."""

ASKED: Final = {
    "custom": "input",
    "computer": "action",
    "local_shell": "action",
    "shell": "action",
    "apply_patch": "operation",
    "tool_search": "arguments",
}
"""Where a call says what it wants, if it is not a function's."""

UNTYPED: Final = "untyped"
"""In an entry's notes: its item does not say what it is."""

NOT_PRODUCED: Final = frozenset(
    {"compaction_trigger", "mcp_approval_response", "additional_tools", "configuration_update"}
)
"""What a model does not say: reasoning in front of it led to nothing."""


ROLES: Final = frozenset({"user", "system", "developer", "assistant"})


def kind_of(item: dict[str, Any]) -> str:
    """The type of an item; where it has none, what its other keys make of it. Empty: nothing that is known."""
    kind = item.get("type")
    if isinstance(kind, str) and kind:
        return kind
    if isinstance(item.get("call_id"), str) and "output" in item:
        return "function_call_output"
    if isinstance(item.get("call_id"), str) and "arguments" in item:
        return "function_call"
    if isinstance(item.get("summary"), list):
        return "reasoning"
    if "role" in item or "content" in item:
        return "message"
    return "item_reference" if kind is None and isinstance(item.get("id"), str) and item.keys() <= _REFERENCE else ""


_REFERENCE: Final = frozenset({"id", "type"})


def has_role(message: dict[str, Any]) -> bool:
    """Whether a message has one of the format's roles."""
    role = message.get("role")
    return isinstance(role, str) and role in ROLES


def is_typed(item: dict[str, Any]) -> bool:
    """Whether the item says what it is: a message and a reference may do so without a type, a message by its role."""
    kind, named = kind_of(item), item.get("type")
    if kind == "message" and not has_role(item):
        return False
    return bool(kind) and (named == kind or (named is None and kind in ("message", "item_reference")))


def hosted(item: dict[str, Any]) -> bool:
    """Whether the server runs this tool search itself: nobody else answers it."""
    return kind_of(item) in ("tool_search_call", "tool_search_output") and (
        item.get("execution") == "server" or item.get("call_id") is None
    )


def decode(items: Iterable[tuple[int, Any]], /) -> list[Entry]:
    """Each item as an entry."""
    shells: dict[str, str] = {}
    return [_entry(index, item, shells) for index, item in items]


def _entry(index: int, wire: dict[str, Any], shells: dict[str, str]) -> Entry:
    """One item; `shells` collects local shell calls by either of their ids: a result may name any."""
    kind, origin, item_id = kind_of(wire), Origin((index,), wire), _own_id(wire)
    notes = None if is_typed(wire) else {UNTYPED: True}
    if kind == "message" and wire.get("role") in ("tool", "function"):
        return Entry("tool", (_chat_result(wire, origin),), origin, metadata=notes)
    if kind == "message":
        role = wire["role"] if has_role(wire) else _implied_role(wire)
        neutral = "system" if role == "developer" else role
        return Entry(neutral, _content(index, wire, role), origin, item_id, notes)  # type: ignore[arg-type]
    if kind == "reasoning":
        return Entry("assistant", (_reasoning(wire, origin, item_id),), origin, item_id, notes)
    if kind in CALLS and not hosted(wire):
        call = _call(wire, CALLS[kind], origin, item_id)
        if kind == "local_shell_call":
            shells |= {item_id or call.call_id: call.call_id, call.call_id: call.call_id}
        return Entry("assistant", (call,), origin, item_id, notes)
    if kind in OUTPUTS and not hosted(wire):
        return Entry("tool", (_result(wire, OUTPUTS[kind], origin, shells),), origin, item_id, notes)
    role = "system" if kind in NOT_PRODUCED or not kind else "assistant"
    return Entry(role, (OpaquePart(kind, wire, origin),), origin, item_id, notes)  # type: ignore[arg-type]


def _implied_role(wire: dict[str, Any]) -> str:
    """Whose message it is by what it says, where no known role is given: the user's, where nothing else is sure."""
    content = wire.get("content")
    parts = content if isinstance(content, list) else []
    spoken = any(isinstance(part, dict) and part.get("type") in ("output_text", "refusal") for part in parts)
    return "assistant" if spoken else "user"


def _chat_result(wire: dict[str, Any], origin: Origin) -> Result:
    """A result as Chat Completions writes it, a message of its own; it is printed anew."""
    content, anew = wire.get("content"), Origin(origin.at, None)
    if isinstance(content, list):
        content = tuple(
            _part(piece, "text", Origin((*origin.at, "content", n), None)) for n, piece in enumerate(content)
        )
    call_id = _text(wire.get("tool_call_id"))
    return Result(call_id=call_id, name=_text(wire.get("name")), output=content, origin=anew, container=anew)


def _own_id(wire: dict[str, Any]) -> str | None:
    """The item's id; empty where it is no text."""
    item_id = wire.get("id")
    return item_id if item_id is None or isinstance(item_id, str) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _content(index: int, wire: dict[str, Any], role: Any) -> tuple[Part, ...]:
    content = wire.get("content")
    own = "output_text" if role == "assistant" else "input_text"
    if isinstance(content, list):
        return tuple(_part(part, own, Origin((index, "content", n), part)) for n, part in enumerate(content))
    if isinstance(content, str):
        return (TextPart(content, Origin((index, "content"), content)),) if content else ()
    return () if content is None else (OpaquePart("", content, Origin((index, "content"), content)),)


def _part(wire: Any, own: str, origin: Origin) -> Part:
    """A part of a message or a result; a text under another type than `own` is opaque here."""
    kind = _text(wire.get("type")) if isinstance(wire, dict) else ""
    if kind == own and isinstance(wire.get("text"), str):
        return TextPart(wire["text"], origin)
    if kind == "input_image":
        return FilePart("image", _text(wire.get("image_url")) or None, origin)
    return OpaquePart(kind, wire, origin)


def _reasoning(wire: dict[str, Any], origin: Origin, item_id: str | None) -> ReasoningPart:
    pieces = [
        piece["text"]
        for key in ("summary", "content")
        for piece in (wire[key] if isinstance(wire.get(key), list) else ())
        if isinstance(piece, dict) and isinstance(piece.get("text"), str)
    ]
    provider = wire.get("provider_data")
    model = wire.get("model") or (provider.get("model") if isinstance(provider, dict) else None)
    return ReasoningPart(
        text="\n\n".join(pieces),
        payload=_text(wire.get("encrypted_content")) or None,
        model=_text(model) or None,
        item_id=item_id,
        origin=origin,
    )


def _call(wire: dict[str, Any], kind: str, origin: Origin, item_id: str | None) -> ToolPart:
    call_id, raw = _text(wire.get("call_id")), None
    if kind == "function":
        value, raw = read_arguments(wire.get("arguments"))
    else:
        value = wire.get(ASKED[kind])
        if value is None and kind == "computer" and "actions" in wire:
            value = {"actions": wire["actions"]}
    name = _text(wire.get("name")) if kind in ("function", "custom") else kind
    return ToolPart(call_id=call_id, name=name, input=value, raw_input=raw, kind=kind, item_id=item_id, origin=origin)


def _result(wire: dict[str, Any], kind: str, origin: Origin, shells: dict[str, str]) -> Result:
    call_id = _text(wire.get("call_id"))
    if kind == "local_shell":
        item_id = _text(wire.get("id"))
        call_id = shells.get(call_id) or shells.get(item_id) or call_id or item_id
    failed = kind == "apply_patch" and wire.get("status") == "failed"
    return Result(
        call_id=call_id,
        name=_text(wire.get("name")),
        output=_output(wire, kind, origin),
        state="output-error" if failed else "output-available",
        kind=kind,
        origin=origin,
        container=origin,
    )


def _output(wire: dict[str, Any], kind: str, origin: Origin) -> Any:
    """What the tool said; pieces of it as parts, so that two results of one call can be put together."""
    key = "tools" if kind == "tool_search" else "output"
    output = wire.get(key)
    if isinstance(output, list):
        places = ((piece, Origin((*origin.at, key, n), piece)) for n, piece in enumerate(output))
        if kind in ("shell", "tool_search"):
            return tuple(OpaquePart(kind, piece, place) for piece, place in places)
        return tuple(_part(piece, "input_text", place) for piece, place in places)
    if kind == "computer" and isinstance(output, dict) and output.get("type") == "computer_screenshot":
        return (FilePart("image", _text(output.get("image_url")) or None, Origin((*origin.at, key), output)),)
    return output
