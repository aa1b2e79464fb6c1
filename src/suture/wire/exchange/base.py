"""The shape that every exchange has, and what their decoders share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from suture.transcript.codec import dumps, loads, plain_json
from suture.transcript.deltas import Failure, Finish, Piece, Usage
from suture.transcript.tools import ToolSpec
from suture.wire.sse import Event, Events

__all__ = ["Exchange", "StreamDecoder", "failure", "free_text", "number", "record", "records", "text", "usage"]

_DONE: Final = "[DONE]"
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"
_FIELDS: Final = (b":", b"data", b"event", b"id", b"retry")
"""How a line of an event stream can begin: as a comment, or with the name of a field."""
_SHOWN: Final = 200


class Exchange(Protocol):
    """How one format asks for an answer and reads it. A module of `suture.wire.exchange` fits it."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The format's name, the same as its adapter's."""

    @property
    def PATH(self) -> str:  # noqa: N802
        """Where requests go, behind the provider's base address."""

    def opening(self, instructions: str, /) -> list[dict[str, Any]]:
        """The wire messages that stand before all others: the instructions, where the format keeps them there."""

    def body(
        self, model: str, *, instructions: str, messages: Any, tools: Sequence[ToolSpec], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The body of a request for a streamed answer that says what it cost.

        `messages` is the wire list, or a `msgspec.Raw` that holds it, and is passed through untouched. `settings` are
        the provider's own keys; they come last and replace any key that is set here.
        """

    def thinks(self, settings: Mapping[str, Any], /) -> bool:
        """Whether the model is to think aloud under these settings, so that its reasoning may be sent back."""

    def Decoder(self) -> StreamDecoder:  # noqa: N802
        """A decoder for one answer."""


class StreamDecoder:
    """The pieces of one answer, from the bytes of the body of the provider's response.

    The bytes may be split anywhere: the pieces are the same. `Finish` is given last, and only where the provider said
    that it has ended, so a cut stream has none. Behind a `Failure` nothing is given any more. A server may answer with
    one JSON object in place of a stream; its pieces are given at the end. Events that are not known are ignored; data
    that is no JSON is a `Failure` of kind `malformed_stream`.
    """

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._events = Events()
        self._streamed: bool | None = None
        self._held: list[bytes] = []
        self._over = False

    def feed(self, data: bytes) -> list[Piece | Failure]:
        """Take in more of the body; the pieces that it completes."""
        if self._streamed:
            return self._read(self._events.feed(data), cut=False)
        self._held.append(data)
        if self._streamed is None:
            start = b"".join(self._held).lstrip(_BLANK)
            self._streamed = start.startswith(_FIELDS)
            if not self._streamed and any(field.startswith(start) for field in _FIELDS):
                self._streamed = None
        if not self._streamed:
            return []
        # What was held up is blank but for the first field's name.
        return self._read(self._events.feed(b"".join(self._held)), cut=False)

    def end(self) -> list[Piece | Failure]:
        """The body is over; the pieces that only its end completes."""
        if self._streamed is False:
            return self._given(self._read_document(b"".join(self._held)))
        return self._read(self._events.end(), cut=True) + self._given(self.done())

    def event(self, kind: str, value: dict[str, Any], /) -> Iterable[Piece | Failure]:
        """What an event says: of which kind it is, and its data."""
        raise NotImplementedError

    def document(self, value: dict[str, Any], /) -> Iterable[Piece | Failure]:
        """What an answer says that came whole."""
        raise NotImplementedError

    def done(self) -> Iterable[Piece | Failure]:
        """What is left to say once nothing more comes."""
        return ()

    def _read(self, events: list[Event], *, cut: bool) -> list[Piece | Failure]:
        """The pieces of these events; `cut`: their data may be cut, and is no failure then."""
        pieces: list[Piece | Failure] = []
        for event in events:
            if event.data.startswith(_DONE):
                pieces += self._given(self.done())
                self._over = True
            elif event.data:
                try:
                    value = _loaded(event.data)
                except ValueError:
                    pieces += () if cut else self._given([_malformed(event.data)])
                    continue
                if isinstance(value, dict):
                    named = event.event if event.event == "error" else text(value.get("type")) or event.event
                    pieces += self._given(_failed(named, value) or self.event(named, value))
        return pieces

    def _read_document(self, data: bytes) -> Iterable[Piece | Failure]:
        found = data.lstrip(_BLANK).decode("utf-8", "replace")
        try:
            value = _loaded(found)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            return [_malformed(found)]
        return _failed(text(value.get("type")), value) or self.document(value)

    def _given(self, pieces: Iterable[Piece | Failure]) -> list[Piece | Failure]:
        """These pieces up to the one that ends the answer; none behind that."""
        given: list[Piece | Failure] = []
        if not self._over:
            for piece in pieces:
                given.append(piece)
                if isinstance(piece, Finish | Failure):
                    self._over = True
                    break
        return given


def _loaded(found: str) -> Any:
    """The JSON value, with U+FFFD for each half of a character: some hosts give one half in one event."""
    value = loads(found)
    return plain_json(value) if "\\ud" in found or "\\uD" in found else value


def _failed(kind: str, value: dict[str, Any]) -> list[Failure]:
    """The failure that an event or a document tells of, in whichever of the ways that hosts have; mostly none."""
    error = value.get("error")
    return [failure(error or value)] if error or "error" in (kind, value.get("object")) else []


def _malformed(found: str) -> Failure:
    return Failure("malformed_stream", f"expected JSON, found {found[:_SHOWN]}")


# --- reading what may be anything -----------------------------------------------------------------------------------


def text(value: Any) -> str:
    """The text; empty for what is none."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    """The whole number; -1 for what is none."""
    return value if type(value) is int else -1


def record(value: Any) -> dict[str, Any]:
    """The object; empty for what is none."""
    return value if isinstance(value, dict) else {}


def records(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none for what is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def failure(error: Any) -> Failure:
    """What a provider says of its failure: its narrowest word for it, and its sentence."""
    fields = record(error)
    words = [text(fields.get(key)) for key in ("code", "type")] + [str(fields.get("code") or "")]
    kind = next((word for word in words if word and word != "error"), "error")
    said = [text(error), *(text(fields.get(key)) for key in ("message", "detail"))]
    return Failure(kind, next(filter(None, said), "") or dumps(error)[:_SHOWN])


def usage(value: Any) -> list[Usage]:
    """How many tokens it took, by the provider's names; none where it does not say.

    Details stand beside the sums that they are parts of. Details of one name are added up: the audio tokens are those
    that were read and those that were spoken.
    """
    sums: dict[str, int] = {}
    details: dict[str, int] = {}
    for name, number in record(value).items():
        if type(number) is int:
            sums[name] = number
        for part, count in record(number).items():
            if type(count) is int:
                details[part] = details.get(part, 0) + count
    tokens = details | sums
    return [Usage(tokens)] if tokens else []


def free_text(said: str) -> str:
    """The arguments of a call that takes free text, as the object that all calls take."""
    return dumps({"input": said})
