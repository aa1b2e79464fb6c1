"""Who answers, and how they are reached: a table, one row a provider.

Any other host that speaks one of the formats is a `base_url` away: `model("openai:qwen3", base_url="http://…/v1")`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from suture.errors import UsageError
from suture.models.remote import RemoteModel
from suture.models.transport import HttpTransport, Transport, transport_of
from suture.wire import ADAPTERS, PROFILES
from suture.wire.exchange import EXCHANGES

__all__ = ["PROVIDERS", "Provider", "model"]

Auth = Literal["bearer", "x-api-key"]


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A row: what is to be known of a provider."""

    format: str = "openai_chat"
    """Which format it speaks: the name of an exchange."""
    profile: str = ""
    """Which rules its histories have to keep, where they are not the format's: the name of a profile."""
    url: str
    url_from: str = ""
    """The environment variable that says another address, as the provider's SDK reads it."""
    key_from: tuple[str, ...] = ()
    """The environment variables that may hold the key; none: no key is needed."""
    auth: Auth = "bearer"
    headers: Mapping[str, str] = {}


PROVIDERS: Final[dict[str, Provider]] = {
    "openai": Provider(url="https://api.openai.com/v1", url_from="OPENAI_BASE_URL", key_from=("OPENAI_API_KEY",)),
    "openai_responses": Provider(
        format="openai_responses",
        url="https://api.openai.com/v1",
        url_from="OPENAI_BASE_URL",
        key_from=("OPENAI_API_KEY",),
    ),
    "anthropic": Provider(
        format="anthropic",
        url="https://api.anthropic.com/v1",
        url_from="ANTHROPIC_BASE_URL",
        key_from=("ANTHROPIC_API_KEY",),
        auth="x-api-key",
        headers={"anthropic-version": "2023-06-01"},
    ),
    "ollama": Provider(url="http://localhost:11434/v1", url_from="OLLAMA_BASE_URL"),
    "vllm": Provider(url="http://localhost:8000/v1"),
    "llamacpp": Provider(url="http://localhost:8080/v1"),
    "openrouter": Provider(profile="openrouter", url="https://openrouter.ai/api/v1", key_from=("OPENROUTER_API_KEY",)),
    "deepseek": Provider(profile="deepseek", url="https://api.deepseek.com/v1", key_from=("DEEPSEEK_API_KEY",)),
    "groq": Provider(profile="groq", url="https://api.groq.com/openai/v1", key_from=("GROQ_API_KEY",)),
    "xai": Provider(profile="xai", url="https://api.x.ai/v1", key_from=("XAI_API_KEY",)),
    "moonshot": Provider(profile="moonshot", url="https://api.moonshot.ai/v1", key_from=("MOONSHOT_API_KEY",)),
    "qwen": Provider(
        profile="qwen",
        url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_from=("DASHSCOPE_API_KEY",),
    ),
}
"""The providers by the word before the colon in a model's name."""


def model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    client: Any = None,
    headers: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    timeout: float = 600.0,
) -> RemoteModel:
    """A model behind a provider's interface: `model("anthropic:claude-sonnet-4-5")`.

    Nothing is sent before the first request. The key is sent to the provider and nowhere else: no log and no error has
    it.

    Args:
        name: The provider, a colon, and the provider's own name for the model.
        base_url: Another address that speaks the provider's format.
        api_key: The key; None: the environment variable that the provider's SDK reads.
        client: A client of the provider's own SDK (`openai.AsyncOpenAI`, `anthropic.AsyncAnthropic`) to send requests
            with, in place of ours: its address, key, retries and proxies count then.
        headers: Sent with each request.
        settings: Sent with each request, by the provider's own names: `temperature`, `max_tokens` …
        timeout: Seconds in which the provider has to say something more.

    Raises:
        UsageError: there is no such provider, there is no key, or the client is none.
    """
    provider, _, called = name.partition(":")
    row = PROVIDERS.get(provider)
    if row is None or not called:
        known = ", ".join(PROVIDERS)
        raise UsageError(f"model: expected PROVIDER:MODEL with one of the providers {known}, got {name!r}")
    transport: Transport
    if client is not None:
        transport = transport_of(provider, row.format, client)
    else:
        url = base_url or os.environ.get(row.url_from) or row.url
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"model: expected base_url to begin with http:// or https://, got {url!r}")
        key = _key(name, row, api_key, needed=base_url is None)
        sent = {**row.headers, **_auth(row, key), **(headers or {})}
        transport = HttpTransport(provider, _versioned(url, row), sent, secret=key, timeout=timeout)
    adapter = PROFILES.get(row.profile) or ADAPTERS[row.format]
    return RemoteModel(
        provider,
        called,
        exchange=EXCHANGES[row.format],
        adapter=adapter,
        transport=transport,
        settings=dict(settings or {}),
    )


def _key(name: str, row: Provider, given: str | None, *, needed: bool) -> str:
    """The key; another address may do without.

    Raises:
        UsageError: there is none.
    """
    key = given or next((os.environ[each] for each in row.key_from if os.environ.get(each)), "")
    if not key and row.key_from and needed:
        raise UsageError(f"model {name!r}: expected a key in {' or '.join(row.key_from)}, or as `api_key`; found none")
    if not key.isascii() or any(letter.isspace() for letter in key):
        raise UsageError(f"model {name!r}: expected a key without blanks, of plain letters; it has others")
    return key


def _auth(row: Provider, key: str) -> dict[str, str]:
    if not key:
        return {}
    return {"authorization": f"Bearer {key}"} if row.auth == "bearer" else {"x-api-key": key}


def _versioned(url: str, row: Provider) -> str:
    """Anthropic's SDK takes its address without the version, and users write it both ways."""
    url = url.rstrip("/")
    return f"{url}/v1" if row.format == "anthropic" and not url.endswith("/v1") else url
