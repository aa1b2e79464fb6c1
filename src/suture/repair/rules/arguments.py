"""The arguments of a call are a JSON object."""

from __future__ import annotations

from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import edit_calls, tail_calls
from suture.repair.rule import Example, Rule
from suture.transcript import Message, ToolPart
from suture.transcript.arguments import as_object

__all__ = ["RULES", "apply"]


def _example(arguments: Any) -> Example:
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": arguments}}
    return Example(
        "openai_chat",
        [
            {"role": "user", "content": "run it"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        ],
    )


RULES = (
    Rule(
        code="SU301",
        name="truncated-arguments",
        summary="The arguments of a call are whole JSON.",
        why="The answer was cut by a token limit or a stop while the arguments were streaming, or a model wrote bad "
        "JSON.",
        fix='They become an object that holds the text as it stood: `{"_raw": "…"}`. '
        "A call without result is answered as not run, since nothing could have run it.",
        example=_example('{"command": "ls'),
    ),
    Rule(
        code="SU302",
        name="arguments-not-an-object",
        summary="The arguments of a call are an object, not null, a number, a list or nothing.",
        why="Calls without arguments come as empty strings or null from some streams; others lose the braces.",
        fix='Nothing becomes `{}`; anything else becomes `{"_raw": …}` with the value as it stood.',
        example=_example(""),
    ),
    Rule(
        code="SU303",
        name="doubly-encoded-arguments",
        summary="Arguments are encoded once.",
        why="A layer encoded what was encoded already.",
        fix="They are decoded until the object is reached.",
        example=_example('"{\\"path\\": \\"a\\"}"'),
    ),
    Rule(
        code="SU304",
        name="arguments-encoding",
        summary="Arguments stand as the format writes them: as JSON text, or as an object.",
        why="Messages of one format were put into another by hand.",
        fix="The same arguments, written the way the format wants them.",
        example=_example({"path": "a"}),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Make every function call's arguments an object, written as the target wants them."""
    running = tail_calls(messages) if bench.at_end and bench.open_calls == "keep" else set()

    as_text, any_json = bench.limits.arguments == "text", bench.limits.arguments == "any"

    def mend(part: ToolPart) -> ToolPart:
        if type(part.input) is dict and (any_json or (part.raw_input is not None) == as_text):
            return part
        if part.kind in _FREE or any_json:
            return part if id(part) in running else _mend_any(part, bench)
        return _mend(part, bench)

    return edit_calls(messages, mend)


_FREE = frozenset({"custom", "computer", "local_shell", "shell", "apply_patch", "tool_search", "mcp_approval"})
"""Kinds of calls whose input is not a JSON object, or not ours to read."""


def _mend(part: ToolPart, bench: Bench) -> ToolPart:
    value = as_object(part.input)
    rule, what = _diagnose(part, as_text=bench.limits.arguments == "text")
    where = part.origin.at if part.origin else ()
    message = f"the arguments of {part.call_id!r} are {what}"
    kept = "kept as they were, under `_raw`" if "_raw" in value and part.input != value else "made an object"
    if part.origin is not None and not bench.report(rule, where, message, kept, call_id=part.call_id):
        return part
    cause = "malformed" if rule == "truncated-arguments" and not part.settled else part.cause
    return msgspec.structs.replace(part, input=value, raw_input=None, cause=cause)


def _mend_any(part: ToolPart, bench: Bench) -> ToolPart:
    """Where a format takes any JSON as input, only what would be sent on as a failed or open call is made an object."""
    if part.kind in _FREE or type(part.input) is dict or part.state == "output-available":
        return part
    return _mend(part, bench)


def _diagnose(part: ToolPart, *, as_text: bool) -> tuple[str, str]:
    """The rule that the arguments break, and what they are."""
    value = part.input
    if isinstance(value, dict):
        return "arguments-encoding", "an object where JSON text belongs" if as_text else "JSON text"
    if value is None or (isinstance(value, str) and not value.strip()):
        return "arguments-not-an-object", "empty"
    if not isinstance(value, str):
        return "arguments-not-an-object", f"a JSON {type(value).__name__}"
    if "_raw" not in as_object(value):
        return ("doubly-encoded-arguments", "encoded twice") if as_text else ("arguments-encoding", "JSON text")
    return "truncated-arguments", "cut off, or no JSON"
