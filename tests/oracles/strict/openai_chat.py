"""OpenAI Chat Completions, section 1 of the contracts (`OCC`).

`OCC-00` is the envelope the table takes for granted: members are objects, roles exist, calls and results have ids.
Not judged: OCC-12, -13, -15 (soft; no case calls them invalid), the insides of part and call kinds unknown here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracles.strict.shape import Messages, Request, kind, name_errors, not_objects, numbered, text_of

NAME = "openai_chat"
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
ID_LENGTH = 40


def violations(messages: Messages, request: Request) -> list[str]:
    """List what OpenAI would refuse in this history."""
    return [*not_objects(messages, "OCC-00"), *_messages(messages), *_pairing(messages)]


def calls_of(message: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Give the calls of an assistant message; those of other roles are no calls."""
    return list(numbered(message.get("tool_calls"))) if message.get("role") == "assistant" else []


def _messages(messages: Messages) -> Iterator[str]:
    """Judge every message by itself."""
    for place, message in numbered(messages):
        where = f"[{place}]"
        if text_of(message, "role") not in ROLES:
            yield f"OCC-00 {where}: unknown role"
        yield from _content(message, where)
        yield from _calls(message, where)


def _content(message: dict[str, Any], where: str) -> Iterator[str]:
    """Judge OCC-07 and OCC-11: a string or parts; nothing only beside calls; only text in results."""
    content = message.get("content")
    if content is None:
        if not _may_lack_content(message):
            yield f"OCC-07 {where}: content is null"
    elif isinstance(content, list):
        if not content:
            yield f"OCC-07 {where}: content is an empty list"
        yield from _parts(message, content, where)
    elif not isinstance(content, str):
        yield f"OCC-07 {where}: content is neither text nor parts"


def _may_lack_content(message: dict[str, Any]) -> bool:
    """Whether null is legal: beside calls, or where earlier audio stands in for the text."""
    return message.get("role") == "assistant" and any(
        message.get(key) for key in ("tool_calls", "function_call", "audio")
    )


def _parts(message: dict[str, Any], content: list[Any], where: str) -> Iterator[str]:
    """Judge the parts of one content list."""
    for place, part in enumerate(content):
        if not isinstance(part, dict) or not kind(part):
            yield f"OCC-07 {where}.content[{place}]: not a part"
        elif message.get("role") == "tool" and kind(part) != "text":
            yield f"OCC-11 {where}.content[{place}]: {kind(part)} in a tool message"
        elif kind(part) == "text" and not isinstance(part.get("text"), str):
            yield f"OCC-07 {where}.content[{place}]: text part without text"


def _calls(message: dict[str, Any], where: str) -> Iterator[str]:
    """Judge the calls of one assistant message: OCC-04 to -06, -08 to -10, -14."""
    calls = message.get("tool_calls")
    if "tool_calls" not in message or message.get("role") != "assistant":
        return
    if not isinstance(calls, list) or not calls:
        yield f"OCC-06 {where}: tool_calls is present and empty"
        return
    seen: set[str] = set()
    for place, call in enumerate(calls):
        spot = f"{where}.tool_calls[{place}]"
        if not isinstance(call, dict):
            yield f"OCC-00 {spot}: not an object"
            continue
        yield from _call_id(call.get("id"), seen, spot)
        yield from _call_body(call, spot)


def _call_id(call_id: object, seen: set[str], spot: str) -> Iterator[str]:
    """Judge one id and remember it."""
    if not isinstance(call_id, str) or not call_id:
        yield f"OCC-00 {spot}: call without an id"
        return
    if call_id in seen:
        yield f"OCC-04 {spot}: id {call_id!r} twice in one message"
    if len(call_id) > ID_LENGTH:
        yield f"OCC-05 {spot}: id longer than {ID_LENGTH}"
    seen.add(call_id)


def _call_body(call: dict[str, Any], spot: str) -> Iterator[str]:
    """Judge what is called; kinds unknown here are let through."""
    which = kind(call)
    if not which:
        yield f"OCC-00 {spot}: call without a type"
    if which not in {"function", "custom"}:
        return
    body = call.get(which)
    key = "arguments" if which == "function" else "input"
    if not isinstance(body, dict):
        yield f"OCC-00 {spot}: call without its {which}"
        return
    yield from name_errors(body.get("name"), spot)
    if not isinstance(body.get(key), str):
        yield f"{'OCC-08' if which == 'function' else 'OCC-14'} {spot}: {key} is not a string"


def _pairing(messages: Messages) -> Iterator[str]:
    """Judge OCC-01 to -04: each group of calls is answered once each, directly after it."""
    asked: set[str] = set()
    answered: set[str] = set()
    for place, message in enumerate(messages):
        shape = message if isinstance(message, dict) else {}
        if shape.get("role") == "tool":
            yield from _answer(shape.get("tool_call_id"), asked, answered, f"[{place}]")
            continue
        yield from _unanswered(asked - answered, f"before [{place}]")
        asked = {call["id"] for _, call in calls_of(shape) if isinstance(call.get("id"), str)}
        answered = set()
    yield from _unanswered(asked - answered, "at the end")


def _answer(call_id: object, asked: set[str], answered: set[str], where: str) -> Iterator[str]:
    """Take one tool message as the answer to the open group."""
    if not isinstance(call_id, str) or call_id not in asked:
        yield f"OCC-02 {where}: tool message answers no call of the group before it"
    elif call_id in answered:
        yield f"OCC-04 {where}: second result for {call_id!r}"
    else:
        answered.add(call_id)


def _unanswered(missing: set[str], where: str) -> Iterator[str]:
    """Report the calls that a group left open."""
    yield from (f"OCC-01 {where}: no result for {call_id!r}" for call_id in sorted(missing))
