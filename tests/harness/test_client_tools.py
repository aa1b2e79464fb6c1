"""Client tools and approvals: what waits, what answers it, when the turn goes on. Rows TC of the behaviour tables."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from suture.harness import Agent
from suture.harness.notices import ApprovalNeeded, ClientNeeded
from suture.transcript.events import ApprovalAnswered, ApprovalAsked
from tests.harness.agents import ToolLog, call, calling, calls, heard, made, outcome, repairs, says, texts

pytestmark = pytest.mark.anyio


def client(*names: str, **options: Any) -> list[Any]:
    """Tools that the client runs."""
    return [ToolLog().tool(name, client=True, **options) for name in names]


async def asked(*names: str, then: tuple[Any, ...] = ("done",), **options: Any) -> Any:
    """A session whose model has called client tools, and waits."""
    agent = made(calling(*names), *then, tools=client(*dict.fromkeys(names), **options))
    session = agent.session("s")
    end = await says(session, "go")
    assert ("parked", set(names)) == (end.outcome, {part.name for part in session.waiting})
    return session


# --- results --------------------------------------------------------------------------------------------------------


async def test_tc01_a_result_settles_the_call() -> None:
    """A client's result is stored as the call's output."""
    session = await asked("ask")
    assert await session.tool_result(call(session, "ask").call_id, {"x": 1})
    assert ("output-available", {"x": 1}) == outcome(call(session, "ask"))


async def test_tc02_an_error_settles_the_call() -> None:
    """With the client's own text."""
    session = await asked("ask")
    assert await session.tool_result(call(session, "ask").call_id, error="no camera")
    assert ("output-error", "no camera") == outcome(call(session, "ask"))


async def test_tc04_the_first_result_stays() -> None:
    """A second one is no error, and changes nothing."""
    session = await asked("ask")
    name = call(session, "ask").call_id
    assert await session.tool_result(name, "first")
    assert not await session.tool_result(name, "second")
    assert ("output-available", "first") == outcome(call(session, "ask"))


async def test_tc05_tc10_what_is_denied_or_unknown_stays() -> None:
    """A result for a refused call and one for no call are no-ops."""
    session = await approval()
    name = call(session, "pay").call_id
    assert await session.deny(name, "too much")
    assert not await session.tool_result(name, "paid")
    assert not await session.tool_result("nobody", "paid")
    assert not await session.approve("nobody")
    assert ("output-denied", "too much") == outcome(call(session, "pay"))


@pytest.mark.parametrize("approved", [False, True], ids=["TC06 waits", "TC07 approved"])
async def test_tc06_tc07_a_result_may_come_before_the_approval(approved: bool) -> None:
    """Somebody ran it by hand: that is its result."""
    session = await approval()
    name = call(session, "pay").call_id
    if approved:
        await session.approve(name)
    assert await session.tool_result(name, "paid by hand")
    assert ("output-available", "paid by hand") == outcome(call(session, "pay"))


# --- approvals ------------------------------------------------------------------------------------------------------


async def approval(*then: Any, log: ToolLog | None = None, function: Any = None) -> Any:
    """A session in which a call waits for a person."""
    pay = (log or ToolLog()).tool("pay", function, needs_approval=True)
    session = made(calling("pay"), *(then or ("done",)), tools=[pay]).session("s")
    assert "parked" == (await says(session, "pay it")).outcome
    assert "approval-requested" == call(session, "pay").state
    return session


async def test_tc08_tc12_a_yes_is_recorded() -> None:
    """With the question's id; the call is still to be run."""
    session = await approval()
    question = (call(session, "pay").approval or {})["id"]
    assert await session.approve(call(session, "pay").call_id)
    assert "approval-responded" == call(session, "pay").state
    assert {"id": question, "approved": True} == call(session, "pay").approval


async def test_tc09_tc18_a_no_never_runs() -> None:
    """And the model is told, with the reason."""
    log = ToolLog()
    session = await approval("a pity", log=log)
    await session.deny(call(session, "pay").call_id, "too much")
    end = (await heard(session.resume()))[-1]
    assert ("completed", []) == (end.outcome, log.ran)
    assert ("output-denied", "too much") == outcome(call(session, "pay"))
    assert "a pity" in texts(session.conversation.messages())


