"""The sockets: a loopback port, a thread for each connection, and an end that leaves none of them behind."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from typing import Any, Final

__all__ = ["Listener"]

_POLL: Final = 0.02
_PATIENCE: Final = 5.0


class Listener(socketserver.ThreadingTCPServer):
    """Listens at a port of the system's choice, on the loopback interface alone, from `begin` to `end`."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, connection: type[socketserver.BaseRequestHandler], handle: Any) -> None:
        """`connection` reads requests and answers each with what `handle` makes of it."""
        super().__init__(("127.0.0.1", 0), connection)
        self.handle: Any = handle
        self.port: int = self.server_address[1]
        self._open: dict[Any, threading.Thread] = {}
        self._accepting: threading.Thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": _POLL}, name="contract-server", daemon=True
        )

    def begin(self) -> None:
        """Take connections."""
        self._accepting.start()

    def end(self) -> None:
        """Close the port and every connection, and wait for their threads."""
        self.shutdown()
        self._accepting.join()
        self.server_close()
        for connection, thread in list(self._open.items()):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            if thread is not threading.current_thread():
                thread.join(_PATIENCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread."""
        target = self.process_request_thread
        thread = threading.Thread(target=target, args=(request, client_address), name="contract-server", daemon=True)
        self._open[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._open.pop(request, None)
        super().shutdown_request(request)
