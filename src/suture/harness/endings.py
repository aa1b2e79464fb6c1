"""What is said of a call that a turn's end cut off: by how the turn ended and how far the call had come.

Each text says what is known and no more, in the manner of `suture.transcript.CAUSES`.
"""

from __future__ import annotations

from typing import Final, Literal

from suture.repair.settle import default_outcome
from suture.transcript import ToolPart
from suture.transcript.events import CallSettled

__all__ = ["ENDINGS", "Ending", "closing"]

Ending = Literal["stopped", "timeout", "fault"]

_MAY = "it may have taken effect. Find out what happened before relying on either outcome."

ENDINGS: Final[dict[Ending, dict[str, str]]] = {
    "stopped": {
        "not_started": "The turn was stopped before this tool call was started: it did not run.",
        "started": f"The turn was stopped while this tool call was running: {_MAY}",
        "awaiting_client": "The turn was stopped while the client was to answer this tool call; no answer came.",
        "awaiting_approval": "The turn was stopped while this tool call was waiting for an approval: it did not run.",
    },
    "timeout": {
        "not_started": "The turn's time was up before this tool call was started: it did not run.",
        "started": f"The turn's time was up while this tool call was running: {_MAY}",
    },
    "fault": {
        "not_started": "The turn failed before this tool call was started: it did not run.",
        "started": f"The turn failed while this tool call was running: {_MAY}",
    },
}
"""Where a text is missing, `CAUSES` has it."""


def closing(part: ToolPart, ending: Ending) -> CallSettled:
    """The event that closes an open call at the end of a turn."""
    cause = part.cause or "unknown"
    text = default_outcome(part, ENDINGS[ending].get(cause, ""))
    return CallSettled(call=part.call_id, state="output-error", output=text, synthetic=True, cause=cause)
