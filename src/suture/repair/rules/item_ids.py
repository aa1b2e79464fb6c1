"""What a record's own id may look like (OpenAI Responses), and what becomes of a record that loses its id: tables.

It holds no rule of its own: `items` and `item_reasoning` share it.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from suture.transcript import Message, OpaquePart, ReasoningPart, ToolPart
from suture.transcript.ids import derive

__all__ = ["id_of", "kind_of", "problem", "rename", "whole"]

_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

_CHECKED: Final = {"message": "msg_", "function": "fc_", "reasoning": "rs_", "custom": "ctc_"}
"""How the id of a record begins, where a provider was seen to insist on it."""

_OPTIONAL: Final = frozenset(
    {
        "message",
        "function",
        "custom",
        "shell",
        "apply_patch",
        "tool_search",
        "additional_tools",
        "configuration_update",
        "compaction",
        "compaction_trigger",
        "mcp_approval_response",
        "tool_search_call",
        "tool_search_output",
        "result",
    }
)
"""The kinds of records that may be without an id, by the official types; unknown ones are given a new id.

The type of an assistant's message asks for one, but its text alone needs none, and the provider takes parts without.
"""

_PREFIXES: Final = {
    **_CHECKED,
    "computer": "cu_",
    "local_shell": "lsh_",
    "web_search_call": "ws_",
    "file_search_call": "fs_",
    "code_interpreter_call": "ci_",
    "image_generation_call": "ig_",
    "mcp_call": "mcp_",
    "mcp_list_tools": "mcpl_",
    "mcp_approval_request": "mcpr_",
}
"""How an id begins that is minted here."""


def whole(part: OpaquePart) -> bool:
    """Whether the part is a record by itself, rather than a piece of a message's content."""
    return part.origin is None or len(part.origin.at) == 1


def kind_of(message: Message) -> str:
    """What sort of record the message is: a kind of call, the type of an item, or `message`."""
    part = message.parts[0] if message.parts else None
    if isinstance(part, ToolPart):
        return part.kind
    if isinstance(part, ReasoningPart):
        return "reasoning"
    return part.kind if isinstance(part, OpaquePart) and whole(part) else "message"


def id_of(message: Message) -> str | None:
    """The record's own id; empty where there is one that is no text."""
    part = message.parts[0] if message.parts else None
    return part.item_id if isinstance(part, ToolPart | ReasoningPart) else message.id


def problem(kind: str, item_id: str, role: str = "assistant") -> str:
    """The rule that an id breaks by itself; empty where it is well-formed. A user's message may have any prefix."""
    if not _PATTERN.fullmatch(item_id):
        return "malformed-item-id"
    prefix = _CHECKED.get(kind, "")
    return "" if item_id.startswith(prefix) or (kind == "message" and role != "assistant") else "malformed-item-id"


def rename(message: Message, time: int) -> Message:
    """The record without its id, or under a new one where it cannot be without."""
    kind = kind_of(message)
    if kind in _OPTIONAL:
        return _with_id(message, None)
    return _with_id(message, _PREFIXES.get(kind, "item_") + derive("item", kind, id_of(message), time))


def _with_id(message: Message, item_id: str | None) -> Message:
    part = message.parts[0] if message.parts else None
    if isinstance(part, ToolPart | ReasoningPart):
        changed = msgspec.structs.replace(part, item_id=item_id)
        message = msgspec.structs.replace(message, parts=(changed, *message.parts[1:]))
    return msgspec.structs.replace(message, id=item_id)
