"""`suture.store.sqlite_reading`: sessions of any size, read as they are at one moment; search."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

from suture.errors import StoreError
from suture.store.sqlite import SqliteStore
from suture.transcript import StepStart, TextPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import (
    Admitted,
    MessageAdded,
    PartReplaced,
    StepAdded,
    TurnBegan,
)
from tests.store.contract import TURN, said
from tests.store.sqlite_files import MOVED, look, turn


@pytest.mark.anyio
@pytest.mark.parametrize("limit", [10**9, 200_000])
async def test_a_session_of_any_size_is_read(store: SqliteStore, limit: int) -> None:
    """Step by step, also where a step would be more than SQLite gives at once, and where one part is very long."""
    events = [event for number in range(300) for event in turn(number)]
    events += [Admitted(message=f"u{number}", parts=(TextPart("x" * 90_000),)) for number in range(300, 310)]
    events += [TurnBegan(turn="long")]
    events += [
        MessageAdded(message=f"u{n}", role="user", parent="a299", parts=(TextPart("y" * 90_000),))
        for n in range(300, 305)
    ]
    await store.append("s", events)
    await store.load("s")
    store._readers[0].limit(apsw.SQLITE_LIMIT_LENGTH, limit)

    assert said(Conversation(events)) == said((await store.load("s")).conversation)
    assert events == [one.event async for one in store.events("s")]


@pytest.mark.anyio
async def test_a_reader_that_failed_is_not_used_again(store: SqliteStore) -> None:
    """What went wrong is said, and the next one begins anew."""
    await store.append("s", [Admitted(message="m", parts=(TextPart("x" * 90_000),))])
    await store.load("s")
    store._readers[0].limit(apsw.SQLITE_LIMIT_LENGTH, 50_000)

    with pytest.raises(StoreError, match="this is more than one row can hold"):
        _ = [one async for one in store.events("s")]

    assert 1 == len([one async for one in store.events("s")])


@pytest.mark.anyio
async def test_reading_is_of_one_moment(store: SqliteStore) -> None:
    """A session that changes while it is read is read as it was, events too."""
    await store.append("s", [event for number in range(50) for event in turn(number)])

    async def write() -> None:
        for number in range(50, 90):
            await store.append("s", turn(number))

    writing = asyncio.create_task(write())
    while not writing.done():
        loaded = await store.load("s")
        assert 4 * loaded.number == 16 * len(loaded.conversation.ids())
    seen = 0
    async for recorded in store.events("s"):
        seen = recorded.number
        if seen == 1:
            await store.append("s", MOVED)
    assert 90 * 8 == seen


@pytest.mark.anyio
async def test_events_end_where_their_session_is_deleted(store: SqliteStore) -> None:
    """And none of a session that was begun under its name since is taken for one of them."""
    await store.append("s", [Admitted(message=f"m{n}", parts=(TextPart("x" * 50_000),)) for n in range(100)])
    events = store.events("s")
    seen = [(await anext(events)).number]
    await store.delete("s")
    await store.append("s", MOVED * 200)

    seen += [one.number async for one in events]

    assert [*range(1, len(seen) + 1)] == seen
    assert len(seen) < 100


@pytest.mark.anyio
async def test_words_are_found_wherever_they_stand_in_a_message(store: SqliteStore) -> None:
    """In one part or in several; accents and case do not matter, and signs are no words."""
    await store.append(
        "s",
        [
            TurnBegan(turn="t"),
            MessageAdded(message="a", role="assistant", parent=None, parts=(TextPart("Naïve café"),)),
            StepAdded(message="a", parts=(TextPart("it's a well-known place"),)),
            MessageAdded(message="b", role="assistant", parent="a", parts=(TextPart("place place"), TextPart(""))),
        ],
    )

    assert [("s", "a")] == await store.search("NAIVE place")
    assert [("s", "a")] == await store.search("well-known & it's")
    assert [("s", "a")] == await store.search("café\x00known")
    assert {("s", "a"), ("s", "b")} == set(await store.search("place"))
    assert 1 == len(await store.search("place", limit=1))
    for nothing in ('"', "* NOT", "text:place", "place cafés", "\ud800", "NEAR(place)"):
        assert [] == await store.search(nothing)


@pytest.mark.anyio
@pytest.mark.parametrize("indexed", [True, False])
async def test_what_was_replaced_is_not_found(store: SqliteStore, *, indexed: bool) -> None:
    """The index follows the parts, whether or not they were in it already."""
    await store.append("s", TURN)
    if indexed:
        assert [("s", "a1")] == await store.search("see")
    await store.append("s", [PartReplaced(message="u1", index=0, part=TextPart("goodbye"), rule="r")])
    await store.append("s", [PartReplaced(message="a1", index=1, part=StepStart(), rule="r")])
    await store.append("s", [PartReplaced(message="a1", index=0, part=TextPart("now"), rule="r")])

    assert [("s", "u1")] == await store.search("goodbye")
    assert [("s", "a1")] == await store.search("now")
    assert [] == await store.search("hello")
    assert [] == await store.search("see")


@pytest.mark.anyio
async def test_a_search_brings_the_index_up_to_date(store: SqliteStore, file: Path) -> None:
    """Bit by bit, whatever was appended since, in every session; an append itself writes nothing there."""
    for number in range(3):
        await store.append(f"s{number}", [event for each in range(500) for event in turn(each)])
    assert [(0,)] == look(file, "SELECT count(*) FROM search")

    assert {("s0", "a7"), ("s1", "a7"), ("s2", "a7")} == set(await store.search("answer 7"))
    assert [(3 * 500 * 3,)] == look(file, "SELECT count(*) FROM search")
    await store.append("s1", turn(500))
    assert [("s1", "a500")] == await store.search("answer 500")
    assert [(3 * 500 * 3 + 3,)] == look(file, "SELECT count(*) FROM search")


@pytest.mark.anyio
async def test_several_may_bring_the_index_up_to_date(store: SqliteStore, file: Path) -> None:
    """At once, and while a session is deleted: nothing is in it twice."""
    for number in range(3):
        await store.append(f"s{number}", [event for each in range(500) for event in turn(each)])

    await asyncio.gather(*(store.search("answer") for _ in range(3)), store.delete("s2"))

    assert [(2 * 500 * 3,)] == look(file, "SELECT count(*) FROM search")
    assert {("s0", "a7"), ("s1", "a7")} == set(await store.search("answer 7"))
