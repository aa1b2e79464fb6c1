"""The fast look at the AI SDK's UI messages."""

from __future__ import annotations

import re
from typing import Any, Final

from suture.wire.ai_sdk_ui_shapes import (
    calls_in,
    is_legacy_tool,
    is_tool,
    modern_part,
    tool_input,
    tool_name,
)
from suture.wire.ai_sdk_ui_states import consistent
from suture.wire.base import DECISIVE, Request, is_cut

__all__ = ["continues", "fits", "makes_call", "mentions", "scan"]

_STANDS_IN: Final = re.compile(
    r"\W*(?:(?:the|this|system|error)\W+)?(?:aborted|interrupted|tool|task|operation|command|request|execution"
    r"|no result|arguments|in_progress|no output)",
    re.IGNORECASE,
)
"""How every text begins that stands in for a result (`suture.repair.foreign` has them): it is read closely."""

_USUAL: Final = frozenset(
    {
        "type",
        "toolCallId",
        "toolName",
        "state",
        "input",
        "output",
        "errorText",
        "title",
        "providerExecuted",
        "callProviderMetadata",
        "resultProviderMetadata",
        "toolMetadata",
    }
)
"""The keys that a settled call has, or may have; the walk makes sure that it has not both outcomes."""


def scan(messages: list[Any], request: Request, /) -> set[int]:
    """The messages that may break a rule: one walk over the parts.

    It knows the common forms of a healthy history; all else is suspect, and read in full.
    """
    suspects: set[int] = set()
    for index, message in enumerate(messages):
        try:
            parts, role = message["parts"], message["role"]
            if type(message["id"]) is not str or type(parts) is not list or "experimental_attachments" in message:
                suspects.add(index)
            elif role == "assistant":
                if not _is_sound(parts):
                    suspects.add(index)
            elif not parts or (role != "user" and role != "system"):  # noqa: PLR1714 (the fastest way to ask)
                suspects.add(index)
            else:
                for part in parts:
                    if part["type"] == "text":
                        if not part["text"] or not _is_spoken(part):
                            suspects.add(index)
                    elif is_tool(part) or not _is_plain(part):
                        suspects.add(index)
        except (KeyError, TypeError, AttributeError):
            suspects.add(index)
    return suspects


def _is_sound(parts: list[Any]) -> bool:
    """Whether every call of this answer is settled and stands in a step of its own."""
    called = spoken = False
    ids: list[str] = []
    for part in parts:
        kind = part["type"]
        if kind == "text" or kind == "reasoning":  # noqa: PLR1714 (the fastest way to ask)
            if not _is_spoken(part) or not (part["text"] or kind == "reasoning"):
                return False
            spoken = called
        elif kind == "step-start":
            called = spoken = False
        elif kind[:5] == "tool-" or kind == "dynamic-tool":
            call_id, output = part["toolCallId"], part.get("output")
            if (  # the common call has just these five keys, and text as its output
                len(part) != 5
                or part["state"] != "output-available"
                or type(output) is not str
                or type(part["input"]) is not dict
                or type(call_id) is not str
                or not call_id
                or kind in ("tool-", "dynamic-tool")
                or _STANDS_IN.match(output)
                or not (output.isascii() or not is_cut(output))
            ) and not _is_settled(part):
                return False
            ids.append(call_id)
            if "providerExecuted" not in part or not part["providerExecuted"]:
                if spoken:
                    return False
                called = True
        elif not _is_plain(part):
            return False
        elif kind == "file":
            spoken = called
    return len(ids) < 2 or len(set(ids)) == len(ids)


def _is_spoken(part: dict[str, Any]) -> bool:
    """Whether text or reasoning has its shape."""
    text = part["text"]
    return (
        type(text) is str
        and (text.isascii() or not is_cut(text))
        and (
            len(part) == 2
            or (
                part.get("state", "done") in ("done", "streaming")
                and part.get("providerMetadata", "") is not None
                and part.get("id", "") is not None
            )
        )
    )


def _is_plain(part: Any) -> bool:
    """Whether any other part has its shape."""
    return modern_part(part) is part


def _is_settled(part: dict[str, Any]) -> bool:
    """Whether a call has the fields of a settled state, and an outcome that a tool wrote."""
    call_id, kind, state = part["toolCallId"], part["type"], part["state"]
    if type(call_id) is not str or not call_id or kind == "tool-" or (kind == "dynamic-tool" and not tool_name(part)):
        return False
    if state == "output-available":
        if "errorText" in part or "input" not in part or _may_stand_in(part["output"]):
            return False
    elif state == "output-error":
        if "output" in part or type(part["input"]) is not dict or type(part["errorText"]) is not str:
            return False
    elif state != "output-denied" or type(tool_input(part)) is not dict:
        return False
    if state != "output-denied" and part.keys() <= _USUAL and None not in part.values():
        return True
    final = part.get("preliminary") is not True or state != "output-available"
    return final and not is_legacy_tool(part) and consistent(part)[0] is part


def _may_stand_in(output: Any) -> bool:
    """Whether an output may be a text that no tool wrote."""
    if type(output) is str:
        return _STANDS_IN.match(output) is not None
    if isinstance(output, dict | list) and len(output) == 1:
        inner = output[0] if isinstance(output, list) else output.get("error")
        return type(inner) is str
    return False


def continues(message: Any, before: Any, /) -> bool:
    """Answers in a row are one turn: which of them ends the history decides which calls may be running."""
    return isinstance(message, dict) and message.get("role") == "assistant"


def mentions(messages: list[Any], calls: set[str], /) -> set[int]:
    """No other messages: a call and its outcome are one part."""
    return set()


def makes_call(message: dict[str, Any], /) -> bool:
    """Whether a message makes a call the way this format does."""
    return bool(calls_in(message))


def fits(messages: list[Any], /) -> int:
    """Typed parts under `parts`, where Gemini's have no type; or the keys of AI SDK 4."""
    score = 0
    for message in messages:
        parts = message.get("parts")
        if "toolInvocations" in message or "experimental_attachments" in message:
            score += DECISIVE
        elif isinstance(parts, list) and all(isinstance(part, dict) and "type" in part for part in parts):
            score += DECISIVE if parts else 1
    return score
