"""A fixture for pytest. Import it in your `conftest.py`; pytest is needed for this module alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from suture.testing.contract import ContractServer

__all__ = ["contract_server"]


@pytest.fixture
def contract_server() -> Iterator[ContractServer]:
    """A `ContractServer` for one test. It echoes until the test sets its `script`."""
    with ContractServer() as server:
        yield server
