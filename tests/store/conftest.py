"""What the tests of stores begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from suture.store.sqlite import SqliteStore


@pytest.fixture
def anyio_backend() -> str:
    """Plain asyncio."""
    return "asyncio"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "chats.db"


@pytest.fixture
async def store(file: Path) -> AsyncIterator[SqliteStore]:
    """A store that is closed at the end."""
    made = SqliteStore(str(file))
    yield made
    await made.close()
