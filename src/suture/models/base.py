"""What a model is to the harness: a request goes in, pieces of one answer come out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

import msgspec

from suture.transcript import Message

__all__ = [
    "CallPiece",
    "Finish",
    "Model",
    "ModelRequest",
    "Piece",
    "ReasoningPiece",
    "TextPiece",
    "ToolSpec",
    "Usage",
]


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as the model is told of it."""

    name: str
    description: str
    schema: dict[str, Any]
    """The JSON Schema of its arguments, an object's."""


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked: a conversation in which every call has its outcome."""

    messages: Sequence[Message]
    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    settings: dict[str, Any] = {}
    """What the provider is to be told beside: `temperature`, `tool_choice` …"""


class TextPiece(msgspec.Struct, frozen=True, tag="text"):
    """More of the answer's text."""

    text: str


class ReasoningPiece(msgspec.Struct, frozen=True, tag="reasoning"):
    """More of what the model thinks; the payload, where there is one, comes with the last piece."""

    text: str = ""
    payload: Any = None
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


Piece = TextPiece | ReasoningPiece | CallPiece | Usage | Finish


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """What it is called: `gpt-5.1`."""

    def stream(self, request: ModelRequest, /) -> AsyncIterator[Piece]:
        """The answer, piece by piece, `Finish` last.

        Raises:
            ModelError: the provider refused or failed; its kind says whether asking again may help.
        """
