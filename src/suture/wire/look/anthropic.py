"""The fast look at Anthropic messages."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import msgspec

from suture.transcript import PLACEHOLDERS
from suture.wire.base import DECISIVE, Request, is_cut

__all__ = ["continues", "fits", "makes_call", "mentions", "scan"]

_REASONING: Final = ("thinking", "redacted_thinking")
_SPEAKERS: Final = frozenset({"user", "assistant"})
_SHORT: Final = max(map(len, PLACEHOLDERS))
"""A result this short may be a placeholder and is looked up."""
_ODD: Final = re.compile(r"[^a-zA-Z0-9_\-\n]")


def scan(messages: list[Any], request: Request, /) -> set[int]:
    """The messages that may break a rule: one walk over all blocks.

    It knows the common forms of a healthy history; all else is suspect, and read in full: blocks with keys that are not
    theirs by default (cache markers, callers), the provider's own tools, results in another order.
    """
    suspects: set[int] = set()
    named: list[str] = []
    tool_names: set[str] = set()
    inputs: list[Any] = []
    asked: list[str] = []
    index = -1
    for message in messages:
        index += 1
        try:
            role, content = message["role"], message["content"]
            if type(content) is str:
                if asked or not content or _is_odd(content) or role not in _SPEAKERS:
                    suspects.update((index - 1, index))
                asked = []
            elif role == "assistant":
                if asked or not content:
                    suspects.update((index - 1, index))
                asked = []
                for block in content:
                    kind = block["type"]
                    if kind == "tool_use":
                        asked.append(block["id"])
                        tool_names.add(block["name"])
                        inputs.append(block["input"])
                        if len(block) != 4 or type(block["input"]) is not dict:
                            suspects.add(index)
                    elif kind == "text":
                        text = block["text"]
                        if not text or text.isspace() or len(block) != 2 or not (text.isascii() or not is_cut(text)):
                            suspects.add(index)
                    elif kind != "thinking" or not _is_first(block, content):
                        suspects.add(index)
                named += asked
            elif role != "user" or not content or not _answers(asked, content):
                suspects.update((index - 1, index))
                named += _made(message)
                asked = []
            else:
                asked = []
        except (KeyError, TypeError, AttributeError):
            suspects.update((index - 1, index))
            named += _made(message)
            asked = []
    if asked:
        suspects.add(index)
    suspects.discard(-1)
    if not _writable(inputs):
        suspects.update(
            i for i, m in enumerate(messages) if not _writable([b.get("input") for b in _content_blocks(m)])
        )
    _look_over(named, tool_names, messages, suspects)
    _look_at_ends(messages, request, suspects)
    return suspects


def _made(message: Any) -> list[str]:
    """The ids of the calls in a message that is not well-formed."""
    uses = (block for block in _content_blocks(message) if block.get("type") == "tool_use")
    return [use["id"] for use in uses if isinstance(use.get("id"), str)]


def _is_first(block: dict[str, Any], content: list[Any]) -> bool:
    """Whether signed reasoning stands where it was said, and once."""
    return block is content[0] and len(block) == 3 and bool(block["signature"]) and content.count(block) == 1


def _is_odd(text: str) -> bool:
    """Whether a text is only white space, or cut in the middle of a character."""
    return text.isspace() or not (text.isascii() or not is_cut(text))


def _writable(inputs: list[Any]) -> bool:
    """Whether UTF-8 can hold these arguments."""
    try:
        msgspec.json.encode(inputs)
    except (UnicodeError, TypeError, ValueError, RecursionError):
        return False
    return True


def _answers(asked: list[str], content: list[Any]) -> bool:
    """Whether a user message begins with the results of these calls, in their order, and has no others."""
    place, count = 0, len(asked)
    for block in content:
        kind = block["type"]
        if kind == "tool_result":
            if place >= count or block["tool_use_id"] != asked[place]:
                return False
            place += 1
            output = block["content"]
            if type(output) is str:
                if len(output) <= _SHORT and output.strip() in PLACEHOLDERS:
                    return False
                if not output.isascii() and is_cut(output):
                    return False
            elif "is_error" in block or not _is_rich(output):
                return False
            if len(block) != 3 and ("is_error" not in block or len(block) != 4):
                return False
        elif kind == "text":
            text = block["text"]
            if place < count or not text or _is_odd(text) or len(block) != 2:
                return False
            place = count = -1
        elif place < count or kind not in ("image", "document") or "cache_control" in block:
            return False
        else:
            place = count = -1
    return place == count


def _is_rich(output: Any) -> bool:
    """Whether a result is a list of text that is not empty, and images."""
    return isinstance(output, list) and all(
        (block["type"] == "text" and block["text"] and len(block) == 2 and not is_cut(block["text"]))
        or block["type"] == "image"
        for block in output
    )


def _look_over(named: list[str], tool_names: set[str], messages: list[Any], suspects: set[int]) -> None:
    """What only the whole history shows: ids that repeat, and characters and lengths that are not taken."""
    try:
        repeats = len(set(named)) != len(named)
    except TypeError:
        suspects.update(range(len(messages)))
        return
    if repeats:
        seen: set[str] = set()
        repeated = {name for name in named if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
        suspects.update(i for i, m in enumerate(messages) if not repeated.isdisjoint(_ids(m)))
    if not (_fit(named) and _fit(tool_names)):
        suspects.update(i for i, m in enumerate(messages) if not _fit([*_ids(m), *_names(m)]) or _lacks(m))


def _fit(words: Collection[str]) -> bool:
    """Whether these ids or names are words that the format takes."""
    if not words:
        return True
    return (
        set(map(type, words)) == {str}
        and "" not in words
        and not _ODD.search("\n".join(words))
        and len(max(words, key=len)) <= 200
    )


def _lacks(message: Any) -> bool:
    """Whether a call of this message has no id or name that is text."""
    uses = [block for block in _content_blocks(message) if block.get("type") == "tool_use"]
    return any(not isinstance(use.get(key), str) for use in uses for key in ("id", "name"))


def _look_at_ends(messages: list[Any], request: Request, suspects: set[int]) -> None:
    """The first message, the last ones, and what depends on the request."""
    if not messages:
        return
    last = len(messages) - 1
    if _role(messages[0]) != "user":
        suspects.add(0)
    model = request.get("model")
    if model:
        suspects.update(i for i, m in enumerate(messages) if isinstance(m, dict) and m.get("model", model) != model)
    if isinstance(request.get("tools"), list) and not request["tools"]:
        suspects.update(i for i, m in enumerate(messages) if any(True for _ in _ids(m)))
    ends_in_thought = _role(messages[last]) == "assistant" and _kind_of_last(messages[last]) in _REASONING
    if ends_in_thought or _ends_in_space(messages[last]) or request.get("prefill") is False or _says_thinking(request):
        while last > 0 and _role(messages[last]) != "assistant":
            last -= 1
        suspects.update(range(_loop_begins(messages) if _says_thinking(request) else last, len(messages)))


def _loop_begins(messages: list[Any]) -> int:
    """Where the user said what the last answers go on with: behind it come only calls and their results."""
    for at in range(len(messages) - 1, -1, -1):
        kinds = {block.get("type") for block in _content_blocks(messages[at])}
        if _role(messages[at]) != "assistant" and kinds != {"tool_result"}:
            return at
    return 0


def _says_thinking(request: Request) -> bool:
    return isinstance(request.get("thinking"), bool)


def _ends_in_space(message: Any) -> bool:
    content = message.get("content") if _role(message) == "assistant" else None
    if isinstance(content, list) and content and isinstance(content[-1], dict):
        content = content[-1].get("text")
    return isinstance(content, str) and content[-1:].isspace()


def _kind_of_last(message: dict[str, Any]) -> Any:
    content = message.get("content")
    block = content[-1] if isinstance(content, list) and content else None
    return block.get("type") if isinstance(block, dict) else None


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else None


def _content_blocks(message: Any) -> Iterator[dict[str, Any]]:
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def continues(message: Any, before: Any, /) -> bool:
    """Results belong to the round of their call, and so do answers in a row."""
    if _role(message) == "assistant":
        return bool(_role(before) == "assistant")
    return any(block.get("type") == "tool_result" for block in _content_blocks(message))


def mentions(messages: list[Any], calls: set[str], /) -> set[int]:
    """The messages that make one of these calls; their results are in the same round."""
    with contextlib.suppress(KeyError, TypeError):
        answers = [m["content"] for m in messages if m["role"] == "assistant" and type(m["content"]) is list]
        if calls.isdisjoint([block["id"] for content in answers for block in content if "id" in block]):
            return set()
    found: set[int] = set()
    index = -1
    for message in messages:
        index += 1
        try:
            if message["role"] == "user" or type(message["content"]) is str:
                continue
            for block in message["content"]:
                if "id" in block and block["id"] in calls:
                    found.add(index)
        except (KeyError, TypeError):
            found.add(index)
    return found


def _ids(message: Any) -> Iterator[str]:
    """The ids of its calls, and of the calls that it answers."""
    for block in _content_blocks(message):
        kind = block.get("type")
        key = "tool_use_id" if isinstance(kind, str) and kind.endswith("tool_result") else "id"
        if isinstance(kind, str) and "tool_" in kind and isinstance(block.get(key), str):
            yield block[key]


def _names(message: Any) -> Iterator[str]:
    """The names of the tools that it calls."""
    return (
        b["name"] for b in _content_blocks(message) if b.get("type") == "tool_use" and isinstance(b.get("name"), str)
    )


_BLOCKS: Final = frozenset({"tool_use", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"})


def makes_call(message: dict[str, Any], /) -> bool:
    """Whether a message makes a call the way this format does."""
    return any(block.get("type") == "tool_use" and "input" in block for block in _content_blocks(message))


def fits(messages: list[Any], /) -> int:
    """Calls and results as blocks of `content`, no role of their own."""
    score = 0
    for message in messages:
        kinds = {str(block.get("type")) for block in _content_blocks(message)}
        if any(kind in _BLOCKS or kind.endswith("tool_result") for kind in kinds):
            score += DECISIVE
        elif "tool_calls" not in message and "type" not in message and _role(message) in ("user", "assistant"):
            score += isinstance(message.get("content"), list) and kinds <= {"text", "image", "document"}
    return score
