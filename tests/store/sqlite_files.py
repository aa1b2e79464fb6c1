"""What the tests of the SQLite store share: a look into its file, and something to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from suture.transcript import TextPart, ToolPart
from suture.transcript.events import (
    CallSettled,
    CallStarted,
    Event,
    LeafMoved,
    MessageAdded,
    StepAdded,
    TurnBegan,
    TurnEnded,
)

MOVED = [LeafMoved(leaf=None)]
"""An event that can always come."""


def look(file: Path, statement: str, *bindings: Any) -> list[Any]:
    """What a query gives, on a connection of its own."""
    database = apsw.Connection(str(file))
    found = database.execute(statement, bindings).fetchall()
    database.close()
    return found


def log_size(file: Path) -> int:
    """How many bytes the write-ahead log has; 0 where there is none."""
    log = Path(f"{file}-wal")
    return log.stat().st_size if log.exists() else 0


def siblings(file: Path) -> list[Path]:
    """All files beside it, and itself."""
    return sorted(file.parent.iterdir())


def turn(number: int) -> list[Event]:
    """A whole turn: a question, a call, its result and the answer."""
    user, answer, call = f"u{number}", f"a{number}", f"c{number}"
    return [
        TurnBegan(turn=f"t{number}"),
        MessageAdded(message=user, role="user", parent=None, parts=(TextPart(f"question {number}"),)),
        MessageAdded(message=answer, role="assistant", parent=user),
        StepAdded(message=answer, parts=(TextPart("let me see"), ToolPart(call_id=call, name="look", input={}))),
        CallStarted(call=call),
        CallSettled(call=call, state="output-available", output="x" * 100),
        StepAdded(message=answer, parts=(TextPart(f"answer {number}"),)),
        TurnEnded(turn=f"t{number}", outcome="completed"),
    ]
