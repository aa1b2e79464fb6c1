"""What a session's file says, as far as it has been read: the conversation, the keys, who has the session."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

import msgspec

from suture.errors import EventError
from suture.store.jsonl_lines import Note, Reader, Record
from suture.transcript.conversation import Conversation
from suture.transcript.events import Event

__all__ = ["Mark", "State"]

_STRIDE: Final = 256
"""How many events lie between two places from which reading can begin."""


class Mark(msgspec.Struct, frozen=True):
    """A place in the file where a batch begins, and how far things were there."""

    number: int
    """The number of the event before."""
    offset: int = 0
    line: int = 0
    at: float = 0.0


class State:
    """Grows with the file; nothing in it is ever taken back, so after a change that failed a new one is begun."""

    def __init__(self) -> None:
        """Nothing has been read."""
        self.reader: Reader = Reader()
        self.conversation: Conversation = Conversation()
        self.keys: set[str] = set()
        self.refused: set[int] = set()
        """The numbers of events that stand in the file and cannot follow what happened before them."""
        self.damages: list[tuple[int, str]] = []
        self.epoch: int = 0
        self.owner: str = ""
        self.until: float = 0.0
        self.changed: float = 0.0
        """When the last event happened."""
        self._marks = [Mark(0)]

    @property
    def number(self) -> int:
        """The number of the last event."""
        return self.reader.number or 0

    def read(self, lines: Iterable[bytes]) -> None:
        """Take in what the file says further on; reads to the end of it."""
        for found in self.reader.read(lines):
            if isinstance(found, Note):
                self._noted(found)
            else:
                self._happened(found)
        self.damages += self.reader.damages
        self.reader.damages.clear()

    def wrote_note(self, data: bytes, note: Note) -> None:
        """Take note of what was written at the end of the file."""
        self.reader.passed(data)
        self._noted(note)

    def wrote_batch(self, data: bytes, events: int, at: float, epoch: int, key: str) -> None:
        """The same, of events that the conversation has taken in already."""
        self._mark(Mark(self.number, self.reader.offset, self.reader.line, self.reader.at))
        self.reader.passed(data)
        self.reader.number = self.number + events
        self.reader.at = at
        self._counted(at, epoch, key)

    def mark_before(self, number: int) -> Mark:
        """From where to read for the events behind `number`."""
        return self._marks[bisect_right(self._marks, number, key=lambda mark: mark.number) - 1]

    def _mark(self, mark: Mark) -> None:
        if mark.number >= self._marks[-1].number + _STRIDE:
            self._marks.append(mark)

    def _noted(self, note: Note) -> None:
        self._counted(self.changed, note.epoch, note.key)
        if note.epoch < self.epoch:
            return
        if note.note == "taken":
            self.owner, self.until = note.owner, note.until
        elif note.note == "renewed":
            self.until = note.until
        elif note.note == "released":
            self.owner, self.until = "", 0.0

    def _counted(self, at: float, epoch: int, key: str) -> None:
        self.changed = at
        self.epoch = max(self.epoch, epoch)
        if key:
            self.keys.add(key)

    def _happened(self, batch: list[Record]) -> None:
        first = batch[0]
        self._mark(Mark(first.number - 1, first.offset, first.line - 1, first.at))
        for record in batch:
            self._counted(record.at, record.epoch, record.key)
            if record.event is not None and not self._applied(record.event, record):
                self.refused.add(record.number)

    def _applied(self, event: Event, record: Record) -> bool:
        try:
            self.conversation.apply(event)
        except EventError as error:
            self.damages.append((record.line, f"event {record.number} cannot follow: {error}"))
            return False
        return True
