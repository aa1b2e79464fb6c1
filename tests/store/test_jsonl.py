"""`suture.store.jsonl`: the suite, and what only a folder of files has to keep."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suture.errors import BusyError, EventError, FencedError, StoreError
from suture.store import jsonl
from suture.store.jsonl import JsonlStore
from suture.store.jsonl_disk import lines_from, opened
from suture.transcript import TextPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import Admitted, CallStarted, LeafMoved, TurnBegan
from tests.store.contract import HELLO, RESULT, TURN, StoreContract, said
from tests.store.folders import events_of, files_in, loaded

MOVED = LeafMoved(leaf=None)


class TestJsonlStore(StoreContract):
    """The suite, in a folder."""

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        """See the contract."""
        return f"jsonl:{tmp_path / 'chats'}"


@pytest.fixture
def anyio_backend() -> str:
    """Plain asyncio."""
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a store is."""
    return tmp_path


# --- the file -------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_file_can_be_read_by_anybody(folder: Path) -> None:
    """A header, then one object a line, with its number, its time, its epoch, its key and the event's own fields."""
    store = JsonlStore(folder, clock=lambda: 1700000000.5)
    await store.append("s", TURN[:1])
    lease = await store.take("s", "me", lease=10)
    await store.append("s", TURN[1:3], epoch=lease.epoch, key="k")
    await store.renew(lease)
    await store.release(lease)
    await store.close()

    parts = [{"type": "text", "text": "hello there"}]
    user = {"role": "user", "parent": None, "parts": parts}
    at = {"at": 1700000000.5}
    assert [
        {"format": "suture-session", "version": 1, "session": "s", "made": 1700000000.5},
        {"number": 1, **at, "epoch": 0, "event": "admitted", "message": "u1", "parts": parts},
        {"note": "taken", **at, "epoch": 1, "owner": "me", "until": 1700000010.5},
        {"number": 2, **at, "epoch": 1, "key": "k", "more": 1, "event": "turn-began", "turn": "t1"},
        {"number": 3, **at, "epoch": 1, "key": "k", "event": "message-added", "message": "u1", **user},
        {"note": "renewed", **at, "epoch": 1, "until": 1700000010.5},
        {"note": "released", **at, "epoch": 1},
    ] == [json.loads(line) for line in (folder / "s.jsonl").read_text().splitlines()]


@pytest.mark.anyio
async def test_the_fields_of_an_event_leave_room_for_its_stamp() -> None:
    """No event has a field that a line says already."""
    from suture.store.jsonl_lines import _Line
    from suture.transcript.events import WHEN

    stamp = set(_Line.__struct_fields__)
    assert {} == {kind.__name__: both for kind in WHEN if (both := stamp & set(kind.__struct_fields__))}


@pytest.mark.anyio
async def test_nothing_is_left_of_what_was_refused(folder: Path) -> None:
    """A session that did not begin has no file, a batch that was refused no line."""
    store = JsonlStore(folder)
    with pytest.raises(EventError):
        await store.append("s", [RESULT])
    with pytest.raises(ValueError, match="surrogates"):
        await store.append("s", [Admitted(message="u1", parts=(TextPart("\ud800"),))])
    with pytest.raises(ValueError, match="surrogates"):
        await store.append("s", TURN, key="\ud800")
    assert [] == files_in(folder)

    await store.append("s", TURN)
    before = (folder / "s.jsonl").read_bytes()
    with pytest.raises(EventError):
        await store.append("s", [RESULT, CallStarted(call="c9")])
    with pytest.raises(ValueError, match="surrogates"):
        await store.append("s", [RESULT], key="\ud800")
    assert before == (folder / "s.jsonl").read_bytes()
    assert 7 == await store.append("s", [RESULT])
    await store.close()
    assert said(Conversation([*TURN, RESULT])) == said((await loaded(folder)).conversation)


@pytest.mark.anyio
async def test_a_batch_of_nothing_has_a_key_too(folder: Path) -> None:
    """Its key is seen from then on, and no event is counted."""
    store = JsonlStore(folder)
    assert 0 == await store.append("s", [])
    assert [] == files_in(folder)
    assert 0 == await store.append("s", [], key="k")
    assert [] == await store.sessions()
    await store.close()
    store = JsonlStore(folder)
    assert 0 == await store.append("s", [HELLO], key="k")
    assert 1 == await store.append("s", [HELLO], key="l")
    await store.close()


