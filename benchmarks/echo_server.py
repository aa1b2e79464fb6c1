"""A model on this machine that takes no time: OpenAI chat completions over HTTP/1.1, without looking at what is asked.

    python -m benchmarks.echo_server

It prints its port and serves until it is ended. It asks for the tool `nothing` first, and says `done` once the last
message is a tool's result; as server-sent events where the request says `"stream": true`. No body is parsed: a body of
17 MB costs what reading it costs. `GET /log` tells what came since the last time, `GET /bodies` also the last bodies.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections import deque
from typing import Any

ROOM = 2**24
"""How many bytes a connection's buffer has room for at first."""
KEPT = 2
"""How many bodies are kept: those of a turn."""
EDGE = 65_536
"""How far from either end of a body a switch is looked for; in between are the messages."""


class Log:
    """What was asked since somebody looked."""

    def __init__(self) -> None:
        self.served = 0
        self.entries: list[dict[str, Any]] = []
        self.bodies: deque[bytes] = deque(maxlen=KEPT)

    def told(self, *, bodies: bool) -> bytes:
        """A JSON object: `requests`, one entry for each, and `bodies` if they are wanted."""
        entries, self.entries = self.entries, []
        kept = b",".join(self.bodies) if bodies else b""
        return b'{"requests":' + json.dumps(entries).encode() + b',"bodies":[' + kept + b"]}"


def last_role(body: bytes) -> bytes:
    """The role of the last message: the last `"role"` in the body, whatever the order of the keys."""
    at = body.rfind(b'"role"')
    rest = body[at + 6 : at + 40].lstrip(b" \t\r\n:") if at >= 0 else b""
    return rest.split(b'"')[1] if rest.startswith(b'"') else b""


def switched_on(body: bytes, name: bytes) -> bool:
    """Whether a switch outside the messages is on."""
    edges = (body[:EDGE], body[-EDGE:]) if len(body) > 2 * EDGE else (body,)
    return any(b'"%s":%strue' % (name, space) in edge for edge in edges for space in (b"", b" "))


def answered(number: int, *, result: bool, stream: bool, usage: bool) -> bytes:
    """The body of an answer: a call, or after its result a text."""
    call = {"id": f"call_{number:09d}", "type": "function", "function": {"name": "nothing", "arguments": "{}"}}
    spent = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": f"chatcmpl-{number}", "created": 1, "model": "local"}
    why = "stop" if result else "tool_calls"
    says: dict[str, Any] = {"role": "assistant", "content": "done" if result else None}
    if not stream:
        if not result:
            says["tool_calls"] = [call]
        choices: list[Any] = [{"index": 0, "message": says, "finish_reason": why}]
        return json.dumps({**head, "object": "chat.completion", "choices": choices, "usage": spent}).encode()
    if not result:
        says["tool_calls"] = [{"index": 0, **call}]
    rounds: list[Any] = [[{"index": 0, "delta": says, "finish_reason": None}]]
    rounds.append([{"index": 0, "delta": {}, "finish_reason": why}])
    chunks = [{**head, "object": "chat.completion.chunk", "choices": choices} for choices in rounds]
    if usage:
        chunks.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": spent})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


def reply(log: Log, body: bytes) -> tuple[bytes, bytes]:
    """The type and the body of the answer to a request for a completion, which is noted."""
    result, stream = last_role(body) == b"tool", switched_on(body, b"stream")
    log.served += 1
    log.entries.append({"bytes": len(body), "result": result, "stream": stream})
    log.bodies.append(body)
    data = answered(log.served, result=result, stream=stream, usage=switched_on(body, b"include_usage"))
    return b"text/event-stream" if stream else b"application/json", data


class Inbox:
    """What a connection sends, read into one buffer that is made once: nothing is copied twice."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.held = bytearray(ROOM)
        self.filled = 0

    def more(self, wanted: int) -> bool:
        """Read until so many bytes are there; False where the client leaves."""
        if wanted > len(self.held):
            self.held.extend(bytes(wanted - len(self.held)))
        while self.filled < wanted:
            count = self.connection.recv_into(memoryview(self.held)[self.filled :])
            if not count:
                return False
            self.filled += count
        return True

    def request(self) -> tuple[bytes, dict[bytes, bytes], bytes] | None:
        """The next request: its first line, its fields, its body; None where there is none."""
        while (end := self.held.find(b"\r\n\r\n", 0, self.filled)) < 0:
            if not self.more(self.filled + 1):
                return None
        first, *lines = bytes(self.held[:end]).split(b"\r\n")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
        if fields.get(b"expect", b"").lower() == b"100-continue":
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        start, length = end + 4, int(fields.get(b"content-length", b"0"))
        if not self.more(start + length):
            return None
        body = bytes(memoryview(self.held)[start : start + length])
        rest = self.held[start + length : self.filled]
        self.held[: len(rest)] = rest
        self.filled = len(rest)
        return first, fields, body


def serve(log: Log, connection: socket.socket) -> None:
    """One connection: request after request, until the client leaves."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    inbox = Inbox(connection)
    with connection, contextlib.suppress(ConnectionError):
        while (request := inbox.request()) is not None:
            first, _, body = request
            if first.startswith(b"GET"):
                kind, data = b"application/json", log.told(bodies=b"/bodies" in first)
            else:
                kind, data = reply(log, body)
            head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(data))
            connection.sendall(head + data)


def main() -> int:
    """Serve on a free port until the process is ended."""
    log = Log()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(log, connection), daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
