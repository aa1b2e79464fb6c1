"""The close look at Responses items: every type of item, every setting.

What a healthy item is, is a type that C checks for the whole list at once; a few walks over what came out of it, each
over its own types of items, do the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

import msgspec

from suture.transcript import PLACEHOLDERS
from suture.wire.base import Request, is_cut, not_objects, typed_scan
from suture.wire.openai_responses_read import CALLS, NOT_PRODUCED, OUTPUTS, hosted, kind_of

__all__ = ["SAID", "is_plain", "look_closely", "output_is_odd"]

_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class _Part(msgspec.Struct, gc=False):
    type: str
    text: str | None = None


class _Item(msgspec.Struct, gc=False):
    type: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    role: str | None = None
    content: Annotated[str, msgspec.Meta(min_length=1)] | Annotated[list[_Part], msgspec.Meta(min_length=1)] | None = (
        None
    )
    id: _Id | None = None
    call_id: _Id | None = None
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] | None = None
    arguments: str | dict[str, Any] | None = None
    output: Any = None
    encrypted_content: str | None = None


_PREFIXES: Final[dict[str | None, str]] = {
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
    "reasoning": "rs_",
    "message": "msg_",
    None: "msg_",
}
_BORROWED: Final = frozenset({"local_shell_call_output", "item_reference"})
"""Items whose id is that of another item."""
_ANSWERS: Final = {call: answer for call, answer in zip(CALLS, OUTPUTS, strict=True) if CALLS[call] != "tool_search"}
"""Tool searches are left out: some are the server's. They are rare, and always read closely."""
_PAIRED: Final = frozenset(_ANSWERS.values())
SAID: Final = {"user": "input_text", "system": "input_text", "developer": "input_text", "assistant": "output_text"}
"""The type of the text parts of each role."""
_TEXTS: Final = frozenset({"", "text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
_PLAIN: Final = frozenset({"function_call", "message", "function_call_output", "reasoning", None, "?"})
"""The types of most items; all others are looked at one by one."""
_LEADS_NOWHERE: Final = frozenset({*OUTPUTS, *NOT_PRODUCED, "", "?"})
"""What reasoning did not lead to; what does not fit may be a user's message."""
_FAR_REACHING: Final = frozenset(
    {"compaction_trigger", "item_reference", "mcp_approval_request"}
    | {"open_calls", "previous_response_id", "conversation", "reasoning_model", "stored_reasoning_for"}
)
"""Items and settings that bear upon items anywhere: what is wrong is then judged as a whole."""
_READERS: Final = frozenset({"model", "store"})
"""Settings that tell which reasoning can be read, and so what comes of all that it led to."""
_SHORT: Final = max(map(len, PLACEHOLDERS))
"""A result this short may be a placeholder and is read closely."""


def look_closely(messages: list[Any], request: Request) -> tuple[set[int], bool]:
    """The items that may break a rule, over what C has found well-shaped; and whether they concern the whole history.

    The items are told apart by their type once; what comes then looks at its own types only.
    """
    typed, suspects = typed_scan(messages, _Item)
    if suspects:
        typed = [item or _unfit(message) for item, message in zip(typed, messages, strict=True)]
    by_type = _by_type(typed)
    untyped = [index for index in by_type.get(None, ()) if typed[index].role is None]
    if untyped:
        suspects.update(untyped)
        for index in untyped:
            typed[index] = _unfit(messages[index])
        by_type = _by_type(typed)
    if not _is_paired(typed, by_type, request):
        suspects.update(_unpaired(typed, request))
    suspects.update(_wrong_messages(typed, by_type))
    suspects.update(_wrong_ids(typed, by_type))
    suspects.update(_wrong_calls(typed, by_type))
    thoughts = set(_wrong_reasoning(messages, typed, by_type.get("reasoning", ()), request, suspects))
    suspects |= thoughts
    others = [index for kind, indexes in by_type.items() if kind not in _PLAIN for index in indexes]
    suspects.update(_others(messages, typed, sorted(others)))
    suspects.update(_by_request(messages, by_type, request))
    far = not (_FAR_REACHING.isdisjoint(by_type) and _FAR_REACHING.isdisjoint(request))
    as_a_whole = far or (thoughts and not _READERS.isdisjoint(request))
    return suspects, bool(suspects and as_a_whole)


def _by_type(typed: list[_Item]) -> dict[str | None, list[int]]:
    """The places of the items of each type."""
    by_type: dict[str | None, list[int]] = {}
    for index, item in enumerate(typed):
        try:
            by_type[item.type].append(index)
        except KeyError:
            by_type[item.type] = [index]
    return by_type


def _unfit(message: Any) -> _Item:
    """What does not fit, and is suspect already: its ids are of interest, and what hangs on it by its type."""
    if not isinstance(message, dict):
        return _Item(type="?")
    kind, call_id, own = kind_of(message), message.get("call_id"), message.get("id")
    return _Item(
        type=kind if kind in CALLS or kind in OUTPUTS or kind == "reasoning" else "?",
        call_id=call_id if isinstance(call_id, str) else None,
        id=own if isinstance(own, str) else None,
    )


def _is_paired(typed: list[_Item], by_type: dict[str | None, list[int]], request: Request) -> bool:
    """Whether each call has an id of its own and its result behind it: then nothing about pairs has to be looked at."""
    if any(
        request.get(setting) for setting in ("open_calls", "previous_response_id", "conversation", "adjacent_outputs")
    ):
        return False
    bounds = [index for kind in ("message", None) for index in by_type.get(kind, ()) if _speaks(typed[index])]
    bounds += (index for kind in CALLS for index in by_type.get(kind, ()) if typed[index - 1].type in OUTPUTS)
    bounds.sort()
    bounds.append(len(typed))
    called = results = 0
    for call, answer in _ANSWERS.items():
        made, given = by_type.get(call, ()), by_type.get(answer, ())
        if len(made) != len(given):
            return False
        calls = {typed[index].call_id: index for index in made}
        answers = {typed[index].call_id: index for index in given}
        if not len(made) == len(calls) == len(answers) or calls.keys() != answers.keys() or None in calls:
            return False
        if not _is_in_place([(index, answers[call_id]) for call_id, index in calls.items()], bounds):
            return False
        called += len(made)
        results += 1 if made else 0
    return results < 2 or called == len({typed[i].call_id for kind in _ANSWERS for i in by_type.get(kind, ())})


def _speaks(item: _Item) -> bool:
    """Whether a message ends what the model was at: the results of its calls come before it."""
    return item.role is not None and item.role != "assistant"


def _is_in_place(pairs: list[tuple[int, int]], bounds: list[int]) -> bool:
    """Whether each result comes behind its call and before the next bound; both in order, the last bound the end."""
    nexts = iter(bounds)
    limit = next(nexts)
    for call, answer in pairs:
        while limit <= call:
            limit = next(nexts)
        if not call < answer < limit:
            return False
    return True


def _unpaired(typed: list[_Item], request: Request) -> Iterator[int]:
    """Calls without a result, results without a call, and those that may not be what answers it.

    Where results come so late that rounds overlap, all from the call to the result is one.
    """
    known = request.get("open_calls")
    owed = {call for call in known if isinstance(call, str)} - {""} if isinstance(known, list) else set()
    chained = bool(request.get("previous_response_id") or request.get("conversation")) and not isinstance(known, list)
    ever = {item.call_id for item in typed if item.type in _ANSWERS} if chained else None
    adjacent = bool(request.get("adjacent_outputs"))
    waiting: dict[str, int] = {}
    turn: dict[str, int] = {}
    spoken = begun = -1
    for index, item in enumerate(typed):
        kind = item.type
        if kind in CALLS and typed[index - 1].type in OUTPUTS:
            begun = index
        if kind in _ANSWERS:
            call_id = item.call_id
            if call_id is None or call_id in turn or call_id in waiting or call_id in owed:
                yield index
                yield turn.get(call_id or "", index)
                yield waiting.get(call_id or "", index)
            if call_id:
                waiting[call_id] = turn[call_id] = index
        elif kind in _PAIRED:
            at = waiting.pop(item.call_id or "", -1)
            if at >= 0:
                if _ANSWERS[typed[at].type or ""] != kind or at < spoken or (adjacent and at != index - 1):
                    yield from (at, index)
                if at < begun:
                    yield from range(at, index + 1)
            elif not _is_expected(item.call_id, owed, ever):
                yield index
        elif _speaks(item):
            spoken = index
            if item.role == "user":
                turn.clear()
    yield from waiting.values()
    if owed and typed:
        yield 0


def _is_expected(call_id: str | None, owed: set[str], ever: set[str | None] | None) -> bool:
    """Whether a result whose call is not in this list may answer one that the server holds; once."""
    if call_id in owed:
        owed.discard(call_id or "")
        return True
    if ever is None or call_id is None or call_id in ever:
        return False
    ever.add(call_id)
    return True


def _wrong_messages(typed: list[_Item], by_type: dict[str | None, list[int]]) -> Iterator[int]:
    """Messages with nothing in them, or with parts that their role does not say; results that are read closely."""
    for index in by_type.get("function_call_output", ()):
        output = typed[index].output
        plain = type(output) is str and len(output) > _SHORT and output.isascii()
        if not plain and output_is_odd(output):
            yield index
    for kind in ("message", None):
        for index in by_type.get(kind, ()):
            item = typed[index]
            content, wanted = item.content, SAID.get(item.role or "")
            if wanted is None or content is None:
                yield index
            elif isinstance(content, str):
                if not content.isascii() and is_cut(content):
                    yield index
            elif _parts_are_odd(content, wanted):
                yield index


def _parts_are_odd(parts: list[_Part], wanted: str) -> bool:
    """Whether parts have another role's types, carry nothing, or cannot be written."""
    if all(part.type == wanted and part.text and part.text.isascii() for part in parts):
        return False
    refusals = ("refusal",) if wanted == "output_text" else ()
    for part in parts:
        if part.type in _TEXTS and part.type not in refusals and (part.type != wanted or part.text is None):
            return True
        if (wanted == "output_text" and part.type.startswith("input_")) or is_cut(part.text or ""):
            return True
    return not any(part.type != wanted or part.text for part in parts)


def output_is_odd(output: Any) -> bool:
    """Whether a function's result is a placeholder, or neither text nor parts of input."""
    if isinstance(output, str):
        return output.strip() in PLACEHOLDERS or is_cut(output)
    if not isinstance(output, list) or not all(isinstance(p, dict) and isinstance(p.get("type"), str) for p in output):
        return True
    texts = [part.get("text") for part in output if part["type"] == "input_text"]
    if not all(isinstance(text, str) for text in texts) or not all(
        part["type"].startswith("input_") for part in output
    ):
        return True
    whole = "\n".join(texts)
    return whole.strip() in PLACEHOLDERS or is_cut(whole)


def _wrong_ids(typed: list[_Item], by_type: dict[str | None, list[int]]) -> Iterator[int]:
    """Items with an id that is not well-formed, or not theirs alone."""
    named: list[str] = []
    for kind, indexes in by_type.items():
        if kind in _BORROWED:
            continue
        own = list(filter(None, [typed[index].id for index in indexes]))
        named += own
        prefix = _PREFIXES.get(kind, "")
        if "\n".join(["", *own]).count(f"\n{prefix}") != len(own):
            for index in indexes:
                item = typed[index]
                spoken = prefix != "msg_" or item.role == "assistant"
                if spoken and item.id is not None and not item.id.startswith(prefix):
                    yield index
    if named and (len(named) != len(set(named)) or not is_plain("".join(named))):
        yield from _ids_to_read(typed)


def _ids_to_read(typed: list[_Item]) -> Iterator[int]:
    """The items whose ids are the odd ones."""
    seen: dict[str, int] = {}
    for index, item in enumerate(typed):
        if item.id is None or item.type in _BORROWED:
            continue
        first = seen.setdefault(item.id, index)
        if first != index:
            yield from (first, index)
        if not is_plain(item.id):
            yield index


def is_plain(text: str) -> bool:
    """Letters, digits, underscores and dashes, at least one."""
    return bool(text) and not text.encode("utf-8", "replace").translate(None, _PLAIN_BYTES)


_PLAIN_BYTES: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


def _wrong_calls(typed: list[_Item], by_type: dict[str | None, list[int]]) -> Iterator[int]:
    """Calls whose arguments are no object as text, or whose name is not taken."""
    calls = by_type.get("function_call", [])
    arguments = [typed[index].arguments for index in calls]
    if not all(isinstance(text, str) for text in arguments) or not_objects(arguments):  # type: ignore[arg-type]
        for index, text in zip(calls, arguments, strict=True):
            if not isinstance(text, str) or not_objects([text]):
                yield index
    named = [*calls, *by_type.get("custom_tool_call", ())]
    refused = {name for name in {typed[index].name for index in named} if not name or not is_plain(name)}
    if refused:
        yield from (index for index in named if typed[index].name in refused)


def _wrong_reasoning(
    messages: list[Any], typed: list[_Item], thoughts: Iterable[int], request: Request, suspects: set[int]
) -> Iterator[int]:
    """Reasoning that led to nothing or cannot be read, and what comes without its reasoning."""
    model, stored = request.get("model"), request.get("store") is not False
    last = len(typed) - 1
    for index in thoughts:
        led = index < last and index + 1 not in suspects and _is_led_to(typed[index + 1])
        readable = stored or typed[index].encrypted_content
        if not (led and readable) or (model and ("model" in messages[index] or "provider_data" in messages[index])):
            stays = (i for i in range(index + 1, last) if i not in suspects and typed[i].type not in OUTPUTS)
            yield from range(index, next(stays, last) + 1)
    if request.get("reasoning_model") is True or isinstance(request.get("stored_reasoning_for"), dict):
        yield from _without_reasoning(typed, request)


def _is_led_to(item: _Item) -> bool:
    """Whether the model made this item, so that reasoning may have led to it."""
    kind = item.type
    return item.role == "assistant" if kind is None or kind == "message" else kind not in _LEADS_NOWHERE


def _without_reasoning(typed: list[_Item], request: Request) -> Iterator[int]:
    """Items with an id whose reasoning does not stand before them, as far as the request tells."""
    needs = request.get("stored_reasoning_for")
    thoughts: set[str | None] = set()
    for index, item in enumerate(typed):
        if item.type in ("reasoning", "item_reference"):
            thoughts.add(item.id)
        elif item.role is not None and item.role != "assistant":
            thoughts = set()
        elif item.id is not None:
            if isinstance(needs, dict):
                if needs.get(item.id) and needs[item.id] not in thoughts:
                    yield index
            elif not thoughts:
                yield index


def _others(messages: list[Any], typed: list[_Item], others: list[int]) -> Iterator[int]:
    """The rarer types, one by one."""
    approvals: dict[Any, int] = {}
    for index in others:
        item, wire = typed[index], messages[index]
        if item.type == "mcp_approval_request":
            approvals[item.id] = index
        elif item.type == "mcp_approval_response":
            asked = wire.get("approval_request_id")
            if not isinstance(asked, str) or approvals.pop(asked, None) is None:
                yield index
        elif item.type == "compaction_trigger":
            if index != len(messages) - 1:
                yield index
        elif _is_odd(item.type or "", item, wire) or not _is_writable(wire):
            yield index
    yield from approvals.values()


def _is_odd(kind: str, item: _Item, wire: dict[str, Any]) -> bool:
    """Whether a call or a result of a rarer kind has to be read closely."""
    output = item.output
    if not kind:
        return True
    if kind == "custom_tool_call":
        return not isinstance(wire.get("input"), str)
    if kind == "custom_tool_call_output":
        return output_is_odd(output)
    if kind == "computer_call":
        return bool(wire.get("pending_safety_checks"))
    if kind == "computer_call_output":
        return not isinstance(output, dict) or output.get("type") != "computer_screenshot"
    if kind == "local_shell_call_output":
        return item.id is None or not isinstance(output, str) or output.strip() in PLACEHOLDERS
    if kind == "shell_call_output":
        return not isinstance(output, list)
    if kind == "apply_patch_call_output":
        return output is not None and (not isinstance(output, str) or output.strip() in PLACEHOLDERS)
    return kind in ("tool_search_call", "tool_search_output") and not hosted(wire)


def _is_writable(wire: Any) -> bool:
    """Whether UTF-8 can hold every text in an item."""
    try:
        msgspec.json.encode(wire)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _by_request(messages: list[Any], by_type: dict[str | None, list[int]], request: Request) -> Iterator[int]:
    """What only the request's settings make wrong."""
    if messages and request.get("previous_response_id") and request.get("conversation"):
        yield 0
    if request.get("store") is False:
        yield from by_type.get("item_reference", ())
