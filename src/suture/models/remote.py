"""A model behind a provider's interface: a request goes out as its format writes it, its stream comes in as pieces."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec

from suture.errors import PairingRefused, Transient
from suture.models.base import ModelRequest, closing
from suture.models.faults import failed
from suture.models.transport import Transport
from suture.models.writing import Writer
from suture.transcript import Message, Part, TextPart, ToolPart, output_text
from suture.transcript.codec import dumps
from suture.transcript.deltas import Failure, Finish, Piece, Remark
from suture.wire.base import Adapter
from suture.wire.exchange import Exchange

__all__ = ["RemoteModel"]

_LOG = logging.getLogger("suture.models")

_PLACE: Final = b'["the messages"]'
"""Where they go: no JSON text can hold these bytes inside, its quotes are escaped; and no setting looks so."""


class RemoteModel:
    """See `Model`. Made by `suture.model`."""

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        exchange: Exchange,
        adapter: Adapter,
        transport: Transport,
        settings: Mapping[str, Any],
    ) -> None:
        """`settings` are sent with each request, behind those of the request itself."""
        self.name: str = f"{provider}:{model}"
        self.provider: str = provider
        self.model: str = model
        self._exchange = exchange
        self._adapter = adapter
        self._transport = transport
        self._settings = settings
        self._writers: dict[bool, Writer] = {}

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[Piece]:
        """The answer, piece by piece, `Finish` last.

        The messages have passed the repair pipeline for this provider. Where it refuses them for their calls all the
        same, they are read and mended once more, in full, and sent again, once; a `Remark` says so.

        Raises:
            ModelError: the provider refused or failed: `Transient`, `ContextOverflow`, `Cancelled` or `ProviderFatal`.
        """
        settings = {**self._settings, **request.settings}
        opening = self._exchange.opening(request.instructions)
        writer = self._writer(settings)
        try:
            async with closing(self._asked(request, settings, writer.write(request.messages, opening))) as pieces:
                async for piece in pieces:
                    yield piece
        except PairingRefused as refused:
            messages, what = self._mended(writer, request.messages, opening)
            _LOG.error("%s; %s", refused, what)
            yield Remark(f"{refused}; {what}")
            async with closing(self._asked(request, settings, messages)) as pieces:
                async for piece in pieces:
                    yield piece

    async def close(self) -> None:
        """Let go of connections."""
        await self._transport.close()

    def _writer(self, settings: Mapping[str, Any]) -> Writer:
        thinks = self._exchange.thinks(settings)
        if thinks not in self._writers:
            told = {"model": self.model, **({"thinking": True} if thinks else {})}
            self._writers[thinks] = Writer(self._adapter, told, self.name if thinks else "")
        return self._writers[thinks]

    async def _asked(
        self, request: ModelRequest, settings: Mapping[str, Any], messages: list[bytes]
    ) -> AsyncIterator[Piece]:
        body = self._exchange.body(
            self.model,
            instructions=request.instructions,
            messages=msgspec.Raw(_PLACE),
            tools=request.tools,
            settings=settings,
        )
        head, _, tail = msgspec.json.encode(body).partition(_PLACE)
        decoder = self._exchange.Decoder()
        whole = False
        async with aclosing(self._transport.post(self._exchange.PATH, [head, *messages, tail])) as chunks:
            async for chunk in chunks:
                for piece in decoder.feed(chunk):
                    whole = whole or isinstance(piece, Finish)
                    yield self._named(piece)
        for piece in decoder.end():
            whole = whole or isinstance(piece, Finish)
            yield self._named(piece)
        if not whole:
            raise Transient(f"{self.provider} broke off: its answer has no end")

    def _named(self, piece: Piece | Failure) -> Piece:
        """A piece, the end under the name by which reasoning finds its way back.

        Raises:
            ModelError: it is none: the provider failed.
        """
        if isinstance(piece, Failure):
            raise failed(self.provider, piece)
        return Finish(piece.reason, self.name) if isinstance(piece, Finish) else piece

    def _mended(self, writer: Writer, messages: Sequence[Message], opening: list[Any]) -> tuple[list[bytes], str]:
        """The messages for a second try, and in words what was done to them."""
        written, repairs = writer.strictly(messages, opening)
        if repairs:
            return written, f"mended {len(repairs)} places and sent again"
        told = [_told(message) for message in messages]
        return writer.write(told, opening), "nothing is wrong as far as is known: sent again with its calls as text"


def _told(message: Message) -> Message:
    """A message whose calls are told of: no provider can find one of them unanswered."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolPart):
            parts.append(TextPart(f"[called {part.name} {dumps(part.input)}: {output_text(part.output)}]"))
        else:
            parts.append(part)
    return msgspec.structs.replace(message, parts=tuple(parts))
