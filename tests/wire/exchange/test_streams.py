"""What the decoders find in a stream, and that nothing about its chunks matters."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suture.transcript import ReasoningPart
from suture.transcript.deltas import CallPiece, Failure, Finish, ReasoningPiece, TextPiece
from suture.wire import ADAPTERS
from suture.wire.exchange import EXCHANGES
from tests.wire.exchange.streams import FOLDER, STREAMS, decoded, expected, name_of, plain

FEWER: Final = settings(max_examples=min(settings().max_examples, 1_000))
"""Each example decodes a whole stream."""

CUT = [path for path in STREAMS if "cut" in path.stem and path.stem != "cut_behind_the_end"]


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_a_stream_holds_the_pieces_beside_it(path: Path) -> None:
    """Fed as one chunk, a stream gives exactly the pieces that are written down beside it."""
    assert expected(path) == plain(decoded(path, [path.read_bytes()]))


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_byte_by_byte_the_pieces_are_the_same(path: Path) -> None:
    """Fed one byte at a time, with empty chunks between, a stream gives the same pieces."""
    chunks = [chunk for byte in path.read_bytes() for chunk in (bytes([byte]), b"")]

    assert expected(path) == plain(decoded(path, chunks))


@FEWER
@given(path=st.sampled_from(STREAMS), data=st.data())
def test_however_it_is_split_the_pieces_are_the_same(path: Path, data: st.DataObject) -> None:
    """Cut at any places, also within a character or between CR and LF, a stream gives the same pieces."""
    whole = path.read_bytes()
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=20).map(sorted))

    chunks = [whole[start:end] for start, end in pairwise([0, *cuts, len(whole)])]

    assert expected(path) == plain(decoded(path, chunks))


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_the_end_is_said_once_and_last(path: Path) -> None:
    """Behind `Finish` or a `Failure` nothing comes, not even another one at the end of the body."""
    pieces = decoded(path, [path.read_bytes()])

    assert not any(isinstance(piece, Finish | Failure) for piece in pieces[:-1])


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_calls_are_numbered_in_the_order_in_which_they_come(path: Path) -> None:
    """Whatever a provider counts: the first piece of the n-th call has the index n, and no piece comes before it."""
    calls = [piece for piece in decoded(path, [path.read_bytes()]) if isinstance(piece, CallPiece)]

    firsts = list(dict.fromkeys(piece.index for piece in calls))

    assert list(range(len(firsts))) == firsts


@pytest.mark.parametrize("path", CUT, ids=name_of)
def test_a_cut_stream_has_no_end(path: Path) -> None:
    """Where the provider did not say that it has ended there is no `Finish`, also behind a `[DONE]`."""
    assert not any(isinstance(piece, Finish) for piece in decoded(path, [path.read_bytes()]))


@FEWER
@given(path=st.sampled_from([path for path in STREAMS if path.suffix == ".sse"]), data=st.data())
def test_what_is_left_of_a_cut_stream_was_in_the_whole_one(path: Path, data: st.DataObject) -> None:
    """A stream that ends early, anywhere, gives the first of its pieces, and no failure of the decoder's own."""
    whole = path.read_bytes()
    end = data.draw(st.integers(0, len(whole)))

    pieces = plain(decoded(path, [whole[:end]]))

    # The end of a Chat Completions answer is given at the end of the body, where its reason was read.
    if pieces and pieces[-1].get("type") == "finish":
        assert expected(path)[-1] == pieces.pop()
    assert expected(path)[: len(pieces)] == pieces


@pytest.mark.parametrize("format", ["anthropic", "openai_responses"])
def test_reasoning_is_what_the_adapter_reads(format: str) -> None:
    """The payload, the text and the item's id of reasoning are those that the format's adapter finds in the answer."""
    path = FOLDER / format / "whole.body"
    answer = json.loads(path.read_bytes())
    history = answer["output"] if format == "openai_responses" else [answer]
    entries = ADAPTERS[format].decode(enumerate(history))
    read = [part for entry in entries for part in entry.items if isinstance(part, ReasoningPart)]

    given = [piece for piece in decoded(path, [path.read_bytes()]) if isinstance(piece, ReasoningPiece)]

    assert [(part.payload, part.item_id) for part in read] == [(given[-1].payload, given[-1].item_id)]
    assert [part.text for part in read] == ["".join(piece.text for piece in given)]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | st.sampled_from(["", "a", "{}"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


def _objects(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".sse" else []
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {") and line.endswith("}")]


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, more in inner for place in _places(more, (*at, key)))]


def _replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = value.copy()
    copy[at[0]] = _replaced(copy[at[0]], at[1:], new)
    return copy


@pytest.mark.parametrize("format", EXCHANGES)
@FEWER
@given(data=st.data())
def test_whatever_stands_in_an_event_it_is_read_without_an_error(format: str, data: st.DataObject) -> None:
    """Any value of any event may be of another type: what the decoder gives is still of the types that pieces have."""
    path = data.draw(st.sampled_from([path for path in STREAMS if path.parent.name == format and _objects(path)]))
    events = _objects(path)
    number = data.draw(st.integers(0, len(events) - 1))
    place = data.draw(st.sampled_from(_places(events[number])))
    events[number] = _replaced(events[number], place, data.draw(_JSON))
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)

    pieces = decoded(path, [stream.encode()])

    assert pieces == [msgspec.convert(msgspec.to_builtins(piece), type(piece)) for piece in pieces]
    assert TextPiece("") not in pieces
