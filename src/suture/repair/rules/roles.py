"""Whose turn it is: where a history begins, how it ends, where system messages stand."""

from __future__ import annotations

import msgspec

from suture.repair.bench import Bench
from suture.repair.history import with_parts
from suture.repair.rule import Example, Rule
from suture.transcript import Message, TextPart, ToolPart

__all__ = ["CONTINUE_TEXT", "RULES", "START_TEXT", "apply"]

START_TEXT = "[the conversation starts with the assistant]"
CONTINUE_TEXT = "Continue."
LATE_TEXT = "[the result that came in here was added to its call above]"
"""Keeps the turn where the last message was only a late result: the model is to speak next, as before."""

_ASKED = [{"role": "user", "content": "Weather?"}]

RULES = (
    Rule(
        code="SU501",
        name="first-role",
        summary="A history begins with the user.",
        why="A greeting came first, or the head was trimmed.",
        fix="A short user message that says so is put in front.",
        example=Example("anthropic", [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "hello"}]),
    ),
    Rule(
        code="SU502",
        name="last-role",
        summary="For a model that takes no prefill, a history ends with the user.",
        why="The answer was cut and is to be continued, or the request is a retry.",
        fix="A short user turn is appended; the assistant's text stays.",
        example=Example("anthropic", [*_ASKED, {"role": "assistant", "content": "It is 4"}], {"prefill": False}),
    ),
    Rule(
        code="SU503",
        name="trailing-whitespace",
        summary="A prefilled answer does not end in white space.",
        why="The answer was cut between two words.",
        fix="The white space at the end is removed.",
        example=Example("anthropic", [*_ASKED, {"role": "assistant", "content": "It is "}], {"prefill": True}),
    ),
    Rule(
        code="SU504",
        name="system-position",
        summary="A system message stands only where the format has a place for it.",
        why="Histories of other formats carry system messages anywhere in the list.",
        fix="Its text stays in its place, as the user's.",
        example=Example("anthropic", [*_ASKED, {"role": "system", "content": "Be brief."}, *_ASKED]),
    ),
    Rule(
        code="SU505",
        name="consecutive-roles",
        summary="User and assistant take turns.",
        why="Messages were queued, or an empty one between them was dropped.",
        fix="Neighbours of one role become one message, with all their content.",
        example=Example(
            "deepseek",
            [{"role": "user", "content": "Hi"}, {"role": "user", "content": "there"}],
            {"model": "deepseek-reasoner"},
        ),
    ),
)


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Put the turns in the order that the target takes."""
    if bench.applies("system-position"):
        messages = _system(messages, bench)
    if bench.limits.alternate and bench.applies("consecutive-roles"):
        messages = _merge(messages, bench)
    if messages and bench.applies("first-role"):
        messages = _first(messages, bench)
    if messages and bench.at_end:
        messages = _last(messages, bench)
    return messages


def _where(message: Message, otherwise: int = 0) -> tuple[int | str, ...]:
    return message.origin.at if message.origin else (otherwise,)


def _system(messages: list[Message], bench: Bench) -> list[Message]:
    """System messages that the format has no place for, as the user's text."""
    result = list(messages)
    for number, message in enumerate(messages):
        if message.role != "system" or (bench.limits.mid_system and _fits(messages, number, bench)):
            continue
        if bench.report("system-position", _where(message), "a system message has no place here", "kept as user text"):
            result[number] = msgspec.structs.replace(message, role="user")
    return result


def _fits(messages: list[Message], number: int, bench: Bench) -> bool:
    """Between the user and the assistant, or last."""
    if number == 0:
        return _where(messages[0]) != (0,)
    before = messages[number - 1]
    after = messages[number + 1] if number + 1 < len(messages) else None
    open_server = (
        bool(before.parts) and isinstance(before.parts[-1], ToolPart) and before.parts[-1].executor == "provider"
    )
    led = before.role == "user" or open_server
    return led and (after is None or after.role == "assistant")


def _first(messages: list[Message], bench: Bench) -> list[Message]:
    first = messages[0]
    if not bench.at_start or first.role == "user":
        return messages
    if not bench.report(
        "first-role", (0,), f"the history begins with the {first.role}", "a user message was put in front"
    ):
        return messages
    return [Message(role="user", parts=(TextPart(START_TEXT),)), *messages]


def _last(messages: list[Message], bench: Bench) -> list[Message]:
    last = messages[-1]
    prefill = bench.request.get("prefill")
    answered = any(isinstance(p, ToolPart) and p.executor != "provider" for p in last.parts)
    open_server = bool(last.parts) and isinstance(last.parts[-1], ToolPart)
    if last.role != "assistant" or answered or bench.request.get("next_role") == "user":
        return messages
    if bench.users_turn and prefill is not True and bench.applies("last-role"):
        return [*messages, Message(role="user", parts=(TextPart(LATE_TEXT),), place=bench.length - 1)]
    if (
        prefill is False
        and not open_server
        and bench.report(
            "last-role",
            _where(last, bench.length - 1),
            "the history ends with the assistant",
            "a user turn was appended",
        )
    ):
        return [*messages, Message(role="user", parts=(TextPart(CONTINUE_TEXT),), place=bench.length - 1)]
    end = last.parts[-1] if last.parts else None
    if (
        isinstance(end, TextPart)
        and end.text != end.text.rstrip()
        and bench.report("trailing-whitespace", _where(last), "the prefilled answer ends in white space", "removed")
    ):
        return [
            *messages[:-1],
            with_parts(last, (*last.parts[:-1], msgspec.structs.replace(end, text=end.text.rstrip()))),
        ]
    return messages


def _merge(messages: list[Message], bench: Bench) -> list[Message]:
    """Neighbours of one role as one message."""
    result: list[Message] = []
    for message in messages:
        before = result[-1] if result else None
        if (
            before is None
            or before.role != message.role
            or message.role == "system"
            or any(isinstance(part, ToolPart) for part in before.parts)
            or not bench.report(
                "consecutive-roles",
                _where(message),
                f"two {message.role} messages in a row",
                "joined with the one before",
            )
        ):
            result.append(message)
        else:
            result[-1] = with_parts(before, (*before.parts, *message.parts))
    return result
