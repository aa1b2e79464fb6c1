"""Opens the file of an SQLite store, brings its tables up to date, and says in a sentence what went wrong with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from suture.errors import StoreError
from suture.store.sqlite_schema import APPLICATION, MIGRATIONS

__all__ = ["PATIENCE", "connect", "open_file", "problem_of", "problems_of"]

PATIENCE: Final = 30.0
"""How many seconds to wait for another process that is writing."""

_SOUND: Final = (3, 51, 3)
"""The first SQLite in which a commit beside a checkpoint is never lost (sqlite.org/wal.html#walresetbug)."""

_PROBLEMS: Final[dict[type[Exception], str]] = {
    apsw.FullError: "the disk is full",
    apsw.ReadOnlyError: "the file, or the folder that it is in, cannot be written",
    apsw.CantOpenError: "the file cannot be opened: is it a folder, or is access to it not allowed?",
    apsw.PermissionsError: "access to the file is not allowed",
    apsw.NotADBError: "the file is not an SQLite database",
    apsw.CorruptError: "the file is damaged; `sqlite3 FILE .recover` may bring back what is in it",
    apsw.BusyError: f"another process kept the file locked for {PATIENCE:.0f} seconds",
    apsw.IOError: "the disk reports an error",
    apsw.TooBigError: "this is more than one row can hold",
    apsw.NoMemError: "there is not enough memory",
}


def problem_of(error: Exception) -> str:
    """What SQLite reports, as a sentence for whoever runs the program."""
    said = _PROBLEMS.get(type(error))
    return f"{said} ({error})" if said else f"{type(error).__name__}: {error}"


@contextmanager
def problems_of(url: str) -> Iterator[None]:
    """Turns what SQLite and the operating system refuse into the library's error."""
    try:
        yield
    except apsw.Error as error:
        raise StoreError(url, problem_of(error)) from error
    except OSError as error:
        raise StoreError(url, error.strerror or str(error)) from error


def open_file(path: Path, url: str) -> apsw.Connection:
    """The connection that writes: the file and its folder are made where they are not there, its tables are up to date.

    Raises:
        StoreError: it cannot be opened, is not a store, or was written by a newer version.
    """
    if tuple(map(int, apsw.sqlite_lib_version().split("."))) < _SOUND:
        found = f"SQLite {apsw.sqlite_lib_version()} can lose what was written"
        raise StoreError(url, f'{found}; install one that cannot: pip install --upgrade "suture[sqlite]"')
    with problems_of(url):
        path.parent.mkdir(parents=True, exist_ok=True)
        database = connect(path, apsw.SQLITE_OPEN_CREATE)
        try:
            _update(database, url)
        except BaseException:
            database.close()
            raise
    return database


def connect(path: Path, flags: int = 0) -> apsw.Connection:
    """A connection to the file.

    Raises:
        apsw.Error: it cannot be opened.
    """
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE | flags)
    database.set_busy_timeout(int(PATIENCE * 1000))
    database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)  # a plan is made once, not again for each value
    database.pragma("synchronous", "FULL")  # in WAL mode NORMAL would lose the last commits when the power fails
    database.pragma("fullfsync", 1)  # macOS: through the drive's own cache
    return database


def _update(database: apsw.Connection, url: str) -> None:
    """Bring the tables up to date; where other processes open the file too, one of them does it."""
    version = _version(database, url)
    _write_ahead(database, url)
    if version == len(MIGRATIONS):
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        for script in MIGRATIONS[_version(database, url) :]:
            database.execute(script)
        database.pragma("application_id", APPLICATION)
        database.pragma("user_version", len(MIGRATIONS))
        database.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):  # it may be undone already
            database.execute("ROLLBACK")
        raise


def _version(database: apsw.Connection, url: str) -> int:
    """The version of the tables, 0 in an empty file.

    Raises:
        StoreError: the file is another program's, or a newer version's.
    """
    # In this order: another process may be making the tables, and whoever sees them has to see whose they are, too.
    filled = database.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    if filled and database.pragma("application_id") != APPLICATION:
        raise StoreError(url, "the file is another program's database; nothing was changed in it")
    version = database.pragma("user_version")
    assert isinstance(version, int)
    if version > len(MIGRATIONS):
        found = f"the file was written by a newer version of Suture (its tables are version {version}"
        raise StoreError(url, f"{found}, this one knows {len(MIGRATIONS)}); update Suture")
    return version


def _write_ahead(database: apsw.Connection, url: str) -> None:
    """Switch to the write-ahead log, where that was not done before."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            mode = database.pragma("journal_mode", "WAL")
        except apsw.BusyError:
            # Where several processes open a new file at once, SQLite does not always wait by itself here.
            if time.monotonic() > end:
                raise
            time.sleep(0.005)
            continue
        if mode != "wal":
            raise StoreError(url, "the file system cannot share memory between processes, which SQLite's log needs")
        return
