"""`suture.model`: who is reached, with what."""

from __future__ import annotations

from typing import Any

import pytest

import suture
from suture.errors import UsageError
from suture.models import model
from suture.models.providers import PROVIDERS
from suture.testing import ContractServer
from suture.wire import PROFILES
from suture.wire.exchange import EXCHANGES
from tests.models.asking import asked

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_row_is_one(name: str) -> None:
    """Its format and its profile are there; what needs a key says which."""
    row = PROVIDERS[name]
    assert row.format in EXCHANGES
    assert not row.profile or row.profile in PROFILES
    made = model(f"{name}:some-model", api_key="k")
    assert (f"{name}:some-model", "some-model") == (made.name, made.model)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gpt-5", {}, "expected PROVIDER:MODEL with one of the providers openai, .*, got 'gpt-5'"),
        ("acme:gpt-5", {}, "expected PROVIDER:MODEL"),
        ("openai:", {}, "expected PROVIDER:MODEL"),
        ("openai:gpt-5", {}, "expected a key in OPENAI_API_KEY, or as `api_key`; found none"),
        ("openai:gpt-5", {"api_key": "a b"}, "expected a key without blanks"),
        ("openai:gpt-5", {"api_key": "schlüssel"}, "expected a key without blanks"),
        ("openai:gpt-5", {"base_url": "localhost:1"}, "expected base_url to begin with http:// or https://"),
        ("openai:gpt-5", {"client": object()}, "expected client to be an asynchronous client of the SDK"),
    ],
)
def test_what_no_model_can_be_made_of(name: str, options: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says what was expected."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match=message):
        model(name, **options)


async def test_addresses_and_keys_come_from_where_the_sdk_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment, another address in the environment, either way of writing Anthropic's."""
    with ContractServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert "hi" == await asked(model("openai:gpt-5"), "hi")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
        for url in (server.root, server.url, f"{server.url}/"):
            monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
            assert "hi" == await asked(model("anthropic:claude-5"), "hi")


async def test_another_host_needs_no_key() -> None:
    """A server of one's own takes any, or none."""
    with ContractServer() as server:
        assert "hi" == await asked(
            model("ollama:qwen3", base_url=server.url, headers={"authorization": "Bearer x"}), "hi"
        )


def test_an_agent_takes_a_name() -> None:
    """And says what is wrong with it."""
    with pytest.raises(UsageError, match="expected PROVIDER:MODEL"):
        suture.Agent(model="gpt-5")
    assert "ollama:qwen3" == suture.Agent(model="ollama:qwen3").model.name  # type: ignore[union-attr]


def test_a_key_is_in_no_repr() -> None:
    """Nor in anything else that is printed by accident."""
    made = model("openai:gpt-5", api_key="sk-secret")
    assert "sk-secret" not in repr(made) + str(made) + repr(vars(made))
