"""What only the request's settings can mend."""

from __future__ import annotations

from suture.repair.bench import Bench
from suture.repair.rule import Example, Rule
from suture.transcript import Message, ToolPart

__all__ = ["RULES", "apply"]

RULES = (
    Rule(
        code="SU801",
        name="missing-tools",
        summary="A request whose history has calls offers tools.",
        why="A summary or a title is asked for without tools, over a history that used some.",
        fix="`Repaired.request['tools']` has the names that the history uses; minimal definitions do.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "list"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt"}]},
            ],
            {"tools": []},
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Name the tools where the request names none."""
    if bench.request.get("tools") != []:
        return messages
    parts = [part for message in messages for part in message.parts if isinstance(part, ToolPart)]
    used = sorted({part.name for part in parts if part.executor != "provider"})
    if used and bench.report(
        "missing-tools", (), "the history has calls, the request no tools", "named in the request"
    ):
        bench.request["tools"] = used
    return messages
