"""The lines of a session's file: how events become lines, and what is read from lines, damaged or not.

    {"format":"suture-session","version":1,"session":"support-42","made":1764547877.1}
    {"note":"taken","at":1764547877.2,"epoch":1,"owner":"web-1","until":1764547907.2}
    {"number":1,"at":1764547877.3,"epoch":1,"key":"k1","more":1,"event":"turn-began","turn":"t1"}
    {"number":2,"at":1764547877.3,"epoch":1,"key":"k1","event":"message-added","message":"u1","role":"user", …}

`more` says how many lines of the same batch still follow: a batch counts when its last line is there. Only `event` and
its own fields have to be in a line. Without a number it is the next event, without a time it happened with the one
before.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import Annotated, Final

import msgspec

from suture.store.base import decode_event
from suture.transcript.codec import dumps, loads
from suture.transcript.events import WHEN, Event

__all__ = ["Note", "Reader", "Record", "batch_lines", "header_line", "note_line", "stated_session"]

FORMAT: Final = "suture-session"
VERSION: Final = 1

_EDGE: Final = 256
"""How many bytes at either end of what was read are remembered, to see whether the file is still the same."""
_SHOWN: Final = 60
"""How many characters of a damaged line are quoted."""
_KINDS: Final = frozenset(str(kind.__struct_config__.tag) for kind in WHEN)

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that is no event: who has the session."""

    note: str
    """`taken`, `renewed`, `released`; `empty` for a batch without events, which has its key here."""
    at: float
    epoch: int
    owner: str = ""
    until: float = 0.0
    key: str = ""


