"""Reads sessions out of an SQLite store: many rows at a step, decoded together.

Python lets go of its lock for each row that SQLite steps to, and may wait to get it back wherever another thread is
busy. So rows are joined in SQL, a megabyte or so at a step: one JSON array for each column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import apsw
import msgspec

from suture.store.base import Loaded, Recorded, SessionInfo
from suture.store.sqlite_rows import SessionRow, find_session, first_id
from suture.transcript.codec import plain
from suture.transcript.conversation import Conversation
from suture.transcript.events import Admitted, AnyEvent, ClientToolsSet, Compacted, MessageAdded
from suture.transcript.fold import Head
from suture.transcript.parts import Part

__all__ = ["find_behind", "find_messages", "find_span", "load_session", "read_events", "read_sessions"]

_STEP: Final = 2**20
"""How many bytes a step should give."""

# The inner query is sorted and limited, so it is run as it stands, and its rows are joined in its order.
_JOINED: Final = "SELECT count(*), max(id), {} FROM (SELECT * FROM {} WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)"


def _array(each: str) -> str:
    """The SQL of a JSON array, as bytes: text would be read into a string first."""
    return f"CAST('[' || group_concat({each}) || ']' AS BLOB)"


_MESSAGES: Final = _JOINED.format(_array("message"), "messages")
_PARTS: Final = _JOINED.format(f"{_array('part')}, {_array('message')}", "parts")
_EVENTS: Final = _JOINED.format(_array("'[' || number || ',' || at || ',' || epoch || ',' || event || ']'"), "events")
_CALLS: Final = f"SELECT {_array('json_array(call, message, idx)')} FROM calls WHERE session = ?"  # noqa: S608
_SESSIONS: Final = (
    f"SELECT {_array('json_array(name, events, changed, turn)')} "  # noqa: S608
    "FROM (SELECT * FROM sessions WHERE events ORDER BY changed DESC, id DESC LIMIT -1)"
)
_SEARCH: Final = """
    SELECT (SELECT name FROM sessions WHERE id = messages.session), name
    FROM (
        SELECT (parts.session << 32) + parts.message AS found, sum(rank) AS score
        FROM json_each(?) AS word JOIN search ON search MATCH word.value JOIN parts ON parts.id = search.rowid
        GROUP BY found HAVING count(DISTINCT word.key) = ? ORDER BY score, found DESC LIMIT ?
    ) JOIN messages ON id = found ORDER BY score, found DESC
"""

_decode_messages: Final = msgspec.json.Decoder(list[MessageAdded]).decode
_decode_parts: Final = msgspec.json.Decoder(list[Part]).decode
_decode_places: Final = msgspec.json.Decoder(list[int]).decode
_decode_events: Final = msgspec.json.Decoder(list[tuple[int, float, int, AnyEvent]]).decode
_decode_calls: Final = msgspec.json.Decoder(list[tuple[str, int, int]]).decode
_decode_sessions: Final = msgspec.json.Decoder(list[tuple[str, int, float, str | None]]).decode
_decode_input: Final = msgspec.json.Decoder(Admitted).decode
_decode_summary: Final = msgspec.json.Decoder(Compacted).decode
_decode_client_tools: Final = msgspec.json.Decoder(ClientToolsSet).decode


def load_session(database: apsw.Connection, name: str) -> Loaded:
    """See `Store.load`; the caller has begun a transaction, so that all rows are of one moment."""
    row = find_session(database, name)
    if row is None:
        return Loaded(Conversation(), 0, 0)
    return Loaded(_conversation(database, row), row.events, row.epoch)


def _conversation(database: apsw.Connection, row: SessionRow) -> Conversation:
    low, high = first_id(row.id), first_id(row.id + 1)
    messages = [each for (data,) in _steps(database, _MESSAGES, low, high) for each in _decode_messages(data)]
    parts: list[list[Part]] = [[] for _ in messages]
    for data, places in _steps(database, _PARTS, low, high):
        for part, place in zip(_decode_parts(data), _decode_places(places), strict=True):
            parts[place].append(part)
    mine = (row.id,)
    calls = database.execute(_CALLS, mine).get
    opened = database.execute("SELECT call FROM calls WHERE session = ? AND opened IS NOT NULL ORDER BY opened", mine)
    inputs = database.execute("SELECT event FROM inputs WHERE session = ? ORDER BY id", mine)
    summaries = database.execute("SELECT event FROM summaries WHERE session = ? ORDER BY id", mine)
    given = database.execute("SELECT event FROM client_tools WHERE session = ?", mine).get
    return Conversation.restore(
        Head(leaf=row.leaf, turn=row.turn, ended=row.ended, answer=row.answer),
        zip(messages, parts, strict=True),
        calls={call: (messages[place].message, index) for call, place, index in _decode_calls(calls or b"[]")},
        opened=[call for (call,) in opened],
        inputs=[_decode_input(event) for (event,) in inputs],
        summaries=[_decode_summary(event) for (event,) in summaries],
        client_tools=_decode_client_tools(given).tools if given else (),
    )


def find_span(database: apsw.Connection, name: str) -> tuple[int, int]:
    """The number of a session, and that of its last event."""
    row = find_session(database, name)
    return (row.id, row.events) if row else (0, 0)


def read_events(database: apsw.Connection, session: int, after: int, until: int) -> list[Recorded]:
    """The next events of a session, from the one after `after` and not behind `until`; none where there are no more."""
    low = first_id(session)
    found: list[Recorded] = []
    size = 0
    for (data,) in _steps(database, _EVENTS, low + after + 1, low + until + 1):
        found += [Recorded(*each) for each in _decode_events(data)]
        size += len(data)
        if size >= _STEP:
            break
    return found


def read_sessions(database: apsw.Connection) -> list[SessionInfo]:
    """See `Store.sessions`."""
    return [SessionInfo(*each) for each in _decode_sessions(database.execute(_SESSIONS).get or b"[]")]


def find_behind(database: apsw.Connection) -> list[tuple[int, int]]:
    """The sessions of which the search index lacks something, each with how many parts belong into it."""
    rows: list[Any] = database.execute("SELECT id, parts FROM sessions WHERE indexed < parts").fetchall()
    return rows


def find_messages(database: apsw.Connection, text: str, limit: int) -> list[tuple[str, str]]:
    """See `Store.search`: each word is looked up by itself, so that words may stand in different parts."""
    words = [word for word in dict.fromkeys(plain(text).replace("\0", " ").split()) if any(map(str.isalnum, word))]
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    if not words:
        return []
    rows = database.execute(_SEARCH, (msgspec.json.encode(quoted).decode(), len(quoted), limit))
    return [(session, message) for session, message in rows]


def _steps(database: apsw.Connection, joined: str, low: int, high: int) -> Iterator[list[Any]]:
    """The columns of `joined` for the rows from `low` to before `high`, some rows at a time."""
    limit = 64
    while True:
        try:
            count, last, *columns = database.execute(joined, (low, high, limit)).get
        except apsw.TooBigError:
            if limit == 1:
                raise
            limit = limit // 8 or 1
            continue
        if not count:
            return
        yield columns
        low = last + 1
        limit = max(1, min(2 * limit, count * _STEP // len(columns[0])))
