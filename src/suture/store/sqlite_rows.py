"""The rows of one session as a fold reads and writes them, inside a transaction of an SQLite store."""

from __future__ import annotations

from typing import Final

import apsw
import msgspec

from suture.transcript.events import Admitted, ClientToolsSet, Compacted, MessageAdded
from suture.transcript.fold import Head, Place
from suture.transcript.parts import Part, TextPart, ToolPart

__all__ = ["SessionRow", "SqlRows", "find_session", "first_id", "make_session"]

_PART: Final = msgspec.json.Decoder(Part)
_encode: Final = msgspec.json.Encoder().encode


class SessionRow(msgspec.Struct, gc=False):
    """What the store knows of a session as a whole."""

    id: int
    now: float
    """The database's clock when the row was read."""
    events: int = 0
    messages: int = 0
    parts: int = 0
    indexed: int = 0
    epoch: int = 0
    owner: str = ""
    until: float = 0.0
    leaf: str | None = None
    turn: str | None = None
    ended: str = ""
    answer: str | None = None


class _Known(msgspec.Struct, gc=False):
    """A message that was looked up."""

    place: int
    first: int
    length: int
    stored: int
    """The length that its row says."""


def first_id(session: int) -> int:
    """The key that the rows of a session start at; those of the next one start at `first_id(session + 1)`."""
    return session << 32


def find_session(database: apsw.Connection, name: str) -> SessionRow | None:
    """The session of a name."""
    row = database.execute(
        "SELECT id, unixepoch('subsec'), events, messages, parts, indexed, epoch, owner, until, "
        "leaf, turn, ended, answer FROM sessions WHERE name = ?",
        (name,),
    ).get
    return SessionRow(*row) if row else None


def make_session(database: apsw.Connection, name: str) -> SessionRow:
    """A new session."""
    row = database.execute("INSERT INTO sessions (name) VALUES (?) RETURNING id, unixepoch('subsec')", (name,)).get
    return SessionRow(*row)


