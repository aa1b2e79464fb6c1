"""The fast look at Responses items: one walk from call to call.

It knows the common forms of a healthy history. The turns in which anything else stands are looked at closely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from suture.transcript import PLACEHOLDERS
from suture.wire.base import DECISIVE, Request, is_cut, not_objects
from suture.wire.look.openai_responses_closely import SAID, is_plain, look_closely, output_is_odd
from suture.wire.openai_responses_read import CALLS, OUTPUTS

__all__ = ["continues", "fits", "makes_call", "mentions", "scan"]

_SETTINGS: Final = frozenset(
    {
        "open_calls",
        "previous_response_id",
        "conversation",
        "adjacent_outputs",
        "reasoning_model",
        "stored_reasoning_for",
    }
)
"""What bears upon healthy items too: with these, everything is looked at closely."""
_SHORT: Final = max(map(len, PLACEHOLDERS))
"""A result this short may be a placeholder."""
_USUAL: Final = {
    "function_call": (frozenset({"type", "call_id", "name", "arguments", "id", "status"}), "fc_"),
    "function_call_output": (frozenset({"type", "call_id", "output", "id", "status"}), ""),
    "message": (frozenset({"type", "role", "content", "id", "status"}), ""),
    "reasoning": (frozenset({"type", "summary", "encrypted_content", "id", "status"}), "rs_"),
}
"""The keys that usual items have, and what their ids begin with."""
_HALVES: Final = ("function_call", "function_call_output")
_END: Final[dict[str, Any]] = {"type": None}


def scan(messages: list[Any], request: Request, /) -> set[int]:
    """The items that may break a rule."""
    odd = None if _SETTINGS & request.keys() else _odd(messages, stored=request.get("store") is not False)
    if odd is None:
        found, whole = look_closely(messages, request)
    elif all(_is_half(messages[index], messages[index - 1]) for index in odd):
        # Whatever stands between a call and its result, both of them are odd.
        return odd
    else:
        rows = _turns(messages, odd)
        found, whole = look_closely([messages[row] for row in rows], request)
        found = _in_full(rows, found)
    return set(range(len(messages))) if whole else found


def _odd(messages: list[Any], *, stored: bool) -> set[int] | None:
    """The items that are not what most are; None where that is not a matter of single items."""
    odd: list[int] = []
    calls: list[Any] = []
    arguments: list[Any] = []
    names: set[Any] = set()
    longer: list[int] = []
    index, count = 0, len(messages)
    while index < count:
        begun, known = index, len(calls)
        usual = True
        try:
            item = messages[index]
            kind = item.get("type", "message")
            if kind == "function_call":
                while kind == "function_call":
                    calls.append(item["call_id"])
                    arguments.append(item["arguments"])
                    names.add(item["name"])
                    if len(item) != 4:
                        longer.append(index)
                    index += 1
                    item = messages[index] if index < count else _END
                    kind = item["type"]
                for call_id in calls[known:]:
                    output = item["output"]
                    plain = type(output) is str and len(output) > _SHORT and output.isascii()
                    answers = item["call_id"] == call_id and item["type"] == "function_call_output"
                    if not answers or (not plain and output_is_odd(output)):
                        usual = False
                        break
                    if len(item) != 3:
                        longer.append(index)
                    index += 1
                    item = messages[index] if index < count else _END
            else:
                usual = _is_spoken(item) if kind == "message" else _leads_on(item, messages[index + 1], stored=stored)
                if usual and (len(item) != 3 or "id" in item):
                    longer.append(index)
                index += 1
        except (LookupError, TypeError, AttributeError):
            usual = False
        if not usual:
            del calls[known:], arguments[known:]
            index = max(index, begun + 1)
            odd += range(begun, index)
    if not _are_told_apart(messages, calls, odd, named=bool(longer)):
        return None
    if not_objects(arguments) or not all(map(_is_name, names)):
        odd += _wrong_calls(messages)
    return {*odd, *(index for index in longer if not _has_usual_keys(messages[index]))}


def _is_spoken(item: dict[str, Any]) -> bool:
    """Whether a message has text, in the parts that its role has."""
    content, wanted = item["content"], SAID[item["role"]]
    if type(content) is str:
        return bool(content) and (content.isascii() or not is_cut(content))
    for part in content:
        text = part["text"]
        if part["type"] != wanted or type(text) is not str or not text or not (text.isascii() or not is_cut(text)):
            return False
    return type(content) is list and bool(content)


def _leads_on(item: dict[str, Any], led: dict[str, Any], *, stored: bool) -> bool:
    """Whether an item is reasoning that can be read, and what follows a call or an answer."""
    sealed = item.get("encrypted_content")
    if item["type"] != "reasoning" or not (stored or sealed) or not (sealed is None or type(sealed) is str):
        return False
    answers: bool = led["type"] == "message" and led["role"] == "assistant"
    return answers or led["type"] == "function_call"


def _has_usual_keys(item: dict[str, Any]) -> bool:
    """Whether an item has the keys of its type and no others, and an id that is one of its type."""
    keys, prefix = _USUAL[item.get("type", "message")]
    own = item.get("id")
    if item.get("role") == "assistant":
        prefix = "msg_"
    fits = own is None or (type(own) is str and own.startswith(prefix))
    return bool(fits and item.keys() <= keys)


def _are_told_apart(messages: list[Any], calls: list[Any], odd: list[int], *, named: bool) -> bool:
    """Whether each call has an id of its own, and each item that has one; and all are well-formed."""
    try:
        others = [messages[at]["call_id"] for at in odd if "call_id" in messages[at] and "output" not in messages[at]]
        own = [item["id"] for item in messages if "id" in item] if named or odd else []
        own = [name for name in own if name is not None]
        if len(calls) + len(others) != len({*calls, *others}) or len(own) != len(set(own)):
            return False
        return _are_ids(calls) and (not own or (_are_ids(own) and is_plain("".join(own))))
    except TypeError:  # a message that is no object, a name that is no text
        return False


def _are_ids(names: list[Any]) -> bool:
    return not names or (set(map(type, names)) == {str} and 0 < min(map(len, names)) <= max(map(len, names)) <= 64)


def _wrong_calls(messages: list[Any]) -> Iterator[int]:
    """The calls whose name is none, or whose arguments are no object as text."""
    for index, item in enumerate(messages):
        is_call = type(item) is dict and item.get("type") == "function_call"
        if is_call and (not _is_name(item.get("name")) or not_objects([item.get("arguments")])):
            yield index


def _is_name(name: Any) -> bool:
    return type(name) is str and len(name) <= 128 and is_plain(name)


def _is_half(item: Any, before: Any) -> bool:
    """Whether an item is one half of a function call, and no reasoning hangs on it."""
    if type(item) is not dict or item.get("type") not in _HALVES:
        return False
    return type(before) is dict and before.get("type") != "reasoning"


def _turns(messages: list[Any], odd: set[int]) -> list[int]:
    """The turns of these items, from the user's message to the next one, which is still a part of it."""
    rows: list[int] = []
    for index in sorted(odd):
        if rows and index < rows[-1]:
            continue
        start, stop = index, index + 1
        while start > 0 and not _begins_turn(messages[start]):
            start -= 1
        while stop < len(messages) and not _begins_turn(messages[stop]):
            stop += 1
        rows += range(max(start, rows[-1] + 1 if rows else 0), min(stop + 1, len(messages)))
    return rows


