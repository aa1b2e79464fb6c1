"""Asking a model directly."""

from __future__ import annotations

from typing import Any

from suture.models import ModelRequest, Piece, TextPiece
from suture.models.base import Model
from suture.transcript import Message, TextPart

__all__ = ["answered", "asked", "said"]


def said(text: str, role: Any = "user") -> Message:
    """A message in words."""
    return Message(role=role, parts=(TextPart(text),))


async def answered(model: Model, request: ModelRequest | str) -> list[Piece]:
    """All pieces of an answer; the model's connections are let go."""
    made = ModelRequest(messages=[said(request)]) if isinstance(request, str) else request
    try:
        return [piece async for piece in model.stream(made)]
    finally:
        await model.close()  # type: ignore[attr-defined]


async def asked(model: Model, request: ModelRequest | str) -> str:
    """The text of an answer."""
    return "".join(piece.text for piece in await answered(model, request) if isinstance(piece, TextPiece))
