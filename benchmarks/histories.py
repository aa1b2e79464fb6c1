"""Histories for the benchmarks: what a coding agent's looks like, healthy, or with a fault in every hundredth message.

A message is 1.5 to 2 KB of JSON on average: short turns of the user, one to three parallel calls with small arguments,
results from a line to a few screens.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

__all__ = ["FORMATS", "broken", "healthy"]

WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "lazy",
    "dogs",
    "while",
    "reading",
    "configuration",
    "files",
    "and",
    "writing",
    "tests",
    "for",
    "a",
    "parser",
    "module",
    "that",
    "returns",
    "None",
    "when",
    "input",
    "is",
    "empty",
    "import",
    "os",
    "def",
    "main",
    "args",
    "self",
    "return",
    "value",
    "error",
]


def _text(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(WORDS, k=words))


def _rounds(dice: random.Random, count: int) -> list[dict[str, Any]]:
    """The rounds of a history: a user's text, then steps of calls with results, then an answer."""
    rounds = []
    number = size = 0
    while size < count:
        steps = []
        for _ in range(dice.randint(1, 6)):
            calls = []
            for _ in range(dice.choice((1, 1, 1, 2, 3))):
                number += 1
                path = f"src/module_{number % 97}/file_{number}.py"
                words = dice.choice((8, 40, 200, 500, 1200))
                calls.append((f"call_{number:09d}kRzq", {"path": path, "limit": number % 400}, _text(dice, words)))
            steps.append(calls)
            size += 1 + len(calls)
        rounds.append({"user": _text(dice, 25), "steps": steps, "answer": _text(dice, 60)})
        size += 2
    return rounds


def _chat(rounds: list[dict[str, Any]]) -> list[Any]:
    messages: list[Any] = [{"role": "system", "content": "You are a careful engineer."}]
    for turn in rounds:
        messages.append({"role": "user", "content": turn["user"]})
        for calls in turn["steps"]:
            functions = [{"name": "read_file", "arguments": json.dumps(arguments)} for _, arguments, _ in calls]
            tools = [
                {"id": name, "type": "function", "function": function}
                for (name, _, _), function in zip(calls, functions, strict=True)
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": tools})
            messages += [{"role": "tool", "tool_call_id": name, "content": output} for name, _, output in calls]
        messages.append({"role": "assistant", "content": turn["answer"]})
    return messages


def _anthropic(rounds: list[dict[str, Any]]) -> list[Any]:
    messages: list[Any] = []
    for turn in rounds:
        messages.append({"role": "user", "content": turn["user"]})
        for calls in turn["steps"]:
            uses = [{"type": "tool_use", "id": n, "name": "read_file", "input": arguments} for n, arguments, _ in calls]
            results = [{"type": "tool_result", "tool_use_id": name, "content": output} for name, _, output in calls]
            messages.append({"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, *uses]})
            messages.append({"role": "user", "content": results})
        messages.append({"role": "assistant", "content": [{"type": "text", "text": turn["answer"]}]})
    return messages


def _responses(rounds: list[dict[str, Any]]) -> list[Any]:
    items: list[Any] = []
    for turn in rounds:
        content = [{"type": "input_text", "text": turn["user"]}]
        items.append({"type": "message", "role": "user", "content": content})
        for calls in turn["steps"]:
            for name, arguments, _ in calls:
                call = {
                    "type": "function_call",
                    "call_id": name,
                    "name": "read_file",
                    "arguments": json.dumps(arguments),
                }
                items.append(call)
            items += [{"type": "function_call_output", "call_id": name, "output": output} for name, _, output in calls]
        items.append({"type": "message", "role": "assistant", "content": turn["answer"]})
    return items


def _ui(rounds: list[dict[str, Any]]) -> list[Any]:
    messages: list[Any] = []
    for number, turn in enumerate(rounds):
        parts: list[Any] = []
        for calls in turn["steps"]:
            parts.append({"type": "step-start"})
            for name, arguments, output in calls:
                call = {"type": "tool-read_file", "toolCallId": name, "state": "output-available"}
                parts.append({**call, "input": arguments, "output": output})
        parts += [{"type": "step-start"}, {"type": "text", "text": turn["answer"], "state": "done"}]
        user = {"id": f"u{number}", "role": "user", "parts": [{"type": "text", "text": turn["user"]}]}
        messages += [user, {"id": f"a{number}", "role": "assistant", "parts": parts}]
    return messages


FORMATS: dict[str, Callable[[list[dict[str, Any]]], list[Any]]] = {
    "openai_chat": _chat,
    "anthropic": _anthropic,
    "openai_responses": _responses,
    "ai_sdk_ui": _ui,
}


def healthy(format: str, count: int) -> list[Any]:
    """A healthy history of at least `count` messages (UI messages hold several steps, so theirs are fewer)."""
    return FORMATS[format](_rounds(random.Random(7), count))


def broken(format: str, count: int) -> list[Any]:
    """The same history, cut short of a result, or with one late or double, in every hundredth message."""
    dice = random.Random(11)
    messages = healthy(format, count)
    results = [index for index, message in enumerate(messages) if _has_results(message)]
    faults = dict.fromkeys(dice.sample(results, max(1, len(messages) // 100)))
    broken: list[Any] = []
    late: list[Any] = []
    for index, message in enumerate(messages):
        if index in faults:
            _break(message, dice.choice(("lost", "lost", "late", "double")), broken, late)
        else:
            broken.append(message)
            if late and message.get("role") == "user" and not _has_results(message):
                broken.append(late.pop())
    return broken


def _has_results(message: dict[str, Any]) -> bool:
    if message.get("role") == "tool" or message.get("type") == "function_call_output":
        return True
    if "parts" in message:
        return bool(message["role"] == "assistant")
    content = message.get("content")
    return isinstance(content, list) and content[0]["type"] == "tool_result"


def _break(message: dict[str, Any], fault: str, broken: list[Any], late: list[Any]) -> None:
    """Put a message back without its result, later, or twice; a UI message loses the outcome of its first call."""
    if "parts" in message:
        first = next(n for n, part in enumerate(message["parts"]) if part["type"] == "tool-read_file")
        part = {k: v for k, v in message["parts"][first].items() if k != "output"}
        parts = [*message["parts"][:first], {**part, "state": "input-available"}, *message["parts"][first + 1 :]]
        broken.append({**message, "parts": parts})
    elif fault == "late":
        late.append(message)
    elif fault == "double":
        broken += [message, message]
