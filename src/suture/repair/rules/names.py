"""A tool's name has the characters and the length that the format takes."""

from __future__ import annotations

import re

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import edit_calls
from suture.repair.rule import Example, Rule
from suture.repair.rules.orphans import UNKNOWN_TOOL
from suture.transcript import Message, ToolPart
from suture.transcript.ids import derive

__all__ = ["RULES", "apply"]

RULES = (
    Rule(
        code="SU211",
        name="malformed-tool-name",
        summary="A tool's name has the characters and the length that the format takes.",
        why="Tools of MCP servers and of other providers have dots, slashes, colons or long prefixes in their names.",
        fix="Each name is mapped to one that is taken, never two to the same; `Repaired.request['tools']` has the "
        "tools "
        "renamed the same way where the request named them.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "Weather?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "weather.get", "arguments": "{}"}}
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "4 C"},
            ],
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Map every name that the target refuses."""
    limits = bench.limits
    if not limits.name_pattern:
        return messages
    pattern = re.compile(limits.name_pattern)
    renamed: dict[str, str] = {}
    good: set[str] = set()

    def mend(part: ToolPart) -> ToolPart:
        name = part.name
        if name in good or part.executor == "provider" or part.kind not in ("function", "custom"):
            return part
        if pattern.fullmatch(name) and len(name) <= limits.name_max:
            good.add(name)
            return part
        new = renamed.get(name) or _fit(name, bench, set(renamed.values()))
        where = part.origin.at if part.origin else ()
        message = f"the tool name {name!r} has characters or a length that is not taken"
        if part.origin is not None and not bench.report(
            "malformed-tool-name", where, message, f"renamed to {new!r}", call_id=part.call_id
        ):
            return part
        renamed[name] = new
        return msgspec.structs.replace(part, name=new)

    messages = edit_calls(messages, mend)
    tools = bench.request.get("tools")
    if renamed and isinstance(tools, list):
        bench.request["tools"] = [renamed.get(tool, tool) if isinstance(tool, str) else tool for tool in tools]
    return messages


def _fit(name: str, bench: Bench, used: set[str]) -> str:
    """The nearest name that is taken and that no other tool has."""
    longest = bench.limits.name_write_max
    fitted = re.sub(r"[^a-zA-Z0-9_-]", "_", name) or UNKNOWN_TOOL
    if len(fitted) <= longest and fitted not in used and fitted not in {call.name for call in bench.calls}:
        return fitted
    return f"{fitted[: longest - 9]}_{derive('tool', name, length=8)}"
