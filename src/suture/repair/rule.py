"""What a rule is: a code, a name, and the page that explains it."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Example", "Rule"]


class Example(msgspec.Struct, frozen=True):
    """A broken history; the page shows it beside what `repair` makes of it."""

    format: str
    messages: list[Any]
    request: dict[str, Any] = {}


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One way for a history to be broken."""

    code: str
    name: str
    summary: str
    """What must hold, in one sentence."""
    why: str
    """How histories get into this state, and what it costs."""
    fix: str
    """What `repair` does, and what it keeps."""
    example: Example | None = None
