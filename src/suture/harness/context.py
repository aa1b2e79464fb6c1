"""What a running tool is told about the call that it answers."""

from __future__ import annotations

import msgspec

__all__ = ["ToolContext"]


class ToolContext(msgspec.Struct, frozen=True):
    """Where a call stands. A function asks for it with a parameter `ctx: ToolContext`, which no model ever sees."""

    session: str
    turn: str
    call: str
    """The call's id: the same however often it is run, so that it can serve as an idempotency key."""
    attempt: int
    """1 for the first run of this call; more where an interrupted one is run again."""
