"""One session's file: everything that is done with it, by whoever may block.

Each step opens the file, locks it, reads what others have added, does its work and lets go. So any number of processes
may share the file, and it may be deleted and made anew at any time.
"""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from suture.errors import BusyError, EventError, FencedError, StoreError
from suture.store.base import Lease, Loaded, Recorded, SessionInfo, decode_event
from suture.store.jsonl_disk import ends_of, grow, lines_from, opened, remove, sync_folder
from suture.store.jsonl_lines import Note, Reader, batch_lines, header_line, note_line
from suture.store.jsonl_names import file_name
from suture.store.jsonl_state import State
from suture.store.jsonl_tail import Glance, glance, last_messages, newest
from suture.transcript.conversation import Conversation
from suture.transcript.events import Event
from suture.transcript.messages import Message

__all__ = ["Folder", "SessionFile"]

_LOG = logging.getLogger("suture.store")


T = TypeVar("T")


class Folder(msgspec.Struct, frozen=True):
    """Where sessions are kept."""

    path: Path
    url: str
    """The name of the store in errors."""
    clock: Callable[[], float]
    warned: set[str]
    """The sessions whose damages have been told of."""


class SessionFile:
    """A session. Not to be used by two threads at once."""

    def __init__(self, folder: Folder, session: str) -> None:
        """The file need not be there."""
        self._folder = folder
        self._session = session
        self._path = folder.path / file_name(session)
        self._state = State()

    # --- writing ----------------------------------------------------------------------------------------------------

    def append(self, events: list[bytes], epoch: int, key: str) -> int:
        """See `Store.append`; the events are encoded."""
        decoded = [decode_event(event) for event in events]
        with self._writing() as file:
            state = self._state
            if epoch and epoch < state.epoch:
                raise FencedError(self._folder.url, self._session, epoch, state.epoch)
            if key and key in state.keys:
                return state.number
            at = self._folder.clock()
            if not events:
                if key:
                    self._write_note(file, Note("empty", at, epoch, key=key))
                return state.number
            lines = batch_lines(events, state.number + 1, at, epoch, key)
            self._apply(decoded)
            state.wrote_batch(self._write(file, lines), len(events), at, epoch, key)
            return state.number

    def _apply(self, events: list[Event]) -> None:
        """Take in events that are not in the file yet: if they do not get there, what was read of it is forgotten."""
        for index, event in enumerate(events):
            try:
                self._state.conversation.apply(event)
            except EventError:
                if index:
                    self._state = State()
                raise

    def take(self, owner: str, lease: float, instead_of: str) -> Lease:
        """See `Store.take`."""
        with self._writing() as file:
            state, now = self._state, self._folder.clock()
            if state.owner not in ("", owner, instead_of) and now < state.until:
                raise BusyError(self._folder.url, self._session, state.owner)
            self._write_note(file, Note("taken", now, state.epoch + 1, owner, now + lease))
            return Lease(self._session, state.epoch, state.number, lease)

    def renew(self, lease: Lease) -> None:
        """See `Store.renew`. A sign of life that a crash of the machine loses was of a process that it ended."""
        with self._writing() as file:
            now = self._folder.clock()
            if self._state.epoch != lease.epoch:
                raise FencedError(self._folder.url, self._session, lease.epoch, self._state.epoch)
            self._write_note(file, Note("renewed", now, lease.epoch, until=now + lease.seconds), sync=False)

    def release(self, lease: Lease) -> None:
        """See `Store.release`."""
        with self._writing() as file:
            if self._state.epoch == lease.epoch and self._state.owner:
                self._write_note(file, Note("released", self._folder.clock(), lease.epoch), sync=False)

    def delete(self) -> None:
        """See `Store.delete`."""
        with self._problems("deleted"), suppress(FileNotFoundError):
            remove(self._path)
        self._state = State()

    # --- reading ----------------------------------------------------------------------------------------------------

    def load(self) -> Loaded:
        """See `Store.load`."""
        with self._reading():
            return Loaded(self._state.conversation.copy(), self._state.number, self._state.epoch)

    def events(self, after: int) -> list[Recorded]:
        """See `Store.events`."""
        with self._reading() as file:
            if file is None:
                return []
            mark = self._state.mark_before(after)
            reader = Reader(mark.offset, mark.line, mark.number, mark.at)
            return [
                Recorded(record.number, record.at, record.epoch, record.event)
                for batch in reader.read(lines_from(file, mark.offset))
                if isinstance(batch, list)
                for record in batch
                if record.event is not None and record.number > after and record.number not in self._state.refused
            ]

    def damages(self) -> list[tuple[int, str]]:
        """See `JsonlStore.damages`."""
        with self._reading():
            return sorted(self._state.damages)

    def conversation(self) -> Conversation:
        """The messages as they stand, to look at until something else is done with the session."""
        with self._reading():
            return self._state.conversation

    def tail(self, messages: int) -> list[Message]:
        """See `JsonlStore.tail`."""
        found = self._at_the_end(lambda file: newest(file, messages))
        return last_messages(self.conversation(), messages) if found is None else found

    def info(self) -> SessionInfo | None:
        """What a list of sessions shows of it; None where it has no event."""
        seen = self._at_the_end(glance)
        if seen is None:
            with self._reading():
                seen = Glance(self._state.number, self._state.changed, self._state.conversation.head.turn)
        return SessionInfo(self._session, seen.number, seen.changed, seen.turn) if seen.number else None

    def _at_the_end(self, look: Callable[[io.FileIO], T | None]) -> T | None:
        """What a look at the end of the file gives; None where all of it has been read before, or has to be."""
        if not self._state.reader.offset:
            with self._problems("read"), suppress(FileNotFoundError), opened(self._path) as file:
                return look(file)
        return None

    # --- the file ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _problems(self, step: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._state = State()
            reason = error.strerror or str(error)
            raise StoreError(self._folder.url, f"session {self._session!r} cannot be {step}: {reason}") from error

    @contextmanager
    def _reading(self) -> Iterator[io.FileIO | None]:
        """The file, with all of it read; None where there is none."""
        with self._problems("read"), ExitStack() as stack:
            file = None
            with suppress(FileNotFoundError):
                file = stack.enter_context(opened(self._path))
            if file is None:
                self._state = State()
            else:
                self._catch_up(file)
            yield file

    @contextmanager
    def _writing(self) -> Iterator[io.FileIO]:
        """The file, with all of it read; it is made where there is none, and stays if something is written."""
        with self._problems("written"), opened(self._path, write=True, make=True) as file:
            self._catch_up(file)
            yield file

    def _catch_up(self, file: io.FileIO) -> None:
        """Read what the file says that has not been read; all of it, if it is not the file that it was."""
        reader = self._state.reader
        size = os.fstat(file.fileno()).st_size
        if size < reader.offset or ends_of(file, reader.offset, len(reader.head)) != (reader.head, reader.tail):
            self._state = State()
        if size > self._state.reader.offset:
            state, self._state = self._state, State()
            state.read(lines_from(file, state.reader.offset))
            self._state = state  # all of it, or nothing
            self._warn()

    def _warn(self) -> None:
        damages = self._state.damages
        if damages and self._session not in self._folder.warned:
            self._folder.warned.add(self._session)
            line, found = min(damages)
            _LOG.warning(
                "%s: damaged lines of session %r are skipped: %d, the first of them line %d: %s",
                *(self._folder.url, self._session, len({line for line, _ in damages}), line, found),
            )

    def _write_note(self, file: io.FileIO, note: Note, *, sync: bool = True) -> None:
        self._state.wrote_note(self._write(file, note_line(note), sync=sync), note)

    def _write(self, file: io.FileIO, lines: bytes, *, sync: bool = True) -> bytes:
        """Write lines behind all that has been read, and give back what was written."""
        reader = self._state.reader
        begun = reader.offset > 0
        if reader.session is None:
            lines = header_line(self._session, self._folder.clock()) + lines
            reader.session = self._session
        if not reader.whole:
            lines = b"\n" + lines  # behind a line that was cut off
        grow(file, lines, sync=sync)
        if not begun:
            sync_folder(self._folder.path)
        return lines
