"""Reads a file of JSON lines that may be damaged: every byte ends up in a record or in a damage, never nowhere.

The file is read line by line and never held as a whole. What a damaged line still holds is salvaged by one rule: a
record counts only when it is complete. A torn one is reported, never completed.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import msgspec

from suture.sessions.damage import Damage

__all__ = ["MAX_LINE", "Line", "Piece", "RawLine", "decode", "encode", "is_utf8", "line_end", "raw_lines", "salvage"]

MAX_LINE: Final = 256 * 2**20
"""Longer lines are not parsed; they stay in the file as they are."""

_SHOWN: Final = 60
"""How many characters of a damaged place a report quotes."""

_MAX_STARTS: Final = 10_000
"""How many possible record starts are tried behind a torn record, so that a hostile line costs no quadratic time."""

_START: Final = re.compile(r'\{\s*"')
_SCANNER: Final = json.JSONDecoder()
_UTF8_STEP: Final = 2**20
_BOM: Final = codecs.BOM_UTF8


_BLANK = " \t\r\n"
"""What JSON takes for white space."""


class RawLine(msgspec.Struct, frozen=True):
    """One line as it stands in the file."""

    number: int
    """Counted from 1."""
    offset: int
    length: int
    """In bytes, with the line end."""
    data: bytes | None
    """The bytes, with the line end; None for a line longer than `MAX_LINE`."""

    @property
    def text(self) -> bytes:
        """The bytes without the line end, and without the byte order mark that only a first line may have."""
        data = self.data or b""
        if self.offset == 0:
            data = data.removeprefix(_BOM)
        return data[: len(data) - len(line_end(data))]


class Piece(msgspec.Struct):
    """One complete record of a line: its bytes, as they are to be written, and its value."""

    data: bytes
    value: Any


class Line(msgspec.Struct):
    """What a line holds: usually one record and no damage."""

    pieces: list[Piece]
    damages: list[Damage]
    verbatim: bool
    """Whether the line is to be written as it stands; otherwise each piece is, on a line of its own."""


def line_end(data: bytes) -> bytes:
    """The line end of `data`: CRLF, LF or nothing."""
    if data.endswith(b"\r\n"):
        return b"\r\n"
    return b"\n" if data.endswith(b"\n") else b""


def raw_lines(stream: BinaryIO) -> Iterator[RawLine]:
    """The lines of a stream, one in memory at a time."""
    number, offset = 0, 0
    while data := stream.readline(MAX_LINE):
        number += 1
        if len(data) < MAX_LINE or data.endswith(b"\n"):
            yield RawLine(number, offset, len(data), data)
            offset += len(data)
            continue
        length = len(data)
        del data
        while rest := stream.readline(_UTF8_STEP):
            length += len(rest)
            if rest.endswith(b"\n"):
                break
        yield RawLine(number, offset, length, None)
        offset += length


def decode(data: bytes | str) -> Any:
    """The value of a JSON text.

    msgspec is fast but refuses what JavaScript writes without a thought: lone surrogate escapes, and numbers beyond a
    float. The standard module takes those.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return json.loads(data)


def encode(value: Any) -> bytes:
    """A record as JavaScript's `JSON.stringify` writes it: compact, and not escaped beyond need.

    A lone surrogate has no UTF-8 form; a record that holds one is written with escapes.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def is_utf8(data: bytes) -> bool:
    """Whether `data` is valid UTF-8; looks at it step by step, as the text of a 100 MB line can take 400 MB."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _UTF8_STEP):
            decoder.decode(data[start : start + _UTF8_STEP])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def salvage(raw: RawLine, is_record: Callable[[Any], bool]) -> Line:
    """Everything that a line holds.

    `is_record` tells a record from an object that is only a part of one: behind a torn record, only what it accepts is
    taken for the next record, so that no part of the torn one is ever mistaken for a whole.
    """
    if raw.data is None:
        return _kept_as_is(
            raw, f"a line of {raw.length} bytes", "nothing: it is too long to be read; it stays as it is"
        )
    text = raw.text
    if not text.strip(b" \t\r\n"):
        return Line([], [], verbatim=True)
    try:
        return Line([Piece(text, decode(text))], [], verbatim=True)
    except RecursionError:
        return _kept_as_is(raw, "JSON that is nested too deeply", "nothing: it cannot be read; it stays as it is")
    except ValueError:
        return _Salvage(raw, is_record).run(text)


