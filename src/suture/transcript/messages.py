"""Messages, and what a wire format says before its calls and results are paired."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from suture.transcript.parts import Origin, Part, ToolPart
from suture.transcript.states import ToolState

__all__ = ["Entry", "Fault", "Message", "Result", "Role"]

Role = Literal["system", "user", "assistant"]


class Fault(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What the reader of a format found wrong in one record, and has read in the one way that keeps all of it.

    Only a reader sees the fields of a record; whether it may be printed as it was read is for the rule to say.
    """

    rule: str
    at: tuple[int | str, ...]
    message: str
    action: str
    call_id: str | None = None
    lost: str | None = None
    wire: Any = None
    """The record as it stood: what is printed where the target does not have the rule."""


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message of the neutral transcript: every tool call in it carries its own outcome."""

    role: Role
    parts: tuple[Part, ...]
    id: str | None = None
    metadata: Any = None
    keeps: bool = False
    """Whether it says something outside of its parts (a refusal, audio), so that it is not empty without any."""
    hollow: bool = False
    """Whether it came in with nothing in it."""
    place: int = 0
    """The wire message that it came from or, where it is new, that it was put beside."""
    origin: Origin | None = None
    """That wire message; None where it is new."""
    faults: tuple[Fault, ...] = ()
    """What is wrong in its records and no rule has mended."""


class Result(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A tool result as a wire format has it: apart from its call. Pairing folds it into a `ToolPart`."""

    call_id: str
    """The id that it names; empty where there is none."""
    name: str = ""
    output: Any = None
    state: ToolState = "output-available"
    kind: str = "function"
    executor: str = "host"
    flaws: tuple[str, ...] = ()
    """Keys that the format needs and that are not there or unknown."""
    origin: Origin
    """The result itself."""
    container: Origin
    """The message that holds it: the result itself where a format gives each a message of its own."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One wire message as it was read: parts and results in their order, not paired yet."""

    role: Role | Literal["tool"]
    items: tuple[Part | Result, ...]
    origin: Origin
    id: str | None = None
    metadata: Any = None
    keeps: bool = False
    faults: tuple[Fault, ...] = ()

    @property
    def calls(self) -> list[ToolPart]:
        """The tool calls in it."""
        return [item for item in self.items if isinstance(item, ToolPart)]
