"""What a durable turn costs, at short and long histories: `python -m benchmarks.turns [COUNT ...]`.

One turn is a user's text, a call, a tool that does nothing, and an answer, on SQLite at full durability. *Bookkeeping*
is all of it but the model, which is scripted here and looks at nothing. Figures are the median of many turns.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from suture.harness import Agent, tool
from suture.models import ModelRequest, Step, scripted
from suture.store import open_store
from suture.transcript import StepStart, TextPart, ToolPart
from suture.transcript.events import Event, MessageAdded, StepAdded, TurnBegan, TurnEnded

COUNTS = (10, 1_000, 10_000, 100_000)
TURNS = 40
TEXT = "the quick brown fox jumps over the lazy dog " * 20


@tool(effect="pure")
async def nothing() -> str:
    """Do nothing."""
    return "ok"


def history(count: int) -> list[Event]:
    """A conversation of so many messages, in turns of two."""
    events: list[Event] = []
    parent = None
    for number in range(count // 2):
        user, answer, call = f"u{number}", f"a{number}", f"c{number}"
        settled = ToolPart(call_id=call, name="nothing", input={}, state="output-available", output=TEXT)
        events += [
            TurnBegan(turn=f"t{number}"),
            MessageAdded(message=user, role="user", parent=parent, parts=(TextPart(TEXT[:200]),)),
            MessageAdded(message=answer, role="assistant", parent=user),
            StepAdded(message=answer, parts=(settled,)),
            StepAdded(message=answer, parts=(TextPart(TEXT),)),
            TurnEnded(turn=f"t{number}", outcome="completed"),
        ]
        parent = answer
    return events


def answer(request: ModelRequest) -> Step | str:
    """A call first, then the answer."""
    steps = sum(isinstance(part, StepStart) for part in request.messages[-1].parts)
    return "done" if steps else Step(calls=(("nothing", {}),))


def written() -> int:
    """How many bytes this process has had written, where the system tells."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return int(dict(line.split(": ") for line in lines)["write_bytes"])


async def measured(count: int, folder: str) -> dict[str, float]:
    """A turn at this length, and opening the session anew."""
    url = f"sqlite:{folder}/{count}.db"
    store = open_store(url)
    events = history(count)
    for start in range(0, len(events), 6_000):
        await store.append("s", events[start : start + 6_000])
    await store.close()

    start = time.perf_counter()
    agent = Agent(model=scripted(answer), tools=[nothing], store=url)
    session = agent.session("s")
    await session.load()
    cold = time.perf_counter() - start
    times: list[float] = []
    bytes_before = 0
    for number in range(TURNS + 5):
        if number == 5:
            bytes_before = written()
        start = time.perf_counter()
        async for _ in session.run("go"):
            pass
        times.append(time.perf_counter() - start)
    spent = written() - bytes_before
    await agent.close()
    return {"turn ms": statistics.median(times[5:]) * 1e3, "kB written": spent / TURNS / 1e3, "cold ms": cold * 1e3}


def main() -> int:
    """Print the table."""
    counts = [int(argument) for argument in sys.argv[1:]] or list(COUNTS)
    rows: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            rows[count] = asyncio.run(measured(count, folder))
    print(f"{'messages':>10}{'turn ms':>10}{'kB written':>12}{'cold ms':>10}")
    for count, row in rows.items():
        print(f"{count:>10}{row['turn ms']:>10.2f}{row['kB written']:>12.1f}{row['cold ms']:>10.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