class _Stamp(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands in a line before the event."""

    number: int
    at: float
    epoch: int
    key: str = ""
    more: int = 0


class _Line(msgspec.Struct):
    """Whatever a line may say, but for the event's own fields."""

    format: str = ""
    version: _Count = 0
    session: str | None = None
    note: str = ""
    owner: str = ""
    until: float = 0.0
    number: _Count | None = None
    at: float | None = None
    epoch: _Count = 0
    key: str = ""
    more: _Count = 0
    event: str = ""


class Record(msgspec.Struct, frozen=True):
    """One event, as it was read."""

    line: int
    """The line that it stands in, counted from 1."""
    offset: int
    """Where that line begins."""
    number: int
    at: float
    epoch: int
    key: str
    more: int
    event: Event | None
    """None for an event of a kind that a newer version knows: its number and its key count."""


_LINES = msgspec.json.Decoder(_Line)


def header_line(session: str, made: float) -> bytes:
    """The first line of a file. When it was made tells it from an earlier one of the same name."""
    header = {"format": FORMAT, "version": VERSION, "session": session, "made": made}
    return dumps(header).encode() + b"\n"


def note_line(note: Note) -> bytes:
    """A note as a line."""
    return msgspec.json.encode(note) + b"\n"


def batch_lines(events: list[bytes], number: int, at: float, epoch: int, key: str) -> bytes:
    """A batch as lines; the first event has `number`."""
    lines = []
    for index, event in enumerate(events):
        more = len(events) - 1 - index
        stamp = msgspec.json.encode(_Stamp(number + index, at, epoch, key, more))
        lines += [stamp[:-1], b",", event[1:], b"\n"]
    return b"".join(lines)


def stated_session(lines: Iterable[bytes]) -> str | None:
    """The name in the header of a file; None where it has none."""
    reader = Reader()
    for _ in reader.read(lines):
        if reader.session is not None:
            break
    return reader.session


class Reader:
    """Reads a file line by line, as far as it goes, and goes on from there when more has been written.

    Nothing that stands in a line is an error: what cannot be used is skipped and reported. Between two calls the file
    may only have grown, and the file must not be growing during one: what is unfinished at its end counts as cut off.
    """

    def __init__(self, offset: int = 0, line: int = 0, number: int | None = 0, at: float = 0.0) -> None:
        """Begins behind `line` lines and event `number`; None: at the beginning of a line, nobody knows which."""
        self.offset: int = offset
        """How far the file has been read."""
        self.line: int = line
        self.number: int | None = number
        """The highest number of an event so far."""
        self.at: float = at
        """When the last event happened."""
        self.guessed: bool = False
        """Whether an event without a number came where nobody knows the number before."""
        self.whole: bool = True
        """Whether what was read ends with the end of a line."""
        self.session: str | None = None
        """The name that the header says; None where none has been read."""
        self.damages: list[tuple[int, str]] = []
        self.head: bytes = b""
        self.tail: bytes = b""
        """The first and the last bytes that were read."""

    def passed(self, data: bytes) -> None:
        """Take note that these bytes have been read, or were written behind them."""
        if len(self.head) < _EDGE:
            self.head = (self.head + data[:_EDGE])[:_EDGE]
        self.tail = data[-_EDGE:] if len(data) >= _EDGE else (self.tail + data)[-_EDGE:]
        # The first line end belongs to a line that was counted when its beginning was read.
        self.line += data.count(b"\n") + (not data.endswith(b"\n")) - (not self.whole)
        self.offset += len(data)
        self.whole = data.endswith(b"\n")

    def read(self, lines: Iterable[bytes]) -> Iterator[Note | list[Record]]:
        """Notes and whole batches, up to the end of the file, in their order."""
        held: list[Record] = []
        for raw in lines:
            found = self._line(raw, held)
            if isinstance(found, Note):
                yield found
            elif found is not None:
                if held and (found.number, found.more) != (held[-1].number + 1, held[-1].more - 1):
                    yield from self._broken(held, found)
                    held = []
                held.append(found)
                if not found.more:
                    yield from self._accepted(held)
                    held = []
        self._cut_off(held)

    def _line(self, raw: bytes, held: list[Record]) -> Note | Record | None:
        start = self.offset
        self.passed(raw)
        # A file system may leave NUL bytes where data had been promised when the machine went down.
        text = (raw.removeprefix(codecs.BOM_UTF8) if not start else raw).strip(b" \t\r\n\0")
        if b"\0" in raw and b"\0" not in text:
            self._report(self.line, "NUL bytes")
        if not text:
            return None
        try:
            line = _LINES.decode(text)
            event = decode_event(text) if line.event in _KINDS else None
        except (ValueError, RecursionError) as error:
            if not self._header(text):
                kind = "no record of a session" if isinstance(error, msgspec.ValidationError) else "no readable JSON"
                self._report(self.line, f"{kind}: {text[:_SHOWN].decode(errors='replace')!r}")
            return None
        if line.note or not line.event:
            return self._other(line, text)
        if event is None:
            self._report(self.line, f"an event of a kind that this version does not know: {line.event!r}")
        self.at = line.at if line.at is not None else self.at
        number = line.number
        if number is None:
            number = (held[-1].number if held else self.number or 0) + 1
            self.guessed |= self.number is None
        return Record(self.line, start, number, self.at, line.epoch, line.key, line.more, event)

    def _other(self, line: _Line, text: bytes) -> Note | None:
        """What a line says that is no event."""
        if line.note in {"taken", "renewed", "released", "empty"}:
            return Note(line.note, line.at or 0.0, line.epoch, line.owner, line.until, line.key)
        if not self._header(text):
            self._report(self.line, f"no record of a session: {text[:_SHOWN].decode(errors='replace')!r}")
        return None

    def _header(self, text: bytes) -> bool:
        """Whether a line is a header, which may hold a name that only the standard library reads."""
        try:
            header = loads(text)
        except ValueError:
            return False
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            return False
        session, version = header.get("session"), header.get("version")
        if self.session is None:
            self.session = session if isinstance(session, str) else ""
        if version != VERSION:
            self._report(self.line, f"the header of a format of version {version}, of which this version knows 1")
        return True

    def _broken(self, held: list[Record], found: Record) -> Iterator[list[Record]]:
        """What becomes of a batch that does not go on.

        Who was cut off in the middle of a batch never counted it, so the next one to write took its numbers. Where the
        numbers go on behind it, it had been written as a whole, and what is left of it counts.
        """
        if found.number > held[-1].number:
            yield from self._accepted(held)
        else:
            self._cut_off(held)

    def _cut_off(self, held: list[Record]) -> None:
        for record in held:
            self._report(record.line, f"event {record.number} of a batch that was cut off")

    def _accepted(self, held: list[Record]) -> Iterator[list[Record]]:
        batch = []
        for record in held:
            if self.number is not None and record.number <= self.number:
                self._report(record.line, f"event {record.number} once more")
                continue
            if self.number is not None and record.number > self.number + 1:
                self._report(record.line, f"event {record.number} behind event {self.number}: some are missing")
            self.number = record.number
            batch.append(record)
        if batch:
            yield batch

    def _report(self, line: int, found: str) -> None:
        self.damages.append((line, found))
