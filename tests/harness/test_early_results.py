"""A client answers while the model still speaks. Rows TC23 to TC25, TC27 to TC30, TC33 and TC35 to TC37."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from suture.harness import Session
from suture.harness.notices import CallArguments, ClientNeeded
from suture.models import CallPiece, Finish, Piece, TextPiece
from suture.store.memory import MemoryStore
from suture.transcript.events import StepAdded
from tests.harness.agents import Slow, ToolLog, call, calls, heard, made, outcome, repairs, says, texts
from tests.harness.test_client_tools import asked, client
from tests.harness.test_endings import until

pytestmark = pytest.mark.anyio

DONE: list[Piece | None] = [TextPiece("done"), Finish()]


def calling_slowly(*names: str) -> list[Piece | None]:
    """An answer that calls tools, and waits before each call but the first, and at its end."""
    pieces: list[Piece | None] = []
    for index, name in enumerate(names):
        pieces += [CallPiece(index=index, call_id=f"c{index}", name=name, arguments="{}"), None]
    return [*pieces, Finish("tool_calls")]


def said(session: Session) -> int:
    """How many pieces of an answer have come that is not stored yet."""
    turn = session.line.running
    return len(turn.answer.pieces) if turn and turn.answer else 0


async def speaking(*names: str, then: int = 1) -> tuple[Session, Slow, asyncio.Task[list[Any]]]:
    """A session whose model has made its first call and still speaks."""
    model = Slow(calling_slowly(*names), *[DONE] * then)
    agent = made(tools=client(*names))
    agent.model = model
    session = agent.session("s")
    turn = asyncio.create_task(heard(session.run("go")))
    await until(lambda: said(session))
    return session, model, turn


async def test_tc23_tc25_a_result_before_the_call_is_stored() -> None:
    """It is kept with the call, and the turn goes on by itself."""
    session, model, turn = await speaking("ask")
    assert session.conversation.call("c0") is None
    assert await session.tool_result("c0", "yes")
    model.more.release()
    notices = await turn
    assert ("completed", []) == (notices[-1].outcome, repairs(notices))
    assert ("output-available", "yes") == outcome(call(session, "ask"))
    assert [] == [notice for notice in notices if isinstance(notice, ClientNeeded)]
    assert ["c0"] == [notice.call for notice in notices if isinstance(notice, CallArguments)]


async def test_tc23_the_first_result_stays_also_then() -> None:
    """A second one is a no-op; so is one for a call that was not made."""
    session, model, turn = await speaking("ask")
    assert [True, False, False] == [await session.tool_result(name, name) for name in ("c0", "c0", "c9")]
    model.more.release()
    await turn
    assert "c0" == call(session, "ask").output


async def test_tc23_a_result_while_the_call_is_being_stored() -> None:
    """The store takes its time, and the client does not: nothing is lost in between."""

    class Gated(MemoryStore):
        """A store that waits before it takes an answer."""

        gate = asyncio.Event()
        reached = asyncio.Event()

        async def append(self, session: str, events: Any, **options: Any) -> int:
            if any(isinstance(event, StepAdded) and event.finish == "tool_calls" for event in events):
                self.reached.set()
                await self.gate.wait()
            return await super().append(session, events, **options)

    agent = made(tools=client("ask"), store=Gated())
    agent.model = Slow([CallPiece(index=0, call_id="c0", name="ask", arguments="{}"), Finish("tool_calls")], DONE)
    session = agent.session("s")
    turn = asyncio.create_task(heard(session.run("go")))
    await Gated.reached.wait()
    result = asyncio.create_task(session.tool_result("c0", "yes"))
    await asyncio.sleep(0)
    Gated.gate.set()
    assert await result
    await turn
    await heard(session.resume())
    assert ("output-available", "yes") == outcome(call(session, "ask"))


async def test_tc24_what_was_not_asked_is_not_decided() -> None:
    """An approval is asked for when the call is stored: before that there is nothing to say yes to."""
    log = ToolLog()
    model = Slow(calling_slowly("pay"), DONE)
    agent = made(tools=[log.tool("pay", needs_approval=True)])
    agent.model = model
    session = agent.session("s")
    turn = asyncio.create_task(heard(session.run("go")))
    await until(lambda: said(session))
    assert not await session.approve("c0")
    assert not await session.tool_result("c0", "paid")
    model.more.release()
    assert "parked" == (await turn)[-1].outcome
    assert await session.approve("c0")
    await heard(session.resume())
    assert (["pay"], "output-available") == (log.names, call(session, "pay").state)


async def test_tc24_stop_keeps_what_the_client_said() -> None:
    """The model is cut off; the result of its call is real, and stays."""
    session, _, turn = await speaking("ask")
    await session.tool_result("c0", "yes")
    await session.stop()
    assert "stopped" == (await turn)[-1].outcome
    assert ("output-available", "yes") == outcome(call(session, "ask"))


async def test_tc35_a_sibling_may_come_later_in_the_stream() -> None:
    """The turn waits for it: nothing goes on before the stream has ended and both are answered."""
    session, model, turn = await speaking("fast", "slow")
    await session.tool_result("c0", 1)
    resumed = asyncio.create_task(heard(session.resume()))
    model.more.release()
    model.more.release()
    assert "parked" == (await turn)[-1].outcome
    assert "parked" == (await resumed)[-1].outcome
    assert 1 == len(model.requests)
    await session.tool_result("c1", 2)
    assert "completed" == (await heard(session.resume()))[-1].outcome
    assert ([1, 2], 2) == ([part.output for part in calls(session)], len(model.requests))


async def test_tc36_all_answered_while_it_streams() -> None:
    """The turn goes on, once."""
    session, model, turn = await speaking("fast")
    await session.tool_result("c0", 1)
    model.more.release()
    assert "completed" == (await turn)[-1].outcome
    assert "there was nothing to answer" == (await heard(session.resume()))[-1].detail
    assert 2 == len(model.requests)


async def test_tc37_one_in_the_stream_and_one_behind_it() -> None:
    """The second is waited for, and never taken for broken."""
    session, model, turn = await speaking("fast", "slow")
    model.more.release()
    await until(lambda: said(session) == 2)
    await session.tool_result("c0", 1)
    model.more.release()
    notices = await turn
    assert "parked" == notices[-1].outcome
    await session.tool_result("c1", 2)
    notices += await heard(session.resume())
    assert ("completed", []) == (notices[-1].outcome, repairs(notices))
    assert [1, 2] == [part.output for part in calls(session)]


# --- who waits, and for how long ------------------------------------------------------------------------------------


async def test_tc27_a_settled_call_does_not_stand_for_its_sibling() -> None:
    """A server's tool is done, the client's is not: the turn waits; then it goes on once."""
    log = ToolLog()
    agent = made(tools=[log.tool("look"), *client("ask")])
    pieces = [CallPiece(index=n, call_id=f"c{n}", name=name, arguments="{}") for n, name in enumerate(("look", "ask"))]
    agent.model = model = Slow([*pieces, Finish("tool_calls")], DONE)
    session = agent.session("s")
    assert "parked" == (await says(session, "go")).outcome
    assert "parked" == (await heard(session.resume()))[-1].outcome
    await session.tool_result("c1", "yes")
    assert "completed" == (await heard(session.resume()))[-1].outcome
    assert 2 == len(model.requests)


async def test_tc28_tc29_a_client_that_never_comes_back_costs_nothing() -> None:
    """Nothing runs, nothing is armed, and nothing is decided over its head: the call stays open for good."""
    session = await asked("fast", "slow")
    await session.tool_result(call(session, "fast").call_id, 1)
    before = asyncio.all_tasks()
    assert "parked" == (await heard(session.resume()))[-1].outcome
    for _ in range(20):
        await asyncio.sleep(0)
    assert before == asyncio.all_tasks()
    assert ("input-available", False) == (call(session, "slow").state, session.line.busy)
    assert 1 == len(session.agent.model.requests)


async def test_tc30_what_is_complete_waits_for_nobody() -> None:
    """All answers are there and nobody has said go on: no call is open, and going on is what is left to do."""
    session = await asked("ask")
    await session.tool_result(call(session, "ask").call_id, "yes")
    assert [] == session.waiting
    assert ["completed", "completed"] == [(await heard(session.resume()))[-1].outcome for _ in range(2)]
    assert 2 == len(session.agent.model.requests)


async def test_tc33_the_last_result_comes_after_a_restart() -> None:
    """One continuation, both outputs stored; what was to be done is in the log, not in a process."""
    session = await asked("fast", "slow")
    store: MemoryStore = session.agent.opened
    await session.tool_result(call(session, "fast").call_id, 1)
    await heard(session.resume())
    again = made("done", tools=client("fast", "slow"), store=store).session("s")
    await again.tool_result(call(session, "slow").call_id, 2)
    assert "completed" == (await heard(again.resume()))[-1].outcome
    assert ([1, 2], ["go", "done"]) == (
        [part.output for part in calls(again)],
        texts(again.conversation.messages()),
    )
