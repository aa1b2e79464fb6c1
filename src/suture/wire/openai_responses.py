"""OpenAI Responses: the `input` items of `/v1/responses`.

Quirks handled here:
- every message, call, result and piece of reasoning is an item of its own; calls and results pair by `call_id`, wherever
  the result stands behind its call;
- an item has an `id` of its own beside that: the server may hold the item, and what it holds is bound to its reasoning;
- a dozen kinds of calls have results of their own types; what the server ran itself has no result at all;
- a list may go on from a response or a conversation that the server holds: then calls may be there and not here.

Reading and printing are files of their own, `openai_responses_read` and `openai_responses_print`. A request says what
this list does not: `store`, `previous_response_id`, `conversation`, `open_calls` (ids of calls open on the server),
`reasoning_model`, `stored_reasoning_for` (item id -> id of its reasoning).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec

from suture.transcript import PLACEHOLDERS, Contract, Limits
from suture.wire.base import Request, not_objects, typed_scan
from suture.wire.openai_responses_print import encode
from suture.wire.openai_responses_read import CALLS, OUTPUTS, ROLES, decode, hosted, kind_of

__all__ = ["NAME", "ROOT", "RULES", "continues", "decode", "encode", "fits", "ids", "limits", "mentions", "names", "scan"]

NAME: Final = "openai_responses"
ROOT: Final = "input"

_LIMITS: Final = Limits(
    results="after",
    joins_roles=True,
    id_max=64,
    id_scope="turn",
    name_pattern=r"[a-zA-Z0-9_-]+",
    name_max=128,
    arguments="text",
)

_NO_OUTPUT = "No tool output found for function call call_…"
_NO_CALL = "No tool call found for function call output with call_id call_…"
_LONG_ID = (
    "Invalid 'input[149].call_id': string too long. Expected a string with maximum length 64, "
    "but got a string with length 86 instead."
)
_NAME = "Invalid 'tools[0].function.name': string does not match pattern. Expected … '^[a-zA-Z0-9_-]+$'"
_TEXT = Contract("OCC-08", "documented", source="openai SDK: arguments is a string")
_OBJECT = Contract("ORS-23", "inferred")

RULES: Final = {
    "unanswered-call": Contract("ORS-01", "seen", _NO_OUTPUT, "openai/openai-agents-python#673"),
    "orphan-result": Contract("ORS-02", "seen", _NO_CALL, "continuedev/continue#10092"),
    "item-id-as-call-id": Contract("ORS-03", "documented", _NO_CALL, "AI SDK: `fc_` breaks call/output pairing"),
    "result-type": Contract("ORS-05", "documented", source="openai SDK: the union of input items"),
    "result-content": Contract("ORS-05", "documented", source="openai SDK: an output is text or a list of input parts"),
    "shell-result-keys": Contract("ORS-06", "documented", source="openai SDK and AI SDK: `id` here, `call_id` there"),
    "separated-reasoning": Contract(
        "ORS-07",
        "seen",
        "Item 'rs_…' of type 'reasoning' was provided without its required following item.",
        "vercel/ai#7099",
    ),
    "reasoning-of-an-id": Contract(
        "ORS-08",
        "seen",
        "Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item: 'rs_…'",
    ),
    "unstored-reference": Contract(
        "ORS-09", "seen", "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false."
    ),
    "unstored-reasoning": Contract(
        "ORS-09",
        "seen",
        "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false.",
        "openai/openai-agents-python#2020",
    ),
    "foreign-reasoning": Contract(
        "ORS-10",
        "seen",
        "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    ),
    "duplicate-item": Contract("ORS-11", "seen", "Duplicate item found with id fc_…", "github/copilot-cli#3560"),
    "untyped-item": Contract("ORS-05", "documented", source="openai SDK: `type` and `role` are literals"),
    "malformed-item-id": Contract(
        "ORS-12",
        "seen",
        "Invalid 'input[2].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes",
        "langchain-ai/langchainjs#11044",
    ),
    "malformed-call-id": Contract("ORS-13", "seen", _LONG_ID, "orchidfiles/ungate#26"),
    "missing-call-id": Contract("ORS-13", "documented", source="openai SDK: `call_id` is required"),
    "reused-call-id": Contract("ORS-01", "inferred"),
    "part-type": Contract(
        "ORS-14", "seen", "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."
    ),
    "empty-message": Contract("ORS-14", "inferred"),
    "two-continuations": Contract(
        "ORS-15", "documented", source="openai SDK: cannot be used in conjunction with `conversation`"
    ),
    "unacknowledged-safety-check": Contract("ORS-17", "inferred", source="openai SDK: `acknowledged_safety_checks`"),
    "unanswered-item-approval": Contract("ORS-18", "inferred", source="openai SDK: `mcp_approval_response`"),
    "trigger-not-last": Contract("ORS-20", "documented", source="openai SDK: must be the final input item"),
    "result-before-call": Contract("ORS-22", "inferred", _NO_CALL),
    "misplaced-result": Contract("ORS-22", "inferred"),
    "duplicate-result": Contract("ORS-02", "inferred", _NO_CALL),
    "placeholder-result": Contract("ORS-01", "inferred"),
    "malformed-tool-name": Contract("OCC-09", "seen", _NAME),
    "arguments-encoding": _TEXT,
    "truncated-arguments": _OBJECT,
    "arguments-not-an-object": _OBJECT,
    "doubly-encoded-arguments": _OBJECT,
}


def limits(request: Request, /) -> Limits:
    """The same under every request, but where it says `adjacent_outputs`: then a result is the very next item."""
    return msgspec.structs.replace(_LIMITS, results="next") if request.get("adjacent_outputs") else _LIMITS


# --- the fast look: what a healthy item is, checked in C ------------------------------------------------------------

_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class _Part(msgspec.Struct, gc=False):
    type: str
    text: str | None = None


class _Item(msgspec.Struct, gc=False):
    type: str | None = None
    role: str | None = None
    content: Annotated[str, msgspec.Meta(min_length=1)] | Annotated[list[_Part], msgspec.Meta(min_length=1)] | None = None
    id: _Id | None = None
    call_id: _Id | None = None
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] | None = None
    arguments: str | dict[str, Any] | None = None
    output: Any = None
    encrypted_content: str | None = None


_PREFIXES: Final = {"function_call": "fc_", "custom_tool_call": "ctc_", "reasoning": "rs_"}
_BORROWED: Final = frozenset({"local_shell_call_output", "item_reference"})
"""Items whose id is that of another item."""
_ANSWERS: Final = {call: answer for call, answer in zip(CALLS, OUTPUTS, strict=True) if CALLS[call] != "tool_search"}
"""Tool searches are left out: some are the server's. They are rare, and always read closely."""
_PAIRED: Final = frozenset(_ANSWERS.values())
_SAID: Final = {"user": "input_text", "system": "input_text", "developer": "input_text", "assistant": "output_text"}
_TEXTS: Final = frozenset({"", "text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
_PLAIN: Final = frozenset({"function_call", "message", "function_call_output", "reasoning"})
"""The types of most items; all others are looked at one by one."""
_LEADS_NOWHERE: Final = frozenset({*OUTPUTS, "compaction_trigger", "mcp_approval_response", "additional_tools", ""})
_SHORT: Final = max(map(len, PLACEHOLDERS))
"""A result this short may be a placeholder and is read closely."""


def scan(messages: list[Any], request: Request, /) -> set[int]:
    """The items that may break a rule: a few walks over what C has found well-shaped."""
    typed, suspects = typed_scan(messages, _Item)
    items = [(index, item) for index, item in enumerate(typed) if item is not None]
    suspects.update(_unpaired(items, typed, request))
    suspects.update(_wrong_messages(items))
    suspects.update(_wrong_ids(items))
    suspects.update(_wrong_calls(items))
    suspects.update(_wrong_reasoning(messages, typed, request))
    others = [(index, item) for index, item in items if item.type not in _PLAIN and item.type is not None]
    suspects.update(index for index, item in others if not item.type)
    suspects.update(_others(messages, others))
    if request.get("store") is False or (request.get("previous_response_id") and request.get("conversation")):
        suspects.update(_by_request(messages, request))
    if suspects and (request.get("open_calls") or any(item.type in _FAR_REACHING for _, item in others)):
        return set(range(len(messages)))
    return _tied(messages, suspects) if suspects else suspects


_FAR_REACHING: Final = frozenset({"compaction_trigger", "item_reference"})
"""Items that move to the end, or that may stand for others anywhere: what is wrong is then judged as a whole."""


def _unpaired(items: list[tuple[int, _Item]], typed: list[Any], request: Request) -> Iterator[int]:
    """Calls without a result, results without a call, and those that may not be what answers it."""
    known = request.get("open_calls")
    owed = {call for call in known if isinstance(call, str)} - {""} if isinstance(known, list) else set()
    chained = bool(request.get("previous_response_id") or request.get("conversation")) and not isinstance(known, list)
    ever = {item.call_id for _, item in items if item.type in _ANSWERS} if chained else None
    adjacent = bool(request.get("adjacent_outputs"))
    waiting: dict[str, int] = {}
    turn: set[str] = set()
    for index, item in items:
        kind = item.type
        if kind in _ANSWERS:
            call_id = item.call_id
            if call_id is None or call_id in turn or call_id in waiting or call_id in owed:
                yield index
            else:
                waiting[call_id] = index
                turn.add(call_id)
        elif kind in _PAIRED:
            at = waiting.pop(item.call_id or "", -1)
            if at >= 0:
                if _ANSWERS[typed[at].type] != kind or (adjacent and at != index - 1):
                    yield index
            elif item.call_id in owed:
                owed.discard(item.call_id or "")
            elif ever is None or item.call_id is None or item.call_id in ever:
                yield index
            else:
                ever.add(item.call_id)
        elif item.role == "user":
            turn.clear()
    yield from waiting.values()
    if owed and typed:
        yield 0


def _wrong_messages(items: list[tuple[int, _Item]]) -> Iterator[int]:
    """Messages with nothing in them, or with parts that their role does not say; results that are read closely."""
    for index, item in items:
        kind = item.type
        if kind == "function_call_output":
            output = item.output
            if type(output) is not str or len(output) <= _SHORT:
                if _output_is_odd(output):
                    yield index
        elif kind == "message" or kind is None:
            content = item.content
            if type(content) is not str:
                wanted = _SAID.get(item.role or "", "")
                if content is None or not all(part.type == wanted and part.text for part in content):
                    if content is None or _parts_are_odd(content, wanted):
                        yield index
            if item.role not in ROLES:
                yield index


def _parts_are_odd(parts: list[_Part], wanted: str) -> bool:
    """Whether parts have another role's types, or carry nothing."""
    refusals = ("refusal",) if wanted == "output_text" else ()
    for part in parts:
        if part.type in _TEXTS and part.type not in refusals and (part.type != wanted or part.text is None):
            return True
        if wanted == "output_text" and part.type.startswith("input_"):
            return True
    return not any(part.type != wanted or part.text for part in parts)


def _output_is_odd(output: Any) -> bool:
    """Whether a function's result is a placeholder, or neither text nor parts of input."""
    if isinstance(output, str):
        return output.strip() in PLACEHOLDERS
    if not isinstance(output, list) or not all(isinstance(p, dict) and isinstance(p.get("type"), str) for p in output):
        return True
    texts = [part.get("text") for part in output if part["type"] == "input_text"]
    others = [part for part in output if part["type"] != "input_text"]
    if not all(isinstance(text, str) for text in texts) or "\n".join(texts).strip() in PLACEHOLDERS:
        return True
    return not all(part["type"].startswith("input_") for part in others)


def _wrong_ids(items: list[tuple[int, _Item]]) -> Iterator[int]:
    """Items with an id that is not well-formed, or not theirs alone."""
    seen: dict[str, int] = {}
    for index, item in items:
        item_id = item.id
        if item_id is None or item.type in _BORROWED:
            continue
        prefix = _PREFIXES.get(item.type or "message") or ("msg_" if item.role == "assistant" else "")
        if not item_id.startswith(prefix):
            yield index
        first = seen.setdefault(item_id, index)
        if first != index:
            yield index
            yield first
    if seen and not _plain_text("".join(seen)):
        yield from (index for item_id, index in seen.items() if not _plain_text(item_id))


def _plain_text(text: str) -> bool:
    """Letters, digits, underscores and dashes, at least one."""
    return text.isascii() and text.replace("_", "a").replace("-", "a").isalnum()


def _wrong_calls(items: list[tuple[int, _Item]]) -> Iterator[int]:
    """Calls whose arguments are no object as text, or whose name is not taken."""
    calls = [(index, item) for index, item in items if item.type == "function_call"]
    arguments = [item.arguments for _, item in calls]
    if set(map(type, arguments)) - {str} or not_objects(arguments):  # type: ignore[arg-type]
        for index, item in calls:
            if not isinstance(item.arguments, str) or not_objects([item.arguments]):
                yield index
    calls += [(index, item) for index, item in items if item.type == "custom_tool_call"]
    refused = {name for name in {item.name for _, item in calls} if not name or not _plain_text(name)}
    if refused:
        yield from (index for index, item in calls if item.name in refused)


def _wrong_reasoning(messages: list[Any], typed: list[Any], request: Request) -> Iterator[int]:
    """Reasoning that led to nothing or cannot be read, and what comes without its reasoning."""
    bound = request.get("reasoning_model") is True or isinstance(request.get("stored_reasoning_for"), dict)
    model, stored = request.get("model"), request.get("store") is not False
    last = len(typed) - 1
    for index, item in enumerate(typed):
        if item is None or item.type != "reasoning":
            continue
        follower = typed[index + 1] if index < last else item
        if follower is not None:
            kind = follower.type
            said = kind == "message" or kind is None
            if index == last or kind in _LEADS_NOWHERE or (said and follower.role != "assistant"):
                yield index
        wire = messages[index]
        if (not stored and not item.encrypted_content) or (model and ("model" in wire or "provider_data" in wire)):
            yield index
    if bound:
        yield from _without_reasoning(typed, request)


def _without_reasoning(typed: list[Any], request: Request) -> Iterator[int]:
    """Items with an id whose reasoning does not stand before them, as far as the request tells."""
    needs = request.get("stored_reasoning_for")
    thoughts: set[str | None] = set()
    for index, item in enumerate(typed):
        if item is None:
            continue
        if item.type in ("reasoning", "item_reference"):
            thoughts.add(item.id)
        elif item.role is not None and item.role != "assistant":
            thoughts = set()
        elif item.id is not None and (
            needs.get(item.id, item.id) not in thoughts and item.id in needs if isinstance(needs, dict) else not thoughts
        ):
            yield index


def _others(messages: list[Any], others: list[tuple[int, _Item]]) -> Iterator[int]:
    """The rarer types, one by one."""
    approvals: dict[Any, int] = {}
    for index, item in others:
        kind, wire = item.type, messages[index]
        if kind == "mcp_approval_request":
            approvals[item.id] = index
        elif kind == "mcp_approval_response":
            asked = wire.get("approval_request_id")
            if not isinstance(asked, str) or approvals.pop(asked, None) is None:
                yield index
        elif kind == "compaction_trigger":
            if index != len(messages) - 1:
                yield index
        elif _is_odd(kind or "", item, wire):
            yield index
    yield from approvals.values()


def _is_odd(kind: str, item: _Item, wire: dict[str, Any]) -> bool:
    """Whether a call or a result of a rarer kind has to be read closely."""
    output = item.output
    if kind == "custom_tool_call":
        return not isinstance(wire.get("input"), str)
    if kind == "custom_tool_call_output":
        return _output_is_odd(output)
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


def _by_request(messages: list[Any], request: Request) -> Iterator[int]:
    """What only the request's settings make wrong."""
    if messages and request.get("previous_response_id") and request.get("conversation"):
        yield 0
    if request.get("store") is False:
        yield from (i for i, wire in enumerate(messages) if isinstance(wire, dict) and kind_of(wire) == "item_reference")


# --- what hangs together --------------------------------------------------------------------------------------------


def _tied(messages: list[Any], suspects: set[int]) -> set[int]:
    """The suspects with their rounds, all rounds that ids tie to these, and all in between.

    A result may stand rounds behind its call, and keeps its place: so a tie pulls in what it spans, and what is pulled in
    brings ties of its own.
    """
    starts = [index for index, message in enumerate(messages) if index == 0 or not continues(message, messages[index - 1])]
    stops = [*starts[1:], len(messages)]
    tied = [_names(messages[start:stop]) for start, stop in zip(starts, stops, strict=True)]
    span: dict[str, list[int]] = {}
    for number, its_ids in enumerate(tied):
        for name in its_ids:
            span.setdefault(name, [number, number])[1] = number
    fresh = list(range(len(starts) + 1))
    found: set[int] = set()
    rounds = {bisect_right(starts, index) - 1 for index in suspects}
    waiting = [(number, number) for number in rounds]
    while waiting:
        first, last = waiting.pop()
        number = _next(fresh, first)
        while number <= last:
            fresh[number] = number + 1
            found.update(range(starts[number], stops[number]))
            waiting += [(span[name][0], span[name][1]) for name in tied[number]]
            number = _next(fresh, number)
    return found


def _names(items: list[Any]) -> set[str]:
    return {name for item in items if type(item) is dict for name in ids(item)}


def _next(fresh: list[int], number: int) -> int:
    """The first round from this one on that is not pulled in yet: each entry leads there, and is shortened on the way."""
    while fresh[number] != number:
        fresh[number] = fresh[fresh[number]]
        number = fresh[number]
    return number


# --- looking up -----------------------------------------------------------------------------------------------------


def continues(message: Any, before: Any, /) -> bool:
    """Everything belongs to the round of the user's message before it."""
    return isinstance(message, dict) and message.get("role") != "user"


def ids(message: Any, /) -> Iterator[str]:
    """The ids of its call, of itself, and of the approval that it answers: what ties items together."""
    for key in ("call_id", "id", "approval_request_id"):
        value = message.get(key)
        if isinstance(value, str):
            yield value


def mentions(messages: list[Any], calls: set[str], /) -> set[int]:
    """The items that name one of these calls."""
    return {i for i, message in enumerate(messages) if type(message) is dict and not calls.isdisjoint(ids(message))}


def names(message: Any, /) -> Iterator[str]:
    """The name of the tool that it calls."""
    name = message.get("name")
    if isinstance(name, str) and kind_of(message) in CALLS:
        yield name


def fits(messages: list[Any], /) -> int:
    """Items of types that no other format has, and parts of input and output."""
    score = 0
    for message in messages:
        kind, content = message.get("type"), message.get("content")
        if kind in CALLS or kind in OUTPUTS or (kind == "reasoning" and "summary" in message):
            score += 4
        elif isinstance(kind, str) and "role" not in message:
            score += 1
        elif isinstance(content, list):
            score += 4 * any(isinstance(part, dict) and part.get("type") in _OWN_PARTS for part in content)
        elif kind == "message" and isinstance(content, str):
            score += 4
    return score


_OWN_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
