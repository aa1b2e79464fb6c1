"""`suture.store.sqlite_changes`: what is deleted is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from suture.errors import FencedError
from suture.store.sqlite import SqliteStore
from suture.transcript.events import ClientToolsSet
from suture.transcript.tools import ToolSpec
from tests.store.contract import TURN
from tests.store.sqlite_files import MOVED, look


@pytest.mark.anyio
async def test_a_deleted_session_leaves_nothing_behind(store: SqliteStore, file: Path) -> None:
    """Not a row, and nobody who had it can write into what begins under its name."""
    lease = await store.take("s", "me")
    await store.append("s", TURN, epoch=lease.epoch, key="k")
    await store.append("s", [ClientToolsSet(tools=(ToolSpec("clip", "", {"type": "object"}),))])
    await store.append("other", TURN)
    await store.search("hello")
    tables = (
        "sessions",
        "events",
        "messages",
        "parts",
        "calls",
        "inputs",
        "summaries",
        "client_tools",
        "keys",
        "search",
    )
    await store.delete("s")

    assert [1, 6, 2, 3 + 1, 1, 0, 0, 0, 0, 2] == [
        look(file, f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608 - our own names
        for table in tables
    ]
    with pytest.raises(FencedError):
        await store.append("s", MOVED, epoch=lease.epoch)
    with pytest.raises(FencedError):
        await store.renew(lease)
    await store.release(lease)
    again = await store.take("s", "somebody else")
    assert again.epoch > lease.epoch
    with pytest.raises(FencedError):
        await store.append("s", MOVED, epoch=lease.epoch)


@pytest.mark.anyio
async def test_an_append_of_nothing_changes_nothing(store: SqliteStore) -> None:
    """But its key is taken; the session begins with its first event."""
    assert 0 == await store.append("s", [], key="k")
    assert [] == await store.sessions()
    assert 0 == await store.append("s", MOVED, key="k")
    assert 1 == await store.append("s", MOVED)
    changed = (await store.sessions())[0].changed
    assert 1 == await store.append("s", [])
    assert changed == (await store.sessions())[0].changed