@pytest.mark.anyio
async def test_only_files_of_sessions_are_listed(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever else lies in the folder is left alone; a file that cannot be read is told of and does no harm."""
    store = JsonlStore(folder)
    long = "x" * 300
    await store.append("s", [HELLO])
    await store.append(long, [HELLO])
    lay_about(folder)
    assert {"s", long} == {info.session for info in await store.sessions()}
    await store.close()
    assert 2 == caplog.text.count("Is a directory")


def lay_about(folder: Path) -> None:
    """Put into a folder what is no session."""
    (folder / "notes.txt").write_text("hello")
    (folder / "Foreign.jsonl").write_text('{"event":"leaf-moved","leaf":null}\n')
    (folder / "foreign.jsonl").write_text('{"type":"user","message":"hello"}\n')
    (folder / "%ff.jsonl").write_text("")
    (folder / f"{'z' * 48}~{'0' * 64}.jsonl").write_text("{}\n")
    (folder / f"{'y' * 48}~{'0' * 64}.jsonl").mkdir()
    (folder / "folder.jsonl").mkdir()


@pytest.mark.anyio
async def test_what_is_gone_is_told_of(folder: Path) -> None:
    """A folder that was removed, or cannot be made, and a store that was closed."""
    with pytest.raises(StoreError, match="the folder cannot be made"):
        JsonlStore(Path(__file__))
    store = JsonlStore(folder / "chats")
    shutil.rmtree(folder / "chats")
    with pytest.raises(StoreError, match="session 's' cannot be written: No such file or directory"):
        await store.append("s", TURN)
    with pytest.raises(StoreError, match="the folder cannot be read"):
        await store.sessions()
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="has been closed"):
        await store.load("s")


# --- in memory ------------------------------------------------------------------------------------------------------


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines are read from files, reading by reading."""
    counts: list[int] = []

    def counting(*args: Any) -> Any:
        counts.append(0)
        for line in lines_from(*args):
            counts[-1] += 1
            yield line

    monkeypatch.setattr("suture.store.jsonl_file.lines_from", counting)
    return counts


@pytest.mark.anyio
async def test_only_what_others_added_is_read(folder: Path, read: list[int]) -> None:
    """One's own lines are known, however many there are; of others' lines, each is read once."""
    mine, other = JsonlStore(folder), JsonlStore(folder)
    await mine.append("s", TURN)
    for _ in range(50):
        await mine.append("s", [MOVED])
        await mine.load("s")
    assert [] == read
    assert 57 == await other.append("s", [MOVED])
    assert [57] == read  # a header and 56 events
    await mine.append("s", [MOVED])
    assert [57, 1] == read
    await other.load("s")
    assert [57, 1, 1] == read
    await mine.close()
    await other.close()


@pytest.mark.anyio
async def test_the_events_behind_a_number_are_found_near_it(folder: Path, read: list[int]) -> None:
    """Not by reading all that is before, whoever wrote it."""
    mine = JsonlStore(folder)
    for _ in range(30):
        await mine.append("s", [MOVED] * 100)
    assert 100 == len(await events_of(mine, after=2900))
    assert read.pop() < 500
    other = JsonlStore(folder)
    await other.load("s")
    for after in (0, 1, 255, 256, 257, 1700, 2999, 3000, 3001):
        expected = [*range(after + 1, 3001)]
        assert expected == [one.number async for one in other.events("s", after)]
        assert read.pop() <= len(expected) + 400
        assert expected == [one.number async for one in mine.events("s", after)]
    await mine.close()
    await other.close()


@pytest.mark.anyio
async def test_few_sessions_are_kept_in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch, read: list[int]) -> None:
    """The one that was used longest ago goes, and is read again when it is needed."""
    monkeypatch.setattr(jsonl, "_HELD", 2)
    store = JsonlStore(folder)
    for name in ("a", "b", "c", "b"):
        await store.append(name, [MOVED])
    assert [] == read
    await store.append("d", [MOVED])
    await store.append("b", [MOVED])
    assert [] == read
    assert 2 == await store.append("c", [MOVED])
    assert [2] == read
    assert 2 == len(store._held)
    assert 4 == len(await store.sessions())
    assert [] == await store.search("hello")
    assert 2 == len(store._held)
    await store.close()


@pytest.mark.anyio
async def test_what_was_loaded_goes_its_own_way(folder: Path) -> None:
    """Changing it changes nothing for others."""
    store = JsonlStore(folder)
    await store.append("s", TURN)
    (await store.load("s")).conversation.apply(RESULT)
    assert said(Conversation(TURN)) == said((await store.load("s")).conversation)
    await store.close()