class SqlRows:
    """Implements `transcript.fold.Rows`; what it was asked for once, it knows until the transaction ends."""

    def __init__(self, database: apsw.Connection, row: SessionRow) -> None:
        """The rows of the session of `row`, which `save` writes back."""
        self.head: Head = Head(leaf=row.leaf, turn=row.turn, ended=row.ended, answer=row.answer)
        self._database = database
        self._row = row
        self._first = first_id(row.id)
        self._messages: dict[str, _Known | None] = {}
        self._parts: dict[tuple[str, int], tuple[int, Part]] = {}
        self._calls: dict[str, tuple[str, int] | None] = {}

    def save(self) -> None:
        """Write what is true of the session as a whole, and how long its messages are."""
        row, head = self._row, self.head
        self._database.execute(
            "UPDATE sessions SET events = ?, messages = ?, parts = ?, changed = ?, "
            "leaf = ?, turn = ?, ended = ?, answer = ? WHERE id = ?",
            (row.events, row.messages, row.parts, row.now, head.leaf, head.turn, head.ended, head.answer, row.id),
        )
        for known in self._messages.values():
            if known and known.length != known.stored:
                self._database.execute(
                    "UPDATE messages SET length = ? WHERE id = ?", (known.length, self._first + known.place)
                )
                known.stored = known.length

    # --- messages ---------------------------------------------------------------------------------------------------

    def has_message(self, message: str) -> bool:
        """See `Rows`."""
        return self._known(message) is not None

    def add_message(self, event: MessageAdded) -> None:
        """See `Rows`."""
        row = self._row
        known = _Known(row.messages, row.parts, 0, len(event.parts))
        bare = _encode(msgspec.structs.replace(event, parts=())).decode()
        self._database.execute(
            "INSERT INTO messages (id, name, first, length, message) VALUES (?, ?, ?, ?, ?)",
            (self._first + known.place, event.message, known.first, known.stored, bare),
        )
        row.messages += 1
        self._messages[event.message] = known

    def length(self, message: str) -> int:
        """See `Rows`."""
        return self._surely(message).length

    def _known(self, message: str) -> _Known | None:
        if message not in self._messages:
            row = self._database.execute(
                "SELECT place, first, length, length FROM messages WHERE session = ? AND name = ?",
                (self._row.id, message),
            ).get
            self._messages[message] = _Known(*row) if row else None
        return self._messages[message]

    def _surely(self, message: str) -> _Known:
        known = self._known(message)
        assert known is not None, message
        return known

    # --- parts ------------------------------------------------------------------------------------------------------

    def set_part(self, message: str, index: int, part: Part) -> None:
        """See `Rows`."""
        known = self._surely(message)
        text = _encode(part).decode()
        if index < known.length:
            number, old = self._part(message, index)
            self._database.execute("UPDATE parts SET part = ? WHERE id = ?", (text, number))
            if number - self._first < self._row.indexed:
                self._index_anew(number, old, part)
            if not isinstance(part, ToolPart):
                self._close_calls(known, index)
        else:
            number = self._first + self._row.parts
            self._database.execute(
                "INSERT INTO parts (id, message, idx, part) VALUES (?, ?, ?, ?)", (number, known.place, index, text)
            )
            self._row.parts += 1
            known.length += 1
        self._parts[message, index] = number, part
        if isinstance(part, ToolPart):
            self._place_call(message, index, part)

    def _part(self, message: str, index: int) -> tuple[int, Part]:
        """A part and the key of its row.

        The parts of a message stand in their order and behind its `first`. Mostly they stand together, and the row at
        `first + index` is the one; where other messages grew in between, it is further down.
        """
        found = self._parts.get((message, index))
        if found is None:
            known = self._surely(message)
            row = self._database.execute(
                "SELECT id, part FROM parts WHERE id >= ? AND id < ? AND message = ? AND idx = ? ORDER BY id LIMIT 1",
                (self._first + known.first + index, self._first + self._row.parts, known.place, index),
            ).get
            found = self._parts[message, index] = row[0], _PART.decode(row[1])
        return found

    def _index_anew(self, number: int, old: Part, new: Part) -> None:
        if isinstance(old, TextPart):
            self._database.execute("DELETE FROM search WHERE rowid = ?", (number,))
        if isinstance(new, TextPart):
            self._database.execute("INSERT INTO search (rowid, text) VALUES (?, ?)", (number, new.text))

    # --- calls ------------------------------------------------------------------------------------------------------

    def call(self, call: str) -> Place | None:
        """See `Rows`."""
        if call not in self._calls:
            row = self._database.execute(
                "SELECT name, idx FROM calls JOIN messages ON id = (calls.session << 32) + calls.message "
                "WHERE calls.session = ? AND call = ?",
                (self._row.id, call),
            ).get
            self._calls[call] = row
        place = self._calls[call]
        return Place(*place, self._part(*place)[1]) if place else None

    def _place_call(self, message: str, index: int, part: ToolPart) -> None:
        """Remember where a call stands, and whether it is open; one that was open already keeps its turn."""
        self._calls[part.call_id] = message, index
        self._database.execute(
            "INSERT INTO calls (session, call, message, idx, opened) VALUES (?1, ?2, ?3, ?4, CASE WHEN ?5 THEN NULL "
            "ELSE (SELECT ifnull(max(opened), 0) + 1 FROM calls WHERE session = ?1 AND opened IS NOT NULL) END) "
            "ON CONFLICT DO UPDATE SET message = excluded.message, idx = excluded.idx, "
            "opened = CASE WHEN ?5 THEN NULL ELSE ifnull(opened, excluded.opened) END "
            "WHERE message != excluded.message OR idx != excluded.idx OR (opened IS NULL) != ?5",
            (self._row.id, part.call_id, self._surely(message).place, index, part.settled),
        )

    def _close_calls(self, known: _Known, index: int) -> None:
        """What took the place of a call is no call: nothing there is open any more."""
        self._database.execute(
            "UPDATE calls INDEXED BY calls_open SET opened = NULL "
            "WHERE session = ? AND message = ? AND idx = ? AND opened IS NOT NULL",
            (self._row.id, known.place, index),
        )

    # --- beside the messages ----------------------------------------------------------------------------------------

    def add_input(self, event: Admitted) -> None:
        """See `Rows`."""
        self._database.execute(
            "INSERT OR IGNORE INTO inputs (session, message, event) VALUES (?, ?, ?)",
            (self._row.id, event.message, _encode(event).decode()),
        )

    def drop_input(self, message: str) -> None:
        """See `Rows`."""
        self._database.execute("DELETE FROM inputs WHERE session = ? AND message = ?", (self._row.id, message))

    def set_client_tools(self, event: ClientToolsSet) -> None:
        """See `Rows`."""
        self._database.execute(
            "INSERT OR REPLACE INTO client_tools (session, event) VALUES (?, ?)",
            (self._row.id, _encode(event).decode()),
        )

    def set_summary(self, event: Compacted) -> None:
        """See `Rows`."""
        self._database.execute(
            "INSERT INTO summaries (session, event) VALUES (?, ?)", (self._row.id, _encode(event).decode())
        )
