"""What a model is to the harness: a request goes in, pieces of one answer come out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import msgspec

from suture.transcript import Message
from suture.transcript.deltas import CallPiece, Finish, Piece, ReasoningPiece, Remark, TextPiece, Usage
from suture.transcript.tools import ToolSpec

__all__ = [
    "CallPiece",
    "Finish",
    "Model",
    "ModelRequest",
    "Piece",
    "ReasoningPiece",
    "Remark",
    "TextPiece",
    "ToolSpec",
    "Usage",
    "closing",
]


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked: a conversation in which every call has its outcome."""

    messages: Sequence[Message]
    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    settings: dict[str, Any] = {}
    """What the provider is to be told beside: `temperature`, `tool_choice` …"""


@asynccontextmanager
async def closing(pieces: AsyncIterator[Piece]) -> AsyncIterator[AsyncIterator[Piece]]:
    """An answer that is let go where it is left: what it holds open is closed in the task that opened it."""
    try:
        yield pieces
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


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
