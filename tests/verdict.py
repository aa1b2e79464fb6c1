"""Judge a repair by two questions only: can the history be sent, and is everything real still in it.

This is a small checker on purpose: it knows no provider's rules, only turns, calls and results. It reads well-formed
messages (what `tests.faults` renders and what a repair gives back); what it does not know it does not count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.strict.shape import kind, members, numbered, text_of

# The text of a result that another tool made up; losing it loses nothing.
SYNTHETIC = "Tool execution was interrupted."
SETTLED = {"output-available": "output", "output-error": "errorText", "output-denied": "approval"}


@dataclass(frozen=True)
class Verdict:
    """What a judge says of one repair."""

    problems: tuple[str, ...]
    lost: tuple[str, ...]
    invented_calls: tuple[str, ...]

    @property
    def sendable(self) -> bool:
        """Whether a strict provider would take the history."""
        return not self.problems


@dataclass
class Step:
    """Messages, or the part of one, in which one side speaks: `user`, `assistant`, `results` or another role."""

    role: str
    texts: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing is said, called or answered."""
        return not (any(self.texts) or self.calls or self.results)


def judge(before: Sequence[Any], after: Sequence[Any], format: str) -> Verdict:
    """Compare a history with its repair.

    Args:
        before: the broken history.
        after: what the repair made of it.
        format: `openai_chat`, `openai_responses`, `anthropic` or `ai_sdk_ui`.
    """
    old, new = read(before, format), read(after, format)
    known, now = _calls(old), _calls(new)
    return Verdict(
        problems=tuple(_problems(new, format)),
        lost=(*_lost_texts(old, new), *_lost_results(old, new), *(f"call {key}" for key in (known - now).elements())),
        invented_calls=tuple((now - known).elements()),
    )


def read(messages: Sequence[Any], format: str) -> list[Step]:
    """Read a history as steps."""
    readers = {"anthropic": _anthropic, "openai_chat": _chat, "openai_responses": _responses, "ai_sdk_ui": _ui}
    return [step for _, message in numbered(messages) for step in readers[format](message)]


def _problems(steps: list[Step], format: str) -> Iterator[str]:
    """List what keeps a history from being sent."""
    first = next((step for step in steps if step.role not in {"system", "developer"}), None)
    if first is not None and first.role != "user":
        yield f"starts with {first.role}"
    # The AI SDK sends nothing for an assistant's message without parts.
    if format != "ai_sdk_ui":
        yield from (f"empty {step.role} message" for step in steps if step.empty)
    open_ids: list[str] = []
    group: list[str] = []
    seen: set[str] = set()
    for step in [*steps, Step("end")]:
        # Responses pairs by call_id wherever the output stands; every other format wants it next to its call.
        if step.role != "results" and format != "openai_responses":
            yield from (f"open call {call_id}" for call_id in open_ids)
            open_ids = []
        for call_id, _ in step.calls:
            if call_id in (seen if format == "anthropic" else [*open_ids, *group]):
                yield f"id {call_id} twice"
            open_ids.append(call_id)
            seen.add(call_id)
        # In `ai_sdk_ui` an answer stands in the same step as its call, so a second call may find the first one closed.
        group = [call_id for call_id, _ in step.calls] if step.role != "results" else group
        for call_id, _ in step.results:
            if call_id not in open_ids:
                yield f"result for {call_id}, which is not open"
            else:
                open_ids.remove(call_id)
    yield from (f"open call {call_id}" for call_id in open_ids)


def _calls(steps: list[Step]) -> Counter[str]:
    """Count the calls by name and arguments."""
    return Counter(key for step in steps for _, key in step.calls)


def _lost_texts(old: list[Step], new: list[Step]) -> Iterator[str]:
    """List the texts of user and assistant that are gone, or that another role says now."""
    for role in ("user", "assistant"):
        now = [text for step in new if step.role == role for text in step.texts]
        wanted = Counter(text for step in old if step.role == role for text in step.texts if text.strip())
        for text, times in wanted.items():
            if sum(each.count(text) for each in now) < times:
                yield f"{role} text {text!r}"


def _lost_results(old: list[Step], new: list[Step]) -> Iterator[str]:
    """List the real results that are gone, or are no longer with their own call."""
    everything = "\n".join(text for step in new for text in (*step.texts, *(each for _, each in step.results)))
    now = _attached(new)
    for owner, text in _attached(old):
        if text not in everything:
            yield f"result {text!r}"
        elif owner and not any(key == owner and text in each for key, each in now):
            yield f"result {text!r} is no longer with its call {owner}"


