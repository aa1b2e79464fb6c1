"""Messages carry something, in blocks that their format takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import edit_parts, with_parts
from suture.repair.rule import Example, Rule
from suture.transcript import (
    FilePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
    output_text,
)
from suture.transcript.codec import dumps
from suture.transcript.parts import MALFORMED

__all__ = ["EMPTY_TEXT", "RULES", "apply"]

EMPTY_TEXT = "[empty message]"
"""What stands in for a user message that carries nothing: dropping it could change whose turn it is."""

IMAGE_NOTE = "[not text: in the next message]"

_SHOT = {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}

RULES = (
    Rule(
        code="SU401",
        name="empty-message",
        summary="A message carries something.",
        why="A stream that was cut before its first token leaves an assistant message without content.",
        fix="An assistant message that carries nothing is dropped; a user message that carries nothing says so.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": None},
                {"role": "user", "content": "y"},
            ],
        ),
    ),
    Rule(
        code="SU411",
        name="white-space",
        summary="The text of a message is not only white space.",
        why="Models write a line break before a call.",
        fix="The white space is dropped where the message has no other text.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": [{"type": "text", "text": "\n\n"}]},
                {"role": "user", "content": "y"},
            ],
        ),
    ),
    Rule(
        code="SU402",
        name="blank-text",
        summary="A text block is not empty.",
        why="Clients keep the empty blocks of a stream.",
        fix="The block is dropped.",
        example=Example(
            "anthropic",
            [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "yes"}]},
                {"role": "user", "content": "y"},
            ],
        ),
    ),
    Rule(
        code="SU412",
        name="malformed-block",
        summary="Content is text, or blocks that have what their type needs.",
        why="Content was assembled by hand: numbers, objects or bare strings where blocks belong, text blocks without "
        "text.",
        fix="What can be read becomes text; what carries nothing is dropped.",
        example=Example("openai_chat", [{"role": "user", "content": [{"type": "text", "text": "Hi"}, "there"]}]),
    ),
    Rule(
        code="SU413",
        name="malformed-call",
        summary="A call has the keys that its format needs.",
        why="Clients leave out a key that has only one sensible value, or write null.",
        fix="The key is written.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "list"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "call_1", "function": {"name": "ls", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"},
            ],
        ),
    ),
    Rule(
        code="SU405",
        name="empty-tool-calls",
        summary="A list of calls is absent or holds calls.",
        why="Clients that always write the key, and objects of an SDK dumped with their empty fields.",
        fix="The key is removed.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello", "tool_calls": []},
                {"role": "user", "content": "Bye"},
            ],
        ),
    ),
    Rule(
        code="SU403",
        name="result-content",
        summary="A result holds only what the format takes in one: text, in some formats also images.",
        why="Tools return screenshots, or an error comes with an image.",
        fix="The text stays in the result; the images go to the user message right after the results, and the result "
        "says so.",
        example=Example(
            "openai_chat",
            [
                {"role": "user", "content": "shot"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
                    ],
                },
                _SHOT,
            ],
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Drop what is blank, move what a result may not hold, and answer for what is left with nothing."""
    result: list[Message] = []
    for number, message in enumerate(messages):
        if _is_plain(message):
            result.append(message)
            continue
        last = bench.at_end and number == len(messages) - 1
        final = last and not bench.users_turn and bench.request.get("prefill") is not False
        moved: list[Part] = []
        mended = _results(_blank(_keys(message, bench), bench), moved, bench)
        kept = _filled(mended, bench, final=final)
        if kept is not None:
            result.append(kept)
        if moved:
            result.append(Message(role="user", parts=tuple(moved), place=message.place))
    if messages and not result and bench.length == len(messages):
        result.append(Message(role="user", parts=(TextPart(EMPTY_TEXT),)))
    return result


