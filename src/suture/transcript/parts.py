"""What a message is made of.

One idea carries the package: *a tool call and its outcome are one record*, the `ToolPart`. A result without a call
cannot be written down here, and a call without a result is a state, not an accident.

Parts are frozen. A part that was read from a provider's format remembers where it stood (`Origin`), so that printing it
back gives that very object where nothing changed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from suture.transcript.codec import dumps
from suture.transcript.states import SETTLED, Cause, ToolState

__all__ = [
    "MALFORMED",
    "DataPart",
    "FilePart",
    "OpaquePart",
    "Origin",
    "Part",
    "ReasoningPart",
    "SourcePart",
    "StepStart",
    "TextPart",
    "ToolPart",
    "output_text",
]


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where something stood in the input, and the object that stood there."""

    at: tuple[int | str, ...]
    """The path from the message list: `(3, "content", 0)`. Empty for an outcome that has to find a new place."""
    wire: Any
    """The object itself, never mutated."""


class TextPart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="text"):
    """Text that the user, the model or the developer wrote."""

    text: str
    origin: Origin | None = None


class ReasoningPart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="reasoning"):
    """What a model thought, with the provider's opaque payload."""

    text: str = ""
    payload: Any = None
    """Signature or ciphertext: only the provider that made it can read it. None: it has none."""
    model: str | None = None
    """The model that the payload is bound to, where the history says so."""
    key: str = ""
    """The message key that carried it, where a format keeps reasoning beside the content; or the type of its record,
    where a format has several."""
    item_id: str | None = None
    origin: Origin | None = None


class FilePart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="file"):
    """An image, a document or another file."""

    media_type: str = ""
    url: str | None = None
    origin: Origin | None = None


class SourcePart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="source"):
    """A source that an answer rests on."""

    source: Any = None
    origin: Origin | None = None


class DataPart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="data"):
    """An application's own data, `data-<name>` in the AI SDK."""

    name: str
    data: Any = None
    origin: Origin | None = None


class StepStart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="step-start"):
    """The border between two answers of the model inside one message."""

    origin: Origin | None = None


MALFORMED = "malformed"
"""The kind of an opaque part that is no block of its format: not an object, or without what its type needs."""


class OpaquePart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="opaque"):
    """What is not understood: carried through verbatim, never dropped."""

    kind: str
    value: Any = None
    origin: Origin | None = None


class ToolPart(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="tool"):
    """A tool call and its outcome, one record."""

    call_id: str
    """The provider's id; empty where the history has none."""
    name: str
    input: Any = None
    """The parsed arguments. An object once the call has been repaired; before that, whatever stood there."""
    raw_input: str | None = None
    """The arguments as text, where the format keeps them so."""
    state: ToolState = "input-available"
    output: Any = None
    """The outcome: a string, a JSON value, or a tuple of parts (text and files); an error's text for `output-error`."""
    approval: dict[str, Any] | None = None
    kind: str = "function"
    """What sort of call the provider's format makes of it: `function`, `custom`, `computer`, `server` …"""
    executor: str = "host"
    """Who runs it: `host` (us), `client` or `provider`."""
    item_id: str | None = None
    """The id of the record itself where a format tells it apart from the call's id (OpenAI Responses)."""
    preliminary: bool = False
    """The output is not the last one."""
    synthetic: bool = False
    """This outcome was written by a repair, ours or another tool's, not by the tool."""
    cause: Cause | None = None
    """What is known of a call that has no result."""
    attempts: int = 0
    """How often a tool was started for it, as far as that was recorded."""
    flaws: tuple[str, ...] = ()
    """Keys of the call or of its result that the format needs and that are not there or of another type."""
    origin: Origin | None = None
    """Where the call stood."""
    outcome_origin: Origin | None = None
    """Where the result stood."""
    outcome_container: Origin | None = None
    """The message that the result stood in, where a format puts several in one; without a path once it has to leave."""

    @property
    def settled(self) -> bool:
        """Whether the call has its final outcome."""
        return SETTLED[self.state] and not self.preliminary

    @property
    def error_text(self) -> str | None:
        """The text of a failed call; None where it did not fail."""
        if self.state not in ("output-error", "output-denied"):
            return None
        return output_text(self.output)

    def settle(self, text: str) -> ToolPart:
        """This call with `text` as its synthetic outcome, marked as an error: it never looks like success."""
        return msgspec.structs.replace(
            self,
            state="output-error",
            output=text,
            preliminary=False,
            synthetic=True,
            outcome_origin=None,
            outcome_container=None,
        )


Part = TextPart | ReasoningPart | FilePart | SourcePart | DataPart | StepStart | OpaquePart | ToolPart


def output_text(output: Any) -> str:
    """The readable text of an outcome: strings as they are, parts joined, other JSON values printed."""
    if isinstance(output, str):
        return output
    if isinstance(output, tuple):
        return "\n".join(part.text for part in output if isinstance(part, TextPart))
    return "" if output is None else dumps(output)
