"""`suture.store.export`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from suture.errors import StoreError
from suture.store import open_store
from suture.store.export import export, load_into
from suture.store.memory import MemoryStore
from suture.transcript.events import Event
from tests.store.contract import TURN, said
from tests.store.strategies import logs

HEADER = b'{"format":"suture-session","version":1}'
ADMITTED = b'{"number":1,"at":1.5,"epoch":0,"event":{"event":"admitted","message":"u1","parts":[]}}'
STARTED = b'{"number":1,"at":1.5,"epoch":0,"event":{"event":"call-started","call":"c1"}}'


@pytest.fixture(params=["memory:", "sqlite:"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of each kind."""
    kind = str(request.param)
    return kind if kind == "memory:" else f"{kind}{tmp_path / 'chats.db'}"


async def lines_of(store: Any, session: str) -> list[bytes]:
    """The export as a list."""
    return [line async for line in export(store, session)]


@pytest.mark.anyio
async def test_a_session_is_one_line_for_each_event(url: str) -> None:
    """Behind a first line that names the format, its version and the session."""
    store = open_store(url)
    lease = await store.take("s", "me")
    await store.append("s", TURN, epoch=lease.epoch)

    lines = await lines_of(store, "s")

    assert {"format": "suture-session", "version": 1, "session": "s"} == msgspec.json.decode(lines[0])
    assert len(TURN) == len(lines) - 1
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    second = msgspec.json.decode(lines[2])
    assert (2, lease.epoch, {"event": "turn-began", "turn": "t1"}) == (
        second["number"],
        second["epoch"],
        second["event"],
    )
    assert second["at"] > 1.7e9
    await store.close()


@pytest.mark.anyio
@pytest.mark.parametrize("asynchronous", [True, False])
async def test_what_was_exported_is_read_back(url: str, *, asynchronous: bool) -> None:
    """Under another name, in another store, from lines of either kind, with empty ones between them."""
    source, target = MemoryStore(), open_store(url)
    await source.append("s", TURN)
    lines = await lines_of(source, "s")

    async def slowly() -> AsyncIterator[bytes]:
        for line in lines:
            yield line
            yield b"\n"

    given = slowly() if asynchronous else [line.strip() for line in lines]

    assert len(TURN) == await load_into(target, given, "copy")
    assert TURN == [one.event async for one in target.events("copy")]
    assert said((await source.load("s")).conversation) == said((await target.load("copy")).conversation)
    assert (await lines_of(source, "s"))[0] == lines[0]
    await target.close()


@pytest.mark.anyio
async def test_a_session_that_is_not_there_is_one_line(url: str) -> None:
    """Which is read back as nothing, too."""
    store = open_store(url)

    lines = await lines_of(store, "nobody")

    assert 1 == len(lines)
    assert 0 == await load_into(store, lines, "copy")
    assert [] == await store.sessions()
    await store.close()


@pytest.mark.anyio
async def test_a_session_that_is_there_is_not_written_into(url: str) -> None:
    """Two histories in one would be neither."""
    store = open_store(url)
    await store.append("s", TURN)

    with pytest.raises(StoreError, match="session 's' has events already"):
        await load_into(store, [HEADER, ADMITTED], "s")

    assert len(TURN) == (await store.load("s")).number
    await store.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("lines", "said_of_it"),
    [
        ([], "line 1: expected the line that names the format 'suture-session', got nothing"),
        ([ADMITTED], "line 1: expected the line that names the format .*, got Object missing required field `format`"),
        ([b'{"format":"x","version":1}'], "line 1: expected the line that names .*, got the format 'x'"),
        ([b'{"format":"suture-session","version":2}'], "line 1: expected version 1 .*, got version 2; update Suture"),
        ([HEADER, ADMITTED[:-9]], "line 2: expected event 1 as JSON, got Input data was truncated"),
        ([HEADER, b"", b"[]"], "line 3: expected event 1 as JSON, got Expected `object`, got `array`"),
        ([HEADER, ADMITTED, ADMITTED], "line 3: expected event 2, got event 1"),
        ([HEADER, ADMITTED.replace(b"admitted", b"dreamt")], "line 2: expected event 1 as JSON, got Invalid value"),
        ([HEADER, ADMITTED.replace(b"u1", b"\xff")], "line 2: expected event 1 as JSON"),
        ([HEADER, ADMITTED.replace(b"[]", b"[" * 10_000)], "line 2: expected event 1 as JSON"),
        ([HEADER, STARTED], "line 2: expected an event that can follow those before it, got CallStarted: no turn"),
    ],
)
async def test_a_bad_line_is_named(url: str, lines: list[bytes], said_of_it: str) -> None:
    """With its number and what was expected there; nothing of the whole is in the store then."""
    store = open_store(url)

    with pytest.raises(StoreError, match=said_of_it):
        await load_into(store, lines, "s")

    assert [] == await store.sessions()
    await store.close()


@settings(
    max_examples=min(settings().max_examples, 300),  # each writes to a disk; the long runs are for what is pure
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(events=logs())
def test_any_session_comes_back(events: list[Event]) -> None:
    """Whatever happened in it."""

    async def scenario() -> None:
        source, target = MemoryStore(), MemoryStore()
        await source.append("s", events)
        await load_into(target, await lines_of(source, "s"), "s")
        assert events == [one.event async for one in target.events("s")]
        assert said((await source.load("s")).conversation) == said((await target.load("s")).conversation)

    asyncio.run(scenario())
