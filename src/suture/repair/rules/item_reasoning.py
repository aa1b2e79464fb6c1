"""Reasoning as a record of its own (OpenAI Responses): bound to the record that it led to, and to where it is stored.

The server refuses reasoning without its follower, and a follower that comes with the server's own id but without its
reasoning. The first has nothing left to say; the second is taken by value, once its id is gone.
"""

from __future__ import annotations

import re
from typing import Any, Final

from suture.repair.bench import Bench
from suture.repair.pairing import Pairing
from suture.repair.rule import Example, Rule
from suture.repair.rules.item_ids import id_of, kind_of, rename
from suture.repair.rules.items import ELSEWHERE, noted
from suture.transcript import Entry, Message, ReasoningPart

__all__ = ["RULES", "apply", "between"]

_USER = {"role": "user", "content": "build"}
_THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
_CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "build", "arguments": "{}"}
_OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}

RULES = (
    Rule(
        code="SU611",
        name="separated-reasoning",
        summary="Reasoning stands right before the record that it led to.",
        why="The answer was cut off after the reasoning, or the record behind it was trimmed or moved.",
        fix="Results that stand in between move in front of it. Reasoning that led to nothing is dropped.",
        example=Example("openai_responses", [_USER, _THOUGHT, {"role": "user", "content": "go on"}]),
    ),
    Rule(
        code="SU612",
        name="reasoning-of-an-id",
        summary="A record that comes with the server's id comes with the reasoning that led to it.",
        why="Reasoning was pruned from the history, and the ids of what it led to were kept.",
        fix="The id goes, and the record is sent by its value: nothing else of it changes. This is judged only where "
        "the request says that the model reasons (`reasoning_model`), or which reasoning is stored "
        "(`stored_reasoning_for`), or where the reasoning goes by another rule.",
        example=Example("openai_responses", [_USER, _CALL, _OUTPUT], {"reasoning_model": True}),
    ),
    Rule(
        code="SU613",
        name="unstored-reasoning",
        summary="Where nothing is stored, reasoning carries its encrypted content.",
        why="The history was written while responses were stored, or `include` did not ask for the encrypted content.",
        fix="The reasoning is dropped: the server has nothing to read it from. Its summary is in the report.",
        example=Example("openai_responses", [_USER, _THOUGHT, _CALL, _OUTPUT], {"store": False}),
    ),
    Rule(
        code="SU614",
        name="foreign-ciphertext",
        summary="Encrypted reasoning goes to a model of the family that made it.",
        why="The conversation moved on to another provider's model.",
        fix="The reasoning is dropped; its summary is in the report. This is judged only where the record says which "
        "model it is of, as some clients write it down beside (`model`, or `provider_data.model`).",
        example=Example(
            "openai_responses",
            [_USER, {**_THOUGHT, "encrypted_content": "gAAA", "model": "grok-4"}, _CALL, _OUTPUT],
            {"model": "gpt-5.1"},
        ),
    ),
)

_NAMED_BY_ID: Final = frozenset({"function", "custom", "shell", "apply_patch", "message"})
"""What a reasoning model's turn binds to reasoning, where nothing more is known of it."""


def between(entries: list[Entry], pairing: Pairing, bench: Bench) -> None:
    """Report results between reasoning and what it led to; printing puts them in front of it."""
    if not bench.applies("separated-reasoning") or not any(_is_reasoning(entry.items) for entry in entries):
        return
    held = {answer.entry for slot in pairing.slots for answer in slot.answers if answer.result.origin.at}
    held.update(number for number, entry in enumerate(entries) if noted(entry, ELSEWHERE))
    for number, entry in enumerate(entries):
        follower = number + 1
        while follower in held:
            follower += 1
        led = follower < len(entries) and entries[follower].role == "assistant" and bool(entries[follower].items)
        if follower > number + 1 and led and _is_reasoning(entry.items):
            what = "a result stands between the reasoning and what it led to"
            bench.report("separated-reasoning", entry.origin.at, what, "the result moved in front of it")


