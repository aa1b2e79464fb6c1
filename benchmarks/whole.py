"""A whole turn over HTTP, its history sent in full twice: `python -m benchmarks.whole [COUNT ...]`.

One turn is a user's text, a call, a tool that does nothing, and an answer, on SQLite at full durability, against a
server in another process that takes no time. The yardstick is `msgspec.json.encode` of the two bodies that were sent.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import msgspec

from benchmarks.turns import COUNTS, history, nothing
from suture import Agent, model
from suture.harness.notices import TurnDone
from suture.store import open_store

TURNS = 15
WARM = 3


async def measured(count: int, url: str, folder: str) -> list[float]:
    """How long each turn took at this length, in seconds; the first one writes the whole history for the first time."""
    store = open_store(f"sqlite:{folder}/{count}.db")
    events = history(count)
    for start in range(0, len(events), 6_000):
        await store.append("s", events[start : start + 6_000])
    agent = Agent(model=model("openai:local", base_url=url, api_key="none"), tools=[nothing], store=store)
    session = agent.session("s")
    await session.load()
    times: list[float] = []
    for _ in range(TURNS):
        start_time = time.perf_counter()
        notices = [notice async for notice in session.run("go")]
        times.append(time.perf_counter() - start_time)
        end = notices[-1]
        if not isinstance(end, TurnDone) or end.outcome != "completed":
            raise RuntimeError(f"the turn did not end as it should: {end}")
    await agent.close()
    return times


def fastest(job: Callable[[], Any], rounds: int = 9) -> float:
    """The shortest of several runs, in seconds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def encoding(url: str) -> tuple[float, float]:
    """How long encoding the last two bodies takes, in seconds, and how many megabytes they have."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/bodies") as answer:  # noqa: S310 - our own server
        data = answer.read()
    bodies = msgspec.json.decode(data)["bodies"]
    return sum(fastest(lambda body=body: msgspec.json.encode(body)) for body in bodies), len(data) / 1e6  # type: ignore[misc]


def main() -> int:
    """Print the table."""
    counts = [int(argument) for argument in sys.argv[1:]] or list(COUNTS)
    command = [sys.executable, "-m", "benchmarks.echo_server"]
    print(f"{'messages':>10}{'first ms':>10}{'turn ms':>10}{'encode ms':>11}{'ratio':>8}{'MB':>8}")
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"  # type: ignore[union-attr]
            for count in counts:
                times = asyncio.run(measured(count, url, folder))
                turn = statistics.median(times[WARM:])
                encoded, size = encoding(url)
                print(
                    f"{count:>10}{times[0] * 1e3:>10.1f}{turn * 1e3:>10.2f}{encoded * 1e3:>11.2f}"
                    f"{turn / encoded:>8.2f}{size:>8.2f}"
                )
        finally:
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
