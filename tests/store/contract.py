"""What every store must do: the one suite, run over each kind by `test_contract.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suture.errors import BusyError, EventError, FencedError
from suture.store import Store, open_store
from suture.transcript import TextPart, ToolPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import (
    Admitted,
    CallSettled,
    CallStarted,
    Event,
    LeafMoved,
    MessageAdded,
    StepAdded,
    TurnBegan,
    TurnEnded,
)
from tests.store.strategies import logs

__all__ = ["StoreContract"]

HELLO = Admitted(message="u1", parts=(TextPart("hello there"),))
TURN: list[Event] = [
    HELLO,
    TurnBegan(turn="t1"),
    MessageAdded(message="u1", role="user", parent=None, parts=HELLO.parts),
    MessageAdded(message="a1", role="assistant", parent="u1"),
    StepAdded(message="a1", parts=(TextPart("let me see"), ToolPart(call_id="c1", name="look", input={}))),
    CallStarted(call="c1"),
]


RESULT = CallSettled(call="c1", state="output-available", output=1)


def said(conversation: Conversation) -> Any:
    """All that a conversation holds, in a form that can be compared."""
    return (
        conversation.head,
        {name: (conversation.message(name), conversation.parent(name)) for name in conversation.ids()},
        conversation.inputs,
        conversation.summaries,
        conversation.client_tools,
        conversation.open_calls(),
        conversation.messages(),
    )


class StoreContract:
    """Subclasses say how to make a store; everything below holds for it."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """Plain asyncio."""
        return "asyncio"

    @pytest.fixture
    def url(self, tmp_path: Any) -> str:
        """The address of an empty store."""
        raise NotImplementedError

    durable = True
    """Whether what was appended is there when the store is opened again."""

    @asynccontextmanager
    async def opened(self, url: str) -> Any:
        """The store, closed at the end."""
        store = open_store(url)
        try:
            yield store
        finally:
            await store.close()

    # --- the log ----------------------------------------------------------------------------------------------------

    @pytest.mark.anyio
    async def test_what_was_appended_is_there(self, url: str) -> None:
        """Events come back in order, numbered from 1, with their epoch and a time; the messages are their fold."""
        async with self.opened(url) as store:
            lease = await store.take("s", "me")
            assert 1 == await store.append("s", TURN[:1])
            assert len(TURN) == await store.append("s", TURN[1:], epoch=lease.epoch)

            recorded = [event async for event in store.events("s")]
            assert TURN == [one.event for one in recorded]
            assert [1, 2, 3, 4, 5, 6] == [one.number for one in recorded]
            assert [0, *[lease.epoch] * 5] == [one.epoch for one in recorded]
            assert all(one.at > 1.7e9 for one in recorded)
            assert TURN[4:] == [one.event async for one in store.events("s", after=4)]
            loaded = await store.load("s")
            assert said(Conversation(TURN)) == said(loaded.conversation)
            assert (6, lease.epoch) == (loaded.number, loaded.epoch)

    @pytest.mark.anyio
    async def test_what_was_appended_stays(self, url: str) -> None:
        """Closing and opening again changes nothing, where a store is durable."""
        async with self.opened(url) as store:
            await store.append("s", TURN)
        async with self.opened(url) as store:
            expected = TURN if self.durable else []
            assert said(Conversation(expected)) == said((await store.load("s")).conversation)
            assert expected == [one.event async for one in store.events("s")]

    @pytest.mark.anyio
    async def test_a_session_that_is_not_there_is_empty(self, url: str) -> None:
        """Looking at one makes none."""
        async with self.opened(url) as store:
            loaded = await store.load("nobody")
            assert ([], 0) == (loaded.conversation.messages(), loaded.number)
            assert [] == [one async for one in store.events("nobody")]
            assert [] == await store.sessions()
            await store.delete("nobody")

    @pytest.mark.anyio
    @pytest.mark.parametrize("name", ["a/b", "..", "ÆØÅ ☕", "x" * 300, "CON", " ", "a\x00b", "%2e", "s.jsonl"])
    async def test_any_text_names_a_session(self, url: str, name: str) -> None:
        """And no name reaches another session."""
        async with self.opened(url) as store:
            await store.append(name, TURN[:1])
            await store.append("other", TURN)
            assert 1 == (await store.load(name)).number
            assert {name, "other"} == {info.session for info in await store.sessions()}

    @pytest.mark.anyio
    async def test_all_or_none(self, url: str) -> None:
        """A batch with one event that cannot be takes nothing in, and says which."""
        async with self.opened(url) as store:
            await store.append("s", TURN)
            with pytest.raises(EventError, match="no call 'c9'"):
                await store.append("s", [RESULT, CallStarted(call="c9")])
            assert said(Conversation(TURN)) == said((await store.load("s")).conversation)
            assert len(TURN) == len([one async for one in store.events("s")])
            assert 7 == await store.append("s", [RESULT])

    @pytest.mark.anyio
    async def test_a_key_is_taken_once(self, url: str) -> None:
        """The second append under a key changes nothing, in another session it is another key."""
        async with self.opened(url) as store:
            assert 1 == await store.append("s", [HELLO], key="k")
            assert 2 == await store.append("s", [LeafMoved(leaf=None)])
            assert 2 == await store.append("s", [HELLO, HELLO], key="k")
            assert 1 == await store.append("other", [HELLO], key="k")
        if self.durable:
            async with self.opened(url) as store:
                assert 2 == await store.append("s", [HELLO], key="k")

    @pytest.mark.anyio
    async def test_one_append_after_another(self, url: str) -> None:
        """Many at once, into one session and several: no number is missing or twice."""
        async with self.opened(url) as store:
            await asyncio.gather(*(store.append(f"s{n % 3}", [LeafMoved(leaf=None)]) for n in range(60)))
            for session in ("s0", "s1", "s2"):
                assert [*range(1, 21)] == [one.number async for one in store.events(session)]

    # --- epochs -----------------------------------------------------------------------------------------------------

    @pytest.mark.anyio
    async def test_who_was_overtaken_writes_nothing(self, url: str) -> None:
        """The owner of an older epoch is refused; what needs no turn is taken from anybody."""
        async with self.opened(url) as store:
            first = await store.take("s", "first", lease=0)
            await store.append("s", TURN, epoch=first.epoch)
            second = await store.take("s", "second")
            assert second.epoch > first.epoch
            assert len(TURN) == second.number
            with pytest.raises(FencedError, match="taken over"):
                await store.append("s", [RESULT], epoch=first.epoch)
            with pytest.raises(FencedError):
                await store.renew(first)
            await store.release(first)
            await store.renew(second)
            assert 7 == await store.append("s", [RESULT])
            assert 8 == await store.append("s", [TurnEnded(turn="t1", outcome="completed")], epoch=second.epoch)

    @pytest.mark.anyio
    async def test_a_session_is_one_owner_at_a_time(self, url: str) -> None:
        """Until the owner gives it back, or its lease has run out."""
        async with self.opened(url) as store:
            lease = await store.take("s", "first")
            with pytest.raises(BusyError, match="'s' is being answered by first"):
                await store.take("s", "second")
            await store.take("other", "second")
            again = await store.take("s", "first")
            await store.release(lease)
            with pytest.raises(BusyError):
                await store.take("s", "second")
            assert (await store.take("s", "second", instead_of="first")).epoch > again.epoch
            with pytest.raises(BusyError, match="by second"):
                await store.take("s", "third", instead_of="first")
            await store.release(await store.take("s", "second"))
            await store.take("s", "second", lease=0)
            await store.take("s", "third")

    # --- looking around ---------------------------------------------------------------------------------------------

    @pytest.mark.anyio
    async def test_sessions_are_listed(self, url: str) -> None:
        """The one that changed last comes first."""
        async with self.opened(url) as store:
            await store.append("old", TURN)
            await store.append("new", TURN[:1])
            await asyncio.sleep(0.01)
            await store.append("old", [TurnEnded(turn="t1", outcome="completed")])
            await store.append("open", TURN[:2])
            assert ["open", "old", "new"] == [info.session for info in await store.sessions()]
            assert ["t1", None, None] == [info.turn for info in await store.sessions()]
            assert [2, 7, 1] == [info.number for info in await store.sessions()]

    @pytest.mark.anyio
    async def test_messages_are_found_by_their_words(self, url: str) -> None:
        """All words, in any order, whatever their case; a text that looks like a query is only text."""
        async with self.opened(url) as store:
            await store.append("s", TURN)
            assert [("s", "u1")] == await store.search("There HELLO")
            assert [("s", "a1")] == await store.search("see")
            assert [] == await store.search("hello nobody")
            assert [] == await store.search('" OR hello')
            assert [] == await store.search("")
            await store.delete("s")
            assert [] == await store.search("hello")

    @pytest.mark.anyio
    async def test_a_deleted_session_is_gone(self, url: str) -> None:
        """And may begin anew."""
        async with self.opened(url) as store:
            await store.append("s", TURN, key="k")
            await store.delete("s")
            assert 0 == (await store.load("s")).number
            assert 1 == await store.append("s", TURN[:1], key="k")

    @pytest.mark.anyio
    async def test_a_deleted_session_is_nobody_s(self, url: str) -> None:
        """Whoever had it finds out at the next sign of life."""
        async with self.opened(url) as store:
            lease = await store.take("s", "me")
            await store.append("s", TURN[:1], epoch=lease.epoch)
            await store.delete("s")
            with pytest.raises(FencedError):
                await store.renew(lease)
            await store.release(lease)

    # --- properties -------------------------------------------------------------------------------------------------

    # Each example writes to a disk; the long runs are for what is pure.
    @settings(
        max_examples=min(settings().max_examples, 300),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(events=logs(), cuts=st.lists(st.integers(0, 30), max_size=5))
    def test_the_messages_are_the_fold(self, url: str, events: list[Event], cuts: list[int]) -> None:
        """However the log was written, batch by batch and across openings."""
        bounds = sorted({0, len(events), *(cut for cut in cuts if cut < len(events))})
        batches = [events[a:b] for a, b in pairwise(bounds)]
        session = str(uuid4())  # not drawn: an example that is run again has to begin in an empty session

        async def scenario(store: Store) -> None:
            for number, batch in enumerate(batches):
                await store.append(session, batch, key=str(number))
            await check(store)

        async def check(store: Store) -> None:
            assert said(Conversation(events)) == said((await store.load(session)).conversation)
            assert events == [one.event async for one in store.events(session)]

        self.run(url, scenario)
        if self.durable:
            self.run(url, check)

    def run(self, url: str, scenario: Callable[[Store], Awaitable[None]]) -> None:
        """Run a scenario in a loop of its own."""

        async def opened() -> None:
            async with self.opened(url) as store:
                await scenario(store)

        asyncio.run(opened())
