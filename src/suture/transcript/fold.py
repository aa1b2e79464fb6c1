"""From events to messages: what each event changes, one row at a time.

A fold is written once, against `Rows`; a store brings the rows. It looks at nothing but what an event names, so its
cost is the same in a short conversation and in a long one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from suture.errors import EventError
from suture.transcript.arguments import as_object
from suture.transcript.events import (
    WHEN,
    Admitted,
    ApprovalAnswered,
    ApprovalAsked,
    CallProgressed,
    CallSettled,
    CallStarted,
    ClientToolsSet,
    Compacted,
    Event,
    LeafMoved,
    MessageAdded,
    PartReplaced,
    StepAdded,
    TurnBegan,
    TurnEnded,
    Withdrawn,
)
from suture.transcript.parts import Part, StepStart, ToolPart
from suture.transcript.states import DENIED

__all__ = ["Head", "Place", "Rows", "fold"]


class Head(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What is true of a session as a whole."""

    leaf: str | None = None
    """The newest message of the conversation; None where there is none."""
    turn: str | None = None
    """The turn that has begun and not ended."""
    ended: str = ""
    """How the last turn ended."""
    answer: str | None = None
    """The message that the open turn, or else the last one, writes its answer into."""


class Place(msgspec.Struct, frozen=True):
    """Where a call stands, or what a repair put in its place."""

    message: str
    index: int
    part: Part


class Rows(Protocol):
    """The rows of one session, as a fold reads and writes them."""

    head: Head
    """Read and written in place."""

    def has_message(self, message: str) -> bool:
        """Whether there is a message of this id."""

    def add_message(self, event: MessageAdded) -> None:
        """Add a message, without its parts."""

    def length(self, message: str) -> int:
        """How many parts a message has."""

    def set_part(self, message: str, index: int, part: Part) -> None:
        """Write one part, at the end or in the place of another."""

    def call(self, call: str) -> Place | None:
        """Where a call stands or stood, if it was ever made."""

    def add_input(self, event: Admitted) -> None:
        """Remember a message that waits."""

    def drop_input(self, message: str) -> None:
        """Forget that a message waits, if it did."""

    def set_client_tools(self, event: ClientToolsSet) -> None:
        """Remember the tools that the client runs, in place of those before."""

    def set_summary(self, event: Compacted) -> None:
        """Remember the summary that stands for what comes before a message."""


def fold(event: Event, rows: Rows) -> None:
    """Bring the rows up to date.

    Raises:
        EventError: the event cannot follow what happened before.
    """
    if (rows.head.turn is not None) not in WHEN[type(event)]:
        raise EventError(type(event).__name__, "a turn is open" if rows.head.turn else "no turn is open")
    _FOLDS[type(event)](event, rows)


def _admitted(event: Admitted, rows: Rows) -> None:
    if not rows.has_message(event.message):
        rows.add_input(event)


def _withdrawn(event: Withdrawn, rows: Rows) -> None:
    rows.drop_input(event.message)


def _client_tools_set(event: ClientToolsSet, rows: Rows) -> None:
    rows.set_client_tools(event)


def _turn_began(event: TurnBegan, rows: Rows) -> None:
    rows.head.turn = event.turn
    if event.trigger != "resume":
        rows.head.answer = None


def _sound(part: Part) -> Part:
    """A part as it may be stored: the arguments of a call are an object, wherever the event came from."""
    if isinstance(part, ToolPart) and part.kind == "function" and type(part.input) is not dict:
        return msgspec.structs.replace(part, input=as_object(part.input))
    return part


def _message_added(event: MessageAdded, rows: Rows) -> None:
    if rows.has_message(event.message):
        raise EventError("MessageAdded", f"there is a message {event.message!r} already")
    if event.parent is not None and not rows.has_message(event.parent):
        raise EventError("MessageAdded", f"there is no message {event.parent!r} to follow")
    rows.add_message(event)
    for index, part in enumerate(event.parts):
        rows.set_part(event.message, index, _sound(part))
    rows.drop_input(event.message)
    rows.head.leaf = event.message
    rows.head.answer = event.message if event.role == "assistant" else None


