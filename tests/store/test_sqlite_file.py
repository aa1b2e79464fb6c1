"""`suture.store.sqlite_file`: what is opened, and what is said of a file that is not as it should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from suture.errors import StoreError
from suture.store import open_store, sqlite_file
from suture.store.sqlite import SqliteStore
from suture.store.sqlite_schema import APPLICATION, MIGRATIONS
from suture.transcript.conversation import Conversation
from tests.store.contract import TURN, said
from tests.store.sqlite_files import MOVED, look


@pytest.mark.anyio
async def test_the_file_is_as_safe_as_it_can_be(store: SqliteStore, file: Path) -> None:
    """A log that is on the disk before an append returns; marked as ours, with the version of its tables."""
    await store.append("s", TURN)

    assert [("wal",)] == look(file, "PRAGMA journal_mode")
    assert [(APPLICATION,)] == look(file, "PRAGMA application_id")
    assert [(len(MIGRATIONS),)] == look(file, "PRAGMA user_version")
    assert 2 == store._writer._database.pragma("synchronous")


@pytest.mark.anyio
async def test_the_folder_is_made(tmp_path: Path) -> None:
    """With the folders that it is in; the address is kept as it was given."""
    url = f"sqlite:{tmp_path / 'a' / 'b' / 'chats.db'}"
    store = open_store(url)

    assert 1 == await store.append("s", MOVED)
    assert url == store.url
    await store.close()


@pytest.mark.anyio
async def test_a_relative_place_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever becomes of the working directory; and a name that means memory to SQLite is only a name."""
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite::memory:")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    await store.append("s", TURN)

    assert len(TURN) == (await store.load("s")).number
    assert (tmp_path / ":memory:").is_file()
    await store.close()


def test_a_file_that_is_no_database_is_left_alone(file: Path) -> None:
    """It is named, and not a byte of it changes."""
    file.write_bytes(b"once upon a time" * 100)

    with pytest.raises(StoreError, match=r"chats\.db: the file is not an SQLite database"):
        SqliteStore(str(file))

    assert b"once upon a time" * 100 == file.read_bytes()


def test_the_database_of_another_program_is_left_alone(file: Path) -> None:
    """No table is added to it, and its journal stays as it was."""
    look(file, "CREATE TABLE theirs (x)")

    with pytest.raises(StoreError, match="another program's database; nothing was changed in it"):
        SqliteStore(str(file))

    assert [("theirs",)] == look(file, "SELECT name FROM sqlite_schema")
    assert [("delete",)] == look(file, "PRAGMA journal_mode")


@pytest.mark.anyio
async def test_a_file_from_the_future_is_left_alone(file: Path) -> None:
    """It says what to do."""
    await SqliteStore(str(file)).close()
    look(file, "PRAGMA user_version = 99")

    with pytest.raises(StoreError, match=r"written by a newer version of Suture \(its tables are version 99"):
        SqliteStore(str(file))


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """A folder in the place of the file, a file in the place of the folder."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("")

    with pytest.raises(StoreError, match="the file cannot be opened: is it a folder"):
        SqliteStore(str(tmp_path / "folder"))
    with pytest.raises(StoreError, match=r"plain/chats\.db: (File exists|Not a directory)"):
        SqliteStore(str(tmp_path / "plain" / "chats.db"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is denied to the superuser")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    """Where no file may be made in it."""
    (tmp_path / "locked").mkdir(mode=0o500)

    with pytest.raises(StoreError, match=r"the file cannot be opened: .* access to it not allowed"):
        SqliteStore(str(tmp_path / "locked" / "chats.db"))


def test_an_old_sqlite_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that can lose commits is not used, whoever installed it."""
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")

    with pytest.raises(StoreError, match=r'SQLite 3\.40\.1 can lose .* pip install --upgrade "suture\[sqlite\]"'):
        SqliteStore(str(file))


