"""OpenAI Responses, section 2 of the contracts: calls and their outputs (ORS-01 to -05, -16, -17, -22).

Pairing goes by `call_id` and occurrence. An id may be used again once it was answered; while it is open it may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracles.strict.shape import Messages, Request, kind, members, numbered, text_of

# Call -> the output that answers it (ORS-05).
ANSWERS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "tool_search_call": "tool_search_output",
    "local_shell_call": "local_shell_call_output",
}
OUTPUTS = frozenset(ANSWERS.values())


def violations(messages: Messages, request: Request) -> list[str]:
    """List calls without output, outputs without call, and pairs that do not fit."""
    return list(_pairs(messages, request))


def chained(request: Request) -> bool:
    """Whether the server holds earlier items, so that an output may answer a call that is not seen here."""
    return bool(request.get("previous_response_id") or request.get("conversation"))


def hosted(item: dict[str, Any]) -> bool:
    """Whether the server runs this call itself: a tool search there pairs without a call_id."""
    which = kind(item)
    return which in {"tool_search_call", "tool_search_output"} and (
        item.get("execution") == "server" or item.get("call_id") is None
    )


def _pairs(messages: Messages, request: Request) -> Iterator[str]:
    """Walk the items once and match each output with the open call of its id."""
    earlier = request.get("open_calls")
    owed = {each for each in earlier if isinstance(each, str)} if isinstance(earlier, list) else set()
    lenient = chained(request) and not isinstance(earlier, list)
    open_calls: dict[str, dict[str, Any]] = {}
    ever: set[str] = set()
    unmatched: list[tuple[int, dict[str, Any]]] = []
    for place, item in numbered(messages):
        which = kind(item)
        if which in ANSWERS and not hosted(item):
            call_id = text_of(item, "call_id")
            if call_id in open_calls:
                yield f"{_rule(open_calls[call_id])} [{place}]: {call_id!r} is called again before its output"
            open_calls[call_id] = item
            ever.add(call_id)
        elif which in OUTPUTS and not hosted(item):
            call_id = _answered(item, open_calls)
            if call_id in open_calls:
                yield from _fit(open_calls.pop(call_id), item, f"[{place}]")
            elif call_id in owed:
                owed.discard(call_id)
            elif not lenient or call_id in ever:
                unmatched.append((place, item))
    yield from _left(messages, open_calls, owed, unmatched)


def _answered(output: dict[str, Any], open_calls: dict[str, dict[str, Any]]) -> str:
    """Read which call an output answers; a local shell output may say it by either key (ORS-06)."""
    call_id = text_of(output, "call_id")
    if call_id in open_calls or kind(output) != "local_shell_call_output":
        return call_id
    item_id = text_of(output, "id")
    by_item = [key for key, call in open_calls.items() if item_id and item_id in {key, text_of(call, "id")}]
    return by_item[0] if by_item else call_id


def _fit(call: dict[str, Any], output: dict[str, Any], where: str) -> Iterator[str]:
    """Judge whether the output fits its call: ORS-05 and the safety checks of ORS-17."""
    if ANSWERS[kind(call)] != kind(output):
        yield f"ORS-05 {where}: {kind(output)} answers a {kind(call)}"
    pending = {text_of(check, "id") for check in members(call.get("pending_safety_checks"))}
    acknowledged = {text_of(check, "id") for check in members(output.get("acknowledged_safety_checks"))}
    if kind(call) == "computer_call" and pending - acknowledged:
        yield f"ORS-17 {where}: pending safety checks were not acknowledged"


def _left(
    messages: Messages,
    open_calls: dict[str, dict[str, Any]],
    owed: set[str],
    unmatched: list[tuple[int, dict[str, Any]]],
) -> Iterator[str]:
    """Report what found no partner, and what kind of mistake an unmatched output is."""
    for call_id, call in open_calls.items():
        yield f"{_rule(call)} no output for {call_id!r}"
    yield from (f"ORS-16 no output for {call_id!r} of the previous response" for call_id in sorted(owed))
    item_ids = {text_of(item, "id") for _, item in numbered(messages) if kind(item) in ANSWERS} - {""}
    for place, output in unmatched:
        call_id = text_of(output, "call_id")
        rule = "ORS-04" if kind(output) == "custom_tool_call_output" else "ORS-02"
        if call_id in open_calls:
            yield f"ORS-22 [{place}]: output for {call_id!r} before its call"
        elif call_id in item_ids:
            yield f"ORS-03 [{place}]: output names the item id {call_id!r} instead of the call_id"
        else:
            yield f"{rule} [{place}]: no call for output {call_id!r}"


def _rule(call: dict[str, Any]) -> str:
    """Name the rule that an unanswered call breaks."""
    return "ORS-04" if kind(call) == "custom_tool_call" else "ORS-01"
