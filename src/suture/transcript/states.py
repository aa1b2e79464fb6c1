"""The states of a tool call, and why one has no result: two tables.

Names are those of the AI SDK's `UIMessage`, so what is stored is what web clients read. Whether a call is settled is
decided by its state alone, never by the presence of a key.
"""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["CAUSES", "DENIED", "PLACEHOLDERS", "SETTLED", "Cause", "ToolState"]

ToolState = Literal[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
]

SETTLED: Final[dict[str, bool]] = {
    "input-streaming": False,  # arguments were still arriving
    "input-available": False,  # requested: not run yet, or running, or waiting for a client
    "approval-requested": False,  # a person has to decide
    "approval-responded": False,  # decided: an approved call has not run yet
    "output-available": True,  # a result (a preliminary one is not settled: see ToolPart.settled)
    "output-error": True,  # failed
    "output-denied": True,  # a person said no
}

Cause = Literal["not_started", "started", "awaiting_client", "awaiting_approval", "malformed", "unknown"]

CAUSES: Final[dict[str, str]] = {
    "not_started": "This tool call was recorded but never started: it did not run.",
    "started": "This tool call had started and no result was recorded: it may have taken effect. "
    "Find out what happened before relying on either outcome.",
    "awaiting_client": "This tool call was left to the client, which did not answer.",
    "awaiting_approval": "This tool call was waiting for an approval that was never given: it did not run.",
    "malformed": "The arguments of this tool call were cut off or are not a JSON object: it was not run.",
    "unknown": "No result was recorded for this tool call; it may or may not have run.",
}
"""The default outcome of an interrupted call, by what is known of it.

Each text says what is known and no more: it names no cause that was not recorded, invites no retry and never looks like
success. The texts are stable, so that a repaired history is the same bytes every time and prompt caches survive.
"""

DENIED: Final = "A person refused this tool call: it did not run."
"""The outcome of a call that was refused without a reason."""

PLACEHOLDERS: Final = frozenset({"IN_PROGRESS", "(no output yet)"})
"""What some programs (Pipecat, Roo Code) put in a result's place while the tool still runs: it says nothing yet."""
