"""Who answers next in a session: turns stand in line, and the agent says what a message does that finds one there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Literal

from suture.errors import UsageError

if TYPE_CHECKING:
    from suture.harness.turn import Turn

__all__ = ["INSIDE", "Line", "Overlap"]

Overlap = Literal["queue", "latest", "merge", "drop", "debounce"]
"""What becomes of a message that comes while another one is being answered, or waits for it.

`queue`: each is answered in its order. `latest`: those that wait become part of the conversation, and only the newest
is answered; whoever sent them hears `superseded`. `merge`: the same, and all who sent them hear the one answer. `drop`:
it is not taken, and its sender hears `declined`. `debounce`: as `latest`, once no more messages have come for a while.
"""

INSIDE: Final[ContextVar[Turn | None]] = ContextVar("the turn that this code runs in", default=None)


class Line:
    """The turns of one session: one runs, the others wait."""

    def __init__(self) -> None:
        """Nobody is there."""
        self.running: Turn | None = None
        self.waiting: list[Turn] = []
        self._coming = 0

    @property
    def busy(self) -> bool:
        """Whether a turn that comes now has to wait."""
        return self.running is not None or bool(self.waiting) or self._coming > 0

    def refuse_inside(self, what: str) -> None:
        """Nobody waits for itself.

        Raises:
            UsageError: this code is part of the turn that runs.
        """
        inside = INSIDE.get()
        if inside is not None and inside is self.running:
            raise UsageError(f"{what}: a turn cannot wait for itself; a tool or a hook called this inside of its turn")

    @contextmanager
    def coming(self) -> Iterator[None]:
        """A turn is about to join: it is seen by those who come meanwhile."""
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    def join(self, turn: Turn, overlap: Overlap) -> None:
        """Begin a turn, or let it wait for the others."""
        if overlap in ("latest", "merge", "debounce"):
            for old in [old for old in self.waiting if old.trigger == "message"]:
                self.waiting.remove(old)
                if overlap == "merge":
                    turn.audience += old.audience
                else:
                    old.give_up("superseded", f"a later message came: {turn.message}")
        self.waiting.append(turn)
        if overlap == "debounce" and self.running is not None:
            turn.let_rest(self._next)
        self._next()

    def leave(self, turn: Turn) -> None:
        """A turn is over: the next one begins."""
        if self.running is turn:
            self.running = None
            self._next()

    def clear(self) -> None:
        """Send those away who wait."""
        for turn in self.waiting:
            turn.give_up("stopped", "it had not begun")
        self.waiting = []

    def claimed(self) -> set[str]:
        """The messages that a waiting turn is going to take up."""
        return {turn.message for turn in self.waiting if turn.message is not None}

    def _next(self, *_: Any) -> None:
        if self.running is None and self.waiting and self.waiting[0].rested:
            self.running = self.waiting.pop(0)
            self.running.start()
