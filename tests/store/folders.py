"""A folder of sessions, as tests make and look at it."""

from __future__ import annotations

from pathlib import Path

from suture.store import Loaded
from suture.store.jsonl import JsonlStore
from suture.transcript.events import Event

__all__ = ["damages_of", "events_of", "files_in", "loaded"]


def files_in(folder: Path) -> list[str]:
    """The names of its files."""
    return sorted(path.name for path in folder.iterdir())


async def events_of(store: JsonlStore, session: str = "s", after: int = 0) -> list[Event]:
    """The events of a session."""
    return [one.event async for one in store.events(session, after)]


async def loaded(folder: Path, session: str = "s") -> Loaded:
    """A session, as a store finds it that has just been opened."""
    store = JsonlStore(folder)
    try:
        return await store.load(session)
    finally:
        await store.close()


async def damages_of(folder: Path, session: str = "s") -> list[tuple[int, str]]:
    """What such a store finds wrong with it."""
    store = JsonlStore(folder)
    try:
        return await store.damages(session)
    finally:
        await store.close()
