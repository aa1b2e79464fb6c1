"""`suture.store.sqlite`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.contract import StoreContract


class TestSqliteStore(StoreContract):
    """The suite, in a file."""

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        """See the contract."""
        return f"sqlite:{tmp_path / 'chats.db'}"
