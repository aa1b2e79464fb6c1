"""Calls that the provider runs itself: both halves stand in one answer, and nobody else can answer them."""

from __future__ import annotations

from collections.abc import Iterator

from suture.repair.bench import Bench
from suture.repair.history import edit_parts
from suture.repair.rule import Example, Rule
from suture.repair.settle import default_outcome
from suture.transcript import Message, Part, TextPart, ToolPart
from suture.transcript.codec import dumps

__all__ = ["RULES", "apply"]

_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "oslo"}}
_USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}}

RULES = (
    Rule(
        code="SU701",
        name="unfinished-server-call",
        summary="A call that the provider runs has its result in the same answer, unless the turn is still open.",
        why="The stream was cut while the provider's own tool was running.",
        fix="A result cannot be forged, so the call becomes a text that says what was asked; at the end of the "
        "history it "
        "stays, since the provider goes on with it.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": [_SEARCH, {"type": "text", "text": "I searched."}]},
                {"role": "user", "content": "and?"},
            ],
        ),
    ),
    Rule(
        code="SU703",
        name="mixed-turn",
        summary="While a provider's call is open, the next message holds only the results of the other calls.",
        why="The user's words were appended to the results of a turn that the provider had not finished.",
        fix="The provider's call becomes a text, and the user's words stay where they are.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": [_SEARCH, _USE]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "4 C"},
                        {"type": "text", "text": "also Rome"},
                    ],
                },
            ],
            {"tools": ["web_search", "get_weather"]},
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Settle what the provider will not go on with."""
    if not any(bench.applies(rule.name) for rule in RULES):
        return messages
    return [
        _close(message, _closed(messages, number, bench), bench) if _open_calls(message) else message
        for number, message in enumerate(messages)
    ]


def _open_calls(message: Message) -> list[ToolPart]:
    return [p for p in message.parts if type(p) is ToolPart and p.executor == "provider" and not p.settled]


def _closed(messages: list[Message], number: int, bench: Bench) -> str:
    """The rule by which the turn of this message is over; empty where the provider still goes on with it."""
    rest = messages[number + 1 :]
    if not rest and bench.at_end:
        others = any(isinstance(p, ToolPart) and p.executor != "provider" for p in messages[number].parts)
        after = messages[number].parts[-1]
        waits = others or (isinstance(after, ToolPart) and after.executor == "provider")
        return "" if waits else "unfinished-server-call"
    mixed = (
        rest
        and rest[0].role == "user"
        and any(isinstance(p, ToolPart) and p.executor != "provider" for p in messages[number].parts)
    )
    return "mixed-turn" if mixed and bench.applies("mixed-turn") else "unfinished-server-call"


def _close(message: Message, rule: str, bench: Bench) -> Message:
    tools = bench.request.get("tools")

    def mend(part: Part) -> Iterator[Part]:
        if not isinstance(part, ToolPart) or part.executor != "provider" or part.settled:
            yield part
            return
        offered = not isinstance(tools, list) or part.name in tools or bench.limits.results == "inside"
        name = rule or ("" if offered else "unfinished-server-call")
        where = part.origin.at if part.origin else ()
        why = f"the provider's call {part.call_id!r} of {part.name!r} has no result"
        if not name or not bench.report(name, where, why, "settled: it cannot go on", call_id=part.call_id):
            yield part
        elif bench.limits.results == "inside":
            yield part.settle(default_outcome(part))
        else:
            yield TextPart(f"[{part.name} was called: {dumps(part.input)}; its result was not recorded]")

    (message,) = edit_parts([message], mend)
    return message