def test_without_apsw_it_says_what_to_install() -> None:
    """The extra, by its name."""
    program = (
        "import sys; sys.modules['apsw'] = None\n"
        "from suture.errors import StoreError\n"
        "from suture.store import open_store\n"
        "try: open_store('sqlite:x')\n"
        "except StoreError as error: print(error)"
    )

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert 'apsw is not installed: pip install "suture[sqlite]"' in done.stdout


@pytest.mark.anyio
async def test_an_older_file_is_brought_up_to_date(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the migrations that it lacks, once; what is in it stays."""
    store = SqliteStore(str(file))
    await store.append("s", TURN)
    await store.close()
    monkeypatch.setattr(sqlite_file, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE more (x TEXT) STRICT"))

    for _ in range(2):
        store = SqliteStore(str(file))
        assert said(Conversation(TURN)) == said((await store.load("s")).conversation)
        await store.close()

    assert [(len(MIGRATIONS) + 1,)] == look(file, "PRAGMA user_version")


def test_a_migration_that_fails_leaves_the_file_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them or none."""
    monkeypatch.setattr(sqlite_file, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE sessions (x)"))

    with pytest.raises(StoreError, match="table sessions already exists"):
        SqliteStore(str(file))

    assert [] == look(file, "SELECT * FROM sqlite_schema")
    assert [(0,)] == look(file, "PRAGMA user_version")


@pytest.mark.anyio
async def test_a_file_that_others_do_not_let_go_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a reader is in the way of the switch to the write-ahead log."""
    await SqliteStore(str(file)).close()
    other = apsw.Connection(str(file))
    other.pragma("journal_mode", "DELETE")
    other.execute("BEGIN")
    other.execute("SELECT * FROM sessions").fetchall()

    with monkeypatch.context() as context:
        context.setattr(sqlite_file, "PATIENCE", 0.05)
        with pytest.raises(StoreError, match="another process kept the file locked"):
            SqliteStore(str(file))

    other.close()
    await SqliteStore(str(file)).close()


@pytest.mark.anyio
async def test_the_switch_to_the_log_is_tried_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite may say at once that the file is locked, where several processes make it."""
    refused: list[str] = []

    class Refusing(apsw.Connection):
        def pragma(self, name: str, *value: Any, **options: Any) -> Any:
            if name == "journal_mode" and not refused:
                refused.append(name)
                raise apsw.BusyError("database is locked")
            return super().pragma(name, *value, **options)

    monkeypatch.setattr(apsw, "Connection", Refusing)

    await SqliteStore(str(file)).close()

    assert ["journal_mode"] == refused


@pytest.mark.anyio
@pytest.mark.parametrize("moment", [1, 2, 3])
async def test_a_file_that_is_being_made_is_no_stranger(
    file: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """Another process makes the tables before the first look at them, or between one and the next."""
    looks: list[str] = []

    def look_at(database: apsw.Connection, what: str) -> None:
        looks.append(what)
        if len(looks) == moment and not database.in_transaction:
            monkeypatch.undo()
            sqlite_file.open_file(file, "other").close()

    class Watched(apsw.Connection):
        def pragma(self, name: str, *value: Any, **options: Any) -> Any:
            if not value:
                look_at(self, name)
            return super().pragma(name, *value, **options)

        def execute(self, statements: str, *arguments: Any, **options: Any) -> Any:
            if statements.startswith("SELECT"):
                look_at(self, statements)
            return super().execute(statements, *arguments, **options)

    monkeypatch.setattr(apsw, "Connection", Watched)
    await SqliteStore(str(file)).close()

    assert len(looks) >= 2


@pytest.mark.skipif(sys.platform == "win32", reason="named after Unix")
def test_a_file_system_without_shared_memory_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There SQLite quietly keeps its old journal."""

    def connect(path: Path, flags: int = 0) -> apsw.Connection:
        return apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE | flags, vfs="unix-dotfile")

    monkeypatch.setattr(sqlite_file, "connect", connect)

    with pytest.raises(StoreError, match="the file system cannot share memory between processes"):
        SqliteStore(str(file))
