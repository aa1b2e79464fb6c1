"""A result whose call is gone: the id proves that the call was made, so the call is put back."""

from __future__ import annotations

import re

from suture.repair.bench import Bench
from suture.repair.foreign import is_placeholder
from suture.repair.history import with_parts
from suture.repair.pairing import Answer, Pairing
from suture.repair.rule import Example, Rule
from suture.transcript import Entry, FilePart, Message, OpaquePart, Part, Result, TextPart, ToolPart, output_text

__all__ = ["HEAD_TEXT", "LOST_ARGUMENTS", "RULES", "UNKNOWN_TOOL", "Rebuilt", "apply"]

HEAD_TEXT = "[the beginning of this conversation is not part of the history]"
"""The user's turn that stands in for what came before a rebuilt call at the very start."""

LOST_ARGUMENTS = {"_lost": "the arguments of this call were not recorded"}
UNKNOWN_TOOL = "unknown_tool"

RULES = (
    Rule(
        code="SU102",
        name="orphan-result",
        summary="Every result has its call.",
        why="The head of the history was trimmed or compacted between a call and its result, a line was lost, or a "
        "sub-agent's result ended up in another history.",
        fix="The call is rebuilt right before the result, with its id, its name where that is known, and arguments "
        "marked "
        "as lost: so the tool's output stays a tool's output. `orphans='text'` quotes it as user text instead, "
        "`orphans='drop'` removes it; both say so in the report.",
        example=Example(
            "anthropic",
            [
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "4 C"}],
                },
                {"role": "assistant", "content": "It is 4 C."},
                {"role": "user", "content": "thanks"},
            ],
        ),
    ),
    Rule(
        code="SU702",
        name="orphan-server-result",
        summary="A result of the provider's own tool follows its call in the same answer.",
        why="One half of a pair that belongs together was lost, by a crash in mid-stream or by filtering blocks.",
        fix="Where the result carries something, its call is rebuilt right before it, arguments marked as lost; an "
        "empty "
        "result is dropped.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "ask"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "Asking."},
                        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                    ],
                },
                {"role": "user", "content": "and?"},
            ],
        ),
    ),
)

_NAMED_ID = re.compile(r"(?:functions\.)?([A-Za-z_][A-Za-z0-9_-]*):\d+")
"""Ids that name their tool, as Kimi models write them: `functions.Bash:0`."""


class Rebuilt:
    """What takes the place of orphan results."""

    def __init__(self) -> None:
        """Nothing is rebuilt yet."""
        self.before: dict[int, list[Message]] = {}
        """Messages to insert, by the entry that they go before."""
        self.inside: dict[int, Part] = {}
        """Parts that take the place of a result inside its own message, by the result's identity."""


def apply(entries: list[Entry], pairing: Pairing, bench: Bench) -> Rebuilt:
    """Find a place for each orphan, by the caller's policy."""
    rebuilt = Rebuilt()
    group: list[Part] = []
    target: list[Message] = []
    previous = -1
    for answer in pairing.orphans:
        if answer.result.executor == "provider":
            _provider_orphan(answer, rebuilt, bench)
            continue
        if not bench.applies("orphan-result"):
            rebuilt.inside[id(answer.result)] = _verbatim(answer.result)
            continue
        parts = _place(answer, pairing, bench)
        if not parts:
            continue
        place = int(entries[answer.entry].origin.at[0])
        joined = place == previous or (place == previous + 1 and entries[answer.entry].role == "tool")
        if not (joined and group):
            group = []
            target = rebuilt.before.setdefault(answer.entry, [])
            target.append(Message(role="assistant" if isinstance(parts[0], ToolPart) else "user", parts=()))
        group += parts
        target[-1] = with_parts(target[-1], group)
        previous = place
    return rebuilt


def _verbatim(result: Result) -> OpaquePart:
    """A result that the target takes without its call, as it stands."""
    return OpaquePart("result", result.origin.wire, result.origin)


def _place(answer: Answer, pairing: Pairing, bench: Bench) -> tuple[Part, ...]:
    """The parts that keep this orphan, none where it is dropped; reports it."""
    result = answer.result
    call_id, where = result.call_id, result.origin.at
    message = f"the result of {call_id!r} has no call"
    text = output_text(result.output)
    if bench.orphans == "drop":
        bench.report("orphan-result", where, message, "dropped, as asked", call_id=call_id, lost=text)
        return ()
    name = result.name or _name(call_id, pairing)
    if bench.orphans == "text":
        bench.report("orphan-result", where, message, "quoted as user text, as asked", call_id=call_id)
        files = [part for part in result.output if isinstance(part, FilePart)] if type(result.output) is tuple else []
        return (TextPart(f"[result of {name} {call_id}] {text}"), *files)
    bench.report("orphan-result", where, message, "its call was rebuilt, arguments marked as lost", call_id=call_id)
    return (_rebuild(result, name),)


def _rebuild(result: Result, name: str) -> ToolPart:
    return ToolPart(
        call_id=result.call_id,
        name=name,
        kind="function" if result.kind == "legacy" else result.kind,
        executor=result.executor,
        input=LOST_ARGUMENTS["_lost"] if result.kind == "custom" else LOST_ARGUMENTS,
        state=result.state,
        output=result.output,
        preliminary=is_placeholder(result.output),
        outcome_origin=result.origin,
        outcome_container=result.container,
    )


def _name(call_id: str, pairing: Pairing) -> str:
    """The tool's name, from another call with this id or from the id itself where it says."""
    known = pairing.by_id.get(call_id)
    if known:
        return known[-1].part.name
    named = _NAMED_ID.fullmatch(call_id)
    return named[1] if named else UNKNOWN_TOOL


def _provider_orphan(answer: Answer, rebuilt: Rebuilt, bench: Bench) -> None:
    """Rebuild the call of a provider's own result inside its message, or drop a result that carries nothing."""
    result = answer.result
    message = f"the result of the provider's call {result.call_id!r} has no call"
    carries = bool(result.output) and result.state == "output-available"
    action = "its call was rebuilt, arguments marked as lost" if carries else "dropped: it carries nothing"
    bench.report("orphan-server-result", result.origin.at, message, action, call_id=result.call_id)
    if carries:
        rebuilt.inside[id(result)] = _rebuild(result, result.name or UNKNOWN_TOOL)
