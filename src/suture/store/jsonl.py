"""A store in a folder: one file of JSON lines for each session, which only ever grows and can be read with an editor.

What a line says is told in `jsonl_lines`, and how a session's file is named in `jsonl_names`. A file may be written by
hand, and damage to it costs no more than the lines that it hit. Sessions are listed and searched by reading their
files: for many long sessions, that is what a database is for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from suture.errors import StoreError
from suture.store.base import LEASE, Lease, Loaded, Recorded, SessionInfo, encode_event
from suture.store.jsonl_disk import lines_from, opened, sync_folder
from suture.store.jsonl_file import Folder, SessionFile
from suture.store.jsonl_lines import stated_session
from suture.store.jsonl_names import CUT, SUFFIX, file_name, session_name
from suture.store.threads import Strands
from suture.transcript.conversation import Conversation
from suture.transcript.events import Event
from suture.transcript.messages import Message
from suture.transcript.parts import TextPart

__all__ = ["JsonlStore"]

T = TypeVar("T")

_LOG = logging.getLogger("suture.store")

_THREADS: Final = 8
"""How many sessions are read or written at once."""
_HELD: Final = 64
"""How many sessions are kept in memory; of the others, a file is read again when it is needed."""


class JsonlStore:
    """Keeps each session in a file of its own, `FOLDER/SESSION.jsonl`. Processes may share the folder."""

    def __init__(self, folder: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> None:
        """The store in a folder, which is made where it is not there; `clock` gives seconds since 1970.

        Raises:
            StoreError: it cannot be made.
        """
        path = Path(folder)
        self._folder = Folder(path, f"jsonl:{folder}", clock, set())
        try:
            if not path.is_dir():
                path.mkdir(parents=True)
                sync_folder(path.parent)
        except OSError as error:
            raise StoreError(self.url, f"the folder cannot be made: {error.strerror or error}") from error
        self._held: OrderedDict[str, SessionFile] = OrderedDict()
        self._strands = Strands(_THREADS, "suture-store")

    @property
    def url(self) -> str:
        """See `Store`."""
        return self._folder.url

    async def append(self, session: str, events: Sequence[Event], *, epoch: int = 0, key: str = "") -> int:
        """See `Store`."""
        encoded = [encode_event(event) for event in events]
        return await self._do(session, lambda file: file.append(encoded, epoch, key))

    async def load(self, session: str) -> Loaded:
        """See `Store`."""
        return await self._do(session, SessionFile.load)

    async def events(self, session: str, after: int = 0) -> AsyncIterator[Recorded]:
        """See `Store`."""
        for recorded in await self._do(session, lambda file: file.events(after)):
            yield recorded

    async def tail(self, session: str, messages: int) -> list[Message]:
        """The newest messages of a conversation, each of them whole, at a cost that does not grow with those before.

        Raises:
            StoreError: the store cannot be read.
        """
        return await self._do(session, lambda file: file.tail(messages))

    async def damages(self, session: str) -> list[tuple[int, str]]:
        """What is wrong with the file of a session: the line, counted from 1, and one clause that says what is there.

        Such a line is skipped and stays where it is.

        Raises:
            StoreError: the store cannot be read.
        """
        return await self._do(session, SessionFile.damages)

    async def take(self, session: str, owner: str, *, lease: float = LEASE, instead_of: str = "") -> Lease:
        """See `Store`."""
        return await self._do(session, lambda file: file.take(owner, lease, instead_of))

    async def renew(self, lease: Lease) -> None:
        """See `Store`."""
        await self._do(lease.session, lambda file: file.renew(lease))

    async def release(self, lease: Lease) -> None:
        """See `Store`."""
        await self._do(lease.session, lambda file: file.release(lease))

    async def sessions(self) -> list[SessionInfo]:
        """See `Store`. A file that cannot be read is left out, with a warning."""
        names = await self._run("/", self._names)
        found = await asyncio.gather(*(self._look(name, SessionFile.info) for name in names), return_exceptions=True)
        infos = []
        for one in found:
            if isinstance(one, StoreError):
                _LOG.warning("%s", one)
            elif isinstance(one, BaseException):
                raise one
            elif one is not None:
                infos.append(one)
        return sorted(infos, key=lambda info: info.changed, reverse=True)

    async def search(self, text: str, *, limit: int = 20) -> list[tuple[str, str]]:
        """See `Store`; the session that changed last comes first."""
        words = text.casefold().split()
        hits: list[tuple[str, str]] = []
        for info in await self.sessions() if words else []:
            if len(hits) >= limit:
                break
            found = await self._look(info.session, lambda file: _matches(file.conversation(), words))
            hits += [(info.session, message) for message in found]
        return hits[:limit]

    async def delete(self, session: str) -> None:
        """See `Store`."""
        await self._do(session, SessionFile.delete)

    async def close(self) -> None:
        """See `Store`."""
        await self._strands.close()
        self._held.clear()

    async def _do(self, session: str, job: Callable[[SessionFile], T]) -> T:
        """Do something with a session, which is in memory from now on."""
        name = file_name(session)
        file = self._held.get(name) or SessionFile(self._folder, session)
        self._held[name] = file
        self._held.move_to_end(name)
        while len(self._held) > _HELD:
            self._held.popitem(last=False)
        return await self._run(name, partial(job, file))

    async def _look(self, session: str, job: Callable[[SessionFile], T]) -> T:
        """Look at a session; it is in memory afterwards only if it was before."""
        name = file_name(session)
        return await self._run(name, partial(job, self._held.get(name) or SessionFile(self._folder, session)))

    async def _run(self, name: str, job: Callable[[], T]) -> T:
        if self._strands.closed:
            raise StoreError(self.url, "the store has been closed")
        return await self._strands.run(name, job)

    def _names(self) -> list[str]:
        """The sessions that have a file; other files may lie there too."""
        try:
            files = [path for path in self._folder.path.iterdir() if path.name.endswith(SUFFIX)]
        except OSError as error:
            raise StoreError(self.url, f"the folder cannot be read: {error.strerror or error}") from error
        names = (session_name(path.name) if CUT not in path.name else self._stated(path) for path in files)
        return [name for name in names if name is not None]

    def _stated(self, path: Path) -> str | None:
        """The session that a file says it is of, where its name does not."""
        try:
            with opened(path) as file:
                return session_name(path.name, stated_session(lines_from(file, 0)))
        except FileNotFoundError:  # it has just been deleted
            return None
        except OSError as error:
            _LOG.warning("%s: %s cannot be read: %s", self.url, path.name, error.strerror or error)
            return None


def _matches(conversation: Conversation, words: list[str]) -> list[str]:
    """The messages with all of these words, the newest first."""
    found = []
    for name in reversed(conversation.ids()):
        parts = conversation.message(name).parts
        text = "\n".join(part.text for part in parts if isinstance(part, TextPart)).casefold()
        if all(word in text for word in words):
            found.append(name)
    return found
