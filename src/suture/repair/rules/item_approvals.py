"""Approvals that the server asked for in a record of their own (MCP in OpenAI Responses): asked once, answered once."""

from __future__ import annotations

from typing import Any

from suture.repair.bench import Bench
from suture.repair.rule import Example, Rule
from suture.repair.rules.item_ids import id_of, kind_of
from suture.transcript import CAUSES, Message, OpaquePart, Origin, TextPart

__all__ = ["RULES", "apply"]

_ASKED = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "docs", "name": "search", "arguments": "{}"}

RULES = (
    Rule(
        code="SU111",
        name="unanswered-item-approval",
        summary="A request for an approval is answered, or nothing was said after it; an answer has its request.",
        why="The person wrote something else instead of deciding, or one half was trimmed away.",
        fix="An unanswered request is denied, with the reason that nobody decided: consent is never made up. Where the "
        "server's own record shows that the call was made, only that record stays. An answer without its request is "
        "quoted as user text.",
        example=Example(
            "openai_responses",
            [{"role": "user", "content": "search"}, _ASKED, {"role": "user", "content": "never mind"}],
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Put behind each request its one answer."""
    kinds = [kind_of(message) for message in messages]
    if not bench.applies("unanswered-item-approval") or not {"mcp_approval_request", "mcp_approval_response"} & {
        *kinds
    }:
        return messages
    halves = _Halves(messages, kinds, bench)
    result: list[Message] = []
    for number, message in enumerate(messages):
        if number in halves.early:
            continue
        if kinds[number] == "mcp_approval_request":
            result += halves.whole(number)
        elif number in halves.stray:
            result.append(_quoted(message, bench))
        else:
            result.append(message)
    return result


class _Halves:
    """Which answer belongs to which request."""

    def __init__(self, messages: list[Message], kinds: list[str], bench: Bench) -> None:
        self.messages = messages
        self.bench = bench
        answers: dict[Any, list[int]] = {}
        for number, kind in enumerate(kinds):
            if kind == "mcp_approval_response":
                answers.setdefault(_field(messages[number], "approval_request_id"), []).append(number)
        self.answer: dict[int, int] = {}
        for number, kind in enumerate(kinds):
            mine = answers.get(id_of(messages[number])) if kind == "mcp_approval_request" else None
            if mine:
                self.answer[number] = mine.pop(0)
        referred = {id_of(message) for message, kind in zip(messages, kinds, strict=True) if kind == "item_reference"}
        self.stray = {n for asked, left in answers.items() if asked not in referred for n in left}
        self.made = {
            _field(m, "approval_request_id") for m, kind in zip(messages, kinds, strict=True) if kind == "mcp_call"
        }
        self.early = {
            answer
            for request, answer in self.answer.items()
            if answer < request and _report(messages[request], "is answered before it was asked for", "moved", bench)
        }
        said = [n for n, kind in enumerate(kinds) if kind == "message"]
        self.last = (said[-1] if said else -1) if bench.at_end else len(messages)

    def whole(self, number: int) -> list[Message]:
        """A request, and what has to be put behind it; nothing where another record says it all."""
        message, answer = self.messages[number], self.answer.get(number)
        if answer is not None:
            return [message, self.messages[answer]] if answer in self.early else [message]
        if id_of(message) in self.made:
            action = "dropped: the server's record of the call says all of it"
            return [] if _report(message, "was given, but the answer is gone", action, self.bench) else [message]
        if number > self.last or not _report(message, "was never decided", "denied: nobody decided", self.bench):
            return [message]
        denial = {
            "type": "mcp_approval_response",
            "approval_request_id": id_of(message),
            "approve": False,
            "reason": CAUSES["awaiting_approval"],
        }
        return [
            message,
            Message(role="system", parts=(OpaquePart("mcp_approval_response", denial),), place=message.place),
        ]


def _report(message: Message, what: str, action: str, bench: Bench) -> bool:
    where = message.origin.at if message.origin else ()
    return bench.report("unanswered-item-approval", where, f"the approval {id_of(message)!r} {what}", action)


def _quoted(message: Message, bench: Bench) -> Message:
    """An answer whose request is gone, as the text of the user who gave it; the server may hold its request."""
    if message.origin is None or bench.request.get("previous_response_id") or bench.request.get("conversation"):
        return message
    request_id, reason = _field(message, "approval_request_id"), _field(message, "reason")
    what = f"the approval {request_id!r} was not asked for here"
    if not bench.report("unanswered-item-approval", message.origin.at, what, "the answer is quoted as user text"):
        return message
    verdict = "approved" if _field(message, "approve") is True else "denied"
    text = f"[approval {request_id}: {verdict}] {reason or ''}".rstrip()
    return Message(role="user", parts=(TextPart(text),), place=message.place, origin=Origin(message.origin.at, None))


def _field(message: Message, key: str) -> Any:
    part = message.parts[0] if message.parts else None
    value = part.value.get(key) if isinstance(part, OpaquePart) and isinstance(part.value, dict) else None
    return value if isinstance(value, str | bool) else None
