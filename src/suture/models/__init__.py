"""Models: what answers a request."""

import importlib
from typing import TYPE_CHECKING, Any

from suture.models.base import (
    CallPiece,
    Finish,
    Model,
    ModelRequest,
    Piece,
    ReasoningPiece,
    Remark,
    TextPiece,
    ToolSpec,
    Usage,
)
from suture.models.scripted import Script, ScriptedModel, Step, scripted

__all__ = [
    "CallPiece",
    "Finish",
    "Model",
    "ModelRequest",
    "Piece",
    "ReasoningPiece",
    "Remark",
    "Script",
    "ScriptedModel",
    "Step",
    "TextPiece",
    "ToolSpec",
    "Usage",
    "model",
    "scripted",
]

if TYPE_CHECKING:
    from suture.models.providers import model


def __getattr__(name: str) -> Any:
    """What reaches a provider needs an HTTP client: it is imported where somebody asks for it."""
    if name == "model":
        return importlib.import_module("suture.models.providers").model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
