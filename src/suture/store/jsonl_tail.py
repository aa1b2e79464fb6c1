"""The newest part of a session's file, at a cost that does not grow with what lies before it.

The end of the file is read like a whole one, each time from further back, until it says enough. Everything about a
message stands behind the line that added it: what is found there is complete, and what is about messages before counts
for nothing. A file that was damaged can say more as a whole: an event that cannot follow is known by what came before.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from suture.errors import EventError
from suture.store.jsonl_disk import lines_from
from suture.store.jsonl_lines import Note, Reader, Record
from suture.transcript.conversation import Conversation
from suture.transcript.events import Admitted, Compacted, Event, LeafMoved, MessageAdded, TurnBegan, TurnEnded
from suture.transcript.messages import Message

__all__ = ["Glance", "glance", "last_messages", "newest"]

_SPAN: Final = 2**16
"""How many bytes are read at first."""
_FURTHER: Final = 4
"""How many times as many are read when that was not enough."""


class Glance(msgspec.Struct, frozen=True):
    """What is seen of a session at a glance."""

    number: int
    changed: float
    turn: str | None


def glance(file: io.FileIO) -> Glance | None:
    """The last event and the open turn; None where the whole file has to be read to know."""
    for reader, records in _ends(file):
        turns = [record.event for record in records if isinstance(record.event, TurnBegan | TurnEnded)]
        if turns and not reader.guessed:
            turn = turns[-1].turn if isinstance(turns[-1], TurnBegan) else None
            return Glance(records[-1].number, records[-1].at, turn)
    return None


def newest(file: io.FileIO, count: int) -> list[Message] | None:
    """The last messages of the conversation; None where the whole file has to be read for them."""
    for _, records in _ends(file):
        found = _End()
        for record in records:
            if record.event is not None:
                found.add(record.event)
        messages = found.last(count)
        if messages is not None:
            return messages
    return None


def last_messages(conversation: Conversation, count: int) -> list[Message]:
    """The last messages of a conversation, without a look at those before."""
    found: list[Message] = []
    at = conversation.head.leaf
    while at is not None and len(found) < count:
        found.append(conversation.message(at))
        at = conversation.parent(at)
    return found[::-1]


def _ends(file: io.FileIO) -> Iterator[tuple[Reader, list[Record]]]:
    """The end of the file, each time from further back, as long as that is not the whole."""
    size, span = os.fstat(file.fileno()).st_size, _SPAN
    while span < size:
        lines = lines_from(file, size - span)
        reader = Reader(size - span + len(next(lines)), number=None)  # where it begins is in the middle of a line
        yield reader, [record for found in reader.read(lines) if not isinstance(found, Note) for record in found]
        span *= _FURTHER


class _End:
    """The fold of the end of a log."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        # Whether a turn was open is not known, and events were accepted by somebody who knew.
        self.conversation.head.turn = ""
        self.has_leaf = False
        self.beyond: set[str] = set()
        """The messages that follow one which was not read."""

    def add(self, event: Event) -> None:
        match event:
            case Admitted() | Compacted() | TurnBegan() | TurnEnded():
                return
            case MessageAdded(parent=str(parent)) if not self.conversation.has_message(parent):
                self.beyond.add(event.message)
                event = msgspec.structs.replace(event, parent=None)
            case LeafMoved(leaf=str(leaf)) if not self.conversation.has_message(leaf):
                self.has_leaf = False
                return
        with suppress(EventError):
            self.conversation.apply(event)
            self.has_leaf |= isinstance(event, MessageAdded | LeafMoved)

    def last(self, count: int) -> list[Message] | None:
        """The last messages; None where not all of them were read."""
        if not self.has_leaf:
            return None
        found = last_messages(self.conversation, count)
        return None if found and len(found) < count and found[0].id in self.beyond else found
