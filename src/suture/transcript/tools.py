"""A tool as it is told of: to a model, and by a client that runs it."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["ToolSpec"]


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool: what it is called, what it is for, what it takes."""

    name: str
    description: str
    schema: dict[str, Any]
    """The JSON Schema of its arguments, an object's."""
