"""`suture.store.jsonl_file`: processes that share a file, that are killed, and disks that take nothing more."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from suture.errors import BusyError, FencedError, StoreError
from suture.store.jsonl import JsonlStore
from suture.transcript.conversation import Conversation
from suture.transcript.events import Admitted, Event, LeafMoved
from tests.project.paths import ROOT
from tests.store.appender import admitted
from tests.store.contract import HELLO, RESULT, TURN, said
from tests.store.folders import damages_of, events_of, loaded

BIG = Admitted(message="big", parts=(), metadata={"padding": "x" * 100_000})


@pytest.fixture
def anyio_backend() -> str:
    """Plain asyncio."""
    return "asyncio"


def appender(folder: Path, name: str, count: int, size: int = 1) -> subprocess.Popen[str]:
    """Another process, appending."""
    command = [sys.executable, "-m", "tests.store.appender", f"jsonl:{folder}", "s", name, str(count), str(size)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


# --- several processes ----------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_processes_take_turns(tmp_path: Path) -> None:
    """Two append to one session at once: no number is missing or twice, and all three know the same in the end."""
    others = [appender(tmp_path, name, 200) for name in ("one", "two")]
    for other in others:
        assert other.stdout is not None
        await asyncio.to_thread(other.stdout.readline)
    store = JsonlStore(tmp_path)
    mine = [await store.append("s", [admitted("me", number, 0)], key=f"me{number}") for number in range(200)]
    said_by = [await asyncio.to_thread(other.communicate) for other in others]
    theirs = [int(number) for output, _ in said_by for number in output.split() if number != "ready"]

    assert [0, 0] == [other.returncode for other in others]
    assert [*range(1, 601)] == sorted([*mine, *theirs])
    found = [one async for one in store.events("s")]
    assert [*range(1, 601)] == [one.number for one in found]
    for name in ("one", "two", "me"):
        expected = [admitted(name, number, 0) for number in range(200)]
        assert expected == [one.event for one in found if one.event in expected]
    assert 600 == await store.append("s", [HELLO], key="one199")
    assert said(Conversation(one.event for one in found)) == said((await store.load("s")).conversation)
    await store.close()
    assert [] == await damages_of(tmp_path)


OTHER = """
import asyncio, sys
from suture.store import open_store

