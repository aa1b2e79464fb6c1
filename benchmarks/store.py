"""What the SQLite store costs: `python -m benchmarks.store [MESSAGES]`, 100,000 of them by default.

An append is one event of a turn: a question, a call, its result, an answer. *Decoding its rows* is the least that
loading a session can cost: reading its rows and decoding each, without making a conversation of them.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import tempfile
import time
from pathlib import Path

import apsw
import msgspec

from suture.store.sqlite import SqliteStore
from suture.transcript import Part, TextPart, ToolPart
from suture.transcript.events import (
    Admitted,
    CallSettled,
    CallStarted,
    Event,
    MessageAdded,
    StepAdded,
    TurnBegan,
    TurnEnded,
)

TEXT = "the quick brown fox jumps over the lazy dog "


def turn(number: int) -> list[list[Event]]:
    """The batches of a turn, as an agent appends them: seven of them, and two messages."""
    user, answer, call = f"u{number}", f"a{number}", f"c{number}"
    question = (TextPart(TEXT),)
    parent = f"a{number - 1}" if number else None
    return [
        [Admitted(message=user, parts=question)],
        [
            TurnBegan(turn=f"t{number}"),
            MessageAdded(message=user, role="user", parent=parent, parts=question),
            MessageAdded(message=answer, role="assistant", parent=user),
        ],
        [StepAdded(message=answer, parts=(TextPart(TEXT), ToolPart(call_id=call, name="look", input={"path": "x"})))],
        [CallStarted(call=call)],
        [CallSettled(call=call, state="output-available", output=TEXT * 15)],
        [StepAdded(message=answer, parts=(TextPart(TEXT * 2),), finish="stop", usage={"input": 3, "output": 4})],
        [TurnEnded(turn=f"t{number}", outcome="completed")],
    ]


async def play(store: SqliteStore, session: str, first: int, turns: int) -> list[float]:
    """How long each append took, one after another."""
    times = []
    for number in range(first, first + turns):
        for batch in turn(number):
            start = time.perf_counter()
            await store.append(session, batch)
            times.append(time.perf_counter() - start)
    return times


def written() -> int:
    """How many bytes this process has written, where the system tells."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return int(dict(line.split(": ") for line in lines)["wchar"])


async def commits(folder: str) -> None:
    """One append after another, and many at once."""
    store = SqliteStore(f"{folder}/commits.db")
    await play(store, "warm", 0, 5)
    start = time.perf_counter()
    times = sorted(await play(store, "one", 0, 100))
    alone = len(times) / (time.perf_counter() - start)
    print(
        f"one after another: p50 {statistics.median(times) * 1e6:.0f} us, p99 {times[-7] * 1e6:.0f} us, {alone:.0f}/s"
    )
    for count in (10, 50, 200):
        start = time.perf_counter()
        done = sum(map(len, await asyncio.gather(*(play(store, f"{count}-{n}", 0, 8) for n in range(count)))))
        rate = done / (time.perf_counter() - start)
        print(f"{count} sessions at once: {rate:.0f}/s, {rate / alone:.1f} times as many")
    await store.close()


async def growth(folder: str, messages: int) -> None:
    """Bytes written at a short and at a long history, and what loading the long one costs."""
    store = SqliteStore(f"{folder}/growth.db")
    at = 5
    await play(store, "s", 0, at)
    for size in (at, messages // 2):
        for number in range(at, size, 200):
            batch = [event for each in range(number, min(number + 200, size)) for part in turn(each) for event in part]
            await store.append("s", batch)
        before = written()
        times = await play(store, "s", size, 100)
        at = size + 100
        print(f"{2 * size} messages: {(written() - before) / len(times) / 1e3:.1f} kB written an append")
    await store.close()

    store = SqliteStore(f"{folder}/growth.db")
    database = apsw.Connection(f"{folder}/growth.db")
    loading, decoding = [], []
    for _ in range(7):
        gc.collect()
        start = time.perf_counter()
        await store.load("s")
        loading.append(time.perf_counter() - start)
        gc.collect()
        start = time.perf_counter()
        _decoded(database)
        decoding.append(time.perf_counter() - start)
    load, rows = statistics.median(loading), statistics.median(decoding)
    print(f"load: {load * 1e3:.0f} ms; decoding its rows: {rows * 1e3:.0f} ms; {load / rows:.2f} times as long")
    for name in ("the first search", "the next"):
        start = time.perf_counter()
        await store.search("quick dog")
        print(f"{name}: {(time.perf_counter() - start) * 1e3:.0f} ms")
    database.close()
    await store.close()


def _decoded(database: apsw.Connection) -> tuple[list[MessageAdded], list[tuple[int, Part]]]:
    message, part = msgspec.json.Decoder(MessageAdded).decode, msgspec.json.Decoder(Part).decode
    messages = [message(data) for (data,) in database.execute("SELECT message FROM messages ORDER BY id")]
    return messages, [
        (place, part(data)) for place, data in database.execute("SELECT message, part FROM parts ORDER BY id")
    ]


def main() -> int:
    """Print the figures."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(commits(folder))
        asyncio.run(growth(folder, messages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
