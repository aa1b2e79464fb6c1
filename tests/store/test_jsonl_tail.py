"""`suture.store.jsonl_tail`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suture.store import jsonl_tail
from suture.store.jsonl import JsonlStore
from suture.transcript import TextPart, ToolPart
from suture.transcript.events import (
    CallSettled,
    Event,
    LeafMoved,
    MessageAdded,
    StepAdded,
    TurnBegan,
    TurnEnded,
)
from tests.store.folders import loaded
from tests.store.strategies import logs


@pytest.fixture
def anyio_backend() -> str:
    """Plain asyncio."""
    return "asyncio"


@settings(
    max_examples=min(settings().max_examples, 500),  # each writes to a disk; the long runs are for what is pure
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(events=logs(), size=st.integers(1, 4), count=st.integers(0, 6), span=st.integers(1, 2000))
def test_the_end_is_that_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, events: list[Event], size: int, count: int, span: int
) -> None:
    """The newest messages, the last event and the open turn are those that folding everything gives."""
    monkeypatch.setattr(jsonl_tail, "_SPAN", span)
    monkeypatch.setattr(jsonl_tail, "_FURTHER", 2)

    async def scenario(folder: Path) -> None:
        store = JsonlStore(folder)
        for start in range(0, len(events), size):
            await store.append("s", events[start : start + size])
        await store.close()
        messages = (await loaded(folder)).conversation.messages()
        store = JsonlStore(folder)
        infos = await store.sessions()
        newest = await store.tail("s", count)
        assert messages[len(messages) - min(count, len(messages)) :] == newest
        await store.load("s")
        assert newest == await store.tail("s", count)
        assert infos == await store.sessions()
        await store.close()

    with TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


def turn(number: int) -> list[Event]:
    """A turn of two messages and a call."""
    return [
        TurnBegan(turn=f"t{number}"),
        MessageAdded(message=f"u{number}", role="user", parent=f"a{number - 1}" if number else None),
        MessageAdded(message=f"a{number}", role="assistant", parent=f"u{number}"),
        StepAdded(message=f"a{number}", parts=(ToolPart(call_id=f"c{number}", name="look", input={}),)),
        CallSettled(call=f"c{number}", state="output-available", output="x" * 1000),
        StepAdded(message=f"a{number}", parts=(TextPart(f"answer {number}"),)),
        TurnEnded(turn=f"t{number}", outcome="completed"),
    ]


@pytest.mark.anyio
async def test_the_end_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little more is read than what is asked for, and a result whose call is further back counts for nothing."""
    store = JsonlStore(tmp_path)
    for number in range(1000):
        await store.append("s", turn(number))
    await store.append("s", [CallSettled(call="c1", state="output-available", output="late")])
    await store.close()

    store = JsonlStore(tmp_path)
    monkeypatch.setattr("suture.store.jsonl_file.lines_from", None)  # the whole is never read
    newest = await store.tail("s", 3)
    assert ["a998", "u999", "a999"] == [message.id for message in newest]
    assert [(7001, None)] == [(info.number, info.turn) for info in await store.sessions()]
    assert 180 == len(await store.tail("s", 180))
    assert [] == await store.tail("nobody", 3)
    assert [] == await store.tail("s", 0)
    await store.close()
    monkeypatch.undo()
    whole = (await loaded(tmp_path)).conversation.messages()
    assert whole[-3:] == newest
    assert 4 == len(newest[-1].parts)

    store = JsonlStore(tmp_path)
    assert whole == await store.tail("s", 10**6)
    await store.close()


@pytest.mark.anyio
async def test_a_branch_whose_leaf_is_further_back(tmp_path: Path) -> None:
    """Going back to an old message makes it the newest, wherever it stands."""
    store = JsonlStore(tmp_path)
    for number in range(300):
        await store.append("s", turn(number))
    await store.append("s", [LeafMoved(leaf="a3")])
    await store.close()
    store = JsonlStore(tmp_path)
    assert ["u3", "a3"] == [message.id for message in await store.tail("s", 2)]
    await store.append("s", [TurnBegan(turn="t"), MessageAdded(message="u", role="user", parent="a3")])
    await store.close()
    store = JsonlStore(tmp_path)
    assert ["a3", "u"] == [message.id for message in await store.tail("s", 2)]
    assert ["t"] == [info.turn for info in await store.sessions()]
    await store.append("s", [LeafMoved(leaf=None)])
    await store.close()
    store = JsonlStore(tmp_path)
    assert [] == await store.tail("s", 2)
    await store.close()


@pytest.mark.anyio
async def test_events_without_numbers_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the beginning: the end does not say how many there are."""
    monkeypatch.setattr(jsonl_tail, "_SPAN", 300)
    lines = '{"event":"turn-began","turn":"t"}\n{"event":"turn-ended","turn":"t","outcome":"stopped"}\n' * 50
    write(tmp_path / "s.jsonl", lines)
    store = JsonlStore(tmp_path)
    assert [100] == [info.number for info in await store.sessions()]
    await store.close()


def write(path: Path, text: str) -> None:
    """Make a file."""
    path.write_text(text)
