"""`suture.store.sqlite`: the contract, loops and processes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import apsw
import msgspec
import pytest

from suture.errors import BusyError, FencedError, StoreError
from suture.store import Lease
from suture.store.sqlite import SqliteStore
from suture.transcript.events import Admitted
from tests.store.contract import HELLO, TURN, StoreContract
from tests.store.sqlite_files import MOVED, log_size, look, siblings


class TestSqliteStore(StoreContract):
    """The suite, in a file."""

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        """See the contract."""
        return f"sqlite:{tmp_path / 'chats.db'}"


def test_one_store_serves_one_loop_after_another(file: Path) -> None:
    """It is made outside of any."""
    store = SqliteStore(str(file))

    assert 6 == asyncio.run(store.append("s", TURN))
    assert 7 == asyncio.run(store.append("s", MOVED))
    assert 7 == asyncio.run(store.load("s")).number
    asyncio.run(store.close())


def test_a_loop_that_was_closed_is_not_waited_for(file: Path) -> None:
    """Its jobs are done all the same, and the thread goes on."""
    store = SqliteStore(str(file))

    async def hand_in() -> None:
        task = asyncio.create_task(store.append("s", TURN))
        await asyncio.sleep(0)
        task.cancel()

    database = apsw.Connection(str(file))
    database.execute("BEGIN IMMEDIATE")
    asyncio.run(hand_in())
    database.execute("ROLLBACK")
    database.close()

    assert len(TURN) + 1 == asyncio.run(store.append("s", MOVED))
    asyncio.run(store.close())


@pytest.mark.anyio
async def test_closing_finishes_and_is_done_once(file: Path) -> None:
    """What was handed in is written, the log is in the file, and whoever comes later is told."""
    store = SqliteStore(str(file))
    waiting = [asyncio.create_task(store.append("s", MOVED)) for _ in range(20)]
    await asyncio.sleep(0)
    reading = asyncio.create_task(store.load("s"))
    await asyncio.sleep(0)

    await asyncio.gather(store.close(), store.close())
    await store.close()

    assert [*range(1, 21)] == sorted(await asyncio.gather(*waiting))
    assert (await reading).number in range(21)
    assert not store._writer._thread.is_alive()
    assert 0 == log_size(file)
    for use in (store.append("s", MOVED), store.load("s"), store.sessions(), anext(store.events("s"))):
        with pytest.raises(StoreError, match="the store was closed"):
            await use


@pytest.mark.anyio
async def test_a_file_that_is_gone_is_not_made_by_a_reader(file: Path) -> None:
    """A store whose file was removed says so."""
    store = SqliteStore(str(file))
    await store.close()
    store = SqliteStore(str(file))
    for path in siblings(file):
        path.unlink()

    with pytest.raises(StoreError, match="the file cannot be opened"):
        await store.load("s")

    assert [] == [*siblings(file)]
    await store.close()


# --- several processes ------------------------------------------------------------------------------------------------

CHILD = """
import asyncio, sys
from suture.errors import BusyError, FencedError
from suture.store import Lease, open_store
from suture.transcript import TextPart
from suture.transcript.events import Admitted

def said(name, number):
    return [Admitted(message=f"{name}{number}", parts=(TextPart("hello"),))]

def tell(*words):
    print(*words, flush=True)

async def main(store):
BODY

asyncio.run(main(open_store(sys.argv[1])))
"""
"""Begins every program that a test starts beside itself."""

APPENDS = """
    tell("ready")
    for number in range(200):
        await store.append("both", said("child", number))
        await store.append("own", said("child", number))
    await store.close()
"""
FOR_EVER = """
    number = 0
    while True:
        await asyncio.gather(*(store.append(f"s{n}", said("m", number)) for n in range(3)))
        tell(number)
        number += 1
"""
TAKES = """
    try:
        await store.take("s", "child")
    except BusyError as error:
        tell("busy", error.owner)
    sys.stdin.readline()
    lease = await store.take("s", "child")
    tell("taken", lease.epoch)
    sys.stdin.readline()
    try:
        await store.append("s", said("child", 1), epoch=lease.epoch)
    except FencedError as error:
        tell("fenced", error.epoch, error.current)
    await store.close()