def _attached(steps: list[Step]) -> list[tuple[str, str]]:
    """Give every real result with its own call: the latest open one of its id, in the order of the calls of one step.

    A result with no earlier call belongs to the only later one of that id. A second result for an answered call belongs
    to nobody (""): its text has to be kept, wherever it can.
    """
    calls = [(place, call_id, key) for place, step in enumerate(steps) for call_id, key in step.calls]
    free = dict.fromkeys(range(len(calls)))
    pairs: list[tuple[str, str]] = []
    for place, step in enumerate(steps):
        for result_id, text in step.results:
            if text == SYNTHETIC:
                continue
            mine = [number for number in free if calls[number][1] == result_id]
            earlier = [number for number in mine if calls[number][0] <= place]
            latest = [number for number in earlier if calls[number][0] == calls[earlier[-1]][0]]
            owner = latest[0] if latest else (mine[0] if len(mine) == 1 else None)
            pairs.append(("" if owner is None else calls[owner][2], text))
            if owner is not None:
                free.pop(owner)
    return pairs


def _key(name: object, arguments: object) -> str:
    """Name a call by its name and its arguments, however the format writes them."""
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return f"{name}({json.dumps(arguments, sort_keys=True)})"


def _texts(content: object) -> list[str]:
    """Give the texts of a content: itself, or those of its parts."""
    if isinstance(content, str):
        return [content]
    return [text_of(part, "text") for part in members(content) if "text" in part]


def _flat(value: object) -> str:
    """Give all text of a result."""
    return value if isinstance(value, str) else "\n".join(_texts(value)) or json.dumps(value)


def _chat(message: dict[str, Any]) -> Iterator[Step]:
    """Read one message of Chat Completions."""
    role = text_of(message, "role")
    if role == "tool":
        yield Step("results", results=[(text_of(message, "tool_call_id"), _flat(message.get("content")))])
        return
    step = Step(role, _texts(message.get("content")))
    for _, call in numbered(message.get("tool_calls")):
        body = call.get("function")
        if isinstance(body, dict):
            step.calls.append((text_of(call, "id"), _key(body.get("name"), body.get("arguments"))))
    yield step


def _responses(item: dict[str, Any]) -> Iterator[Step]:
    """Read one item of Responses."""
    which = kind(item)
    if which == "function_call":
        yield Step("assistant", calls=[(text_of(item, "call_id"), _key(item.get("name"), item.get("arguments")))])
    elif which == "function_call_output":
        yield Step("results", results=[(text_of(item, "call_id"), _flat(item.get("output")))])
    elif "role" in item:
        yield Step(text_of(item, "role"), _texts(item.get("content")))


def _anthropic(message: dict[str, Any]) -> Iterator[Step]:
    """Read one Anthropic message; a run of results is a step of its own."""
    content, role = message.get("content"), text_of(message, "role")
    step = Step(role, _texts(content) if isinstance(content, str) else [])
    for block in members(content):
        side = "results" if kind(block) == "tool_result" else role
        if side != step.role:
            if not step.empty:
                yield step
            step = Step(side)
        if kind(block) == "tool_result":
            step.results.append((text_of(block, "tool_use_id"), _flat(block.get("content"))))
        elif kind(block) == "tool_use":
            step.calls.append((text_of(block, "id"), _key(block.get("name"), block.get("input"))))
        else:
            step.texts += _texts([block])
    yield step


def _ui(message: dict[str, Any]) -> Iterator[Step]:
    """Read one UIMessage: each of its steps calls and answers at once."""
    step = Step(text_of(message, "role"))
    for part in members(message.get("parts")):
        if kind(part) == "step-start" and not step.empty:
            yield step
            step = Step(text_of(message, "role"))
        elif kind(part) == "text":
            step.texts.append(text_of(part, "text"))
        elif kind(part).startswith("tool-"):
            call_id = text_of(part, "toolCallId")
            step.calls.append((call_id, _key(kind(part).removeprefix("tool-"), part.get("input"))))
            if text_of(part, "state") in SETTLED:
                step.results.append((call_id, _flat(part.get(SETTLED[text_of(part, "state")]))))
    yield step
