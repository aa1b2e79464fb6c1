"""Text is what UTF-8 can hold."""

from __future__ import annotations

from typing import Any

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import with_parts
from suture.repair.rule import Example, Rule
from suture.transcript import Message, Part, TextPart, ToolPart
from suture.transcript.codec import dumps, is_plain, plain

__all__ = ["RULES", "apply"]

RULES = (
    Rule(
        code="SU416",
        name="lone-surrogate",
        summary="Text holds whole characters.",
        why="A text was cut in the middle of an emoji, by a limit that counts UTF-16 units; JSON can write the half "
        "that is "
        "left, but no encoder can make UTF-8 of it, and providers refuse the request body as a whole.",
        fix="Each half becomes U+FFFD, the replacement character.",
        example=Example("anthropic", [{"role": "user", "content": "cut off: \ud83d"}]),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Replace half characters wherever a message says something."""
    if not bench.applies("lone-surrogate"):
        return messages
    return [_whole(message, bench) for message in messages]


def _whole(message: Message, bench: Bench) -> Message:
    if not any(map(_is_doubtful, message.parts)):
        return message
    parts = [_mend(part, bench) for part in message.parts]
    same = all(new is old for new, old in zip(parts, message.parts, strict=True))
    return message if same else with_parts(message, parts)


def _is_doubtful(part: Part) -> bool:
    """Whether a part says something beyond ASCII, as far as it can be told at once."""
    if isinstance(part, TextPart):
        return not part.text.isascii()
    if not isinstance(part, ToolPart):
        return False
    output = part.output
    if not (isinstance(output, str) and output.isascii()) and not is_plain(_texts(output)):
        return True
    raw = part.raw_input
    return not (raw.isascii() and "\\u" not in raw) if raw is not None else not is_plain(part.input)


def _texts(output: Any) -> Any:
    """An outcome as JSON."""
    return [part.text for part in output if isinstance(part, TextPart)] if isinstance(output, tuple) else output


def _mend(part: Part, bench: Bench) -> Part:
    if isinstance(part, TextPart):
        text = _plain(part.text)
        if text is part.text or not _reported(part, bench):
            return part
        return msgspec.structs.replace(part, text=text)
    if not isinstance(part, ToolPart):
        return part
    asked, answer = _plain(part.input), _plain(part.output)
    raw = part.raw_input if part.raw_input is None else plain(part.raw_input)
    if (asked is part.input and answer is part.output and raw == part.raw_input) or not _reported(part, bench):
        return part
    if raw is not None and asked is not part.input:
        raw = dumps(asked)
    return msgspec.structs.replace(part, input=asked, raw_input=raw, output=answer)


def _reported(part: TextPart | ToolPart, bench: Bench) -> bool:
    where = part.origin.at if part.origin else ()
    call_id = part.call_id if isinstance(part, ToolPart) else None
    return bench.report("lone-surrogate", where, "half a character stands here", "replaced by U+FFFD", call_id=call_id)


def _plain(value: Any) -> Any:
    """The value with whole characters only; the very object where it has no others."""
    if isinstance(value, str):
        whole = plain(value)
        return value if whole == value else whole
    if isinstance(value, TextPart):
        text = _plain(value.text)
        return value if text is value.text else msgspec.structs.replace(value, text=text)
    if isinstance(value, list | tuple):
        items = [_plain(item) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    if isinstance(value, dict):
        fields = {_plain(key): _plain(item) for key, item in value.items()}
        same = (
            all(new is old for new, old in zip(fields.values(), value.values(), strict=False))
            and fields.keys() == value.keys()
        )
        return value if same else fields
    return value
