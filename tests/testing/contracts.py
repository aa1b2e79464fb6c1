"""How a history of the case files becomes the body of a request, and what the server says to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from suture.testing.contract import anthropic, openai_chat, openai_responses
from suture.testing.contract.base import Format, Stored

__all__ = ["FORMATS", "HEADERS", "body_of", "refusal", "said"]

_FORMATS: Final[tuple[Format, ...]] = (openai_chat, openai_responses, anthropic)
FORMATS: Final = {each.NAME: each for each in _FORMATS}
HEADERS: Final = {"authorization": "Bearer key", "x-api-key": "key", "anthropic-version": "2023-06-01"}

_SERVER_TOOL: Final = re.compile(r'"server_tool_use", "id": "[^"]*", "name": "(\w+)"')

OLD, NEW = "claude-sonnet-4-5", "claude-opus-5"
"""Models that can and cannot continue a message of their own."""


def body_of(format: str, messages: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request with what a case says about it; what it does not say is what forbids least."""
    if format == "openai_chat":
        return {"model": "m", "messages": messages}
    if format == "openai_responses":
        return {"model": "m", "input": messages, **({"store": request["store"]} if "store" in request else {})}
    new = request.get("prefill") is False or request.get("model_family") == "mid_conversation_system"
    thinking: Any = {True: {"type": "enabled", "budget_tokens": 1024}, False: {"type": "disabled"}}
    names = request.get("tools") or sorted({*_SERVER_TOOL.findall(json.dumps(messages))})
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in names]
    return {
        "model": NEW if new else OLD,
        "max_tokens": 2048,
        "messages": messages,
        "thinking": thinking.get(request.get("thinking"), {"type": "adaptive"}),
        **({"tools": tools} if tools else {}),
    }


def refusal(format: str, messages: Any, request: Mapping[str, Any] | None = None) -> tuple[int, str] | None:
    """The status and the words with which the server refuses a history; None where it takes it."""
    given = request or {}
    stored = Stored()
    stored.reasoning.update(given.get("stored_reasoning_for") or {})
    refused = FORMATS[format].refusal(body_of(format, messages, given), HEADERS, stored)
    return None if refused is None else (refused[0], said(refused[1]))


def said(body: Any) -> str:
    """The words of an error."""
    return str(body["error"]["message"])
