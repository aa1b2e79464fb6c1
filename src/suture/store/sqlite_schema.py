"""The tables of an SQLite store: numbered migrations, each run once, in order.

A migration that was released is never changed; a change of the tables is one more at the end.

The rows of one session lie side by side in each table: their key is `session << 32 | place`, the session's own number
in the upper 31 bits and the row's place in the session in the lower 32. So reading a session is reading a range, and
writing one event touches the last page of each table that it concerns, however long the history is.
"""

from __future__ import annotations

from typing import Final

__all__ = ["APPLICATION", "MIGRATIONS"]

APPLICATION: Final = int.from_bytes(b"Sutu")
"""What tells a file of ours from another program's database (`PRAGMA application_id`)."""

MIGRATIONS: Final = (
    """
    CREATE TABLE sessions (
        id       INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again, so rows of a deleted session are no one's
        name     TEXT NOT NULL UNIQUE,
        events   INTEGER NOT NULL DEFAULT 0,         -- how many there are: the number of the last one
        messages INTEGER NOT NULL DEFAULT 0,
        parts    INTEGER NOT NULL DEFAULT 0,
        indexed  INTEGER NOT NULL DEFAULT 0,         -- how many of the parts are in the search index
        changed  REAL NOT NULL DEFAULT 0,
        epoch    INTEGER NOT NULL DEFAULT 0,
        owner    TEXT NOT NULL DEFAULT '',
        until    REAL NOT NULL DEFAULT 0,            -- when the owner's lease runs out
        leaf     TEXT,                               -- from here on: the head of the conversation
        turn     TEXT,
        ended    TEXT NOT NULL DEFAULT '',
        answer   TEXT
    ) STRICT;

    -- The last epoch that any session was taken under. Epochs grow over all sessions together, so that whoever had a
    -- session before it was deleted has no epoch of the one that was begun under its name since.
    CREATE TABLE epochs (last INTEGER NOT NULL) STRICT;
    INSERT INTO epochs VALUES (0);

    CREATE TABLE events (
        id      INTEGER PRIMARY KEY,
        session INTEGER AS (id >> 32),
        number  INTEGER AS (id & 4294967295),
        at      REAL NOT NULL,
        epoch   INTEGER NOT NULL,
        event   TEXT NOT NULL
    ) STRICT;

    -- The keys of the batches that were taken in.
    CREATE TABLE keys (
        session INTEGER NOT NULL,
        key     TEXT NOT NULL,
        PRIMARY KEY (session, key)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE messages (
        id      INTEGER PRIMARY KEY,
        session INTEGER AS (id >> 32),
        place   INTEGER AS (id & 4294967295),
        name    TEXT NOT NULL,
        first   INTEGER NOT NULL,  -- how many parts the session had before: no part of this message stands further up
        length  INTEGER NOT NULL,  -- how many parts it has
        message TEXT NOT NULL      -- its event, without the parts
    ) STRICT;
    CREATE UNIQUE INDEX messages_by_name ON messages (session, name);

    CREATE TABLE parts (
        id      INTEGER PRIMARY KEY,
        session INTEGER AS (id >> 32),
        message INTEGER NOT NULL,  -- the place of its message
        idx     INTEGER NOT NULL,  -- its place in the message
        part    TEXT NOT NULL
    ) STRICT;

    CREATE TABLE calls (
        session INTEGER NOT NULL,
        call    TEXT NOT NULL,
        message INTEGER NOT NULL,
        idx     INTEGER NOT NULL,
        opened  INTEGER,           -- while it has no outcome: grows in the order in which calls were opened
        PRIMARY KEY (session, call)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX calls_open ON calls (session, opened) WHERE opened IS NOT NULL;

    -- The messages that wait for a turn, in the order in which they were admitted.
    CREATE TABLE inputs (
        id      INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        message TEXT NOT NULL,
        event   TEXT NOT NULL,
        UNIQUE (session, message)
    ) STRICT;

    CREATE TABLE summaries (
        id      INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        event   TEXT NOT NULL
    ) STRICT;
    CREATE INDEX summaries_of_session ON summaries (session);

    -- The words of the text parts, under the ids of the parts; the texts themselves are in `parts` only. An append does
    -- not write here, which would double what it writes: a search brings the index up to date first.
    CREATE VIRTUAL TABLE search USING fts5(
        text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
    );
    """,
    """
    -- The tools that the client of a session said it runs: its last event about them.
    CREATE TABLE client_tools (
        session INTEGER PRIMARY KEY,
        event   TEXT NOT NULL
    ) STRICT;
    """,
)
"""What makes version 1 out of an empty file, version 2 out of version 1, and so on."""
