"""The pieces of an answer, as a provider streams them: what a format's decoder gives and a turn collects."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["CallPiece", "Failure", "Finish", "Piece", "ReasoningPiece", "Remark", "TextPiece", "Usage"]


class TextPiece(msgspec.Struct, frozen=True, tag="text"):
    """More of the answer's text."""

    text: str


class ReasoningPiece(msgspec.Struct, frozen=True, tag="reasoning"):
    """More of what the model thinks; the payload, where there is one, comes with the last piece."""

    text: str = ""
    payload: Any = None
    key: str = ""
    """What `ReasoningPart.key` is to say."""
    item_id: str | None = None


class CallPiece(msgspec.Struct, frozen=True, kw_only=True, tag="call"):
    """More of a call. The first piece of an index brings the name; arguments are JSON text, in pieces."""

    index: int
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    executor: str = "host"


class Usage(msgspec.Struct, frozen=True, tag="usage"):
    """How many tokens the answer took, by the provider's names for them."""

    tokens: dict[str, int]


class Finish(msgspec.Struct, frozen=True, tag="finish"):
    """The answer is whole; without one it was cut off."""

    reason: str = "stop"
    model: str = ""


class Remark(msgspec.Struct, frozen=True, tag="remark"):
    """What happened on the way to the answer, for whoever runs this: no part of it."""

    text: str


Piece = TextPiece | ReasoningPiece | CallPiece | Usage | Finish | Remark


class Failure(msgspec.Struct, frozen=True):
    """What a stream says instead of the rest of an answer: the provider failed while it answered."""

    kind: str
    """The provider's own word for it: `overloaded_error`, `server_error` …"""
    message: str
