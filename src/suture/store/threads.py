"""Runs what blocks in threads, so that the event loop goes on: one job at a time for each name, names side by side."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["Strands"]

T = TypeVar("T")


class Strands:
    """Jobs of one name run one after another, in the order in which they came, even if nobody waits for them any more.

    A lock of asyncio would not do: who is cancelled gives it back while the thread is still at work.
    """

    def __init__(self, threads: int, name: str) -> None:
        """`threads` is how many jobs run at once; `name` is what the threads are called."""
        self._pool = ThreadPoolExecutor(threads, name)
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = {}
        self.closed: bool = False
        """Whether nothing more is taken."""

    async def run(self, name: str, job: Callable[[], T]) -> T:
        """What `job` gives, run behind the other jobs of this name. Cancelled before it has begun, it does not run."""
        future: Future[T] = Future()
        with self._lock:
            waiting = self._waiting.get(name)
            if waiting is None:
                self._waiting[name] = deque([(future, job)])
                self._pool.submit(self._work_off, name)
            else:
                waiting.append((future, job))
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Wait for what is still to be done; nothing more is taken."""
        with self._lock:
            self.closed = True
        await asyncio.to_thread(self._pool.shutdown)

    def _work_off(self, name: str) -> None:
        while True:
            with self._lock:
                waiting = self._waiting[name]
                if not waiting:
                    del self._waiting[name]
                    return
                future, job = waiting.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits for the job
                    future.set_exception(error)
