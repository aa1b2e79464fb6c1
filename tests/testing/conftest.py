"""A contract server for each test, and the official clients that talk to it."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest

from suture.testing import ContractServer
from suture.testing.fixtures import contract_server

__all__ = ["anthropic_client", "anyio_backend", "contract_server", "openai_client"]


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on plain asyncio."""
    return "asyncio"


@pytest.fixture
def openai_client(contract_server: ContractServer) -> Iterator[openai.OpenAI]:
    """OpenAI's own client; it asks once, and no proxy."""
    with openai.OpenAI(
        api_key="sk-secret",
        base_url=contract_server.url,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(trust_env=False, verify=False, timeout=10),
    ) as client:
        yield client


@pytest.fixture
def anthropic_client(contract_server: ContractServer) -> Iterator[anthropic.Anthropic]:
    """Anthropic's own client; it asks once, and no proxy."""
    with anthropic.Anthropic(
        api_key="sk-secret",
        base_url=contract_server.root,
        max_retries=0,
        http_client=anthropic.DefaultHttpxClient(trust_env=False, verify=False, timeout=10),
    ) as client:
        yield client
