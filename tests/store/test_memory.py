"""`suture.store.memory`."""

from __future__ import annotations

import pytest

from tests.store.contract import StoreContract


class TestMemoryStore(StoreContract):
    """The suite, in memory."""

    durable = False

    @pytest.fixture
    def url(self) -> str:
        """See the contract."""
        return "memory:"
