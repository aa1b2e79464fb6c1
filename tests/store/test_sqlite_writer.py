"""`suture.store.sqlite_writer`: what is committed together, and what becomes of it where that fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw
import pytest

from suture.errors import EventError, FencedError, StoreError
from suture.store import sqlite_writer
from suture.store.sqlite import SqliteStore
from suture.transcript import TextPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import (
    Admitted,
    CallSettled,
    CallStarted,
)
from tests.store.contract import HELLO, TURN, said
from tests.store.sqlite_files import MOVED, turn


@pytest.mark.anyio
async def test_what_waits_is_committed_together(store: SqliteStore) -> None:
    """Many appends at once need few commits."""
    commits = 0

    def count() -> bool:
        nonlocal commits
        commits += 1
        return False

    store._writer._database.set_commit_hook(count)
    await asyncio.gather(*(store.append(f"s{n}", turn(n)) for n in range(100)))

    assert 100 == len(await store.sessions())
    assert commits <= 50


@pytest.mark.anyio
async def test_not_too_much_is_committed_together(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of very many need not wait for the last."""
    monkeypatch.setattr(sqlite_writer, "_TOGETHER", 3)

    await asyncio.gather(*(store.append(f"s{n}", MOVED) for n in range(20)))

    assert 20 == len(await store.sessions())


@pytest.mark.anyio
async def test_one_that_fails_harms_no_other(store: SqliteStore) -> None:
    """Whatever is wrong with it: what it did is undone, and all that was committed with it is there."""
    good = [store.append(f"s{n}", TURN) for n in range(10)]
    bad: list[Any] = [
        store.append("s0", [HELLO, CallStarted(call="nobody")]),
        store.append("s1", MOVED, epoch=7),
        store.append("\ud800", MOVED),
    ]
    results = await asyncio.gather(*good[:5], *bad, *good[5:], return_exceptions=True)

    assert [EventError, FencedError, UnicodeEncodeError] == [type(result) for result in results[5:8]]
    assert [len(TURN)] * 10 == [*results[:5], *results[8:]]
    for n in range(10):
        assert said(Conversation(TURN)) == said((await store.load(f"s{n}")).conversation)
    assert {f"s{n}" for n in range(10)} == {session for session, _ in await store.search("hello")}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("setting", "reset", "problem"),
    [
        ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1073741823", "the disk is full"),
        ("PRAGMA query_only = 1", "PRAGMA query_only = 0", "the file, or the folder that it is in, cannot be written"),
    ],
)
async def test_a_disk_that_takes_nothing_fails_all_of_a_commit(
    store: SqliteStore, setting: str, reset: str, problem: str
) -> None:
    """Each of those who wait is told why; when there is room again, the store goes on."""
    await store.append("s", TURN)
    big = [Admitted(message="big", parts=(TextPart("word " * 100_000),))]
    store._writer._database.execute(setting).fetchall()

    results = await asyncio.gather(*(store.append("s", big) for _ in range(3)), return_exceptions=True)

    assert [StoreError] * 3 == [type(result) for result in results]
    assert all(f"nothing was written: {problem}" in str(result) for result in results)
    assert said(Conversation(TURN)) == said((await store.load("s")).conversation)
    store._writer._database.execute(reset).fetchall()
    assert len(TURN) + 1 == await store.append("s", big)


@pytest.mark.anyio
async def test_a_commit_that_fails_fails_all_in_it(store: SqliteStore) -> None:
    """Also those whose own part went well; nobody is told of success before the commit."""
    store._writer._database.set_commit_hook(lambda: True)
    results = await asyncio.gather(*(store.append(f"s{n}", TURN) for n in range(5)), return_exceptions=True)
    store._writer._database.set_commit_hook(None)

    assert [StoreError] * 5 == [type(result) for result in results]
    assert [] == await store.sessions()
    assert len(TURN) == await store.append("s0", TURN)


@pytest.mark.anyio
async def test_a_transaction_that_is_gone_fails_all_in_it(store: SqliteStore) -> None:
    """As a failing disk leaves it: SQLite itself has rolled back in the middle of a job."""

    def gone(database: apsw.Connection) -> None:
        database.execute("ROLLBACK")
        raise apsw.IOError("disk I/O error")

    jobs: list[Any] = [store.append("s", TURN), store._writer.run(gone), store.append("s", MOVED)]
    results = await asyncio.gather(*jobs, return_exceptions=True)

    assert all(isinstance(result, StoreError) and "the disk reports an error" in str(result) for result in results)
    assert len(TURN) == await store.append("s", TURN)


@pytest.mark.anyio
async def test_a_file_that_is_locked_is_named(store: SqliteStore, file: Path) -> None:
    """When another process does not stop writing."""
    store._writer._database.set_busy_timeout(10)
    other = apsw.Connection(str(file))
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="another process kept the file locked"):
        await store.append("s", MOVED)

    other.execute("ROLLBACK")
    other.close()
    assert 1 == await store.append("s", MOVED)


@pytest.mark.anyio
async def test_what_was_handed_in_is_done_though_nobody_waits(store: SqliteStore) -> None:
    """A caller that is cancelled leaves no half of it, and nothing hangs."""
    waiting = asyncio.create_task(store.append("s", TURN))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert len(TURN) + 1 == await store.append("s", MOVED)


@pytest.mark.anyio
async def test_what_could_not_be_read_back_is_not_written(store: SqliteStore) -> None:
    """An event with a value that its type does not have is refused before it is in the log for ever."""
    wrong: Any = CallSettled(call="c1", state="done")  # type: ignore[arg-type]

    with pytest.raises(ValueError, match="Invalid enum value 'done'"):
        await store.append("s", [*TURN, wrong])

    assert [] == await store.sessions()