async def test_tc11_what_is_done_needs_no_approval() -> None:
    """Approving a call that has its result changes nothing."""
    session = await approval()
    name = call(session, "pay").call_id
    await session.tool_result(name, "paid")
    assert not await session.approve(name)
    assert ("output-available", "paid") == outcome(call(session, "pay"))


async def test_tc15_tc16_tc17_an_approved_call_runs_once() -> None:
    """Its result stands in the message that made the call, and nothing is repaired."""
    log = ToolLog()
    session = await approval("paid", log=log)
    await session.approve(call(session, "pay").call_id)
    notices = await heard(session.resume())
    assert [] == repairs(notices)
    assert ["pay"] == log.names
    assert ("output-available", "pay None") == outcome(call(session, "pay"))
    assert 2 == len(session.conversation.messages())
    assert [] == [notice for notice in await heard(session.resume()) if isinstance(notice, ApprovalNeeded)]
    assert ["pay"] == log.names


async def test_tc19_an_approved_tool_that_fails() -> None:
    """Runs once, and its error is the outcome."""

    def fails(_: Any) -> None:
        raise ValueError("card expired")

    log = ToolLog()
    session = await approval("hm", log=log, function=fails)
    await session.approve(call(session, "pay").call_id)
    await heard(session.resume())
    assert (["pay"], "output-error") == (log.names, call(session, "pay").state)
    assert "card expired" in call(session, "pay").output


async def test_an_approval_survives_a_new_message() -> None:
    """6.7 (4): the user writes on, the model is told that it waits (which is not stored), and a yes still works."""
    log = ToolLog()
    session = await approval("I wait for you", "paid", log=log)
    assert "completed" == (await says(session, "what are you waiting for?")).outcome
    request = session.agent.model.requests[-1]
    shown = [part for message in request.messages for part in message.parts if getattr(part, "name", "") == "pay"]
    assert "waits for a person's approval" in shown[0].output
    assert "approval-requested" == call(session, "pay").state
    assert await session.approve(call(session, "pay").call_id)
    await says(session, "go on then")
    assert (["pay"], "output-available") == (log.names, call(session, "pay").state)


# --- going on -------------------------------------------------------------------------------------------------------


async def test_tc13_a_result_lets_the_turn_go_on() -> None:
    """Into the same message."""
    session = await asked("ask")
    await session.tool_result(call(session, "ask").call_id, "yes")
    assert "completed" == (await heard(session.resume()))[-1].outcome
    assert ["user", "assistant"] == [message.role for message in session.conversation.messages()]
    assert ["go", "done"] == texts(session.conversation.messages())


async def test_tc14_a_result_by_itself_starts_nothing() -> None:
    """The model is asked when somebody says so."""
    session = await asked("ask")
    await session.tool_result(call(session, "ask").call_id, "yes")
    assert 1 == len(session.agent.model.requests)


async def test_tc21_tc26_all_results_are_awaited() -> None:
    """However often it is asked to, the turn goes on once, when the last one is there; nothing is repaired."""
    session = await asked("fast", "slow", "third")
    await session.tool_result(call(session, "fast").call_id, 1)
    notices = await heard(session.resume())
    assert ("parked", []) == (notices[-1].outcome, repairs(notices))
    assert 2 == len([notice for notice in notices if isinstance(notice, ClientNeeded)])
    await asyncio.gather(*(session.tool_result(call(session, name).call_id, name) for name in ("slow", "third")))
    notices = await heard(session.resume())
    assert ("completed", []) == (notices[-1].outcome, repairs(notices))
    assert 2 == len(session.agent.model.requests)
    assert [1, "slow", "third"] == [part.output for part in calls(session)]


async def test_tc22_results_do_not_clobber_each_other() -> None:
    """Many at once, for one message."""
    session = await asked(*(f"t{n}" for n in range(8)))
    await asyncio.gather(*(session.tool_result(part.call_id, part.name) for part in calls(session)))
    assert [f"t{n}" for n in range(8)] == [part.output for part in calls(session)]


