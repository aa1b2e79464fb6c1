"""A call's id is there, well-formed and its own; call and result bear it together."""

from __future__ import annotations

import re
from operator import is_
from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import with_parts
from suture.repair.rule import Example, Rule
from suture.transcript import Message, ToolPart
from suture.transcript.ids import derive

__all__ = ["RULES", "apply"]


def _turn(call_id: str, command: str, result: str) -> list[Any]:
    use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}
    return [
        {"role": "user", "content": command},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]},
    ]


RULES = (
    Rule(
        code="SU201",
        name="duplicate-call-id",
        summary="Two calls of one message have two ids.",
        why="Some models repeat an id in parallel calls; some clients merge two answers into one.",
        fix="The later call gets an id of its own, derived from the old one; results go to the calls in their order.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "read both"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "X1", "type": "function", "function": {"name": "read", "arguments": '{"p": 1}'}},
                        {"id": "X1", "type": "function", "function": {"name": "read", "arguments": '{"p": 2}'}},
                    ],
                },
                {"role": "tool", "tool_call_id": "X1", "content": "one"},
                {"role": "tool", "tool_call_id": "X1", "content": "two"},
            ],
        ),
    ),
    Rule(
        code="SU202",
        name="reused-call-id",
        summary="A call's id is not that of an earlier call.",
        why="Models that count from `call_0` in every turn, and clients that restart a counter.",
        fix="The later call and its own result get an id derived from the old one.",
        example=Example("anthropic", [*_turn("toolu_1", "date", "mon"), *_turn("toolu_1", "whoami", "root")]),
    ),
    Rule(
        code="SU203",
        name="missing-call-id",
        summary="A call has an id.",
        why="Local models and some gateways send null or an empty string.",
        fix="An id is derived from the call's place; the result is found by the tool's name and the order.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "x"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "", "content": "one"},
            ],
        ),
    ),
    Rule(
        code="SU204",
        name="malformed-call-id",
        summary="A call's id has the characters and the length that the format takes.",
        why="The history began with another provider: ids of one are too long or ill-formed for the next.",
        fix="Call and result are renamed together, by a map that never gives two calls one id.",
        example=Example("anthropic", _turn("functions.Bash:0", "ls", "ok")),
    ),
    Rule(
        code="SU704",
        name="server-call-id",
        summary="The id of a provider's call begins the way the provider writes it.",
        why="Ids were renamed by a proxy or taken over from another format.",
        fix="Call and result are renamed together.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "Weather?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "server_tool_use", "id": "call_1", "name": "web_search", "input": {"query": "oslo"}},
                        {"type": "web_search_tool_result", "tool_use_id": "call_1", "content": []},
                        {"type": "text", "text": "4 C"},
                    ],
                },
                {"role": "user", "content": "and?"},
            ],
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Give every call a valid id of its own within the target's scope."""
    namer = _Namer(bench)
    calls = [part for message in messages for part in message.parts if type(part) is ToolPart]
    if len(calls) == len({part.call_id for part in calls}) and all(map(namer.fits, calls)):
        return messages
    result = []
    for message in messages:
        namer.enter(message)
        parts = [namer.name(part) if type(part) is ToolPart else part for part in message.parts]
        result.append(message if all(map(is_, parts, message.parts)) else with_parts(message, parts))
    return result


_USER = frozenset({"user"})


class _Namer:
    """The ids in use, and how many were derived from each."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        limits = bench.limits
        self.matches = re.compile(limits.id_pattern or r"(?s:.*)").fullmatch
        self.used: set[str] = set()
        self.place = -1
        self.taken: set[str] | None = None
        self.derived: dict[str, int] = {}

    def fits(self, part: ToolPart) -> bool:
        """Whether the id of a call may stay what it is, as long as no other call has it."""
        return part.kind == "legacy" or not self._problem(part)[0]

    def enter(self, message: Message) -> None:
        """Begin a message: where ids only have to be unique inside it, or since the user spoke, the earlier ones go."""
        scope, before, self.place = self.bench.limits.id_scope, self.place, message.place
        if scope == "message" or (scope == "turn" and (message.role == "user" or self._spoken(before, message.place))):
            self.used.clear()

    def _spoken(self, start: int, stop: int) -> bool:
        """Whether the user speaks in what is not rebuilt between these places."""
        return stop - start > 1 and self.bench.spoken_between(start + 1, stop, _USER)

    def name(self, part: ToolPart) -> ToolPart:
        """The call, renamed where it must be."""
        if part.kind == "legacy":
            return part
        old = part.call_id
        rule, message = self._problem(part)
        if rule and part.origin is not None:
            where = part.origin.at
            new = self._mint(part)
            if self.bench.report(rule, where, message, f"renamed to {new!r}, with its result", call_id=old or None):
                part = msgspec.structs.replace(part, call_id=new)
        elif rule:
            part = msgspec.structs.replace(part, call_id=self._mint(part))
        self.used.add(part.call_id)
        return part

    def _problem(self, part: ToolPart) -> tuple[str, str]:
        old, limits = part.call_id, self.bench.limits
        if not old:
            return "missing-call-id", f"a call of {part.name!r} has no id"
        if limits.id_max and len(old) > limits.id_max:
            return "malformed-call-id", f"the id {old!r} has {len(old)} characters, at most {limits.id_max} are taken"
        if part.kind == "server" and not old.startswith(limits.server_id_prefix):
            return (
                "server-call-id",
                f"the id {old!r} of a provider's call does not begin with {limits.server_id_prefix!r}",
            )
        if not self.matches(old):
            return "malformed-call-id", f"the id {old!r} has characters that are not taken"
        if old in self.used:
            if limits.id_scope == "message":
                return "duplicate-call-id", f"two calls of one message have the id {old!r}"
            return "reused-call-id", f"the id {old!r} belongs to an earlier call"
        return "", ""

    def _mint(self, part: ToolPart) -> str:
        """A new id: the same whenever the history is repaired, also when it has grown, and nobody else's."""
        old = part.call_id
        prefix = self.bench.limits.server_id_prefix if part.kind == "server" else "call_"
        if self.taken is None:
            self.taken = {call.call_id for call in self.bench.calls}
        while True:
            number = self.derived[old] = self.derived.get(old, 0) + 1
            new = f"{prefix}{derive('call', old, number)}"
            if new not in self.taken:
                self.taken.add(new)
                return new
