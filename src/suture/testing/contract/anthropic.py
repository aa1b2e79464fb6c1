"""Anthropic's Messages: what is refused for the shape of a message, and what a format has beside its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from suture.testing.contract import errors
from suture.testing.contract.anthropic_answer import events, whole
from suture.testing.contract.anthropic_blocks import RULES as BLOCKS
from suture.testing.contract.anthropic_turns import RULES as TURNS
from suture.testing.contract.base import KIND, Refusal, Rule, Stored, Wrong, event, first, objects, text_of

__all__ = [
    "NAME",
    "PATH",
    "RULES",
    "error",
    "events",
    "failed",
    "overflow",
    "refusal",
    "said",
    "unauthorized",
    "whole",
]

NAME: Final = "anthropic"
PATH: Final = "/v1/messages"

_MOST: Final = 100_000
_ROLES: Final = ("user", "assistant", "system")


def unauthorized(headers: Mapping[str, str]) -> Refusal | None:
    """The refusal of a request without a key, or without the version of the format."""
    if not headers.get("x-api-key") and not headers.get("authorization"):
        return 401, errors.anthropic(401, "x-api-key header is required")
    if not headers.get("anthropic-version"):
        return 400, errors.anthropic(400, "anthropic-version: header is required")
    return None


def refusal(body: Any, headers: Mapping[str, str], _stored: Stored | None = None) -> Refusal | None:
    """The refusal of the first rule that the request breaks; None where it is taken."""
    refused = unauthorized(headers)
    if refused is not None:
        return refused
    wrong = first(RULES, body)
    return None if wrong is None else (wrong.status, errors.anthropic(wrong.status, wrong.message))


def _shape(body: Any) -> Iterator[Wrong]:
    for key, kind in (("model", str), ("max_tokens", int), ("messages", list)):
        if body.get(key) is None:
            yield Wrong(f"{key}: Field required")
        elif not isinstance(body[key], kind):
            yield Wrong(f"{key}: Input should be a valid {KIND[kind].replace('array', 'list')}")
    if not body["messages"]:
        yield Wrong("messages: at least one message is required")
    if len(body["messages"]) > _MOST:
        yield Wrong(f"messages: List should have at most {_MOST} items after validation, not {len(body['messages'])}")
    for place, message in enumerate(body["messages"]):
        yield from _message(message, f"messages.{place}")


def _message(message: Any, path: str) -> Iterator[Wrong]:
    if not isinstance(message, dict):
        yield Wrong(f"{path}: Input should be a valid dictionary or object to extract fields from")
    elif message.get("role") not in _ROLES:
        yield Wrong(f"{path}.role: Input should be 'user' or 'assistant'")
    elif message.get("content") is None:
        yield Wrong(f"{path}.content: Field required")
    elif not isinstance(message["content"], str | list):
        yield Wrong(f"{path}.content: Input should be a valid list")


RULES: Final = (Rule("shape, ANT-32", _shape), *BLOCKS, *TURNS)
"""What is refused, in the order of looking; a rule may rely on what those before it let through."""


def error(status: int, message: str = "") -> dict[str, Any]:
    """The body of an error."""
    return errors.anthropic(status, message)


def overflow() -> Refusal:
    """The refusal of a request that is too long for the model."""
    return 400, errors.anthropic(400, "prompt is too long: 200001 tokens > 200000 maximum")


def failed(message: str = "") -> bytes:
    """The event of a stream in which the provider was overloaded."""
    return event(msgspec.json.encode(errors.anthropic(529, message)), "error")


def said(body: Any) -> str:
    """The last text of the user."""
    users = [message for message in objects(body.get("messages")) if message.get("role") == "user"]
    return next((text for message in reversed(users) if (text := text_of(message.get("content")))), "")
