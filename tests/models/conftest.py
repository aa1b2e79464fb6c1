"""What the tests of models share."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The harness is plain asyncio."""
    return "asyncio"
