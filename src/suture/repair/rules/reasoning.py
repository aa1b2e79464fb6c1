"""Reasoning that a provider signed is sent back as it came, where it came, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suture.repair.bench import Bench
from suture.repair.history import edit_parts, with_parts
from suture.repair.rule import Example, Rule
from suture.transcript import Message, Part, ReasoningPart, ToolPart

__all__ = ["RULES", "apply"]

_THINKING = {"type": "thinking", "thinking": "plan", "signature": "c2ln"}
_USE = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}


def _example(content: list[Any], *, answered: bool = True, **request: Any) -> Example:
    result = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}]
    messages = [{"role": "user", "content": "list"}, {"role": "assistant", "content": content}]
    return Example("anthropic", [*messages, *(result if answered else [])], request)


RULES = (
    Rule(
        code="SU601",
        name="foreign-reasoning",
        summary="Signed reasoning goes only to the model that signed it.",
        why="The conversation moved on to another model.",
        fix="The reasoning of the other model is dropped; text, calls and results stay.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "plan"},
                {"role": "assistant", "model": "model-a", "content": [_THINKING, {"type": "text", "text": "done"}]},
                {"role": "user", "content": "go on"},
            ],
            {"model": "model-b"},
        ),
    ),
    Rule(
        code="SU602",
        name="unsigned-reasoning",
        summary="Reasoning carries the provider's signature.",
        why="A stream was cut before the signature, or a store kept only the text.",
        fix="The block is dropped: nobody but the provider can sign it.",
        example=_example([{"type": "thinking", "thinking": "plan", "signature": ""}, _USE]),
    ),
    Rule(
        code="SU603",
        name="altered-reasoning",
        summary="The reasoning of an answer is neither doubled nor moved behind a call.",
        why="Two answers were merged into one message, or a block was saved twice.",
        fix="A double goes. Where reasoning stands behind a call, all reasoning of that answer goes, and the request "
        "is asked "
        "to switch thinking off where the tool loop is still open.",
        example=_example([_THINKING, _THINKING, _USE]),
    ),
    Rule(
        code="SU604",
        name="reasoning-at-the-end",
        summary="A history does not end in reasoning.",
        why="The stream was cut after the reasoning and before the answer.",
        fix="The reasoning at the end is dropped.",
        example=_example([_THINKING], answered=False),
    ),
    Rule(
        code="SU605",
        name="reasoning-not-wanted",
        summary="With thinking off, the last answer holds no reasoning.",
        why="Thinking was switched off between two requests.",
        fix="The reasoning of the last answer is dropped.",
        example=_example([_THINKING, _USE], thinking=False),
    ),
    Rule(
        code="SU606",
        name="reasoning-wanted",
        summary="With thinking on, the answer that an open tool loop began with starts with reasoning.",
        why="The reasoning was lost on the way, or thinking was switched on in the middle of a tool loop.",
        fix="A signature cannot be forged, so only the request can change: `Repaired.request['thinking']` is False.",
        example=_example([_USE], thinking=True),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Keep reasoning where its provider takes it back."""
    if not any(bench.applies(rule.name) for rule in RULES):
        return messages
    mended = ((message, _mend(message, bench)) for message in messages)
    messages = [new for old, new in mended if new.parts or not old.parts]
    return _final(messages, bench) if bench.at_end else messages


def _drop(part: ReasoningPart, rule: str, why: str, bench: Bench) -> bool:
    where = part.origin.at if part.origin else ()
    return bench.report(rule, where, why, "dropped", lost=part.text or None)


