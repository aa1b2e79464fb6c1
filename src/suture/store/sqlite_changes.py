"""What changes an SQLite store: each function runs inside a transaction, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import apsw
import msgspec

from suture.errors import BusyError, FencedError
from suture.store.base import Lease
from suture.store.sqlite_rows import SqlRows, find_session, first_id, make_session
from suture.transcript.events import Event
from suture.transcript.fold import fold
from suture.transcript.parts import Part, TextPart

__all__ = ["append_events", "delete_session", "index_parts", "release_lease", "renew_lease", "take_session"]

_BY_SESSION: Final = ("keys", "calls", "inputs", "summaries", "client_tools")
_BY_ID: Final = ("events", "messages", "parts")
_AT_ONCE: Final = 2000
"""How many parts are indexed in one go: others want to write, too."""
_PART: Final = msgspec.json.Decoder(Part)


def append_events(
    database: apsw.Connection,
    *,
    url: str,
    session: str,
    events: Sequence[tuple[Event, str]],
    epoch: int,
    key: str,
) -> int:
    """See `Store.append`; each event comes with its JSON."""
    row = find_session(database, session)
    current = row.epoch if row else 0
    if epoch and epoch != current:  # a higher one is of a session that was deleted since
        raise FencedError(url, session, epoch, current)
    if row is None:
        row = make_session(database, session)
    if key:
        database.execute("INSERT OR IGNORE INTO keys (session, key) VALUES (?, ?)", (row.id, key))
        if not database.changes():
            return row.events
    rows = SqlRows(database, row)
    for event, text in events:
        fold(event, rows)
        row.events += 1
        database.execute(
            "INSERT INTO events (id, at, epoch, event) VALUES (?, ?, ?, ?)",
            (first_id(row.id) + row.events, row.now, epoch, text),
        )
    if events:
        rows.save()
    return row.events


def take_session(
    database: apsw.Connection,
    *,
    url: str,
    session: str,
    owner: str,
    seconds: float,
    free: tuple[str, ...],
) -> Lease:
    """See `Store.take`."""
    row = find_session(database, session) or make_session(database, session)
    if row.owner not in free and row.now < row.until:
        raise BusyError(url, session, row.owner)
    epoch = database.execute("UPDATE epochs SET last = last + 1 RETURNING last").get
    database.execute(
        "UPDATE sessions SET epoch = ?, owner = ?, until = ? WHERE id = ?", (epoch, owner, row.now + seconds, row.id)
    )
    return Lease(session, epoch, row.events, seconds)


def renew_lease(database: apsw.Connection, *, url: str, lease: Lease) -> None:
    """See `Store.renew`."""
    row = find_session(database, lease.session)
    if row is None or row.epoch != lease.epoch:
        raise FencedError(url, lease.session, lease.epoch, row.epoch if row else 0)
    database.execute("UPDATE sessions SET until = ? WHERE id = ?", (row.now + lease.seconds, row.id))


def release_lease(database: apsw.Connection, *, lease: Lease) -> None:
    """See `Store.release`."""
    database.execute(
        "UPDATE sessions SET owner = '', until = 0 WHERE name = ? AND epoch = ?", (lease.session, lease.epoch)
    )


def delete_session(database: apsw.Connection, *, session: str) -> None:
    """See `Store.delete`."""
    row = find_session(database, session)
    if row is None:
        return
    database.execute("DELETE FROM sessions WHERE id = ?", (row.id,))
    bounds = first_id(row.id), first_id(row.id + 1)
    for table in _BY_ID:
        database.execute(f"DELETE FROM {table} WHERE id >= ? AND id < ?", bounds)  # noqa: S608 - our own names
    for table in _BY_SESSION:
        database.execute(f"DELETE FROM {table} WHERE session = ?", (row.id,))  # noqa: S608 - our own names
    database.execute("DELETE FROM search WHERE rowid >= ? AND rowid < ?", bounds)


def index_parts(database: apsw.Connection, *, behind: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Bring some of what `find_behind` gave into the search index; gives back what is left of it."""
    room = _AT_ONCE
    for place, (session, until) in enumerate(behind):
        indexed = database.execute("SELECT indexed FROM sessions WHERE id = ?", (session,)).get
        if indexed is None or indexed >= until:  # it was deleted, or another process was faster
            continue
        end = min(indexed + room, until)
        _index(database, session, indexed, end)
        room -= end - indexed
        if not room:
            return behind[place:]
    return []


def _index(database: apsw.Connection, session: int, start: int, end: int) -> None:
    first = first_id(session)
    rows: list[Any] = database.execute(
        "SELECT id, part FROM parts WHERE id >= ? AND id < ?", (first + start, first + end)
    ).fetchall()
    texts = [(number, part.text) for number, data in rows if isinstance(part := _PART.decode(data), TextPart)]
    database.executemany("INSERT INTO search (rowid, text) VALUES (?, ?)", texts)
    database.execute("UPDATE sessions SET indexed = ? WHERE id = ?", (end, session))
