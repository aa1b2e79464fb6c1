"""What a store is: an append-only log of events for each session, and the messages that are its fold.

Every store gives the same guarantees, and one suite of tests (`tests/store/contract.py`) holds each to them:

- *Atomic and durable*: once `append` returns, all its events are on disk, and the messages with them; before, none is.
- *Ordered*: the events of a session have numbers without a gap, from 1.
- *Idempotent*: appending a batch under a key that the session has seen changes nothing, whoever does it.
- *Fenced*: a session is taken with a growing epoch. An append under an older one is refused, so a process that was
  thought dead cannot write into a conversation that went on without it. What needs no turn (a message to be answered,
  an approval, a client's result, a late result of a tool) is appended without an epoch and always taken.
- *The fold*: `load` gives what folding `events` gives.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import msgspec

from suture.transcript.conversation import Conversation
from suture.transcript.events import AnyEvent, Event

__all__ = ["LEASE", "Lease", "Loaded", "Recorded", "SessionInfo", "Store", "decode_event", "encode_event"]

LEASE = 30.0
"""How many seconds a session stays taken after the last sign of life of whoever took it."""


class Recorded(msgspec.Struct, frozen=True):
    """An event as the log holds it."""

    number: int
    """Its place in the log of its session, from 1."""
    at: float
    """When it was appended, in seconds since 1970, by the store's clock."""
    epoch: int
    """The epoch that it was appended under; 0 where it needed none."""
    event: Event


class Loaded(msgspec.Struct, frozen=True):
    """A session as it stands."""

    conversation: Conversation
    number: int
    """The number of the last event; 0 for a session that has none."""
    epoch: int


class Lease(msgspec.Struct, frozen=True):
    """A session that was taken."""

    session: str
    epoch: int
    number: int
    """The number of the last event when it was taken: what has been loaded up to there need not be loaded again."""
    seconds: float = LEASE
    """How long it stays taken without a sign of life."""


class SessionInfo(msgspec.Struct, frozen=True):
    """What a list of sessions shows of one."""

    session: str
    number: int
    changed: float
    """When its last event was appended, in seconds since 1970."""
    turn: str | None
    """The turn that is open, if one is."""


class Store(Protocol):
    """Where sessions are kept. All methods may be called from one event loop at a time, and from several processes."""

    @property
    def url(self) -> str:
        """The address that opens it: `sqlite:chats.db`."""

    async def append(self, session: str, events: Sequence[Event], *, epoch: int = 0, key: str = "") -> int:
        """Append events, all or none; gives back the number of the last event of the session.

        Args:
            session: Any text. A session begins with its first event.
            events: In their order.
            epoch: What `take` gave; 0 for events that need none.
            key: Names this batch: a second append under the same key changes nothing.

        Raises:
            FencedError: the session was taken under a higher epoch.
            EventError: an event cannot follow what happened before.
            StoreError: the store cannot be written: a full disk, a read-only file.
        """

    async def load(self, session: str) -> Loaded:
        """The session as it stands; an empty one where there is none.

        Raises:
            StoreError: the store cannot be read.
        """

    def events(self, session: str, after: int = 0) -> AsyncIterator[Recorded]:
        """The events of a session with higher numbers than `after`, in their order."""

    async def take(self, session: str, owner: str, *, lease: float = LEASE, instead_of: str = "") -> Lease:
        """Take a session for a turn: from now on appends under lower epochs are refused.

        Args:
            session: Any text; it need not have begun.
            owner: Names whoever takes it.
            lease: For how many seconds others wait for a sign of life.
            instead_of: An owner that is known to be gone, and is not waited for.

        Raises:
            BusyError: another owner has it, and gave a sign of life less than its lease ago.
        """

    async def renew(self, lease: Lease) -> None:
        """Give a sign of life.

        Raises:
            FencedError: the session was taken over.
        """

    async def release(self, lease: Lease) -> None:
        """Give a session back, so that others need not wait for the lease to run out. Never fails for a lost one."""

    async def sessions(self) -> list[SessionInfo]:
        """All sessions, the one that changed last first."""

    async def search(self, text: str, *, limit: int = 20) -> list[tuple[str, str]]:
        """The messages in which all words of `text` occur, as (session, message id), best or newest first."""

    async def delete(self, session: str) -> None:
        """Remove a session with everything in it; nothing happens where there is none."""

    async def close(self) -> None:
        """Let go of files and threads. What was appended stays."""


_EVENTS = msgspec.json.Decoder(AnyEvent)


def encode_event(event: Event) -> bytes:
    """An event as one line of JSON.

    Raises:
        TypeError, ValueError: it holds what JSON cannot.
    """
    return msgspec.json.encode(event)


def decode_event(data: bytes | str) -> Event:
    """The event that was encoded.

    Raises:
        msgspec.DecodeError: it is not one.
    """
    event: Event = _EVENTS.decode(data)
    return event
