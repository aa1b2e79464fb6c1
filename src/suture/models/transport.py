"""Asking over HTTP: a body goes out, the bytes of an answer come in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, Final, Protocol

import httpx2
import msgspec

from suture.errors import ModelError, Transient, UsageError
from suture.models.faults import refused

__all__ = ["HttpTransport", "SdkTransport", "Transport", "transport_of"]

_CONNECT: Final = 10.0
"""Seconds to reach a host; how long an answer may take is another matter."""


class Transport(Protocol):
    """How a request gets to a provider."""

    def post(self, path: str, body: Sequence[bytes], /) -> AsyncGenerator[bytes, None]:
        """The bytes of the answer to a request, as they come. The body's pieces follow one another.

        Raises:
            ModelError: the provider could not be reached, or refused.
        """

    async def close(self) -> None:
        """Let go of connections; they are made again where they are needed again."""


_LONG: Final = 1_000_000


async def _each(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


class HttpTransport:
    """One host, over connections of our own."""

    def __init__(self, provider: str, url: str, headers: Mapping[str, str], *, secret: str, timeout: float) -> None:
        """Nothing is connected yet.

        Args:
            provider: The host's name, for sentences.
            url: Its base address.
            headers: What is sent with each request.
            secret: The key in the headers, which no sentence shows.
            timeout: Seconds in which something more has to come.
        """
        self._provider = provider
        self._url = url.rstrip("/")
        self._headers = {"content-type": "application/json", "accept": "text/event-stream", **headers}
        self._secret = secret
        self._timeout = httpx2.Timeout(timeout, connect=_CONNECT)
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, path: str, body: Sequence[bytes], /) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        length = sum(map(len, body))
        # A long history goes out piece by piece: to join it would cost more than to send it.
        content = b"".join(body) if length < _LONG else _each(body)
        headers = {**self._headers, "content-length": str(length)}
        try:
            async with self._connected().stream("POST", self._url + path, content=content, headers=headers) as response:
                if not response.is_success:
                    said = await response.aread()
                    raise refused(
                        self._provider, response.status_code, said, dict(response.headers), secret=self._secret
                    )
                async for chunk in response.aiter_bytes():
                    yield chunk
        except httpx2.TimeoutException as error:
            raise Transient(f"{self._provider} said nothing in time ({type(error).__name__})") from error
        except httpx2.HTTPError as error:
            why = str(error) or type(error).__name__
            raise Transient(f"{self._provider} at {self._url} cannot be reached, or broke off: {why}") from error
        except httpx2.InvalidURL as error:
            raise UsageError(f"expected the address of {self._provider}, got {self._url!r}: {error}") from error

    async def close(self) -> None:
        """See `Transport`."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _connected(self) -> httpx2.AsyncClient:
        """The connections of this event loop: those of another one cannot be used here."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = httpx2.AsyncClient(timeout=self._timeout), loop
        return self._client


class SdkTransport:
    """A client of the provider's own SDK, with its addresses, keys, retries and proxies."""

    def __init__(self, provider: str, client: Any, create: Any, secret: str) -> None:
        """`create` is the SDK's method that takes a body and gives its raw response."""
        self._provider = provider
        self._client = client
        self._create = create
        self._secret = secret

    async def post(self, _path: str, body: Sequence[bytes], /) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        plain = msgspec.json.decode(b"".join(body))
        try:
            async with self._create(**plain) as response:
                async for chunk in response.iter_bytes():
                    yield chunk
        except ModelError:
            raise
        except Exception as error:
            status = getattr(error, "status_code", None)
            if isinstance(status, int):
                answer = getattr(error, "response", None)
                headers = dict(getattr(answer, "headers", {}))
                said = msgspec.json.encode(getattr(error, "body", None) or {"message": str(error)})
                raise refused(self._provider, status, said, headers, secret=self._secret) from error
            if type(error).__name__ in {"APIConnectionError", "APITimeoutError"} or isinstance(error, httpx2.HTTPError):
                raise Transient(f"{self._provider} cannot be reached, or broke off: {error}") from error
            raise

    async def close(self) -> None:
        """The client is its owner's: it stays open."""


def transport_of(provider: str, exchange: str, client: Any) -> SdkTransport:
    """A user's own client as a transport.

    Raises:
        UsageError: it has no such method as the SDK's asynchronous client.
    """
    wanted: Final = {
        "openai_chat": ("chat", "completions", "with_streaming_response", "create"),
        "openai_responses": ("responses", "with_streaming_response", "create"),
        "anthropic": ("messages", "with_streaming_response", "create"),
    }[exchange]
    found = client
    for name in wanted:
        found = getattr(found, name, None)
    if found is None or not type(client).__name__.startswith("Async"):
        expected = f"an asynchronous client of the SDK, with `{'.'.join(wanted)}`"
        raise UsageError(f"model: expected client to be {expected}, got {type(client).__name__}")
    return SdkTransport(provider, client, found, str(getattr(client, "api_key", "") or ""))
