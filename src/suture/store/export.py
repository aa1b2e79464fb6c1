"""A session as lines of JSON: to look at, to keep, or to carry into another store.

The first line names the format and its version, each other line is an event as the log holds it. Read back, a session
has the same events under the same numbers; they are appended anew, so times are those of the import, and no epoch is
that of a turn which still runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Final, TypeVar

import msgspec

from suture.errors import EventError, StoreError
from suture.store.base import Store
from suture.transcript.conversation import Conversation
from suture.transcript.events import AnyEvent, Event

__all__ = ["FORMAT", "VERSION", "export", "load_into"]

FORMAT: Final = "suture-session"
VERSION: Final = 1

T = TypeVar("T")


class _Header(msgspec.Struct):
    """The first line."""

    format: str
    version: int
    session: str = ""
    """What the session was called; it may be read back under any name."""


class _Line(msgspec.Struct):
    """Any other line: a `Recorded`."""

    number: int
    at: float
    epoch: int
    event: AnyEvent


_HEADER: Final = msgspec.json.Decoder(_Header)
_LINE: Final = msgspec.json.Decoder(_Line)


async def export(store: Store, session: str) -> AsyncIterator[bytes]:
    """The lines of a session, each with its line break; the first one alone where there is no such session.

    Raises:
        StoreError: the store cannot be read.
    """
    yield msgspec.json.encode(_Header(FORMAT, VERSION, session)) + b"\n"
    async for recorded in store.events(session):
        yield msgspec.json.encode(recorded) + b"\n"


async def load_into(store: Store, lines: AsyncIterable[bytes] | Iterable[bytes], session: str) -> int:
    """Read a session from its lines into a new one, all or nothing; gives back how many events it has.

    Args:
        store: Where it goes.
        lines: What `export` gave, with or without line breaks; empty ones do not count.
        session: The name that it gets there.

    Raises:
        StoreError: a line is not what it has to be (says which, and what was expected), there is a session of that
            name already, or the store cannot be written.
    """
    if (await store.load(session)).number:
        raise StoreError(store.url, f"session {session!r} has events already; nothing was read into it")
    events: list[Event] = []
    conversation = Conversation()
    begun = False
    async for number, line in _numbered(lines):
        if not begun:
            _require_header(store.url, number, line)
            begun = True
            continue
        found = _decoded(store.url, number, line, _LINE, f"event {len(events) + 1} as JSON")
        if found.number != len(events) + 1:
            raise _unexpected(store.url, number, f"event {len(events) + 1}", f"event {found.number}")
        try:
            conversation.apply(found.event)
        except EventError as error:
            expected = "an event that can follow those before it"
            raise _unexpected(store.url, number, expected, f"{error.event}: {error.problem}") from error
        events.append(found.event)
    if not begun:
        raise _unexpected(store.url, 1, f"the line that names the format {FORMAT!r}", "nothing")
    return await store.append(session, events) if events else 0


async def _numbered(lines: AsyncIterable[bytes] | Iterable[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    """The lines that are not empty, with their numbers from 1."""
    number = 0
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            number += 1
            if line.strip():
                yield number, line
    else:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line


def _require_header(url: str, number: int, line: bytes) -> None:
    expected = f"the line that names the format {FORMAT!r}"
    header = _decoded(url, number, line, _HEADER, expected)
    if header.format != FORMAT:
        raise _unexpected(url, number, expected, f"the format {header.format!r}")
    if header.version != VERSION:
        raise _unexpected(url, number, f"version {VERSION} of the format", f"version {header.version}; update Suture")


def _decoded(url: str, number: int, line: bytes, decoder: msgspec.json.Decoder[T], expected: str) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _unexpected(url, number, expected, str(error) or "what is nested too deeply") from error


def _unexpected(url: str, number: int, expected: str, got: str) -> StoreError:
    return StoreError(url, f"line {number}: expected {expected}, got {got}; nothing was imported")
