"""Asynchronous tests run on plain asyncio."""

from __future__ import annotations

import pytest

from suture.harness import ToolContext


@pytest.fixture
def anyio_backend() -> str:
    """The one loop that the harness is written for."""
    return "asyncio"


@pytest.fixture
def ctx() -> ToolContext:
    """Where a call stands."""
    return ToolContext(session="s", turn="t", call="c", attempt=1)
