"""A store in one SQLite file: for one machine, any number of processes, and conversations that outlive them all.

The file is in WAL mode with `synchronous=FULL`: what was acknowledged survives a killed process and a power cut. One
thread writes (`sqlite_writer`), other threads read beside it (`sqlite_reading`). Leases run by the database's clock.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from suture.errors import StoreError
from suture.store.base import LEASE, Lease, Loaded, Recorded, SessionInfo, decode_event, encode_event
from suture.transcript.events import Event

try:
    import apsw
except ModuleNotFoundError as _missing:
    raise StoreError("sqlite:", 'apsw is not installed: pip install "suture[sqlite]"') from _missing

from suture.store.sqlite_changes import (
    append_events,
    delete_session,
    index_parts,
    release_lease,
    renew_lease,
    take_session,
)
from suture.store.sqlite_file import connect, open_file, problems_of
from suture.store.sqlite_reading import find_behind, find_messages, find_span, load_session, read_events, read_sessions
from suture.store.sqlite_writer import Job, Writer

__all__ = ["SqliteStore"]

T = TypeVar("T")

_READERS: Final = 4
"""How many reads run at once."""


class SqliteStore:
    """Keeps sessions in a file. May be made outside of an event loop, and used by several loops one after another."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        """Opens the file at `place`, and makes it and its folder where they are not there.

        Raises:
            StoreError: it cannot be opened, is not a store, or was written by a newer version.
        """
        self._url = f"sqlite:{place}"
        self._path = Path(place).absolute()
        self._writer = Writer(self._url, open_file(self._path, self._url))
        # Threads of its own: those of the event loop may all be busy with what takes long.
        self._threads = ThreadPoolExecutor(_READERS, "suture-sqlite")
        self._readers: list[apsw.Connection] = []
        self._closed = False
        self._closing = threading.Lock()

    @property
    def url(self) -> str:
        """See `Store`."""
        return self._url

    # --- writing ----------------------------------------------------------------------------------------------------

    async def append(self, session: str, events: Sequence[Event], *, epoch: int = 0, key: str = "") -> int:
        """See `Store`."""
        texts = [encode_event(event) for event in events]
        # The fold is of what the log will give back, and what it would not give back is refused here.
        decoded = [(decode_event(text), text.decode()) for text in texts]
        return await self._write(
            partial(append_events, url=self._url, session=session, events=decoded, epoch=epoch, key=key)
        )

    async def take(self, session: str, owner: str, *, lease: float = LEASE, instead_of: str = "") -> Lease:
        """See `Store`."""
        others = ("", owner, instead_of)
        return await self._write(
            partial(take_session, url=self._url, session=session, owner=owner, seconds=lease, free=others)
        )

    async def renew(self, lease: Lease) -> None:
        """See `Store`."""
        await self._write(partial(renew_lease, url=self._url, lease=lease))

    async def release(self, lease: Lease) -> None:
        """See `Store`."""
        await self._write(partial(release_lease, lease=lease))

    async def delete(self, session: str) -> None:
        """See `Store`."""
        await self._write(partial(delete_session, session=session))

    async def _write(self, job: Job[T]) -> T:
        self._require_open()
        return await self._writer.run(job)

    # --- reading ----------------------------------------------------------------------------------------------------

    async def load(self, session: str) -> Loaded:
        """See `Store`."""
        return await self._read(partial(load_session, name=session))

    async def events(self, session: str, after: int = 0) -> AsyncIterator[Recorded]:
        """See `Store`; gives what was there at the beginning."""
        number, last = await self._read(partial(find_span, name=session))
        while after < last:
            found = await self._read(partial(read_events, session=number, after=after, until=last))
            if not found:  # deleted since
                return
            for one in found:
                yield one
            after = found[-1].number

    async def sessions(self) -> list[SessionInfo]:
        """See `Store`."""
        return await self._read(read_sessions)

    async def search(self, text: str, *, limit: int = 20) -> list[tuple[str, str]]:
        """See `Store`; the best first. What was appended since the last search is indexed now."""
        behind = await self._read(find_behind)
        while behind:
            behind = await self._write(partial(index_parts, behind=behind))
        return await self._read(partial(find_messages, text=text, limit=limit))

    async def _read(self, read: Callable[[apsw.Connection], T]) -> T:
        self._require_open()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._reading, read)

    def _reading(self, read: Callable[[apsw.Connection], T]) -> T:
        """Read in one transaction, on a connection that nobody else uses meanwhile."""
        with problems_of(self._url):
            try:
                database = self._readers.pop()
            except IndexError:
                database = connect(self._path)
            try:
                database.execute("BEGIN")
                found = read(database)
                database.execute("COMMIT")
            except BaseException:
                database.close()
                raise
        self._readers.append(database)
        return found

    # --- the end ----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """See `Store`; what was begun before is finished first."""
        self._closed = True
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        with self._closing:
            self._threads.shutdown()
            while self._readers:
                self._readers.pop().close()
            self._writer.stop()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(self._url, "the store was closed")
