"""What happens in a session, as it is written down: the log of which the messages are the fold.

An event says what is known at one moment and is never changed. Which event may come when is one table, `WHEN`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from suture.transcript.messages import Role
from suture.transcript.parts import Part
from suture.transcript.states import Cause, ToolState
from suture.transcript.tools import ToolSpec

__all__ = [
    "WHEN",
    "Admitted",
    "ApprovalAnswered",
    "ApprovalAsked",
    "CallProgressed",
    "CallSettled",
    "CallStarted",
    "ClientToolsSet",
    "Compacted",
    "Event",
    "LeafMoved",
    "MessageAdded",
    "Outcome",
    "PartReplaced",
    "StepAdded",
    "TurnBegan",
    "TurnEnded",
    "Withdrawn",
]

Outcome = Literal["completed", "parked", "stopped", "failed", "out_of_steps", "interrupted"]
"""How a turn ended. `parked`: it waits for a person or a client; `interrupted`: its process died or lost it."""


class Event(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="event"):
    """One thing that happened."""


class Admitted(Event, frozen=True, gc=False, tag="admitted"):
    """A user's message was accepted; the turn that takes it up adds it to the conversation."""

    message: str
    """The id that the message has and keeps: admitting it again changes nothing."""
    parts: tuple[Part, ...]
    metadata: dict[str, Any] | None = None


class Withdrawn(Event, frozen=True, gc=False, tag="withdrawn"):
    """A message that waited is not to be answered any more: no turn takes it up."""

    message: str


class ClientToolsSet(Event, frozen=True, gc=False, tag="client-tools-set"):
    """A client said which tools it runs; what it said before no longer holds."""

    tools: tuple[ToolSpec, ...]


class TurnBegan(Event, frozen=True, gc=False, tag="turn-began"):
    """A process took the session to answer."""

    turn: str
    trigger: Literal["message", "resume", "regenerate"] = "message"


class MessageAdded(Event, frozen=True, gc=False, tag="message-added"):
    """A message came into the conversation, and is its newest now. Where it was admitted, it is no longer waiting."""

    message: str
    role: Role
    parent: str | None
    """The message that it follows; None for the first."""
    parts: tuple[Part, ...] = ()
    metadata: dict[str, Any] | None = None


class StepAdded(Event, frozen=True, gc=False, tag="step-added"):
    """The model answered: these parts stand at the end of the message. No call in it has been started."""

    message: str
    parts: tuple[Part, ...]
    finish: str = ""
    """Why the model ended: `stop`, `tool_calls`, `length`, `cut` (it did not end by itself) …"""
    usage: dict[str, int] | None = None
    model: str = ""


class CallStarted(Event, frozen=True, gc=False, tag="call-started"):
    """A tool is about to run: from now on it may have taken effect."""

    call: str
    attempt: int = 1


class CallProgressed(Event, frozen=True, gc=False, tag="call-progressed"):
    """A tool that still runs showed how far it is: a preliminary output, in place of the one before."""

    call: str
    output: Any


class CallSettled(Event, frozen=True, gc=False, tag="call-settled"):
    """A call has its outcome. A real one takes the place of a synthetic one, never the reverse."""

    call: str
    state: ToolState
    output: Any = None
    synthetic: bool = False
    cause: Cause | None = None


class ApprovalAsked(Event, frozen=True, gc=False, tag="approval-asked"):
    """A person has to decide before the call may run."""

    call: str
    approval: str
    """The id of the question."""


class ApprovalAnswered(Event, frozen=True, gc=False, tag="approval-answered"):
    """A person decided."""

    call: str
    approved: bool
    reason: str | None = None


class PartReplaced(Event, frozen=True, gc=False, tag="part-replaced"):
    """A repair put another part in the place of one."""

    message: str
    index: int
    part: Part
    rule: str
    call: str | None = None


class LeafMoved(Event, frozen=True, gc=False, tag="leaf-moved"):
    """Another message is the newest of the conversation: what followed it is another branch now."""

    leaf: str | None


class Compacted(Event, frozen=True, gc=False, tag="compacted"):
    """The model is shown a summary in place of everything before a message; nothing is removed."""

    summary: str
    """The text of the summary."""
    first_kept: str
    """The message that the model is shown first, behind the summary."""


class TurnEnded(Event, frozen=True, gc=False, tag="turn-ended"):
    """The turn is over, for this one reason."""

    turn: str
    outcome: Outcome
    detail: str = ""
    """A sentence for a person: what failed, or what the turn waits for."""


AnyEvent = (
    Admitted
    | Withdrawn
    | ClientToolsSet
    | TurnBegan
    | MessageAdded
    | StepAdded
    | CallStarted
    | CallProgressed
    | CallSettled
    | ApprovalAsked
    | ApprovalAnswered
    | PartReplaced
    | LeafMoved
    | Compacted
    | TurnEnded
)
"""All of them, for decoding."""

WHEN: Final[dict[type[Event], tuple[bool, ...]]] = {
    Admitted: (True, False),
    Withdrawn: (True, False),
    ClientToolsSet: (True, False),
    TurnBegan: (False,),
    MessageAdded: (True,),
    StepAdded: (True,),
    CallStarted: (True,),
    CallProgressed: (True,),
    CallSettled: (True, False),  # a client's result comes when it comes
    ApprovalAsked: (True,),
    ApprovalAnswered: (True, False),
    PartReplaced: (True,),
    LeafMoved: (True, False),
    Compacted: (True, False),
    TurnEnded: (True,),
}
"""Whether a turn may be open when an event comes (True), or may not be (False)."""
