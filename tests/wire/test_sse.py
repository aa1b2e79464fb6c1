"""Server-sent events: what the specification says of each byte, whatever the chunks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.wire.sse import Event, Events

CASES: dict[str, tuple[bytes, list[tuple[str, str]]]] = {
    "lf": (b"data: a\n\ndata: b\n\n", [("message", "a"), ("message", "b")]),
    "cr": (b"data: a\r\rdata: b\r\r", [("message", "a"), ("message", "b")]),
    "crlf": (b"data: a\r\n\r\ndata: b\r\n\r\n", [("message", "a"), ("message", "b")]),
    "mixed line ends": (b"data: a\r\ndata: b\ndata: c\r\n\rdata: d\n\r\n", [("message", "a\nb\nc"), ("message", "d")]),
    "named": (b"event: ping\ndata: {}\n\ndata: x\n\n", [("ping", "{}"), ("message", "x")]),
    "a name alone is no event": (b"event: ping\n\ndata: x\n\n", [("message", "x")]),
    "the last name counts": (b"event: a\nevent: b\ndata: x\n\n", [("b", "x")]),
    "several data lines": (b"data: a\ndata\ndata:b\n\n", [("message", "a\n\nb")]),
    "one space is taken away": (b"data:  a \ndata:\tb\n\n", [("message", " a \n\tb")]),
    "a field without a colon": (b"data\n\n", [("message", "")]),
    "empty data is an event": (b"data:\n\n", [("message", "")]),
    "comments": (b": hello\n:\ndata: a\n: between\ndata: b\n\n:\n\n", [("message", "a\nb")]),
    "unknown fields": (b" data: a\nDATA: b\nid: 7\nretry: 10\nfoo\ndata: c: d\n\n", [("message", "c: d")]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("message", "a")]),
    "only the first byte order mark": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [("message", "b")]),
    "characters of many bytes": ("data: ü€🔦\n\n".encode(), [("message", "ü€🔦")]),
    "bytes that are no text": (b"data: a\xffb\xf0\x9f\x94\ndata: \x80\n\n", [("message", "a\ufffdb\ufffd\n\ufffd")]),
    "other line ends of Unicode": ("data: a\u2028b\x0bc\x85\n\n".encode(), [("message", "a\u2028b\x0bc\x85")]),
    "many blank lines": (b"\n\n\ndata: a\n\n\n\ndata: b\n\n\n", [("message", "a"), ("message", "b")]),
    "no blank line at the end": (b"data: a\n\ndata: [DONE]\n", [("message", "a"), ("message", "[DONE]")]),
    "no line end at the end": (b"event: x\ndata: [DONE]", [("x", "[DONE]")]),
    "a name at the end": (b"data: a\n\nevent: x", [("message", "a")]),
    "nothing": (b"", []),
}


def read(chunks: list[bytes]) -> list[tuple[str, str]]:
    """All events of a stream."""
    events = Events()
    found = [event for chunk in chunks for event in events.feed(chunk)] + events.end()
    return [(event.event, event.data) for event in found]


@pytest.mark.parametrize("case", CASES)
def test_a_stream_is_read_by_the_specification(case: str) -> None:
    """Line ends, names, data, comments and bytes that are no text mean what the specification says."""
    stream, events = CASES[case]

    assert events == read([stream])


@pytest.mark.parametrize("case", CASES)
def test_byte_by_byte_the_events_are_the_same(case: str) -> None:
    """A line end, a character or the byte order mark may be split between two chunks."""
    stream, events = CASES[case]

    assert events == read([bytes([byte]) for byte in stream])


@given(
    stream=st.lists(
        st.sampled_from([b"data", b"event", b":", b" ", b"a", b"\n", b"\r", b"\r\n", b"\xe2\x82", b"\xac"])
    ),
    data=st.data(),
)
def test_however_it_is_split_the_events_are_the_same(stream: list[bytes], data: st.DataObject) -> None:
    """Any bytes at all give the same events in any chunks."""
    whole = b"".join(stream)
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=10).map(sorted))

    chunks = [whole[start:end] for start, end in pairwise([0, *cuts, len(whole)])]

    assert read([whole]) == read(chunks)


def test_an_event_is_given_as_soon_as_it_is_complete() -> None:
    """The blank line completes it, also where a CR may yet become a CRLF: nobody waits for the next chunk."""
    events = Events()

    assert [] == events.feed(b"data: a\r")
    assert [Event("message", "a")] == events.feed(b"\n\r")
    assert [] == events.feed(b"\n")
    assert [] == events.end()
