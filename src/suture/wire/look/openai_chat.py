"""The fast look at Chat Completions messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from suture.transcript import PLACEHOLDERS
from suture.wire.base import DECISIVE, Request, is_cut, not_objects

__all__ = ["continues", "fits", "mentions", "scan"]

_SPEAKERS: Final = frozenset({"user", "assistant", "system", "developer"})
_SHORT: Final = max(map(len, PLACEHOLDERS))
"""A result this short may be a placeholder and is looked up."""


def scan(messages: list[Any], request: Request, /) -> set[int]:  # noqa: C901, PLR0912 (one loop, no calls: this is the hot path)
    """The messages that may break a rule: one walk from call to call.

    It knows the common forms of a healthy history; all else is suspect, and read in full.
    """
    suspects: set[int] = set()
    call_ids: list[str] = []
    tool_names: set[str] = set()
    arguments: list[str] = []
    index, count = 0, len(messages)
    while index < count:
        message = messages[index]
        index += 1
        try:
            role = message["role"]
            if role == "assistant" and "tool_calls" in message:
                begun = index
                content = message.get("content")
                if type(content) is str:
                    if not content.isascii() and is_cut(content):
                        suspects.add(begun - 1)
                elif content is not None and not (content and _blocks_fit(content)):
                    suspects.add(begun - 1)
                for call in message["tool_calls"]:
                    call_id, function = call["id"], call["function"]
                    call_ids.append(call_id)
                    if call["type"] != "function":
                        suspects.add(begun - 1)
                    tool_names.add(function["name"])
                    arguments.append(function["arguments"])
                    answer = messages[index] if index < count else message
                    if answer["role"] == "tool" and answer["tool_call_id"] == call_id:
                        output = answer["content"]
                        if type(output) is str:
                            if output.isascii() or not is_cut(output):
                                index += len(output) > _SHORT or output not in PLACEHOLDERS
                        else:
                            index += _is_text(output)
                called = index - begun
                if called != 1 and (not called or called != len(set(call_ids[-called:]))):
                    suspects.add(begun - 1)
                elif called != len(message["tool_calls"]):
                    suspects.add(begun - 1)
            elif role in _SPEAKERS:
                content = message["content"]
                if type(content) is str:
                    if (not content and role == "assistant") or not (content.isascii() or not is_cut(content)):
                        suspects.add(index - 1)
                elif not content or not _blocks_fit(content):
                    suspects.add(index - 1)
                if "function_call" in message:
                    suspects.add(index - 1)
            else:
                suspects.add(index - 1)
        except (KeyError, TypeError):
            suspects.add(index - 1)
    if not_objects(arguments) or not _ids_fit(call_ids) or not _names_fit(tool_names):
        suspects.update(i for i, message in enumerate(messages) if not _calls_fit(message))
    return suspects


def _blocks_fit(content: Any) -> bool:
    """Whether these are blocks of content."""
    return type(content) is list and all(
        type(block) is dict
        and type(block.get("type")) is str
        and block["type"]
        and (block["type"] != "text" or (type(block.get("text")) is str and not is_cut(block["text"])))
        for block in content
    )


def _is_text(output: Any) -> bool:
    """Whether a result is a list of text blocks."""
    return bool(output) and isinstance(output, list) and all(
        isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str) and not is_cut(block["text"])
        for block in output
    )


def _ids_fit(call_ids: list[str]) -> bool:
    return not call_ids or (set(map(type, call_ids)) == {str} and "" not in call_ids and len(max(call_ids, key=len)) <= 40)


def _names_fit(names: Iterable[str]) -> bool:
    return all(
        type(name) is str and len(name) <= 128 and name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
        for name in names
    )


def _calls_fit(message: Any) -> bool:
    """Whether a message's calls, if it has any, are those of a healthy one."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not calls:
        return True
    try:
        functions = [call["function"] for call in calls]
        return (
            _ids_fit([call["id"] for call in calls])
            and _names_fit(f["name"] for f in functions)
            and not not_objects([f["arguments"] for f in functions])
        )
    except (KeyError, TypeError):
        return False



def continues(message: Any, before: Any, /) -> bool:
    """Results belong to the round of their call."""
    return isinstance(message, dict) and message.get("role") in ("tool", "function")


def mentions(messages: list[Any], calls: set[str], /) -> set[int]:
    """The messages that make or answer one of these calls."""
    found: set[int] = set()
    for index, message in enumerate(messages):
        try:
            if "tool_call_id" in message:
                if message["tool_call_id"] in calls:
                    found.add(index)
            elif "tool_calls" in message:
                for call in message["tool_calls"] or ():
                    if call["id"] in calls:
                        found.add(index)
        except (KeyError, TypeError):
            found.add(index)
    return found


def fits(messages: list[Any], /) -> int:
    """Calls in `tool_calls`, results as role `tool`, plain content."""
    score = 0
    for message in messages:
        if "tool_calls" in message or message.get("role") in ("tool", "function", "developer"):
            score += DECISIVE
        elif "role" in message and "content" in message and "type" not in message:
            score += 1
    return score
