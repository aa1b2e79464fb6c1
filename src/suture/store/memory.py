"""A store in memory: for tests, and for conversations that need not outlive the process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence

from suture.errors import BusyError, EventError, FencedError
from suture.store.base import LEASE, Lease, Loaded, Recorded, SessionInfo, decode_event, encode_event
from suture.transcript.conversation import Conversation
from suture.transcript.events import Event
from suture.transcript.parts import TextPart

__all__ = ["MemoryStore"]


class _Session:
    """One session."""

    def __init__(self) -> None:
        self.log: list[tuple[float, int, bytes]] = []
        self.conversation = Conversation()
        self.keys: set[str] = set()
        self.epoch = 0
        self.owner = ""
        self.until = 0.0


class MemoryStore:
    """Keeps sessions as long as the process lives. Events pass through JSON: they are what a disk would give."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """An empty store; `clock` gives seconds since 1970."""
        self._clock = clock
        self._sessions: dict[str, _Session] = {}

    @property
    def url(self) -> str:
        """See `Store`."""
        return "memory:"

    async def append(self, session: str, events: Sequence[Event], *, epoch: int = 0, key: str = "") -> int:
        """See `Store`."""
        found = self._sessions.get(session) or _Session()
        if epoch and epoch < found.epoch:
            raise FencedError(self.url, session, epoch, found.epoch)
        if key and key in found.keys:
            return len(found.log)
        encoded = [encode_event(event) for event in events]
        try:
            for data in encoded:
                found.conversation.apply(decode_event(data))
        except EventError:
            found.conversation = Conversation(decode_event(data) for _, _, data in found.log)
            raise
        found.log += [(self._clock(), epoch, data) for data in encoded]
        found.keys.add(key)
        self._sessions[session] = found
        return len(found.log)

    async def load(self, session: str) -> Loaded:
        """See `Store`."""
        found = self._sessions.get(session) or _Session()
        return Loaded(found.conversation.copy(), len(found.log), found.epoch)

    async def events(self, session: str, after: int = 0) -> AsyncIterator[Recorded]:
        """See `Store`."""
        found = self._sessions.get(session) or _Session()
        for number, (at, epoch, data) in enumerate(found.log[after:], after + 1):
            yield Recorded(number, at, epoch, decode_event(data))

    async def take(self, session: str, owner: str, *, lease: float = LEASE, instead_of: str = "") -> Lease:
        """See `Store`."""
        found = self._sessions.setdefault(session, _Session())
        now = self._clock()
        if found.owner not in ("", owner, instead_of) and now < found.until:
            raise BusyError(self.url, session, found.owner)
        found.epoch += 1
        found.owner, found.until = owner, now + lease
        return Lease(session, found.epoch, len(found.log), lease)

    async def renew(self, lease: Lease) -> None:
        """See `Store`."""
        found = self._sessions.get(lease.session) or _Session()
        if found.epoch != lease.epoch:
            raise FencedError(self.url, lease.session, lease.epoch, found.epoch)
        found.until = self._clock() + lease.seconds

    async def release(self, lease: Lease) -> None:
        """See `Store`."""
        found = self._sessions.get(lease.session)
        if found and found.epoch == lease.epoch:
            found.owner, found.until = "", 0.0

    async def sessions(self) -> list[SessionInfo]:
        """See `Store`."""
        infos = [
            SessionInfo(name, len(found.log), found.log[-1][0], found.conversation.head.turn)
            for name, found in self._sessions.items()
            if found.log
        ]
        return sorted(infos, key=lambda info: info.changed, reverse=True)

    async def search(self, text: str, *, limit: int = 20) -> list[tuple[str, str]]:
        """See `Store`."""
        words = text.casefold().split()
        hits = [
            (name, message)
            for name, found in self._sessions.items()
            for message in found.conversation.ids()
            if words and all(word in self._text(found, message) for word in words)
        ]
        return hits[::-1][:limit]

    def _text(self, found: _Session, message: str) -> str:
        parts = found.conversation.message(message).parts
        return "\n".join(part.text for part in parts if isinstance(part, TextPart)).casefold()

    async def delete(self, session: str) -> None:
        """See `Store`."""
        self._sessions.pop(session, None)

    async def close(self) -> None:
        """See `Store`."""
