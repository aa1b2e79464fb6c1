"""Server-sent events, read as they come in, by the WHATWG specification (HTML, 9.2.6).

It differs in one point: an event without its blank line at the end of the stream is not dropped but given, since
compatible servers leave that line out behind `data: [DONE]`. The data of such an event may be cut.
"""

from __future__ import annotations

import msgspec

__all__ = ["Event", "Events"]


class Event(msgspec.Struct, frozen=True, gc=False):
    """One event."""

    event: str
    """What sort of event it is; `message` where the stream does not say."""
    data: str
    """Its data lines, joined by line feeds."""


class Events:
    """The events of one stream, which may be fed in pieces of any size: the events are the same.

    Lines end in LF, CR or CRLF. Bytes that are no UTF-8 become U+FFFD. `id` and `retry` are ignored: they are for
    clients that connect again, and no provider goes on with an answer.
    """

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._held: list[bytes] = []
        self._after_cr = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Event]:
        """Take in more of the stream; the events that it completes."""
        if not data:
            return []
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines, newline, rest = data.rpartition(b"\n")
        if not newline:
            # Held as pieces: a long line in many of them would cost its square if they were joined each time.
            self._held.append(rest)
            return []
        self._held.append(lines)
        # Whole lines alone are decoded, so no character is ever split.
        text = b"".join(self._held).decode("utf-8", "replace")
        self._held = [rest]
        return self._take(text.split("\n"))

    def end(self) -> list[Event]:
        """The stream is over; the event that was left without its blank line, where there is one."""
        text = b"".join(self._held).decode("utf-8", "replace")
        self._held = []
        return self._take([text, ""])

    def _take(self, lines: list[str]) -> list[Event]:
        if self._at_start:
            self._at_start = False
            lines[0] = lines[0].removeprefix("\ufeff")
        events: list[Event] = []
        for line in lines:
            if not line:
                if self._data:
                    data = self._data[0] if len(self._data) == 1 else "\n".join(self._data)
                    events.append(Event(self._event or "message", data))
                    self._data = []
                self._event = ""
                continue
            field, _, value = line.partition(":")
            if field == "data":
                self._data.append(value.removeprefix(" "))
            elif field == "event":
                self._event = value.removeprefix(" ")
        return events