def _mend(message: Message, bench: Bench) -> Message:
    """One answer without the reasoning that cannot be sent back."""
    if message.role != "assistant" or ReasoningPart not in map(type, message.parts):
        return message
    model = bench.request.get("model")
    seen: list[Any] = []

    def mend(part: Part) -> Iterator[Part]:
        if isinstance(part, ReasoningPart) and (
            (
                model
                and part.model
                and part.model != model
                and _drop(part, "foreign-reasoning", f"signed by {part.model}", bench)
            )
            or (not part.payload and _drop(part, "unsigned-reasoning", "the reasoning has no signature", bench))
            or (
                part.payload in seen and _drop(part, "altered-reasoning", "the same reasoning stands here twice", bench)
            )
        ):
            return
        if isinstance(part, ReasoningPart):
            seen.append(part.payload)
        yield part

    (message,) = edit_parts([message], mend)
    if _behind_call(message) and bench.applies("altered-reasoning"):
        message = _without(message, "altered-reasoning", "reasoning stands behind a call of the same answer", bench)
    return message


def _behind_call(message: Message) -> bool:
    called = False
    for part in message.parts:
        if isinstance(part, ReasoningPart) and called:
            return True
        called = called or (isinstance(part, ToolPart) and part.executor != "provider")
    return False


def _without(message: Message, rule: str, why: str, bench: Bench) -> Message:
    """The message with no reasoning at all."""
    kept = [p for p in message.parts if not (isinstance(p, ReasoningPart) and _drop(p, rule, why, bench))]
    return with_parts(message, kept) if len(kept) != len(message.parts) else message


def _final(messages: list[Message], bench: Bench) -> list[Message]:
    """What holds for the last answer only."""
    last = next((n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "assistant"), None)
    if last is None:
        return messages
    messages = list(messages)
    first = _first(messages, last)
    message = messages[last]
    loop = last == len(messages) - 1 and any(
        isinstance(p, ToolPart) and p.executor != "provider" for p in message.parts
    )
    had = any(p.origin and isinstance(p, ReasoningPart) for m in messages[first : last + 1] for p in m.parts)
    if loop and bench.request.get("thinking") is True and not _leads(messages, first):
        why = "thinking is on, and the open tool loop does not start with reasoning"
        if bench.report("reasoning-wanted", (_place(message, bench),), why, "thinking is off in `Repaired.request`"):
            bench.request["thinking"] = False
    if had and bench.request.get("thinking") is False:
        for at in range(first, last + 1):
            messages[at] = _without(messages[at], "reasoning-not-wanted", "thinking is off", bench)
        messages[first : last + 1] = [
            m for at, m in enumerate(messages[first : last + 1], first) if m.parts or at == last
        ]
        last = next(n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "assistant")
    if last == len(messages) - 1 and not loop and bench.request.get("next_role") != "user":
        messages[last] = _trim(messages[last], bench)
    if messages[last].parts or not had:
        return messages
    del messages[last]
    return _final(messages, bench)


def _first(messages: list[Message], last: int) -> int:
    """Where the answer begins that ends at `last`: neighbours of the assistant are one message to the provider."""
    first = last
    while first > 0 and messages[first - 1].role == "assistant" and not _has_calls(messages[first - 1]):
        first -= 1
    return first


def _leads(messages: list[Message], first: int) -> bool:
    """Whether a tool loop starts with reasoning: its last answer, or the one that began it.

    Unless thinking is interleaved, only the first answer of a loop thinks.
    """
    began = first
    while began > 0 and messages[began - 1].role == "assistant":
        began -= 1
    return any(messages[at].parts and isinstance(messages[at].parts[0], ReasoningPart) for at in (began, first))


def _has_calls(message: Message) -> bool:
    return any(isinstance(part, ToolPart) for part in message.parts)


def _place(message: Message, bench: Bench) -> int | str:
    return message.origin.at[0] if message.origin else bench.length - 1


def _trim(message: Message, bench: Bench) -> Message:
    """The last message without reasoning at its end."""
    parts = list(message.parts)
    while parts and isinstance(end := parts[-1], ReasoningPart):
        if not _drop(end, "reasoning-at-the-end", "the history ends in reasoning", bench):
            break
        parts.pop()
    return with_parts(message, parts) if len(parts) != len(message.parts) else message
