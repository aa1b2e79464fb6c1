"""What a conversation is: frozen data, no IO, no clock."""

from suture.transcript.limits import Contract, Limits
from suture.transcript.messages import Entry, Fault, Message, Result, Role
from suture.transcript.parts import (
    DataPart,
    FilePart,
    OpaquePart,
    Origin,
    Part,
    ReasoningPart,
    SourcePart,
    StepStart,
    TextPart,
    ToolPart,
    output_text,
)
from suture.transcript.states import CAUSES, PLACEHOLDERS, SETTLED, Cause, ToolState

__all__ = [
    "CAUSES",
    "PLACEHOLDERS",
    "SETTLED",
    "Cause",
    "Contract",
    "DataPart",
    "Entry",
    "Fault",
    "FilePart",
    "Limits",
    "Message",
    "OpaquePart",
    "Origin",
    "Part",
    "ReasoningPart",
    "Result",
    "Role",
    "SourcePart",
    "StepStart",
    "TextPart",
    "ToolPart",
    "ToolState",
    "output_text",
]
