"""The agent on real stores: what lies on disk already, and disks that fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from suture.errors import StoreError
from suture.store import open_store
from suture.store.memory import MemoryStore
from suture.transcript import CAUSES
from suture.transcript.events import Event, PartReplaced, StepAdded
from tests.harness.agents import ToolLog, calling, calls, heard, made, outcome, repairs, says, texts
from tests.harness.test_healing import cut, started

pytestmark = pytest.mark.anyio

RESULT = '{"event":"call-settled","call":"c1","state":"output-available","output":"real"}\n'
MORE = '{"event":"admitted","message":"u2","parts":[{"type":"text","text":"are you there?"}]}\n'

WEDGED = {
    "two calls and nothing after": ("", [CAUSES["started"], CAUSES["not_started"]]),
    "one of two answered": (RESULT, [CAUSES["started"], "real"]),
    "a user message after it": (RESULT + MORE, [CAUSES["started"], "real"]),
    "a torn last line": (RESULT + MORE[:30], [CAUSES["started"], "real"]),
}


def added(folder: Path, tail: str) -> bytes:
    """The one file of a folder, with this behind it."""
    (file,) = folder.glob("*.jsonl")
    with file.open("a") as end:
        end.write(tail)
    return file.read_bytes()


@pytest.mark.parametrize("name", WEDGED)
async def test_a_wedged_transcript_goes_on(name: str, tmp_path: Path) -> None:
    """What another process left in a file loads, is answered, and still shows what really happened."""
    tail, outputs = WEDGED[name]
    store = open_store(f"jsonl:{tmp_path}")
    await store.append("s", cut("pay", "look", after=started("c0")))
    await store.close()
    before = added(tmp_path, tail)

    tools = [ToolLog().tool("pay"), ToolLog().tool("look")]
    agent = made("here I am", tools=tools, store=open_store(f"jsonl:{tmp_path}"))
    session = agent.session("s")
    end = await says(session, "go on")
    assert ("completed", outputs) == (end.outcome, [part.output for part in calls(session)])
    assert "here I am" == texts(session.conversation.messages())[-1]
    assert added(tmp_path, "").startswith(before)
    await agent.close()


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
async def test_a_session_is_taken_up_where_it_was(kind: str, tmp_path: Path) -> None:
    """By another agent, as after a restart: messages, what waits, and which turn was open."""
    url = f"{kind}:{tmp_path / 'chats'}"
    tools = [ToolLog().tool("ask", client=True)]
    first = made(calling("ask"), tools=tools, store=open_store(url))
    await says(first.session("s"), "go")
    await first.opened.close()
    second = made("blue it is", tools=tools, store=open_store(url))
    session = second.session("s")
    await session.load()
    assert await session.tool_result(session.waiting[0].call_id, "blue")
    notices = await heard(session.resume())
    assert ("completed", []) == (notices[-1].outcome, repairs(notices))
    assert [("output-available", "blue")] == [outcome(part) for part in calls(session)]
    await second.close()


class Failing(MemoryStore):
    """A store whose disk is full from some moment on."""

    full: Any = staticmethod(lambda _: False)

    async def append(self, session: str, events: Sequence[Event], *, epoch: int = 0, key: str = "") -> int:
        """See `Store`."""
        if any(map(self.full, events)):
            raise StoreError(self.url, "the disk is full")
        return await super().append(session, events, epoch=epoch, key=key)


async def test_a_disk_that_is_full() -> None:
    """The error comes to whoever listens, nothing is lost, and the turn is healed once there is room again."""
    store = Failing()
    store.full = lambda event: isinstance(event, StepAdded)
    session = made("lost", "found", store=store).session("s")
    assert "failed" == (await says(session, "hello")).outcome
    store.full = lambda _: True
    with pytest.raises(StoreError, match="the disk is full"):
        await heard(session.run("hello?"))
    store.full = lambda _: False
    assert "completed" == (await says(session, "hello!")).outcome
    assert ["hello", "hello!", "found"] == texts(session.conversation.messages())


async def test_a_repair_that_cannot_be_written() -> None:
    """Nothing is sent to the model that is not on disk."""
    store = Failing()
    await store.append("s", cut("pay"))
    store.full = lambda event: isinstance(event, PartReplaced)
    agent = made("never", "now", tools=[ToolLog().tool("pay")], store=store)
    assert "failed" == (await says(agent.session("s"), "go on")).outcome
    assert [] == agent.model.requests  # type: ignore[union-attr]
    store.full = lambda _: False
    session = agent.session("s")
    assert "completed" == (await says(session, "go on!")).outcome
    assert all(part.settled for part in calls(session))
