"""What was written once is kept; and what is kept is what would be written."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suture import check
from suture.models.writing import Writer
from suture.transcript import Message, TextPart, ToolPart
from suture.transcript.listing import Listing
from suture.wire import ADAPTERS
from suture.wire.outgoing import outgoing

FORMATS = ("openai_chat", "openai_responses", "anthropic")


def talk(count: int, *, start: int = 0) -> list[Message]:
    """So many turns of two messages, each with a call."""
    messages: list[Message] = []
    for number in range(start, start + count):
        call = ToolPart(call_id=f"call_{number}", name="look", input={}, state="output-available", output=f"{number}")
        messages += [
            Message(role="user", id=f"u{number}", parts=(TextPart(f"turn {number}"),)),
            Message(role="assistant", id=f"a{number}", parts=(call, TextPart("so"))),
        ]
    return messages


def decoded(pieces: list[bytes]) -> Any:
    """The messages that were written."""
    return msgspec.json.decode(b"".join(pieces))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 700])
def test_what_is_kept_is_what_would_be_written(format: str, count: int) -> None:
    """In one go, and while the conversation grows message by message; nothing in it would be refused."""
    writer = Writer(ADAPTERS[format], {}, "")
    opening = [{"role": "system", "content": "be brief"}] if format == "openai_chat" else []
    listing = Listing()
    written: Any = None
    for message in [*talk(count), talk(1, start=count)[0]]:
        listing = listing.added(message)
        if len(listing) % 97 == 0 or len(listing) == 2 * count + 1:
            written = decoded(writer.write(listing, opening))
            assert [*opening, *outgoing(listing, ADAPTERS[format], {})] == written
    assert [] == check(written, format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_change_far_back_is_written(format: str) -> None:
    """A late result, a repair on an old message: the stretch that holds it is another one."""
    writer = Writer(ADAPTERS[format], {}, "")
    messages = [*talk(600), talk(1, start=600)[0]]
    listing = Listing(messages)
    writer.write(listing, [])
    late = msgspec.structs.replace(messages[1], parts=(TextPart("in its place"),))
    assert "in its place" in str(decoded(writer.write(listing.replaced(1, late), [])))
    assert "in its place" not in str(decoded(writer.write(listing, [])))


def test_other_instructions_are_written() -> None:
    """They stand before the first stretch."""
    writer = Writer(ADAPTERS["openai_chat"], {}, "")
    listing = Listing([*talk(600), talk(1, start=600)[0]])
    for text in ("one", "two", "one"):
        opening = [{"role": "system", "content": text}]
        assert opening == decoded(writer.write(listing, opening))[:1]


def test_old_stretches_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a turn costs does not grow with the stretches before it."""
    encoded: list[int] = []
    writer = Writer(ADAPTERS["openai_chat"], {}, "")
    wire = writer._wire

    def counted(messages: Any) -> list[Any]:
        encoded.append(len(messages))
        return wire(messages)

    monkeypatch.setattr(writer, "_wire", counted)
    listing = Listing([*talk(2_000), talk(1, start=2_000)[0]])
    writer.write(listing, [])
    first = sum(encoded)
    encoded.clear()
    writer.write(listing.added(talk(1, start=2_001)[0]), [])
    assert (4_001, True) == (first, sum(encoded) <= 1_024)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest goes; what is written stays right."""
    from suture.models import writing

    monkeypatch.setattr(writing, "_KEPT_BYTES", 100_000)
    monkeypatch.setattr(writing, "_KEPT_MESSAGES", 10)
    writer = Writer(ADAPTERS["openai_chat"], {}, "")
    listing = Listing([*talk(3_000), talk(1, start=3_000)[0]])
    for _ in range(2):
        assert outgoing(listing, ADAPTERS["openai_chat"], {}) == decoded(writer.write(listing, []))
    assert writer._size <= 100_000 + max(len(stretch.data) for stretch in writer._stretches.values())
    assert len(writer._messages) <= 10


ROLES = st.lists(st.sampled_from(["user", "assistant"]), min_size=1, max_size=40)


@settings(max_examples=100)
@given(roles=ROLES, chunk=st.integers(1, 7))
def test_stretches_are_the_list(roles: list[Any], chunk: int) -> None:
    """All messages in their order, whatever the roles; each stretch but the first begins with a user's message."""
    messages = [Message(role=role, id=str(n), parts=(TextPart("x"),)) for n, role in enumerate(roles)]
    listing = Listing(messages)
    listing._chunks = tuple(tuple(messages[at : at + chunk]) for at in range(0, len(messages), chunk))
    stretches = [[m for held, start, stop in pieces for m in held[start:stop]] for pieces in listing.stretches()]
    assert messages == [message for stretch in stretches for message in stretch]
    assert all(stretch[0].role == "user" for stretch in stretches[1:])
