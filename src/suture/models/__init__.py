"""Models: what answers a request."""

from suture.models.base import (
    CallPiece,
    Finish,
    Model,
    ModelRequest,
    Piece,
    ReasoningPiece,
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
    "Script",
    "ScriptedModel",
    "Step",
    "TextPiece",
    "ToolSpec",
    "Usage",
    "scripted",
]
