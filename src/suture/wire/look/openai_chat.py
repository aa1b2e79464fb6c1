"""The fast look at Chat Completions messages."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from suture.transcript import PLACEHOLDERS
from suture.wire.base import DECISIVE, Request, is_cut, not_objects

__all__ = ["continues", "fits", "makes_call", "mentions", "scan"]

_SPEAKERS: Final = frozenset({"user", "assistant", "system", "developer"})
_SHORT: Final = max(map(len, PLACEHOLDERS))
"""A result this short may be a placeholder and is looked up."""


_OTHERS: Final = frozenset({"", "tool_use", "tool_result"})
"""Blocks that are read closely: in another format they are calls and results."""


def scan(messages: list[Any], request: Request, /) -> set[int]:
    """The messages that may break a rule: one walk from call to call.

    It knows the common forms of a healthy history; all else is suspect, and read in full.
    """
    suspects: set[int] = set()
    ids: list[str] = []
    arguments: list[str] = []
    names: set[str] = set()
    index, count = 0, len(messages)
    while index < count:
        message = messages[index]
        index += 1
        try:
            role = message["role"]
            if role == "assistant" and "tool_calls" in message:
                asked = message["tool_calls"]
                begun = index
                for call in asked:
                    call_id, function = call["id"], call["function"]
                    ids.append(call_id)
                    arguments.append(function["arguments"])
                    names.add(function["name"])
                    if call["type"] != "function":
                        suspects.add(begun - 1)
                    answer = messages[index] if index < count else message
                    if answer["tool_call_id"] == call_id and answer["role"] == "tool":
                        output = answer["content"]
                        if type(output) is str and len(output) > _SHORT and output.isascii():
                            index += 1
                        else:
                            index += _is_result(output)
                usual = index - begun == 1 and len(asked) == 1 and message.get("content") is None
                if not usual and (index - begun != len(asked) or not _stands_beside_calls(message, asked)):
                    suspects.add(begun - 1)
            elif role in _SPEAKERS:
                content = message["content"]
                usual = type(content) is str and content != "" and content.isascii() and "function_call" not in message
                if not usual and not _is_spoken(message, content):
                    suspects.add(index - 1)
            else:
                suspects.add(index - 1)
        except (KeyError, TypeError):
            suspects.add(index - 1)
    if ids and not (_ids_fit(ids) and all(map(_name_fits, names)) and not not_objects(arguments)):
        suspects.update(i for i, m in enumerate(messages) if type(m) is dict and not _calls_fit(m.get("tool_calls")))
    return suspects


def _is_result(output: Any) -> bool:
    """Whether a result is text, and not a placeholder."""
    if type(output) is str:
        if len(output) <= _SHORT and output in PLACEHOLDERS:
            return False
        return output.isascii() or not is_cut(output)
    return bool(output) and _blocks_fit(output) and all(block["type"] == "text" for block in output)


def _stands_beside_calls(message: dict[str, Any], asked: list[Any]) -> bool:
    """Whether there are calls, each with an id of its own, and content that may stand beside them."""
    if len(asked) != 1 and len({call["id"] for call in asked}) != len(asked or "-"):
        return False
    content = message.get("content")
    if type(content) is str:
        return content.isascii() or not is_cut(content)
    return content is None or (bool(content) and _blocks_fit(content))


def _is_spoken(message: dict[str, Any], content: Any) -> bool:
    """Whether a message that is not plain text says something all the same."""
    if "function_call" in message:
        return False
    if type(content) is str:
        return not is_cut(content) and bool(content or message["role"] != "assistant")
    return bool(content) and _blocks_fit(content)


def _blocks_fit(content: Any) -> bool:
    """Whether these are blocks of content."""
    return type(content) is list and all(
        type(block) is dict
        and type(block.get("type")) is str
        and block["type"] not in _OTHERS
        and (block["type"] != "text" or (type(block.get("text")) is str and not is_cut(block["text"])))
        for block in content
    )


def _ids_fit(ids: list[str]) -> bool:
    """Whether all ids are text, none empty or too long."""
    return set(map(type, ids)) == {str} and "" not in ids and max(map(len, ids)) <= 40


def _calls_fit(calls: Any) -> bool:
    """Whether the calls of one message have ids, names and arguments as healthy ones."""
    if not calls:
        return True
    try:
        functions = [call["function"] for call in calls]
        return (
            _ids_fit([call["id"] for call in calls])
            and all(_name_fits(function["name"]) for function in functions)
            and not not_objects([function["arguments"] for function in functions])
        )
    except (KeyError, TypeError):
        return False


def _name_fits(name: Any) -> bool:
    return (
        type(name) is str and len(name) <= 128 and name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    )


def continues(message: Any, before: Any, /) -> bool:
    """Results belong to the round of their call."""
    return isinstance(message, dict) and message.get("role") in ("tool", "function")


def mentions(messages: list[Any], calls: set[str], /) -> set[int]:
    """The messages that make one of these calls; their results are in the same round."""
    with contextlib.suppress(KeyError, TypeError):
        if calls.isdisjoint([call["id"] for m in messages if "tool_calls" in m for call in m["tool_calls"]]):
            return set()
    found: set[int] = set()
    index = -1
    for message in messages:
        index += 1
        try:
            if "tool_calls" in message:
                for call in message["tool_calls"] or ():
                    if call["id"] in calls:
                        found.add(index)
        except (KeyError, TypeError):
            found.add(index)
    return found


def makes_call(message: dict[str, Any], /) -> bool:
    """Whether a message makes a call the way this format does."""
    return isinstance(message.get("tool_calls"), list) and bool(message["tool_calls"])


def fits(messages: list[Any], /) -> int:
    """Calls in `tool_calls`, results as role `tool`, plain content."""
    score = 0
    for message in messages:
        if "tool_calls" in message or message.get("role") in ("tool", "function"):
            score += DECISIVE
        elif "role" in message and "content" in message and "type" not in message:
            score += 1
    return score
