"""One connection: HTTP/1.1 requests are read from it, and replies written to it, whole or in chunks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, Final, NamedTuple

from suture.testing.contract.faults import Cut
from suture.testing.contract.listener import Listener

__all__ = ["Connection", "Handle", "Reply", "Request"]

_PIECE: Final = 1 << 16


class Request(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    """Without the query."""
    headers: Mapping[str, str]
    """Their names in lower case."""
    body: bytes | None
    """None where it is above the limit."""


class Reply(NamedTuple):
    """What is sent back."""

    status: int
    body: Iterable[bytes]
    """Its pieces. Where they raise `Cut`, the connection is closed there."""
    length: int | None = None
    """How many bytes they are; None: they are sent in chunks, as server-sent events."""
    headers: Mapping[str, str] = {}
    begun: bool = True
    """Whether anything of it is sent at all."""


class Handle:
    """How requests become replies, and how many bytes the body of one may have."""

    def __init__(self, reply: Callable[[Request], Reply], limit: int) -> None:
        """`reply` may raise `Cut`: then nothing is sent, and the connection is closed."""
        self.reply: Callable[[Request], Reply] = reply
        self.limit: int = limit


class Connection(BaseHTTPRequestHandler):
    """Reads requests until its client or the server is gone."""

    protocol_version = "HTTP/1.1"
    server_version = "ContractServer"
    disable_nagle_algorithm = True
    server: Listener

    def handle(self) -> None:
        """Read requests; a client that is gone is no error."""
        try:
            super().handle()
        except (Cut, OSError):
            self.close_connection = True

    def _serve(self) -> None:
        handle: Handle = self.server.handle
        headers = {name.lower(): value for name, value in self.headers.items()}
        chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        body = self._chunks(handle.limit) if chunked else self._counted(handle.limit, headers)
        self._send(handle.reply(Request(self.command, self.path.partition("?")[0], headers, body)))

    # The names that are looked for.
    do_GET: Callable[..., None] = _serve  # noqa: N815
    do_POST: Callable[..., None] = _serve  # noqa: N815
    do_PUT: Callable[..., None] = _serve  # noqa: N815
    do_PATCH: Callable[..., None] = _serve  # noqa: N815
    do_DELETE: Callable[..., None] = _serve  # noqa: N815

    def _counted(self, limit: int, headers: Mapping[str, str]) -> bytes | None:
        given = headers.get("content-length", "0")
        length = int(given) if given.isdecimal() else 0
        if length <= limit:
            return self._exactly(length)
        while length:  # what is not read would tear down the connection before the reply is there
            length -= len(self._exactly(min(length, _PIECE)))
        return None

    def _chunks(self, limit: int) -> bytes | None:
        pieces: list[bytes] = []
        total = 0
        while size := self._size():
            total += size
            piece = self._exactly(size)
            if total <= limit:
                pieces.append(piece)
            self.rfile.readline(_PIECE)
        while self.rfile.readline(_PIECE).strip():
            pass
        return b"".join(pieces) if total <= limit else None

    def _size(self) -> int:
        try:
            return int(self.rfile.readline(_PIECE).partition(b";")[0].strip() or b"0", 16)
        except ValueError:
            raise Cut from None

    def _exactly(self, length: int) -> bytes:
        piece = self.rfile.read(length)
        if len(piece) < length:
            raise Cut
        return piece

    def _send(self, reply: Reply) -> None:
        pieces = iter(reply.body)
        first = next(pieces, b"")  # before the status line: it may never come
        self.send_response(reply.status)
        if reply.length is None:
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("cache-control", "no-cache")
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(reply.length))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in itertools.chain([first], pieces):
            self.wfile.write(piece if reply.length is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
        if reply.length is None:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed: what came is in `ContractServer.requests`."""
