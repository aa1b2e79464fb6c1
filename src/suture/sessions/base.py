"""The shape that every session format has, and the records that pass between it and its callers.

A format is a module with five names:

    NAME                      what users type
    probe(sample)             whether the beginning of a file looks like this format
    read(path)                the session: where everything stands in the file, and what damage there is
    history(session)          its threads: message lists as the model sees them, in a wire format
    write(session, mended)    the new content of the file, chunk by chunk, with mended message lists in their places

`read` keeps an index and no content, and `history` and `write` go back to the file, so a session is read only for as
long as its file does not change. `files.replace` sees to that when the new content is put in place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from suture.repair.report import Finding
from suture.sessions.damage import Damage
from suture.sessions.files import Fingerprint
from suture.sessions.lines import decode

__all__ = ["SAMPLE_SIZE", "Check", "Located", "Mended", "Reader", "Sample", "Session", "Thread", "place_of"]

Check = Callable[[Sequence[Any], str], list[Finding]]
"""`suture.pipeline.check`, or anything that is called like it: messages, wire format."""

SAMPLE_SIZE: Final = 2**18
"""How much of a file `probe` looks at."""


class Sample(msgspec.Struct, frozen=True):
    """The beginning of a file."""

    path: Path
    data: bytes
    """At most `SAMPLE_SIZE` bytes."""

    @property
    def records(self) -> list[dict[str, Any]]:
        """The objects among its lines, whatever else is on them."""
        found = []
        for line in self.data.removeprefix(b"\xef\xbb\xbf").splitlines():
            try:
                value = decode(line.replace(b"\0", b"").strip(b" \t\r"))
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(value)
        return found


class Session(msgspec.Struct, kw_only=True):
    """A session file that was read."""

    path: Path
    format: str
    """The name of its reader."""
    fingerprint: Fingerprint
    """What the file was when it was read; `files.replace` asks for it."""
    damages: list[Damage]
    """In the order of the lines."""
    request: dict[str, Any] = {}
    """The request settings that the file holds, for `check` and `repair`; empty for most formats."""
    body: Any
    """What the reader knows about the file; for its own use."""


class Thread(msgspec.Struct, kw_only=True):
    """One conversation of a session."""

    name: str
    """`main` is what the agent goes on with; `branch 2`, `sidechain x1` and so on are the others."""
    format: str | None
    """The wire format of the messages; None where only they themselves can tell, as `check` and `repair` then do."""
    messages: list[Any]
    lines: list[tuple[int, ...]]
    """Per message the line of each of its content blocks, counted from 1; one line where the content is no list."""
    own_from: int = 0
    """The first message that no thread before this one holds: branches share their beginning with the main thread."""
    trace: Any
    """How the reader finds the places again; for its own use."""

    def line_of(self, path: str) -> int | None:
        """The line of a finding's path, such as `messages[3].content[0]`; None for a path that names no message."""
        message, block = place_of(path)
        lines = self.lines[message] if 0 <= message < len(self.lines) else ()
        return lines[min(block, len(lines) - 1)] if lines else None


def place_of(path: str) -> tuple[int, int]:
    """Message and content block of a path such as `messages[3].content[0]`; -1 and 0 where it names none."""
    numbers = [int(number) for number in re.findall(r"\[(\d+)\]", path)[:2]]
    return numbers[0] if numbers else -1, numbers[1] if len(numbers) > 1 else 0


class Mended(msgspec.Struct, kw_only=True):
    """A thread, and the messages that take the place of its own."""

    thread: Thread
    messages: Sequence[Any]
    """What `repair` gave back for `thread.messages`: what it left alone is the same object."""


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """A finding and where it stands in the file."""

    thread: str
    line: int
    """Counted from 1."""
    finding: Finding
    """Its path is `line 12`, as message numbers mean nothing to the reader of a file."""


class Reader(Protocol):
    """A session format: a module of this shape."""

    @property
    def NAME(self) -> str:  # noqa: N802 - it is a module's constant
        """What users type."""
        ...

    def probe(self, sample: Sample, /) -> bool:
        """Whether the beginning of a file looks like this format."""
        ...

    def read(self, path: Path, /) -> Session:
        """The session in a file.

        Raises:
            SessionError: the file cannot be read.
        """
        ...

    def history(self, session: Session, /) -> list[Thread]:
        """The threads of a session: the main one first."""
        ...

    def write(self, session: Session, mended: Sequence[Mended], /) -> Iterator[bytes]:
        """The new content of the file: mended threads in their places, and all other lines byte for byte.

        Damage that a rewrite mends is mended too, also when `mended` is empty.
        """
        ...
