"""What single hosts of a common format want differently: reasoning beside the content, roles, content beside calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import edit_parts, with_parts
from suture.repair.rule import Example, Rule
from suture.transcript import Message, Part, ReasoningPart, TextPart, ToolPart

__all__ = ["CALL_TEXT", "RULES", "apply"]

CALL_TEXT = "[tool call]"
"""The text beside a call, for hosts that take no message without one."""


def _call(**keys: Any) -> list[Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    return [
        {"role": "user", "content": "list"},
        {"role": "assistant", "content": None, "tool_calls": [call], **keys},
        {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"},
    ]


_DETAILS = [
    {"type": "reasoning.encrypted", "data": "abc", "index": 1},
    {"type": "reasoning.text", "text": "plan", "index": 0},
]

RULES = (
    Rule(
        code="SU621",
        name="reasoning-missing",
        summary="With thinking on, an answer that calls tools carries its reasoning.",
        why="The client dropped the key that it did not know.",
        fix="The key is added, empty: the original is not invented.",
        example=Example("deepseek", _call(), {"thinking": True}),
    ),
    Rule(
        code="SU622",
        name="reasoning-key",
        summary="Reasoning stands under the key that the host reads, or not at all.",
        why="The history was written with another host of the same format.",
        fix="It is moved to the host's key; where the host takes none back, it is dropped.",
        example=Example("groq", _call(reasoning_content="plan")),
    ),
    Rule(
        code="SU623",
        name="reasoning-order",
        summary="A sequence of reasoning details is sent back whole and in its order.",
        why="Details were merged, filtered or sorted on the way.",
        fix="The sequence cannot be restored and is dropped; text, calls and results stay.",
        example=Example("openrouter", _call(reasoning_details=_DETAILS)),
    ),
    Rule(
        code="SU506",
        name="developer-role",
        summary="Instructions come in a role that the host knows.",
        why="The history was written for OpenAI's newer models.",
        fix="The role `developer` becomes `system`.",
        example=Example("qwen", [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}]),
    ),
    Rule(
        code="SU410",
        name="missing-content",
        summary="Every message has content, also beside calls.",
        why="Most hosts of the format take null beside calls; some do not.",
        fix="A short text stands beside the call.",
        example=Example("xai", _call()),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Fit each message to the host."""
    if not any(bench.applies(rule.name) for rule in RULES):
        return messages
    messages = edit_parts(messages, lambda part: _reasoning(part, bench))
    return [_message(message, bench) for message in messages]


def _reasoning(part: Part, bench: Bench) -> Iterator[Part]:
    """Reasoning under the host's key, in its order."""
    if not isinstance(part, ReasoningPart) or part.origin is None:
        yield part
        return
    where, key = part.origin.at, bench.limits.reasoning_key
    if part.key == "reasoning_details":
        if _in_order(part.payload) or not bench.report(
            "reasoning-order", where, "the reasoning details are out of order", "dropped"
        ):
            yield part
    elif part.key == key or not bench.applies("reasoning-key"):
        yield part
    elif key:
        bench.report("reasoning-key", where, f"reasoning stands under {part.key!r}", f"moved to {key!r}")
        yield msgspec.structs.replace(part, key=key)
    else:
        bench.report("reasoning-key", where, f"{part.key!r} is not taken back", "dropped", lost=part.text or None)


def _in_order(details: Any) -> bool:
    indexes = [d.get("index") for d in details if isinstance(d, dict)] if isinstance(details, list) else []
    numbers = [index for index in indexes if isinstance(index, int)]
    return numbers == sorted(numbers)


def _message(message: Message, bench: Bench) -> Message:
    where = message.origin.at if message.origin else ()
    if (message.metadata or {}).get("role") == "developer" and bench.report(
        "developer-role", where, "the role 'developer' is not known", "sent as 'system'"
    ):
        return msgspec.structs.replace(message, metadata=None)
    if message.role != "assistant" or not any(isinstance(part, ToolPart) for part in message.parts):
        return message
    thought = any(isinstance(part, ReasoningPart) for part in message.parts)
    if (
        bench.limits.reasoning_wanted
        and not thought
        and bench.report(
            "reasoning-missing", where, "an answer that calls tools has no reasoning", "an empty one was added"
        )
    ):
        empty = ReasoningPart(payload="", key=bench.limits.reasoning_key)
        message = with_parts(message, (empty, *message.parts))
    silent = not any(isinstance(part, TextPart) and part.text for part in message.parts)
    if silent and bench.report(
        "missing-content", where, "there is no content beside the call", "a short text was added"
    ):
        message = with_parts(message, (TextPart(CALL_TEXT), *message.parts))
    return message
