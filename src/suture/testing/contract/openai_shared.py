"""What both formats of OpenAI have in common: keys, refusals, and the shapes of single fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from suture.testing.contract import errors
from suture.testing.contract.base import KIND, Refusal, Wrong, event

__all__ = ["chunk", "failed", "name_is_wrong", "refused", "string_is_wrong", "unauthorized"]

_NO_KEY: Final = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the "
    "API from your browser and are prompted for a username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys."
)
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")


def unauthorized(headers: Mapping[str, str]) -> Refusal | None:
    """The refusal of a request without a key."""
    kind, _, key = headers.get("authorization", "").partition(" ")
    return None if kind.lower() == "bearer" and key.strip() else (401, errors.openai(401, _NO_KEY))


def refused(wrong: Wrong | None) -> Refusal | None:
    """A finding as OpenAI answers it."""
    if wrong is None:
        return None
    return wrong.status, errors.openai(wrong.status, wrong.message, param=wrong.param, code=wrong.code)


def chunk(data: Mapping[str, Any], name: str = "") -> bytes:
    """One event of a stream."""
    return event(msgspec.json.encode(data), name)


def failed(message: str = "") -> bytes:
    """The event of a stream in which the provider failed."""
    return chunk(errors.openai(500, message), "error")


def string_is_wrong(value: Any, path: str, *, least: int = 0, most: int | None = None) -> Iterator[Wrong]:
    """A field that has to be a string, of `least` to `most` characters."""
    if value is None:
        yield Wrong(f"Missing required parameter: '{path}'.", path, "missing_required_parameter")
    elif not isinstance(value, str):
        article = "an" if KIND[type(value)][0] in "aeiou" else "a"
        words = f"Invalid type for '{path}': expected a string, but got {article} {KIND[type(value)]} instead."
        yield Wrong(words, path, "invalid_type")
    elif len(value) < least:
        words = (
            f"Invalid '{path}': empty string. Expected a string with minimum length {least}, "
            "but got an empty string instead."
        )
        yield Wrong(words, path, "empty_string")
    elif most is not None and len(value) > most:
        words = (
            f"Invalid '{path}': string too long. Expected a string with maximum length {most}, "
            f"but got a string with length {len(value)} instead."
        )
        yield Wrong(words, path, "string_above_max_length")


def name_is_wrong(value: Any, path: str) -> Iterator[Wrong]:
    """The name of a tool, in a call or among the tools: up to 128 characters, as was measured."""
    yield from string_is_wrong(value, path, least=1, most=128)
    if isinstance(value, str) and not _NAME.fullmatch(value):
        words = (
            f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'."
        )
        yield Wrong(words, path, "invalid_value")
