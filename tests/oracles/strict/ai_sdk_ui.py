"""AI SDK UIMessage, section 11 of the contracts (`AIU`), with the field tables of `ai` 6's own schema.

`AIU-00` is the envelope: members are objects with id, role and parts of a known type.
Not judged: AIU-06 (soft), -07 (holds of model messages), -08 (holds of the provider behind, not of this format).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracles.strict.shape import Messages, Request, kind, not_objects, numbered, text_of

NAME = "ai_sdk_ui"
ROLES = frozenset({"system", "user", "assistant"})
# Part -> the keys that must hold a string.
STRINGS = {
    "text": ("text",),
    "reasoning": ("text",),
    "file": ("mediaType", "url"),
    "source-url": ("sourceId", "url"),
    "source-document": ("sourceId", "mediaType", "title"),
    "step-start": (),
}
# State -> the fields it must have, with any value; and the fields it must not have.
REQUIRED = {
    "input-streaming": (),
    "input-available": ("input",),
    "approval-requested": ("input",),
    "approval-responded": ("input",),
    "output-available": ("input", "output"),
    "output-error": (),
    "output-denied": ("input",),
}
FORBIDDEN = {
    "input-streaming": ("output", "errorText", "approval"),
    "input-available": ("output", "errorText", "approval"),
    "approval-requested": ("output", "errorText"),
    "approval-responded": ("output", "errorText"),
    "output-available": ("errorText",),
    "output-error": ("output",),
    "output-denied": ("output", "errorText"),
}
# State -> what `approval.approved` has to be; None: absent. States that are not here have no approval at all.
APPROVED: dict[str, tuple[object, ...]] = {
    "approval-requested": (None,),
    "approval-responded": (True, False),
    "output-available": (True,),
    "output-error": (True,),
    "output-denied": (False,),
}
NEEDS_APPROVAL = frozenset({"approval-requested", "approval-responded", "output-denied"})


def violations(messages: Messages, request: Request) -> list[str]:
    """List what the AI SDK would refuse, or could not send, of this history."""
    return [*not_objects(messages, "AIU-00"), *_messages(messages, request)]


def is_tool(part: dict[str, Any]) -> bool:
    """Whether a part is a tool call in one of its states."""
    return kind(part) == "dynamic-tool" or kind(part).startswith("tool-")


def _messages(messages: Messages, request: Request) -> Iterator[str]:
    """Judge every message."""
    end = _last_message(messages)
    for place, message in numbered(messages):
        where, role, parts = f"[{place}]", text_of(message, "role"), message.get("parts")
        if role not in ROLES:
            yield f"AIU-00 {where}: unknown role"
        if not isinstance(message.get("id"), str):
            yield f"AIU-00 {where}: message without id"
        if role == "system" and request.get("allowSystemInMessages") is False:
            yield f"AIU-10 {where}: system message"
        if not isinstance(parts, list):
            yield f"AIU-00 {where}: message without parts"
            continue
        if not parts and role != "assistant":
            yield f"AIU-09 {where}: {role} message without parts"
        step = _last_step(parts) if place >= end else len(parts)
        for spot, part in enumerate(parts):
            yield from _part(part, f"{where}.parts[{spot}]", role, last=spot >= step)


def _last_message(messages: Messages) -> int:
    """Find the last message that becomes a model message: an assistant's without a part to send becomes none."""
    end = 0
    for place, message in numbered(messages):
        parts = message.get("parts")
        if message.get("role") != "assistant" or not isinstance(parts, list) or any(map(_is_sent, parts)):
            end = place
    return end


def _is_sent(part: object) -> bool:
    """Whether an assistant's part goes into a request."""
    return not isinstance(part, dict) or is_tool(part) or kind(part) in {"text", "reasoning", "file"}


def _last_step(parts: list[Any]) -> int:
    """Find where the last step of a message begins that holds anything to send."""
    sent = max((place for place, part in enumerate(parts) if _is_sent(part)), default=0)
    return max((place for place, part in numbered(parts[:sent]) if kind(part) == "step-start"), default=0)


def _part(part: object, where: str, role: str, *, last: bool) -> Iterator[str]:
    """Judge one part by its type."""
    if not isinstance(part, dict):
        yield f"AIU-00 {where}: not a part"
    elif is_tool(part):
        yield from _tool(part, where)
        # Only an assistant's tool parts are ever sent; elsewhere the SDK ignores them.
        if role == "assistant":
            yield from _settled(part, where, last=last)
    elif kind(part) in STRINGS:
        for key in STRINGS[kind(part)]:
            if not isinstance(part.get(key), str):
                yield f"AIU-00 {where}: {kind(part)} without {key}"
    elif not kind(part).startswith("data-"):
        yield f"AIU-00 {where}: unknown part {kind(part)!r}"
    elif "data" not in part:
        yield f"AIU-00 {where}: data part without data"


def _tool(part: dict[str, Any], where: str) -> Iterator[str]:
    """Judge AIU-01: the state, and the fields that this state has."""
    state = text_of(part, "state")
    if not isinstance(part.get("toolCallId"), str):
        yield f"AIU-01 {where}: no toolCallId"
    if kind(part) == "dynamic-tool" and not isinstance(part.get("toolName"), str):
        yield f"AIU-01 {where}: dynamic-tool without toolName"
    if state not in FORBIDDEN:
        yield f"AIU-01 {where}: unknown state"
        return
    for key in REQUIRED[state]:
        if key not in part:
            yield f"AIU-01 {where}: no {key} in state {state}"
    for key in FORBIDDEN[state]:
        if key in part:
            yield f"AIU-01 {where}: {key} in state {state}"
    if state == "output-error" and not isinstance(part.get("errorText"), str):
        yield f"AIU-01 {where}: output-error without errorText"
    yield from _approval(part, state, where)


def _approval(part: dict[str, Any], state: str, where: str) -> Iterator[str]:
    """Judge the approval record against the state."""
    approval = part.get("approval")
    if "approval" not in part:
        if state in NEEDS_APPROVAL:
            yield f"AIU-01 {where}: no approval in state {state}"
        return
    if not isinstance(approval, dict) or not isinstance(approval.get("id"), str):
        yield f"AIU-01 {where}: approval without id"
    elif not any(approval.get("approved") is each for each in APPROVED.get(state, ())):
        yield f"AIU-01 {where}: approval does not fit state {state}"


def _settled(part: dict[str, Any], where: str, *, last: bool) -> Iterator[str]:
    """Judge AIU-02 to -04: a call of ours has an outcome, or the SDK is about to run it."""
    state = text_of(part, "state")
    if part.get("providerExecuted") is True:
        return
    if state == "input-streaming":
        yield f"AIU-02 {where}: input-streaming is dropped on the way"
    elif state in {"input-available", "approval-requested"}:
        yield f"AIU-03 {where}: {state} has no result"
    # The SDK itself settles an answered approval when it stands in the last step of all (AIM-06).
    elif state == "approval-responded" and not last:
        yield f"AIU-04 {where}: answered approval without an outcome"