def _step_added(event: StepAdded, rows: Rows) -> None:
    if not rows.has_message(event.message):
        raise EventError("StepAdded", f"there is no message {event.message!r}")
    for part in event.parts:
        if isinstance(part, ToolPart) and rows.call(part.call_id) is not None:
            raise EventError("StepAdded", f"there is a call {part.call_id!r} already")
    start = rows.length(event.message)
    for index, part in enumerate((StepStart(), *event.parts), start):
        rows.set_part(event.message, index, _sound(part))


def _on_call(change: Callable[[Any, ToolPart], ToolPart | None]) -> Callable[[Any, Rows], None]:
    """A fold that changes one call; None leaves it as it is."""

    def apply(event: Any, rows: Rows) -> None:
        place = rows.call(event.call)
        if place is None:
            raise EventError(type(event).__name__, f"there is no call {event.call!r}")
        changed = change(event, place.part) if isinstance(place.part, ToolPart) else None
        if changed is not None:
            rows.set_part(place.message, place.index, changed)

    return apply


def _started(event: CallStarted, part: ToolPart) -> ToolPart | None:
    return None if part.settled else msgspec.structs.replace(part, cause="started", attempts=event.attempt)


def _progressed(event: CallProgressed, part: ToolPart) -> ToolPart | None:
    if part.settled:
        return None
    return msgspec.structs.replace(part, state="output-available", output=event.output, preliminary=True)


def _settled(event: CallSettled, part: ToolPart) -> ToolPart | None:
    if part.settled and (event.synthetic or not part.synthetic):
        return None
    return msgspec.structs.replace(
        part, state=event.state, output=event.output, synthetic=event.synthetic, cause=event.cause, preliminary=False
    )


def _asked(event: ApprovalAsked, part: ToolPart) -> ToolPart | None:
    if part.settled:
        return None
    return msgspec.structs.replace(
        part, state="approval-requested", approval={"id": event.approval}, cause="awaiting_approval"
    )


def _answered(event: ApprovalAnswered, part: ToolPart) -> ToolPart | None:
    if part.state != "approval-requested":
        return None
    approval = {**(part.approval or {}), "approved": event.approved}
    if event.reason is not None:
        approval["reason"] = event.reason
    if event.approved:
        return msgspec.structs.replace(part, state="approval-responded", approval=approval, cause="not_started")
    output = event.reason or DENIED
    return msgspec.structs.replace(part, state="output-denied", output=output, approval=approval, cause=None)


def _part_replaced(event: PartReplaced, rows: Rows) -> None:
    if not rows.has_message(event.message) or not 0 <= event.index < rows.length(event.message):
        raise EventError("PartReplaced", f"message {event.message!r} has no part {event.index}")
    rows.set_part(event.message, event.index, _sound(event.part))


def _leaf_moved(event: LeafMoved, rows: Rows) -> None:
    if event.leaf is not None and not rows.has_message(event.leaf):
        raise EventError("LeafMoved", f"there is no message {event.leaf!r}")
    rows.head.leaf = event.leaf
    rows.head.answer = None


def _compacted(event: Compacted, rows: Rows) -> None:
    if not rows.has_message(event.first_kept):
        raise EventError("Compacted", f"there is no message {event.first_kept!r}")
    rows.set_summary(event)


def _turn_ended(event: TurnEnded, rows: Rows) -> None:
    if rows.head.turn != event.turn:
        raise EventError("TurnEnded", f"the open turn is {rows.head.turn!r}, not {event.turn!r}")
    rows.head.turn = None
    rows.head.ended = event.outcome


_FOLDS: Final[dict[type[Event], Callable[[Any, Rows], None]]] = {
    Admitted: _admitted,
    Withdrawn: _withdrawn,
    ClientToolsSet: _client_tools_set,
    TurnBegan: _turn_began,
    MessageAdded: _message_added,
    StepAdded: _step_added,
    CallStarted: _on_call(_started),
    CallProgressed: _on_call(_progressed),
    CallSettled: _on_call(_settled),
    ApprovalAsked: _on_call(_asked),
    ApprovalAnswered: _on_call(_answered),
    PartReplaced: _part_replaced,
    LeafMoved: _leaf_moved,
    Compacted: _compacted,
    TurnEnded: _turn_ended,
}
