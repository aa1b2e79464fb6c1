"""A process that appends to a session, and says each number once the event is on disk.

python -m tests.store.appender URL SESSION NAME COUNT SIZE
"""

from __future__ import annotations

import asyncio
import sys

from suture.store import open_store
from suture.transcript.events import Admitted, Event

__all__ = ["admitted"]


def admitted(name: str, number: int, index: int) -> Event:
    """The event that it appends."""
    return Admitted(message=f"{name}-{number}-{index}", parts=(), metadata={"padding": "x" * 50})


async def main(url: str, session: str, name: str, count: int, size: int) -> None:
    """Append `count` batches of `size` events."""
    store = open_store(url)
    sys.stdout.write("ready\n")
    for number in range(count):
        last = await store.append(
            session, [admitted(name, number, index) for index in range(size)], key=f"{name}{number}"
        )
        sys.stdout.write(f"{last}\n")
        sys.stdout.flush()
    await store.close()


if __name__ == "__main__":
    url, session, name, count, size = sys.argv[1:]
    asyncio.run(main(url, session, name, int(count), int(size)))