# --- threads --------------------------------------------------------------------------------------------------------


@pytest.fixture
def on_sync(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What is called when a file is brought to disk."""
    calls: list[Callable[[], None]] = []
    fsync = os.fsync

    def calling(file: int) -> None:
        for call in calls:
            call()
        fsync(file)

    monkeypatch.setattr(os, "fsync", calling)
    return calls


@pytest.mark.anyio
async def test_the_event_loop_never_waits_for_a_disk(folder: Path, on_sync: list[Callable[[], None]]) -> None:
    """Before an append returns, its events are on disk, by another thread's work."""
    store = JsonlStore(folder)
    threads: list[int] = []
    on_sync.append(lambda: threads.append(threading.get_ident()))
    await store.append("s", TURN)
    assert 2 == len(threads)  # the file, and the folder that it is new in
    await store.append("s", [RESULT])
    assert 3 == len(threads)
    assert threading.get_ident() not in threads
    await store.close()


@pytest.mark.anyio
async def test_sessions_do_not_wait_for_one_another(folder: Path, on_sync: list[Callable[[], None]]) -> None:
    """Several are brought to disk at the same time."""
    store = JsonlStore(folder)
    names = [f"s{number}" for number in range(4)]
    await asyncio.gather(*(store.append(name, TURN) for name in names))
    barrier = threading.Barrier(4, timeout=30)
    on_sync.append(lambda: void(barrier.wait()))
    await asyncio.gather(*(store.append(name, [RESULT]) for name in names))
    await store.close()


def void(_: object) -> None:
    """Nothing."""


@pytest.mark.anyio
async def test_an_append_that_nobody_waits_for_is_in_nobodys_way(
    folder: Path, on_sync: list[Callable[[], None]]
) -> None:
    """One that has begun comes to its end, and the next one waits for it; one that has not begun is not made."""
    store = JsonlStore(folder)
    await store.append("s", TURN)
    begun, go_on = threading.Event(), threading.Event()
    on_sync += [begun.set, lambda: void(go_on.wait(30))]
    first = asyncio.create_task(store.append("s", [RESULT]))
    await asyncio.to_thread(begun.wait, 30)
    second = asyncio.create_task(store.append("s", [MOVED]))
    third = asyncio.create_task(store.append("s", [HELLO]))
    await asyncio.sleep(0)
    first.cancel()
    second.cancel()
    await asyncio.sleep(0)
    go_on.set()
    assert 8 == await third
    assert [*TURN, RESULT, HELLO] == await events_of(store)
    await store.close()


@pytest.mark.anyio
async def test_closing_waits_for_what_has_begun(folder: Path) -> None:
    """What was to be appended is there."""
    store = JsonlStore(folder)
    appends = [asyncio.create_task(store.append(f"s{n % 20}", [MOVED])) for n in range(100)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*appends)
    store = JsonlStore(folder)
    assert [5] * 20 == [info.number for info in await store.sessions()]
    await store.close()


# --- several stores on one folder -----------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_what_one_writes_the_others_know(folder: Path) -> None:
    """Events, numbers, keys, epochs and leases."""
    one, two = JsonlStore(folder), JsonlStore(folder)
    lease = await one.take("s", "one")
    await one.append("s", TURN, epoch=lease.epoch, key="k")
    assert 6 == await two.append("s", TURN, key="k")
    with pytest.raises(BusyError, match="is being answered by one"):
        await two.take("s", "two")
    await one.release(lease)
    taken = await two.take("s", "two")
    assert (2, 6) == (taken.epoch, taken.number)
    with pytest.raises(FencedError, match="taken over"):
        await one.append("s", [RESULT], epoch=lease.epoch)
    with pytest.raises(FencedError):
        await one.renew(lease)
    await one.release(lease)
    with pytest.raises(BusyError):
        await one.take("s", "one")
    assert 7 == await one.append("s", [RESULT])
    assert said(Conversation([*TURN, RESULT])) == said((await two.load("s")).conversation)
    await one.close()
    await two.close()


@pytest.mark.anyio
async def test_who_has_a_session_outlives_a_process(folder: Path) -> None:
    """Also what was renewed; and an epoch never comes again, whether or not anything was written under it."""
    now = 1000.0
    store = JsonlStore(folder, clock=lambda: now)
    lease = await store.take("s", "one", lease=10)
    now = 1009.0
    await store.renew(lease)
    await store.close()

    store = JsonlStore(folder, clock=lambda: now)
    now = 1018.0
    with pytest.raises(BusyError):
        await store.take("s", "two")
    now = 1019.0
    assert 2 == (await store.take("s", "two")).epoch
    await store.close()
    store = JsonlStore(folder, clock=lambda: now)
    with pytest.raises(FencedError):
        await store.append("s", TURN, epoch=1)
    assert [] == await store.sessions()
    await store.close()


@pytest.mark.anyio
async def test_a_session_that_another_deleted_and_began_anew_is_another(folder: Path) -> None:
    """Nothing of the old one is left, also where the new one is longer."""
    mine, other = JsonlStore(folder), JsonlStore(folder)
    await mine.append("s", TURN, key="old")
    await other.delete("s")
    assert 0 == (await mine.load("s")).number
    assert [] == files_in(folder)

    await mine.append("s", TURN, key="old")
    await other.delete("s")
    await other.append("s", [MOVED] * 20, key="new")
    assert 21 == await mine.append("s", [TurnBegan(turn="t9")], key="old")
    assert [MOVED] * 20 + [TurnBegan(turn="t9")] == await events_of(other)
    await mine.close()
    await other.close()


@pytest.mark.anyio
async def test_a_file_that_was_put_in_anothers_place_is_read_anew(folder: Path) -> None:
    """An editor, a backup, or somebody who cuts the file: what it says now counts."""
    store = JsonlStore(folder)
    for event in TURN:
        await store.append("s", [event])
    path = folder / "s.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    assert TURN[:1] == await events_of(store)
    path.write_bytes(b"".join(lines[:3]) + b"\n" * 10000)
    assert TURN[:2] == await events_of(store)
    assert 3 == await store.append("s", TURN[2:3])
    assert said(Conversation(TURN[:3])) == said((await loaded(folder)).conversation)
    await store.close()


@pytest.mark.anyio
async def test_a_deletion_and_an_append_at_once(folder: Path) -> None:
    """Whichever comes first: what was appended behind the deletion is there, and no file is left that nobody reads."""
    one, two = JsonlStore(folder), JsonlStore(folder)
    for _ in range(50):
        await one.append("s", TURN)
        await asyncio.gather(two.delete("s"), one.append("s", [HELLO]), two.load("s"))
        assert (await one.load("s")).number == (await two.load("s")).number <= 1
        await one.delete("s")
    await one.close()
    await two.close()


@pytest.mark.anyio
async def test_who_waits_for_a_file_that_is_deleted_meanwhile_begins_a_new_one(folder: Path) -> None:
    """What is appended is not lost with the old file, and what is read is not the old one's."""
    store, other = JsonlStore(folder), JsonlStore(folder)
    await store.append("s", TURN)
    path = folder / "s.jsonl"
    with opened(path, write=True):
        appended = asyncio.create_task(store.append("s", [HELLO]))
        found = asyncio.create_task(other.load("s"))
        await asyncio.sleep(0.1)
        path.unlink()
    assert 1 == await appended
    assert (await found).number <= 1
    assert 1 == (await loaded(folder)).number
    await store.close()
    await other.close()


# --- damages --------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_damages_are_told_of_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In one warning, however often the file is read; the list of them is there at any time."""
    store = JsonlStore(folder)
    await store.append("s", TURN)
    with (folder / "s.jsonl").open("ab") as file:
        file.write(b'hello\n[1]\n{"number":7,"eve')
    with caplog.at_level(logging.WARNING, "suture.store"):
        for _ in range(3):
            assert 6 == (await store.load("s")).number
            await store.sessions()
        await store.search("hello")
        assert 7 == await store.append("s", [RESULT])
    damages = [
        (8, "no readable JSON: 'hello'"),
        (9, "no record of a session: '[1]'"),
        (10, 'no readable JSON: \'{"number":7,"eve\''),
    ]
    with (folder / "s.jsonl").open("ab") as file:
        file.write(b"hello again\n")
    damages.append((12, "no readable JSON: 'hello again'"))
    assert damages == await store.damages("s")
    await store.close()
    first = "damaged lines of session 's' are skipped: 3, the first of them line 8: no readable JSON: 'hello'"
    assert [f"jsonl:{folder}: {first}"] == [record.getMessage() for record in caplog.records]
    store = JsonlStore(folder)
    assert damages == await store.damages("s")
    assert [] == await store.damages("nobody")
    await store.close()
