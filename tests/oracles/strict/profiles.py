"""OpenAI-compatible hosts, section 7 of the contracts: all of `OCC`, and what each host adds.

Where section 16 lists a dispute, only what both sources accept passes: DeepSeek gets null, not "", beside calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracles.strict import openai_chat, openai_responses
from tests.oracles.strict.shape import Messages, Request, kind, numbered, object_text, switch, text_of


def deepseek(messages: Messages, request: Request) -> list[str]:
    """List what DeepSeek would refuse, on either of its surfaces."""
    if request.get("surface") == "responses":
        return [*openai_responses.violations(messages, request), *_adjacent_outputs(messages)]
    return [*openai_chat.violations(messages, request), *_deepseek(messages, request)]


def moonshot(messages: Messages, request: Request) -> list[str]:
    """List what Moonshot would refuse."""
    return [*openai_chat.violations(messages, request), *_moonshot(messages, request)]


def qwen(messages: Messages, request: Request) -> list[str]:
    """List what Qwen (DashScope) would refuse."""
    return [*openai_chat.violations(messages, request), *_qwen(messages)]


def xai(messages: Messages, request: Request) -> list[str]:
    """List what xAI would refuse."""
    return [*openai_chat.violations(messages, request), *_xai(messages)]


def groq(messages: Messages, request: Request) -> list[str]:
    """List what Groq would refuse."""
    return [*openai_chat.violations(messages, request), *_groq(messages)]


def openrouter(messages: Messages, request: Request) -> list[str]:
    """List what OpenRouter would refuse."""
    return [*openai_chat.violations(messages, request), *_openrouter(messages)]


def _deepseek(messages: Messages, request: Request) -> Iterator[str]:
    """Judge DSK-01, -02, -03 and -05."""
    reasoner = "deepseek-reasoner" in str(request.get("model", ""))
    before = ""
    for place, message in numbered(messages):
        role = text_of(message, "role")
        if reasoner and role == before and role in {"user", "assistant"}:
            yield f"DSK-03 [{place}]: successive {role} messages"
        before = role
        if reasoner and "reasoning_content" in message:
            yield f"DSK-02 [{place}]: reasoning_content sent back to the reasoner"
        if not openai_chat.calls_of(message):
            continue
        if switch(request, "thinking") and not isinstance(message.get("reasoning_content"), str):
            yield f"DSK-01 [{place}]: calls without reasoning_content"
        if message.get("content") in ("", []):
            yield f"DSK-05 [{place}]: empty content beside calls"


def _adjacent_outputs(messages: Messages) -> Iterator[str]:
    """Judge DSK-06: on the Responses surface an output is the very next item."""
    for place, item in numbered(messages):
        if kind(item) != "function_call":
            continue
        after = messages[place + 1] if place + 1 < len(messages) else None
        if (
            not isinstance(after, dict)
            or kind(after) != "function_call_output"
            or after.get("call_id") != item.get("call_id")
        ):
            yield f"DSK-06 [{place}]: the next item is not the output"


def _moonshot(messages: Messages, request: Request) -> Iterator[str]:
    """Judge MSH-01 and MSH-02."""
    for place, message in numbered(messages):
        called = bool(openai_chat.calls_of(message))
        if message.get("role") == "assistant" and not called and _nothing(message.get("content")):
            yield f"MSH-01 [{place}]: empty assistant message"
        if called and switch(request, "thinking") and not isinstance(message.get("reasoning_content"), str):
            yield f"MSH-02 [{place}]: calls without reasoning_content"


def _qwen(messages: Messages) -> Iterator[str]:
    """Judge QWN-01 and QWN-02; the pairing of QWN-03 is OCC-01."""
    for place, message in numbered(messages):
        if message.get("role") == "developer":
            yield f"QWN-02 [{place}]: role developer"
        for spot, call in openai_chat.calls_of(message):
            body: Any = call.get("function")
            if kind(call) == "function" and isinstance(body, dict) and not object_text(body.get("arguments")):
                yield f"QWN-01 [{place}].tool_calls[{spot}]: arguments are not the text of a JSON object"


def _xai(messages: Messages) -> Iterator[str]:
    """Judge XAI-01; "" beside calls is let through, null is not."""
    for place, message in numbered(messages):
        content = message.get("content")
        if content is None or (_nothing(content) and not openai_chat.calls_of(message)):
            yield f"XAI-01 [{place}]: message without content"


def _groq(messages: Messages) -> Iterator[str]:
    """Judge GRQ-01."""
    for place, message in numbered(messages):
        if "reasoning_content" in message:
            yield f"GRQ-01 [{place}]: reasoning_content is unsupported"


def _openrouter(messages: Messages) -> Iterator[str]:
    """Judge ORT-01 as far as it shows: a sequence out of order is not the one that was sent."""
    for place, message in numbered(messages):
        indices = [part.get("index") for _, part in numbered(message.get("reasoning_details"))]
        known = [index for index in indices if isinstance(index, int)]
        if known != sorted(known):
            yield f"ORT-01 [{place}]: reasoning_details out of order"


def _nothing(content: object) -> bool:
    """Whether a content carries nothing at all."""
    return content is None or content in ("", [])