"""


def child(url: str, body: str) -> subprocess.Popen[str]:
    """Another process that uses the store."""
    program = CHILD.replace("BODY", body)
    return subprocess.Popen(
        [sys.executable, "-c", program, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def line(process: subprocess.Popen[str], answer: str = "") -> list[str]:
    """The words of the next line that it prints, once it was given an answer."""
    assert process.stdin
    assert process.stdout
    if answer:
        process.stdin.write(answer)
        process.stdin.flush()
    return process.stdout.readline().split()


@pytest.mark.anyio
async def test_two_processes_write_into_one_file(store: SqliteStore, file: Path) -> None:
    """Into the same session and into others: no number is missing or twice, and nothing is lost."""
    with child(store.url, APPENDS) as process:
        await asyncio.to_thread(line, process)
        for number in range(200):
            await store.append("both", [Admitted(message=f"parent{number}", parts=HELLO.parts)])
            await store.append("mine", [Admitted(message=f"parent{number}", parts=HELLO.parts)])
        assert 0 == await asyncio.to_thread(process.wait, 60)

    assert {"both": 400, "own": 200, "mine": 200} == {info.session: info.number for info in await store.sessions()}
    recorded = [one async for one in store.events("both")]
    assert [*range(1, 401)] == [one.number for one in recorded]
    names = [one.event.message for one in recorded if isinstance(one.event, Admitted)]
    assert {f"{who}{number}" for who in ("parent", "child") for number in range(200)} == set(names)
    for who in ("parent", "child"):
        assert [f"{who}{number}" for number in range(200)] == [name for name in names if name.startswith(who)]
    assert names == list((await store.load("both")).conversation.inputs)
    assert [("ok",)] == look(file, "PRAGMA integrity_check")


@pytest.mark.anyio
async def test_a_lease_holds_across_processes(store: SqliteStore) -> None:
    """Another process waits for it to run out, and fences whoever had it."""
    first = await store.take("s", "parent")
    with child(store.url, TAKES) as process:
        assert ["busy", "parent"] == await asyncio.to_thread(line, process)
        await store.renew(msgspec.structs.replace(first, seconds=0))
        taken, epoch = await asyncio.to_thread(line, process, "go on\n")
        assert "taken" == taken
        assert int(epoch) > first.epoch
        with pytest.raises(FencedError):
            await store.append("s", MOVED, epoch=first.epoch)
        with pytest.raises(BusyError, match="being answered by child"):
            await store.take("s", "parent")
        await store.release(Lease("s", int(epoch), 0))
        second = await store.take("s", "parent")
        assert ["fenced", epoch, str(second.epoch)] == await asyncio.to_thread(line, process, "go on\n")
    assert 1 == await store.append("s", MOVED, epoch=second.epoch)


@pytest.mark.parametrize("seen", [1, 25, 60])
def test_a_process_that_is_killed_loses_nothing_that_it_was_told(file: Path, seen: int) -> None:
    """Each append that was acknowledged is there, whole, and at most one of each session more."""
    with child(f"sqlite:{file}", FOR_EVER) as process:
        acknowledged = [line(process) for _ in range(seen)]
        process.kill()
        assert process.stdout
        acknowledged += [words for rest in process.stdout if (words := rest.split())]

    async def check() -> None:
        store = SqliteStore(str(file))
        for session in ("s0", "s1", "s2"):
            loaded = await store.load(session)
            assert loaded.number - len(acknowledged) in (0, 1)
            assert [f"m{number}" for number in range(loaded.number)] == list(loaded.conversation.inputs)
            assert loaded.number == len([one async for one in store.events(session)])
        await store.append("s0", MOVED)
        await store.close()

    assert [str(number) for number in range(len(acknowledged))] == [words[0] for words in acknowledged]
    asyncio.run(check())
    assert [("ok",)] == look(file, "PRAGMA integrity_check")


def test_many_processes_open_a_new_file_at_once(file: Path) -> None:
    """One of them makes the tables, the others wait for it."""
    body = """
    await store.append(sys.argv[1], said("m", 1))
    await store.close()
"""
    processes = [child(f"sqlite:{file}", body) for _ in range(6)]
    codes = []
    for process in processes:
        with process:
            codes.append(process.wait(60))

    assert [0] * 6 == codes
    assert [(6,)] == look(file, "SELECT events FROM sessions")
