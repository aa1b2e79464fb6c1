"""The one thread that writes to an SQLite store: what waits for it while it works is committed together.

A commit takes as long as the disk needs, whether it holds one change or two hundred. So all jobs that wait are run in
one transaction. Where one of them fails, all is undone and they are run again, each behind a savepoint of its own: the
job that fails is undone and says so, and the others are not touched. Nobody is told of success before the commit has
succeeded.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias, TypeVar

import apsw
import msgspec

from suture.errors import StoreError
from suture.store.sqlite_file import problem_of

__all__ = ["Job", "Writer"]

T = TypeVar("T")
Job: TypeAlias = Callable[[apsw.Connection], T]
"""Changes rows inside a transaction."""

_TOGETHER: Final = 1000
"""How many jobs are committed at once at most."""


class _Waiting(msgspec.Struct):
    """A job, and who waits for it."""

    job: Job[Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Writer:
    """Runs jobs in the order in which they come, from any event loop."""

    def __init__(self, url: str, database: apsw.Connection) -> None:
        """Starts the thread; `database` is its own from now on."""
        self._url = url
        self._database = database
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        # A daemon, so that a program that forgot to close its store still ends; nothing that was acknowledged is lost.
        self._thread = threading.Thread(target=self._work, name=url, daemon=True)
        self._thread.start()

    async def run(self, job: Job[T]) -> T:
        """The result of a job, once it is on disk. A job that was handed in is done even where nobody waits any more.

        Raises:
            StoreError: it could not be written; nothing has changed.
            Exception: what the job raised; nothing has changed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Waiting(job, future, loop))
        return await future

    def stop(self) -> None:
        """Finish what was handed in, then close the file. Blocks until that is done."""
        self._queue.put(None)
        self._thread.join()

    # --- in the thread ----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        going = True
        while going:
            batch = [self._queue.get()]
            with suppress(Empty):
                while len(batch) < _TOGETHER:
                    batch.append(self._queue.get_nowait())
            jobs = [waiting for waiting in batch if waiting is not None]
            going = len(jobs) == len(batch)
            if jobs:
                _tell(jobs, self._commit(jobs))
        with suppress(apsw.Error):  # a reader in the way, a full disk: the next one to open the file does it
            self._database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._database.close()

    def _commit(self, batch: list[_Waiting]) -> list[Any]:
        """What becomes of each job: its result, or the exception that its caller gets."""
        try:
            outcomes = self._all(batch)
            if outcomes is None:
                self._database.execute("BEGIN IMMEDIATE")
                outcomes = [self._outcome(waiting.job) for waiting in batch]
            self._database.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the thread has to go on, and all who wait have to hear of it
            with suppress(apsw.Error):
                self._database.execute("ROLLBACK")
            return [self._failure(error) for _ in batch]
        return outcomes

    def _all(self, batch: list[_Waiting]) -> list[Any] | None:
        """The results of all jobs, in a transaction that is open; None, and nothing is open, where one of them fails.

        Raises:
            apsw.Error: the transaction cannot begin.
        """
        self._database.execute("BEGIN IMMEDIATE")
        try:
            return [waiting.job(self._database) for waiting in batch]
        except Exception:  # noqa: BLE001 - whatever it is comes again where each job is run by itself
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            return None

    def _outcome(self, job: Job[Any]) -> Any:
        """What becomes of one job.

        Raises:
            apsw.Error: the whole transaction is gone.
        """
        self._database.execute("SAVEPOINT job")
        try:
            outcome = job(self._database)
        except Exception as error:
            if isinstance(error, apsw.Error) and not self._database.in_transaction:
                raise
            self._database.execute("ROLLBACK TO job")
            outcome = self._failure(error) if isinstance(error, apsw.Error) else error
        self._database.execute("RELEASE job")
        return outcome

    def _failure(self, error: Exception) -> StoreError:
        made = StoreError(self._url, f"nothing was written: {problem_of(error)}")
        made.__cause__ = error
        return made


def _tell(batch: list[_Waiting], outcomes: list[Any]) -> None:
    """Hand the outcomes to those who wait, with one call for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
    for waiting, outcome in zip(batch, outcomes, strict=True):
        by_loop.setdefault(waiting.loop, []).append((waiting.future, outcome))
    for loop, told in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed: nobody waits there any more
            loop.call_soon_threadsafe(_resolve, told)


def _resolve(told: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, outcome in told:
        if future.done():  # whoever waited was cancelled
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
