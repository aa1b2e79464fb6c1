"""What a session tells while a turn runs: what its readers show, never what is true.

What is true is in the store; a notice that concerns something recorded comes after it was recorded.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from suture.transcript import Message, Part, ToolPart
from suture.transcript.events import Outcome, PartReplaced

__all__ = [
    "AnswerText",
    "ApprovalNeeded",
    "CallArguments",
    "CallEnded",
    "CallProgress",
    "CallRunning",
    "ClientNeeded",
    "IncompleteLeftOut",
    "MessageTaken",
    "ModelRemark",
    "Notice",
    "Reasoning",
    "StepDone",
    "TranscriptRepaired",
    "TurnDone",
    "TurnOpened",
]


class Notice(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """One thing that a reader may show."""

    session: str
    turn: str


class TurnOpened(Notice, frozen=True, tag="turn.opened"):
    """A turn began."""


class TranscriptRepaired(Notice, frozen=True, tag="transcript.repaired"):
    """Interrupted calls got their outcome, before anything else in this turn."""

    repairs: list[PartReplaced]


class MessageTaken(Notice, frozen=True, tag="message.taken"):
    """A user's message is part of the conversation."""

    message: Message


class AnswerText(Notice, frozen=True, tag="answer.text"):
    """More of the model's text."""

    text: str


class Reasoning(Notice, frozen=True, tag="answer.reasoning"):
    """More of what the model thinks."""

    text: str


class CallArguments(Notice, frozen=True, tag="call.arguments"):
    """More of a call's arguments, as text."""

    call: str
    """The call's id: a client may answer it as soon as the arguments are whole."""
    name: str
    arguments: str


class StepDone(Notice, frozen=True, tag="step.done"):
    """The model's answer is recorded."""

    message: str
    parts: tuple[Part, ...]
    finish: str
    usage: dict[str, int]


class CallRunning(Notice, frozen=True, tag="call.running"):
    """A tool runs."""

    call: ToolPart


class CallProgress(Notice, frozen=True, tag="call.progress"):
    """A tool that runs shows how far it is: not its result."""

    call: str
    output: Any


class CallEnded(Notice, frozen=True, tag="call.ended"):
    """A call has its outcome."""

    call: ToolPart


class ApprovalNeeded(Notice, frozen=True, tag="approval.needed"):
    """A person has to decide; `Session.approve` or `Session.deny` takes the call's id."""

    call: ToolPart


class ClientNeeded(Notice, frozen=True, tag="client.needed"):
    """A client has to run the call; `Session.tool_result` takes what comes of it."""

    call: ToolPart


class IncompleteLeftOut(Notice, frozen=True, tag="transcript.incomplete"):
    """Calls without an outcome were left out of a request: the repair before it has a gap."""

    calls: list[str]


class ModelRemark(Notice, frozen=True, tag="model.remark"):
    """What happened on the way to an answer: a request that was mended and sent again."""

    text: str


class TurnDone(Notice, frozen=True, tag="turn.done"):
    """The turn is over, or will not be: its message was superseded by a later one, or declined."""

    outcome: Outcome | Literal["superseded", "declined"]
    detail: str = ""
    message: str | None = None
    """The id of the answer; None where there is none."""
    error: Any = None
    """The exception behind `failed`; None otherwise."""
