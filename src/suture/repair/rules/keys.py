"""Keys beside the content of a block: those a result repeats, those a request may have only so often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import edit_calls, edit_parts
from suture.repair.rule import Example, Rule
from suture.transcript import Message, Origin, Part, ReasoningPart, TextPart, ToolPart

__all__ = ["RULES", "apply"]


def _use(**keys: Any) -> list[Any]:
    use = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}, **keys}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt"}
    return [
        {"role": "user", "content": "list"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]


_MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}

RULES = (
    Rule(
        code="SU705",
        name="unrepeated-key",
        summary="A result repeats the keys of its call that bind the two.",
        why="The client did not know the key of a newer kind of tool.",
        fix="The key is copied from the call.",
        example=Example("anthropic", _use(toolset_name="browser")),
    ),
    Rule(
        code="SU707",
        name="dangling-caller",
        summary="A call that a provider's own tool made names a call of that tool in the history.",
        why="The provider's call was trimmed away, or filtered out.",
        fix="The key `caller` is removed; the call and its result stay.",
        example=Example("anthropic", _use(caller={"type": "code_execution_20250825", "tool_id": "srvtoolu_9"})),
    ),
    Rule(
        code="SU407",
        name="cache-markers",
        summary="A request has at most four cache markers, none of them on reasoning or on empty text.",
        why="Each turn marks its last block and nobody removes the old marks.",
        fix="The last four stay.",
        example=Example("anthropic", [{"role": "user", "content": [_MARKED] * 5}]),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Mend the keys that the target watches."""
    if bench.applies("unrepeated-key"):
        for message in messages:
            for part in message.parts:
                if isinstance(part, ToolPart):
                    _repeat(part, bench)
    if bench.applies("dangling-caller"):
        messages = edit_calls(messages, lambda part: _called(part, bench))
    return _marked(messages, bench) if bench.applies("cache-markers") else messages


def _repeat(part: ToolPart, bench: Bench) -> None:
    """Report a result without a key of its call; printing writes it."""
    if part.origin is None or part.outcome_origin is None:
        return
    for key in bench.limits.echoed:
        value = part.origin.wire.get(key)
        if value is not None and part.outcome_origin.wire.get(key) != value:
            where = part.outcome_origin.at or part.origin.at
            what = f"the result of {part.call_id!r} does not repeat {key!r}"
            bench.report("unrepeated-key", where, what, "copied from the call", call_id=part.call_id)


def _called(part: ToolPart, bench: Bench) -> ToolPart:
    """The call, without a caller that is not there."""
    if part.origin is None or not isinstance(part.origin.wire.get("caller"), dict):
        return part
    caller = part.origin.wire["caller"].get("tool_id")
    if caller is None or any(caller == call.call_id for call in bench.calls):
        return part
    what = f"the call {part.call_id!r} names the caller {caller!r}, which is not there"
    if not bench.report("dangling-caller", part.origin.at, what, "the key was removed", call_id=part.call_id):
        return part
    return msgspec.structs.replace(part, origin=_without(part.origin, "caller"))


def _marked(messages: list[Message], bench: Bench) -> list[Message]:
    """The messages with the last markers only."""
    key, most = bench.limits.marker
    marked = [
        origin
        for message in messages
        for part in message.parts
        for origin in (part.origin, part.outcome_origin if type(part) is ToolPart else None)
        if origin is not None and type(origin.wire) is dict and origin.wire.get(key) is not None
    ]
    if not marked:
        return messages
    refused = {id(o) for m in messages for p in m.parts if not _markable(p) for o in _origins(p)}
    good = [origin for origin in marked if id(origin) not in refused]
    surplus = {id(o) for o in good[: max(len(good) - most, 0)]} | (refused & {id(o) for o in marked})
    if not surplus:
        return messages

    def clean(origin: Origin | None) -> Origin | None:
        if origin is None or id(origin) not in surplus:
            return origin
        bench.report("cache-markers", origin.at, f"{key!r} has no place here", "removed")
        return _without(origin, key)

    def mend(part: Part) -> Iterator[Part]:
        origin = clean(part.origin)
        if isinstance(part, ToolPart):
            outcome = clean(part.outcome_origin)
            if outcome is not part.outcome_origin:
                part = msgspec.structs.replace(part, outcome_origin=outcome)
        yield part if origin is part.origin else msgspec.structs.replace(part, origin=origin)

    return edit_parts(messages, mend)


def _origins(part: Part) -> list[Origin]:
    found = [part.origin] if part.origin else []
    if isinstance(part, ToolPart) and part.outcome_origin:
        found.append(part.outcome_origin)
    return found


def _markable(part: Part) -> bool:
    return not isinstance(part, ReasoningPart) and not (isinstance(part, TextPart) and not part.text)


def _without(origin: Origin, key: str) -> Origin:
    return Origin(origin.at, {name: value for name, value in origin.wire.items() if name != key})
