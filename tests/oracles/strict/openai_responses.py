"""OpenAI Responses, section 2 of the contracts (`ORS`), item by item; `responses_pairs` judges calls and outputs.

`ORS-00` is the envelope: members are objects with a type or a role. Names and arguments follow `OCC` (section 12).
Not judged: ORS-10 and -21 (opaque), -19, -23, -24 (nothing to refuse), kinds of items unknown here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.oracles.strict import responses_pairs
from tests.oracles.strict.shape import Messages, Request, kind, name_errors, not_objects, numbered, text_of

NAME = "openai_responses"
ROLES = frozenset({"user", "system", "developer", "assistant"})
ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,64}")
CALL_ID_LENGTH = 64
PREFIXES = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_", "custom_tool_call": "ctc_"}
# What a model does not say: a reasoning item in front of one of these has lost what it led to.
NOT_PRODUCED = frozenset({"compaction_trigger", "mcp_approval_response", "additional_tools"})


def violations(messages: Messages, request: Request) -> list[str]:
    """List what OpenAI would refuse in this input."""
    return [
        *not_objects(messages, "ORS-00"),
        *_items(messages),
        *_ids(messages),
        *_reasoning(messages, request),
        *_request(messages, request),
        *responses_pairs.violations(messages, request),
    ]


def item_kind(item: dict[str, Any]) -> str:
    """Read the kind of an item; what has a role and no type is a message, an id alone refers to an item."""
    if item.keys() == {"id"} and isinstance(item["id"], str):
        return "item_reference"
    return kind(item) or ("message" if "role" in item else "")


def _items(messages: Messages) -> Iterator[str]:
    """Judge every item by itself."""
    for place, item in numbered(messages):
        which, where = item_kind(item), f"[{place}]"
        if not which:
            yield f"ORS-00 {where}: item without type and role"
        elif which == "message":
            yield from _message(item, where)
        elif which in {"function_call", "custom_tool_call"}:
            yield from _call(item, which, where)
        elif which in responses_pairs.OUTPUTS:
            yield from _output(item, which, where)
        elif which == "compaction_trigger" and place != len(messages) - 1:
            yield f"ORS-20 {where}: compaction_trigger is not the last item"


def _message(item: dict[str, Any], where: str) -> Iterator[str]:
    """Judge a message: its role, its content and ORS-14."""
    role, content = text_of(item, "role"), item.get("content")
    if role not in ROLES:
        yield f"ORS-00 {where}: unknown role"
    if not isinstance(content, (str, list)):
        yield f"ORS-00 {where}: content is neither text nor parts"
    for spot, part in enumerate(content if isinstance(content, list) else []):
        which = kind(part) if isinstance(part, dict) else ""
        if not which:
            yield f"ORS-00 {where}.content[{spot}]: not a part"
        elif which.startswith("input_") if role == "assistant" else which in {"output_text", "refusal"}:
            yield f"ORS-14 {where}.content[{spot}]: {which} in a message of {role}"
        elif which in {"input_text", "output_text"} and not isinstance(part.get("text"), str):
            yield f"ORS-00 {where}.content[{spot}]: text part without text"


def _call(item: dict[str, Any], which: str, where: str) -> Iterator[str]:
    """Judge a call by itself: its name and its arguments, as in Chat Completions."""
    yield from name_errors(item.get("name"), where)
    key = "arguments" if which == "function_call" else "input"
    if not isinstance(item.get(key), str):
        yield f"{'OCC-08' if which == 'function_call' else 'OCC-14'} {where}: {key} is not a string"


def _output(item: dict[str, Any], which: str, where: str) -> Iterator[str]:
    """Judge an output by itself: a text or parts of input, and the two keys of ORS-06."""
    output = item.get("output")
    if which in {"function_call_output", "custom_tool_call_output"}:
        parts = output if isinstance(output, list) else []
        if not isinstance(output, (str, list)):
            yield f"ORS-00 {where}: output is neither text nor parts"
        if not all(isinstance(part, dict) and kind(part).startswith("input_") for part in parts):
            yield f"ORS-00 {where}: output holds what is no input part"
    if which == "local_shell_call_output" and not (text_of(item, "id") and text_of(item, "call_id")):
        yield f"ORS-06 {where}: needs both id and call_id"
    if which == "computer_call_output" and kind(output if isinstance(output, dict) else {}) != "computer_screenshot":
        yield f"ORS-17 {where}: the output is no screenshot"


def _ids(messages: Messages) -> Iterator[str]:
    """Judge ORS-11, -12 and -13."""
    seen: set[str] = set()
    for place, item in numbered(messages):
        which, where = item_kind(item), f"[{place}]"
        yield from _call_id(item, which, where)
        item_id = item.get("id")
        # The id of a local shell output is that of its call, and a reference repeats nothing: neither is an own id.
        if item_id is None or which in {"local_shell_call_output", "item_reference"}:
            continue
        if not isinstance(item_id, str) or not ID_PATTERN.fullmatch(item_id):
            yield f"ORS-12 {where}: ill-formed id"
            continue
        own = which != "message" or item.get("role") == "assistant"
        if own and not item_id.startswith(PREFIXES.get(which, "")):
            yield f"ORS-12 {where}: the id of a {which} begins with {PREFIXES[which]}"
        if item_id in seen:
            yield f"ORS-11 {where}: id {item_id!r} twice"
        seen.add(item_id)


def _call_id(item: dict[str, Any], which: str, where: str) -> Iterator[str]:
    """Judge ORS-13 wherever an item pairs by `call_id`."""
    if which not in responses_pairs.ANSWERS and which not in responses_pairs.OUTPUTS:
        return
    if responses_pairs.hosted(item) or which == "local_shell_call_output":
        return
    call_id = item.get("call_id")
    if not isinstance(call_id, str) or not call_id:
        yield f"ORS-00 {where}: {which} without call_id"
    elif len(call_id) > CALL_ID_LENGTH:
        yield f"ORS-13 {where}: call_id longer than {CALL_ID_LENGTH}"


def _reasoning(messages: Messages, request: Request) -> Iterator[str]:
    """Judge ORS-07 to -09: reasoning stands before what it led to, and carries its own text unless it is stored."""
    stored = request.get("stored_reasoning_for")
    needs = stored if isinstance(stored, dict) else {}
    seen: set[str] = set()
    for place, item in numbered(messages):
        if kind(item) == "reasoning":
            seen.add(text_of(item, "id"))
            if not _produced(messages[place + 1] if place + 1 < len(messages) else None):
                yield f"ORS-07 [{place}]: reasoning without the item it led to"
            if request.get("store") is False and not text_of(item, "encrypted_content"):
                yield f"ORS-09 [{place}]: reasoning neither stored nor encrypted"
        elif kind(item) == "item_reference":
            if request.get("store") is False:
                yield f"ORS-09 [{place}]: reference although nothing is stored"
        elif needs.get(text_of(item, "id"), "") not in {"", *seen}:
            yield f"ORS-08 [{place}]: item replayed with its id, without its reasoning"


def _produced(item: object) -> bool:
    """Whether the model made an item, so that reasoning can have led to it."""
    if not isinstance(item, dict):
        return False
    which = item_kind(item)
    if which == "message":
        return item.get("role") == "assistant"
    return bool(which) and which not in responses_pairs.OUTPUTS and which not in NOT_PRODUCED


def _request(messages: Messages, request: Request) -> Iterator[str]:
    """Judge ORS-15 and -18: the request's own keys, and approvals that were asked for."""
    if request.get("previous_response_id") and request.get("conversation"):
        yield "ORS-15 previous_response_id together with conversation"
    asked = {text_of(item, "id"): place for place, item in numbered(messages) if kind(item) == "mcp_approval_request"}
    for place, item in numbered(messages):
        if kind(item) != "mcp_approval_response":
            continue
        request_id = text_of(item, "approval_request_id")
        if request_id not in asked and not responses_pairs.chained(request):
            yield f"ORS-18 [{place}]: answers no approval request"
        asked.pop(request_id, None)
    later = [place for place, item in numbered(messages) if item_kind(item) == "message"]
    for request_id, place in asked.items():
        if later and later[-1] > place:
            yield f"ORS-18 [{place}]: approval {request_id!r} was never answered"