def _kept_as_is(raw: RawLine, found: str, salvaged: str) -> Line:
    """A line that cannot be read and may be whole."""
    damage = Damage(code="SU908", line=raw.number, offset=raw.offset, found=found, salvaged=salvaged, kept=True)
    return Line([], [damage], verbatim=True)


class _Salvage:
    """Takes a damaged line apart: NUL bytes first, then bytes that are not UTF-8, then records that share it."""

    def __init__(self, raw: RawLine, is_record: Callable[[Any], bool]) -> None:
        self.raw = raw
        self.is_record = is_record
        self.damages: list[Damage] = []

    def run(self, text: bytes) -> Line:
        text = self.without_nul(text)
        return Line(self.records(self.as_text(text)) if text else [], self.damages, verbatim=False)

    def report(self, code: str, at: int, found: str, salvaged: str) -> None:
        offset = self.raw.offset + min(at, self.raw.length)
        self.damages.append(Damage(code=code, line=self.raw.number, offset=offset, found=found, salvaged=salvaged))

    def without_nul(self, text: bytes) -> bytes:
        at = text.find(b"\0")
        if at < 0:
            return text
        rest = text.replace(b"\0", b"").strip()
        kept = "the rest of the line" if rest else "nothing: the line holds nothing else"
        self.report("SU902", at, f"{len(text) - len(text.replace(bytes(1), b''))} NUL bytes", kept)
        return rest

    def as_text(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            self.report("SU904", error.start, "bytes that are not UTF-8", "the line, with U+FFFD in their place")
            return text.decode(errors="replace")

    def records(self, text: str) -> list[Piece]:
        """The complete records of a line, in order; reports each stretch between them."""
        pieces: list[Piece] = []
        at = 0
        while at < len(text):
            if text[at] in _BLANK:
                at += 1
                continue
            found = _value_at(text, at)
            # Here a record begins, so any object that is complete is one; behind a torn one that is not certain.
            if found is not None and (isinstance(found[0], dict) or found[1] == len(text)):
                pieces.append(_piece(text, at, found))
                at = found[1]
                continue
            start, found = self.next_record(text, at)
            self.report_torn(text[at:start], len(text[:at].encode()))
            if found is None:
                break
            pieces.append(_piece(text, start, found))
            at = found[1]
        if len(pieces) > 1:
            self.report("SU903", 0, f"{len(pieces)} records on one line", "each of them, as a line of its own")
        return pieces

    def next_record(self, text: str, at: int) -> tuple[int, tuple[Any, int] | None]:
        """Where the next complete record behind a torn one begins, and that record; the end of the text without one."""
        for tried, match in enumerate(_START.finditer(text, at + 1)):
            if tried == _MAX_STARTS:
                break
            found = _value_at(text, match.start())
            if found is not None and self.is_record(found[0]):
                return match.start(), found
        return len(text), None

    def report_torn(self, torn: str, at: int) -> None:
        shown = repr(torn[:_SHOWN]) + ("…" if len(torn) > _SHOWN else "")
        if torn.startswith("{"):
            self.report(
                "SU901", at, f"a record that was cut off: {shown}", "nothing of it: a torn record is not completed"
            )
        else:
            self.report("SU908", at, f"text that is not JSON: {shown}", "nothing: it is left out")


def _value_at(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON value that begins at `at`, and where it ends."""
    try:
        return _SCANNER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def _piece(text: str, start: int, found: tuple[Any, int]) -> Piece:
    return Piece(text[start : found[1]].encode(), found[0])