def _begins_turn(message: Any) -> bool:
    return type(message) is dict and message.get("role") == "user" and message.get("type", "message") == "message"


def _in_full(rows: Sequence[int], found: set[int]) -> set[int]:
    """Places in some turns as places in the whole list; what stands between two neighbours belongs to them."""
    full: set[int] = set()
    for place in found:
        full.update(range(rows[place], rows[place + 1] if place + 1 in found else rows[place] + 1))
    return full


# --- looking up -----------------------------------------------------------------------------------------------------


def continues(message: Any, before: Any, /) -> bool:
    """A round ends before the user's message, and before the first call behind results."""
    if not isinstance(message, dict) or (message.get("role") == "user" and message.get("type", "message") == "message"):
        return False
    return not (_is_one_of(message, CALLS) and _is_one_of(before, OUTPUTS))


def _is_one_of(message: Any, types: Mapping[str, str]) -> bool:
    kind = message.get("type") if isinstance(message, dict) else None
    return isinstance(kind, str) and kind in types


def mentions(messages: list[Any], calls: set[str], /) -> set[int]:
    """The items that name one of these calls, or are the records that go by this name."""
    return {i for i, m in enumerate(messages) if _names(m, "call_id", calls) or _names(m, "id", calls)}


def _names(message: dict[str, Any], key: str, calls: set[str]) -> bool:
    name = message.get(key)
    return isinstance(name, str) and name in calls


def makes_call(message: dict[str, Any], /) -> bool:
    """Whether a message makes a call the way this format does."""
    return _is_one_of(message, CALLS) and "call_id" in message


def fits(messages: list[Any], /) -> int:
    """Items of types that no other format has, parts of input and output; a plain message fits as anywhere."""
    score = 0
    for message in messages:
        kind, content = message.get("type"), message.get("content")
        if isinstance(kind, str) and (kind in CALLS or kind in OUTPUTS):
            score += DECISIVE
        elif isinstance(content, list):
            own = any(isinstance(part, dict) and str(part.get("type")) in _OWN_PARTS for part in content)
            score += DECISIVE if own else 0
        elif isinstance(kind, str) or ("role" in message and "content" in message):
            score += 1
    return score


_OWN_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