async def main():
    store = open_store(sys.argv[1])
    lease = await store.take("s", "other")
    print(lease.epoch, flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


def taker(folder: Path) -> subprocess.Popen[str]:
    """Another process, which takes the session and stays."""
    command = [sys.executable, "-c", OTHER, f"jsonl:{folder}"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.anyio
async def test_who_was_killed_holds_a_session_until_its_lease_runs_out(tmp_path: Path) -> None:
    """And cannot write into it after that: epochs and leases are in the file."""
    now = time.time()
    store = JsonlStore(tmp_path, clock=lambda: now)
    mine = await store.take("s", "me")
    await store.append("s", TURN, epoch=mine.epoch)
    await store.release(mine)
    other = taker(tmp_path)
    assert other.stdout is not None
    assert "2\n" == await asyncio.to_thread(other.stdout.readline)
    with pytest.raises(FencedError):
        await store.append("s", [RESULT], epoch=mine.epoch)
    with pytest.raises(BusyError, match="answered by other"):
        await store.take("s", "me")
    other.kill()
    other.communicate()
    with pytest.raises(BusyError):
        await store.take("s", "me")
    now += 60
    assert 3 == (await store.take("s", "me")).epoch
    await store.close()


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """Killed at any instant: every event whose append returned is there, batches are whole, and the log goes on."""
    dice = random.Random(7)
    for size in (1, 1, 3, 50) * 5:
        folder = tmp_path / str(dice.random())
        child = appender(folder, "child", 10**6, size)
        assert child.stdout is not None
        acknowledged = [child.stdout.readline() for _ in range(dice.randrange(1, 30))]
        time.sleep(dice.random() / 100)
        child.kill()
        acknowledged += child.communicate()[0].splitlines(keepends=True)
        numbers = [int(line) for line in acknowledged if line.endswith("\n") and line != "ready\n"]
        asyncio.run(survives(folder, max(numbers, default=0), size))


async def survives(folder: Path, acknowledged: int, size: int) -> None:
    """Whether a session is whole, at least as far as it was said to be."""
    store = JsonlStore(folder)
    found = await events_of(store)
    assert len(found) >= acknowledged
    assert 0 == len(found) % size
    assert [admitted("child", number // size, number % size) for number in range(len(found))] == found
    assert len(found) + 1 == await store.append("s", [HELLO])
    assert len(found) + 1 == await store.append("s", [HELLO], key=f"child{len(found) // size - 1}")
    assert [*found, HELLO] == await events_of(store)
    await store.close()
    assert said(Conversation([*found, HELLO])) == said((await loaded(folder)).conversation)


# --- disks that take nothing more -----------------------------------------------------------------------------------


@contextmanager
def full(size: int) -> Iterator[None]:
    """Files cannot grow beyond `size` bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def size_of(folder: Path) -> int:
    """How long the file of the session is."""
    return (folder / "s.jsonl").stat().st_size


@pytest.mark.anyio
async def test_a_full_disk(tmp_path: Path) -> None:
    """An append that finds no room leaves nothing behind; what was there stays, and the next one that fits is taken."""
    store = JsonlStore(tmp_path)
    await store.append("s", TURN)
    size = size_of(tmp_path)
    with full(size + 1000):
        with pytest.raises(StoreError, match="session 's' cannot be written: File too large"):
            await store.append("s", [RESULT, BIG], key="k")
        assert size == size_of(tmp_path)
        assert said(Conversation(TURN)) == said((await store.load("s")).conversation)
        assert 7 == await store.append("s", [RESULT])
        with pytest.raises(StoreError):
            await store.append("new", [BIG])
        assert 0 == (await store.load("new")).number
    assert 8 == await store.append("s", [BIG], key="k")
    await store.close()
    assert said(Conversation([*TURN, RESULT, BIG])) == said((await loaded(tmp_path)).conversation)
    assert [] == await damages_of(tmp_path)


def failing(*_: Any) -> None:
    """What a broken disk says."""
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.anyio
async def test_a_disk_that_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What did not get to the disk for certain has not happened."""
    store = JsonlStore(tmp_path)
    await store.append("s", TURN)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", failing)
        for step in (store.append("s", [RESULT]), store.take("s", "me"), store.append("new", TURN)):
            with pytest.raises(StoreError, match="cannot be written: Input/output error"):
                await step
    assert (6, 0) == ((await store.load("s")).number, (await store.load("s")).epoch)
    assert ["s"] == [info.session for info in await store.sessions()]
    assert 7 == await store.append("s", [RESULT])
    await store.close()
    assert said(Conversation([*TURN, RESULT])) == said((await loaded(tmp_path)).conversation)


@pytest.mark.anyio
@pytest.mark.parametrize("batch", [[BIG], [RESULT, BIG], [LeafMoved(leaf=None)] * 3 + [BIG]], ids=len)
async def test_what_cannot_be_taken_back_is_closed_off(tmp_path: Path, batch: list[Event]) -> None:
    """Where a part of a batch was written and stays, it is a damage, and nothing is glued to it."""
    store = JsonlStore(tmp_path)
    await store.append("s", TURN)
    size = size_of(tmp_path)
    stays: Callable[..., None] = failing
    with pytest.MonkeyPatch.context() as broken, full(size + 1000):
        broken.setattr("suture.store.jsonl_disk._shrink", stays)
        with pytest.raises(StoreError):
            await store.append("s", batch, key="k")
    assert size + 1000 == size_of(tmp_path)
    assert said(Conversation(TURN)) == said((await store.load("s")).conversation)
    assert len(batch) == len(await store.damages("s"))
    assert 7 == await store.append("s", [RESULT], key="k")
    assert said(Conversation([*TURN, RESULT])) == said((await store.load("s")).conversation)
    await store.close()
    assert said(Conversation([*TURN, RESULT])) == said((await loaded(tmp_path)).conversation)
    assert len(batch) == len(await damages_of(tmp_path))


@pytest.mark.anyio
async def test_a_place_that_holds_no_file(tmp_path: Path) -> None:
    """A folder in a file's place is told of by every step, in one sentence."""
    (tmp_path / "s.jsonl").mkdir()
    store = JsonlStore(tmp_path)
    for step, verb in ((store.load("s"), "read"), (store.append("s", TURN), "written"), (store.delete("s"), "deleted")):
        with pytest.raises(StoreError, match=f"session 's' cannot be {verb}: Is a directory"):
            await step
    await store.close()