def _is_plain(message: Message) -> bool:
    """Whether a message is only text and calls answered by text, as most are: nothing here concerns it."""
    if not message.parts or message.metadata:
        return False
    for part in message.parts:
        if type(part) is ToolPart:
            if type(part.output) is not str or part.flaws:
                return False
        elif type(part) is not TextPart or not part.text or part.text.isspace():
            return False
    return True


def _keys(message: Message, bench: Bench) -> Message:
    """The message without a list of calls that holds none, and with well-formed blocks."""
    metadata = message.metadata or {}
    if message.origin is not None and "empty" in metadata:
        where = (*message.origin.at, metadata["empty"])
        if bench.report("empty-tool-calls", where, "the list of calls is empty", "the key was removed"):
            message = msgspec.structs.replace(message, metadata={k: v for k, v in metadata.items() if k != "empty"})
    if message.origin is not None and "null" in metadata:
        where, what = message.origin.at, "the content is null or an empty list"
        if bench.report("empty-message", where, what, "made what the format takes for none"):
            message = msgspec.structs.replace(message, metadata=None)
    if any(isinstance(part, OpaquePart) or (isinstance(part, ToolPart) and _is_rough(part)) for part in message.parts):
        return edit_parts([message], lambda part: _formed(part, bench))[0]
    return message


def _is_rough(part: ToolPart) -> bool:
    """Whether a call has flaws, or a result that is more than text."""
    return bool(part.flaws) or type(part.output) is tuple


def _flawless(part: ToolPart, bench: Bench) -> ToolPart:
    """The call, with the keys that its format needs; printing writes them."""
    if not part.flaws:
        return part
    where = part.origin.at if part.origin else ()
    for key in part.flaws:
        what = f"the call {part.call_id!r} has no well-formed {key!r}"
        if not bench.report("malformed-call", where, what, "written as the format needs it", call_id=part.call_id):
            return part
    value = part.input if part.kind != "custom" or isinstance(part.input, str) else dumps(part.input)
    return msgspec.structs.replace(part, flaws=(), input=value)


def _formed(part: Part, bench: Bench) -> Iterator[Part]:
    """The part, as text where it is no block of its format."""
    if isinstance(part, ToolPart):
        part = _flawless(part, bench)
    if isinstance(part, ToolPart) and isinstance(part.output, tuple):
        output = tuple(new for inner in part.output for new in _formed(inner, bench))
        same = len(output) == len(part.output) and all(a is b for a, b in zip(output, part.output, strict=True))
        yield part if same else msgspec.structs.replace(part, output=output)
    elif not isinstance(part, OpaquePart) or part.kind != MALFORMED:
        yield part
    else:
        text = _readable(part.value)
        where = part.origin.at if part.origin else ()
        what = "not a block of this format"
        if not bench.report("malformed-block", where, what, "kept as text" if text else "dropped: it carries nothing"):
            yield part
        elif text:
            yield TextPart(text)


