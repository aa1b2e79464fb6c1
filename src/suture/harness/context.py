"""What a running tool is told about the call that it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from suture.harness.outputs import Outcome

__all__ = ["ToolContext"]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class ToolContext(msgspec.Struct, frozen=True):
    """Where a call stands. A function asks for it with a parameter `ctx: ToolContext`, which no model ever sees."""

    session: str
    turn: str
    call: str
    """The call's id: the same however often it is run, so that it can serve as an idempotency key."""
    attempt: int
    """1 for the first run of this call; more where an interrupted one is run again."""
    metadata: Mapping[str, Any] = _NOTHING
    """What came with the user's message that is being answered."""
    progress: Callable[[Any], None] = lambda _: None
    """Shows how far the tool is: `ctx.progress("40 %")`, from any thread. Whoever listens gets each value; the last
    one is kept with the call where the tool is cut off."""
    late: Callable[[Outcome], None] = lambda _: None
    """Takes what becomes of the call after its time was up; for what runs tools, in the event loop's thread."""
