"""`suture.store.sqlite_rows`: an event touches the rows that it names, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from suture.store.sqlite import SqliteStore
from suture.transcript import StepStart, TextPart, ToolPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import (
    CallStarted,
    Event,
    MessageAdded,
    PartReplaced,
    StepAdded,
    TurnBegan,
)
from tests.store.contract import said
from tests.store.sqlite_files import log_size, turn


@pytest.mark.anyio
async def test_the_bytes_of_an_append_do_not_grow_with_the_history(file: Path) -> None:
    """A turn in a session of many messages writes as much as one in a session of a few."""

    async def written(number: int) -> int:
        store = SqliteStore(str(file))  # with an empty log
        for event in turn(number):
            await store.append("s", [event])
        size = log_size(file)
        await store.close()
        return size

    async def grow(numbers: Sequence[int]) -> None:
        store = SqliteStore(str(file))
        await store.append("s", [event for number in numbers for event in turn(number)])
        await store.close()

    await grow(range(5))
    few = sum([await written(number) for number in range(5, 15)])
    await grow(range(15, 2000))
    many = sum([await written(number) for number in range(2000, 2010)])

    assert many < 2 * few


@pytest.mark.anyio
async def test_messages_may_grow_one_in_another(store: SqliteStore) -> None:
    """A part is found where other messages came between those of its own."""
    events: list[Event] = [TurnBegan(turn="t")]
    events += [MessageAdded(message=name, role="assistant", parent=None) for name in "ab"]
    for number in range(5):
        events += [StepAdded(message=name, parts=(TextPart(f"{name}{number}"),)) for name in "ab"]
    events.append(StepAdded(message="a", parts=(ToolPart(call_id="c", name="look"),)))
    events.append(StepAdded(message="b", parts=(TextPart("end"),)))
    replaced: list[Event] = [
        PartReplaced(message="a", index=7, part=TextPart("in its place"), rule="r"),
        CallStarted(call="c"),
        PartReplaced(message="b", index=11, part=ToolPart(call_id="c", name="again"), rule="r"),
        PartReplaced(message="a", index=11, part=StepStart(), rule="r"),
    ]
    for event in [*events, *replaced]:
        await store.append("s", [event])

    assert said(Conversation([*events, *replaced])) == said((await store.load("s")).conversation)
    assert [("s", "a")] == await store.search("place")
    assert [] == await store.search("a3")
