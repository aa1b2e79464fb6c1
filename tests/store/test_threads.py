"""`suture.store.threads`."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from suture.store.threads import Strands


@pytest.fixture
def anyio_backend() -> str:
    """Plain asyncio."""
    return "asyncio"


@pytest.mark.anyio
async def test_jobs_of_one_name_keep_their_order() -> None:
    """And never run at once, although there are threads enough."""
    strands = Strands(8, "test")
    done: list[int] = []
    running = threading.Lock()

    def job(number: int) -> int:
        assert running.acquire(blocking=False)
        done.append(number)
        running.release()
        return number

    expected = [*range(200)]
    assert expected == await asyncio.gather(*(strands.run("a", partial(job, n)) for n in expected))
    assert expected == done
    await strands.close()


@pytest.mark.anyio
async def test_jobs_of_different_names_run_side_by_side() -> None:
    """As many as there are threads."""
    strands = Strands(3, "test")
    barrier = threading.Barrier(3, timeout=30)
    await asyncio.gather(*(strands.run(name, barrier.wait) for name in "abcdef"))
    await strands.close()


@pytest.mark.anyio
async def test_an_error_is_its_jobs_alone() -> None:
    """Whoever waits for it gets it, and the next job runs."""
    strands = Strands(1, "test")
    found = await asyncio.gather(*(strands.run("a", job) for job in (lambda: 1 / 0, lambda: 2)), return_exceptions=True)
    assert isinstance(found[0], ZeroDivisionError)
    assert 2 == found[1]
    await strands.close()


def test_one_event_loop_after_another() -> None:
    """Nothing is bound to the loop that was first."""
    strands = Strands(2, "test")

    async def twice() -> list[int]:
        return list(await asyncio.gather(strands.run("a", lambda: 1), strands.run("a", lambda: 2)))

    assert [1, 2] == asyncio.run(twice())
    assert [1, 2] == asyncio.run(twice())
    asyncio.run(strands.close())