async def test_tc31_tc34_an_error_completes_a_batch() -> None:
    """6.7 (11): also after a restart, the last result being an error; the intent to go on is in the log."""
    session = await asked("fast", "slow")
    await session.tool_result(call(session, "fast").call_id, "ok")
    again = made("done", tools=client("fast", "slow"), store=session.agent.opened).session("s")
    assert await again.tool_result((await again.load()).open_calls()[0].part.call_id, error="gone")  # type: ignore[union-attr]
    assert "completed" == (await heard(again.resume()))[-1].outcome
    assert ["output-available", "output-error"] == [part.state for part in calls(again)]


async def test_tc38_an_approval_holds_the_batch() -> None:
    """A client's result is not enough where a person has to decide too."""
    log = ToolLog()
    tools = [*client("ask"), log.tool("pay", needs_approval=True)]
    session = made(calling("ask", "pay"), "done", tools=tools).session("s")
    await says(session, "go")
    await session.tool_result(call(session, "ask").call_id, "yes")
    assert "parked" == (await heard(session.resume()))[-1].outcome
    await session.approve(call(session, "pay").call_id)
    assert "completed" == (await heard(session.resume()))[-1].outcome
    assert ["pay"] == log.names


async def test_tc44_what_waits_survives_a_restart() -> None:
    """Closed, opened again: still waiting, still answerable."""
    session = await asked("ask")
    again = made("done", tools=client("ask"), store=session.agent.opened).session("s")
    await again.load()
    assert ["ask"] == [part.name for part in again.waiting]
    notices = await heard(again.resume())
    assert ("parked", []) == (notices[-1].outcome, repairs(notices))


@pytest.mark.parametrize(
    ("policy", "state", "shown"),
    [
        ("hold", "input-available", "has not answered yet"),
        ("error", "output-error", "left to the client, which did not answer"),
    ],
)
async def test_a_new_message_meets_a_waiting_client_tool(policy: Any, state: str, shown: str) -> None:
    """The tool says what becomes of it."""
    session = await asked("ask", then=("hm",), if_interrupted=policy)
    await says(session, "never mind")
    assert state == call(session, "ask").state
    request = session.agent.model.requests[-1]
    sent = [part.output for message in request.messages for part in message.parts if getattr(part, "name", "")]
    assert shown in sent[0]


async def test_a_question_is_answered_by_the_next_message() -> None:
    """It becomes text, so that the model reads question and answer."""
    agent = made(
        calling(("ask", {"question": "Which colour?"})),
        "blue it is",
        tools=client("ask", if_interrupted="answer_by_next_message"),
    )
    session = agent.session("s")
    await says(session, "paint it")
    await says(session, "blue")
    assert ["paint it", "Which colour?", "blue", "blue it is"] == texts(session.conversation.messages())
    assert [] == calls(session)
    assert not await session.tool_result("call_0_0", "late")


async def test_a_late_result_replaces_a_synthetic_one() -> None:
    """Real beats synthetic; the next request has it."""
    session = await asked("ask", then=("hm", "I see"), if_interrupted="error")
    await says(session, "never mind")
    assert call(session, "ask").synthetic
    assert await session.tool_result(call(session, "ask").call_id, "here after all")
    assert ("output-available", "here after all") == outcome(call(session, "ask"))
    assert not call(session, "ask").synthetic


async def test_a_decision_of_a_hook_asks_a_person() -> None:
    """`Ask` parks a call that its tool would have run."""
    from suture.harness import Ask

    class Careful(Agent):
        def before_tool_call(self, part: Any) -> Any:
            return Ask() if part.name == "pay" else None

    log = ToolLog()
    session = made(calling("pay"), "done", tools=[log.tool("pay")], kind=Careful).session("s")
    assert "parked" == (await says(session, "go")).outcome
    await session.approve(call(session, "pay").call_id)
    await heard(session.resume())
    assert ["pay"] == log.names


async def test_answers_are_in_the_log() -> None:
    """Who decided what, and when."""
    session = await approval()
    await session.approve(call(session, "pay").call_id)
    events = [recorded.event async for recorded in session.agent.opened.events("s")]
    assert [ApprovalAsked, ApprovalAnswered] == [
        type(e) for e in events if isinstance(e, ApprovalAsked | ApprovalAnswered)
    ]