def _readable(value: Any) -> str:
    """What a malformed block says: its text, or all of it where it holds more than a type."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() <= {"type", "text"} and isinstance(value.get("text", ""), str):
        return str(value.get("text", ""))
    return dumps(value) if value else ""


def _blank(message: Message, bench: Bench) -> Message:
    """The message without its empty text blocks, and without its white space where it has no other text."""
    texts = [part for part in message.parts if isinstance(part, TextPart)]
    if not texts or all(part.text.strip() for part in texts):
        return message
    has_text = any(part.text.strip() for part in texts)
    parts = [part for part in message.parts if not isinstance(part, TextPart) or _stays(part, has_text, bench)]
    return with_parts(message, parts) if len(parts) != len(message.parts) else message


def _stays(part: TextPart, has_text: bool, bench: Bench) -> bool:  # noqa: FBT001
    where = part.origin.at if part.origin else ()
    if not part.text:
        return not bench.report("blank-text", where, "a text block is empty", "dropped")
    if has_text or part.text.strip():
        return True
    return not bench.report("white-space", where, "there is only white space here", "dropped")


def _results(message: Message, moved: list[Part], bench: Bench) -> Message:
    """The message with each result holding only what the target takes; the rest goes to `moved`."""
    if all(type(part) is not ToolPart or type(part.output) is str for part in message.parts):
        return message
    parts = tuple(_result(part, moved, bench) if isinstance(part, ToolPart) else part for part in message.parts)
    return with_parts(message, parts) if parts != message.parts else message


def _result(part: ToolPart, moved: list[Part], bench: Bench) -> ToolPart:
    where = part.outcome_origin.at if part.outcome_origin else ()
    call_id = part.call_id
    if not isinstance(part.output, tuple):
        return _plain(part, bench)
    output: Any = part.output
    if any(isinstance(p, TextPart) and not p.text for p in output) and bench.report(
        "blank-text", where, f"the result of {call_id!r} has an empty text block", "dropped", call_id=call_id
    ):
        output = tuple(p for p in output if not (isinstance(p, TextPart) and not p.text))
    text_only = bench.limits.result_content == "text"
    if bench.limits.result_content == "any" or not (text_only or part.state == "output-error"):
        return part if output is part.output else msgspec.structs.replace(part, output=output or "")
    files = [p for p in output if isinstance(p, FilePart)]
    message = f"the result of {call_id!r} holds what is not text" if output else f"the result of {call_id!r} is empty"
    if (not all(isinstance(p, TextPart) for p in output) or (text_only and not output)) and bench.report(
        "result-content", where, message, "files moved to the user message after the results", call_id=call_id
    ):
        moved.extend(files)
        texts = (_as_text(part) for part in output if not isinstance(part, FilePart))
        output = tuple(part for part in texts if _carries(part, bench)) or (IMAGE_NOTE if files else "")
    return part if output is part.output else msgspec.structs.replace(part, output=output or "")


def _as_text(part: Part) -> Part:
    return TextPart(_readable(part.value)) if isinstance(part, OpaquePart) else part


def _plain(part: ToolPart, bench: Bench) -> ToolPart:
    """A result that is neither text nor blocks, as text."""
    demand = bench.limits.result_content
    if isinstance(part.output, str) or not part.outcome_origin or demand == "any" or part.executor == "provider":
        return part
    if part.output is None and demand == "rich":
        return part
    message = f"the result of {part.call_id!r} is not text"
    if not bench.report("result-content", part.outcome_origin.at, message, "printed as text", call_id=part.call_id):
        return part
    return msgspec.structs.replace(part, output=output_text(part.output))


def _filled(message: Message, bench: Bench, *, final: bool) -> Message | None:
    """The message, or what stands in for it where it carries nothing; None drops it."""
    if any(_carries(part, bench) for part in message.parts):
        return message
    if message.keeps and not (message.role == "user" and bench.applies("missing-content")):
        return message
    if message.role == "assistant" and any(isinstance(p, ReasoningPart) for p in message.parts):
        return message
    absent = "absent" in (message.metadata or {})
    if message.role == "assistant" and final and bench.limits.final_empty_assistant and message.hollow and not absent:
        return message
    where = message.origin.at if message.origin else ()
    drop = message.role != "user" or bench.limits.empty_user == "drop"
    action = "dropped" if drop else "given a text that says so"
    if not bench.report(
        "empty-message",
        where,
        f"the {message.role} message carries nothing",
        action,
        lost=_rest(message) if drop else None,
    ):
        return message
    return None if drop else with_parts(message, (TextPart(EMPTY_TEXT),))


def _rest(message: Message) -> str | None:
    """What else stood in a message without content, printed; None where nothing did."""
    wire = message.origin.wire if message.origin else {}
    rest = {key: value for key, value in wire.items() if key not in _ENVELOPE and value}
    return dumps(rest) if rest else None


_ENVELOPE = frozenset({"role", "content", "parts", "id", "type"})


def _carries(part: Part, bench: Bench) -> bool:
    if isinstance(part, TextPart):
        return bool(part.text) or not bench.applies("blank-text")
    return not isinstance(part, StepStart | ReasoningPart)