def apply(messages: list[Message], bench: Bench) -> list[Message]:
    """Keep reasoning and what it led to together, or take them apart cleanly."""
    if not bench.applies("separated-reasoning"):
        return messages
    if any(_is_reasoning(message.parts) for message in messages):
        messages = _dangling(_unreadable(messages, bench), bench)
    return _unbound(messages, bench)


def _is_reasoning(items: tuple[Any, ...]) -> bool:
    return len(items) == 1 and type(items[0]) is ReasoningPart


def _where(message: Message) -> tuple[int | str, ...]:
    return message.origin.at if message.origin else ()


def _begins(message: Message) -> bool:
    """Whether somebody else than the model speaks here, so that what came before led to nothing that follows."""
    return message.role != "assistant" and kind_of(message) == "message"


def _unreadable(messages: list[Message], bench: Bench) -> list[Message]:
    """The messages without reasoning that the server cannot read; what it led to is sent by value."""
    result: list[Message] = []
    freed = False
    for message in messages:
        part = message.parts[0] if _is_reasoning(message.parts) else None
        if isinstance(part, ReasoningPart):
            freed = _refused(part, message, bench)
            if freed:
                continue
        elif _begins(message):
            freed = False
        result.append(_by_value(message, "its reasoning is dropped", bench) if freed else message)
    return result


def _refused(part: ReasoningPart, message: Message, bench: Bench) -> bool:
    if bench.request.get("store") is False and not part.payload:
        what = "nothing is stored, and the reasoning has no encrypted content"
        return bench.report("unstored-reasoning", _where(message), what, "dropped", lost=part.text or None)
    model = bench.request.get("model")
    if part.payload and part.model and isinstance(model, str) and _family(part.model) != _family(model):
        what = f"the reasoning was encrypted for {part.model}, and goes to {model}"
        return bench.report("foreign-ciphertext", _where(message), what, "dropped", lost=part.text or None)
    return False


def _family(model: str) -> str:
    """What models have in common that read each other's reasoning, as far as names tell: `gpt` of `openai/gpt-5.1`."""
    found = re.match(r"[A-Za-z]*", model.rsplit("/", 1)[-1])
    return found[0].lower() if found else ""


def _by_value(message: Message, why: str, bench: Bench) -> Message:
    old = id_of(message)
    if not old or message.role != "assistant" or kind_of(message) == "item_reference":
        return message
    new = rename(message, 1)
    action = "the id was removed" if id_of(new) is None else f"the id was replaced by {id_of(new)!r}"
    what = f"{old!r} is named by the server's id, and {why}"
    return new if bench.report("reasoning-of-an-id", _where(message), what, action) else message


def _dangling(messages: list[Message], bench: Bench) -> list[Message]:
    """The messages without reasoning that led to nothing."""
    result: list[Message] = []
    follower: Message | None = None
    for message in reversed(messages):
        led = follower is not None and follower.role == "assistant"
        if _is_reasoning(message.parts) and not led and _report_dangling(message, bench):
            continue
        result.append(message)
        if not noted(message, ELSEWHERE):
            follower = message
    return result[::-1]


def _report_dangling(message: Message, bench: Bench) -> bool:
    part = message.parts[0]
    lost = part.text if isinstance(part, ReasoningPart) and part.text else None
    return bench.report("separated-reasoning", _where(message), "the reasoning led to nothing", "dropped", lost=lost)


def _unbound(messages: list[Message], bench: Bench) -> list[Message]:
    """The messages, without the server's id on what comes without its reasoning."""
    stored = bench.request.get("stored_reasoning_for")
    model_reasons = bench.request.get("reasoning_model") is True and not isinstance(stored, dict)
    if not model_reasons and not isinstance(stored, dict):
        return messages
    thoughts: set[str] = set()
    result = []
    for message in messages:
        kind, item_id = kind_of(message), id_of(message)
        needed = stored.get(item_id) if isinstance(stored, dict) else None
        why = ""
        if _begins(message):
            thoughts = set()
        elif kind in ("reasoning", "item_reference"):
            thoughts.add(item_id or "")
        elif needed and needed not in thoughts:
            why = f"its reasoning {needed!r} is not there"
        elif model_reasons and not thoughts and kind in _NAMED_BY_ID:
            why = "no reasoning stands before it"
        result.append(_by_value(message, why, bench) if why else message)
    return result
