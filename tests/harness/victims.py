"""Processes that are killed for real: `python -m tests.harness.victims SCENARIO URL LOG CROSSING...`.

For each crossing, a process of its own runs the scenario on a store of its own (`URL` and the crossing's number), and
kills itself there with SIGKILL. Which tools ran is written to a file before they run. It prints how each one ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path

from suture.harness import Runtime
from suture.store import open_store
from suture.testing.crash import Crash, attempt
from tests.harness.scenarios import SCENARIOS

__all__ = ["RunLog", "main"]


class RunLog(Counter[str]):
    """Counts runs, in a file that outlives the process."""

    def __init__(self, path: Path) -> None:
        """Nothing ran yet."""
        super().__init__()
        self.path = path

    def __setitem__(self, call: str, count: int) -> None:
        """Write the run down, then count it."""
        with self.path.open("a") as file:
            file.write(f"{call}\n")
        super().__setitem__(call, count)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _run(name: str, url: str, log: str, at: int) -> None:
    make, scenario, _ = SCENARIOS[name]

    async def whole() -> None:
        store = open_store(f"{url}{at}")
        crash = Crash(at, die=_die, owner=Runtime().owner)
        await attempt(make, scenario, store, "crash", crash=crash, runs=RunLog(Path(f"{log}{at}")))
        await store.close()

    asyncio.run(whole())


def main() -> None:
    """Fork one process for each crossing, one after another."""
    name, url, log, *crossings = sys.argv[1:]
    for at in map(int, crossings):
        child = os.fork()
        if not child:
            try:
                _run(name, url, log, at)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{at} {os.waitstatus_to_exitcode(status)}\n")


if __name__ == "__main__":
    main()
