"""However a turn ends, every call has its outcome, nothing real is lost, and the next message is answered."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from suture.errors import BusyError, ModelError, UsageError
from suture.harness import Agent
from suture.harness.endings import ENDINGS
from suture.harness.runtime import Runtime
from suture.models import Step, scripted
from suture.store.memory import MemoryStore
from suture.transcript import CAUSES
from suture.transcript.events import TurnBegan, TurnEnded
from tests.harness.agents import ToolLog, call, calling, calls, heard, made, outcome, says, texts
from tests.harness.test_schema import brief

pytestmark = pytest.mark.anyio


async def never(_: Any) -> None:
    """A tool that does not come back."""
    await asyncio.Event().wait()


async def until(condition: Any) -> None:
    """Let everything else go on until something holds."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


async def ends(session: Any) -> list[Any]:
    """How the turns of a session ended; each that began did, once."""
    events = [recorded.event async for recorded in session.agent.opened.events(session.name)]
    ended = [event for event in events if isinstance(event, TurnEnded)]
    assert [event.turn for event in events if isinstance(event, TurnBegan)] == [event.turn for event in ended]
    return [event.outcome for event in ended]


# --- stop -----------------------------------------------------------------------------------------------------------


async def test_stop_while_a_tool_runs() -> None:
    """The finished sibling keeps its result; the running one may have taken effect; the next message is answered."""
    log = ToolLog()
    tools = [log.tool("fast"), log.tool("slow", never)]
    session = made(calling("fast", "slow"), "well", tools=tools).session("s")
    turn = asyncio.create_task(heard(session.run("go")))
    await until(lambda: len(log.ran) == 2 and call(session, "fast").settled)
    await session.stop()
    assert "stopped" == (await turn)[-1].outcome
    assert ("output-available", "fast None") == outcome(call(session, "fast"))
    assert ("output-error", ENDINGS["stopped"]["started"]) == outcome(call(session, "slow"))
    assert "completed" == (await says(session, "go on")).outcome
    assert ["stopped", "completed"] == await ends(session)


async def test_stop_while_the_model_speaks() -> None:
    """What was said is kept, what was half called is settled."""
    session = made(Step(text="let me see", calls=(("pay", '{"amount": '),), hang=True), "well").session("s")
    turn = asyncio.create_task(heard(session.run("go")))
    await until(
        lambda: session.line.running and session.line.running.answer and len(session.line.running.answer.pieces) == 2
    )
    await asyncio.sleep(0)
    await session.stop()
    await turn
    assert ["go", "let me see"] == texts(session.conversation.messages())
    assert ("output-error", CAUSES["malformed"]) == outcome(call(session, "pay"))
    await says(session, "go on")
    assert ["stopped", "completed"] == await ends(session)


async def test_stop_is_durable() -> None:
    """6.7 (8): after it, nothing old runs, whoever takes the session up; a new message is answered."""
    log = ToolLog()
    tools = [log.tool("pay", needs_approval=True), log.tool("ask", client=True)]
    agent = made(calling("pay", "ask"), tools=tools)
    session = agent.session("s")
    await says(session, "go")
    await session.stop()
    assert [ENDINGS["stopped"]["awaiting_approval"], ENDINGS["stopped"]["awaiting_client"]] == [
        part.output for part in calls(session)
    ]
    again = made("fresh", tools=tools, store=agent.opened).session("s")
    assert not await again.approve(calls(session)[0].call_id)
    await heard(again.resume())
    await says(again, "new")
    assert ([], "fresh") == (log.ran, texts(again.conversation.messages())[-1])


async def test_stop_of_a_turn_whose_process_died() -> None:
    """Its calls are settled, and it has its end."""
    store = MemoryStore()
    first = made(calling("slow"), tools=[ToolLog().tool("slow", never)], store=store).session("s")
    turn = asyncio.create_task(heard(first.run("go")))
    await until(lambda: calls(first) and calls(first)[0].cause == "started")
    store._sessions["s"].owner = ""  # the process is gone, its lease has run out
    second = made(tools=[ToolLog().tool("slow", never)], store=store).session("s")
    await second.stop()
    assert ENDINGS["stopped"]["started"] == call(second, "slow").output
    turn.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await turn
    await first.stop()
    assert ["interrupted", "stopped"] == await ends(second)


async def test_stop_where_nothing_runs() -> None:
    """Is no error."""
    session = made("hello").session("s")
    await session.stop()
    await says(session, "hi")
    await session.stop()
    assert ["completed"] == await ends(session)


async def test_a_listener_that_goes_away_stops_nothing() -> None:
    """The turn runs to its end, and is recorded."""
    log = ToolLog()
    session = made(calling("look"), "done", tools=[log.tool("look")]).session("s")
    async for _ in session.run("go"):
        break
    await until(lambda: session.line.running is None)
    assert (["look"], ["completed"]) == (log.names, await ends(session))


async def test_a_loop_that_ends_stops_the_turn() -> None:
    """What the program leaves running is settled like a stop."""
    session = made(calling("slow"), tools=[ToolLog().tool("slow", never)]).session("s")
    turn = asyncio.create_task(heard(session.run("go")))
    await until(lambda: calls(session) and calls(session)[0].cause == "started")
    session.line.running._task.cancel()  # type: ignore[union-attr]
    await turn
    assert ["stopped"] == await ends(session)


# --- time, faults, steps --------------------------------------------------------------------------------------------


async def test_a_turn_that_takes_too_long() -> None:
    """Is failed, with its calls settled."""
    session = made(calling("slow"), "well", tools=[ToolLog().tool("slow", never)], turn_timeout=0.01).session("s")
    end = await says(session, "go")
    assert ("failed", "the turn took longer than 0.01 s") == (end.outcome, end.detail)
    assert ("output-error", ENDINGS["timeout"]["started"]) == outcome(call(session, "slow"))


@pytest.mark.parametrize("error", [TimeoutError("connect"), asyncio.CancelledError()], ids=repr)
async def test_a_fault_that_looks_like_a_time_limit_or_a_stop(error: Any) -> None:
    """A tool's own cancellation is its error, a model's own time limit is a fault: neither ends the turn otherwise."""

    async def cancelled(_: Any) -> None:
        raise error

    log = ToolLog()
    session = made(calling("odd"), Step(fault=TimeoutError("read")), tools=[log.tool("odd", cancelled)]).session("s")
    end = await says(session, "go")
    assert ("failed", "TimeoutError: read") == (end.outcome, end.detail)
    assert "output-error" == call(session, "odd").state
    assert type(error).__name__ in call(session, "odd").output


async def test_a_provider_that_fails_for_good() -> None:
    """What the model had said is kept; its calls did not run; the error is told."""
    fault = ModelError("bad key")
    log = ToolLog()
    script = (Step(text="let me", calls=(("pay", {}),), fault=fault), "back again")
    session = made(*script, tools=[log.tool("pay")]).session("s")
    end = await says(session, "go")
    assert ("failed", "ModelError: bad key", fault) == (end.outcome, end.detail, end.error)
    assert (["go", "let me"], []) == (texts(session.conversation.messages()), log.ran)
    assert ("output-error", ENDINGS["fault"]["not_started"]) == outcome(call(session, "pay"))
    assert "completed" == (await says(session, "go on")).outcome
    assert ["failed", "completed"] == await ends(session)


@pytest.mark.parametrize(("faults", "outcome_"), [(2, "completed"), (3, "failed")])
async def test_a_provider_that_fails_for_a_while(faults: int, outcome_: str) -> None:
    """A request of which nothing came is sent again, at most as often as the agent says."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        if seconds >= 5:
            await asyncio.Event().wait()
        slept.append(seconds)

    from suture.harness import Runtime

    overloaded = Step(fault=ModelError("overloaded", transient=True, retry_after=3))
    session = made(*[overloaded] * faults, "hello", runtime=Runtime(sleep=sleep)).session("s")
    assert outcome_ == (await says(session, "go")).outcome
    assert [3, 3] == slept


async def test_a_model_that_says_nothing_is_asked_again() -> None:
    """6.7 (2): a stall before the first piece is a fault of the moment; the message is answered."""
    session = made(Step(hang=True), "here I am", stream_stall_timeout=0.05, runtime=Runtime(sleep=soon)).session("s")
    end = await says(session, "go")
    assert ("completed", ["go", "here I am"]) == (end.outcome, texts(session.conversation.messages()))


async def test_a_model_that_stops_in_mid_sentence() -> None:
    """6.7 (2): what it had said stays, the turn fails with the reason, and the next message goes on."""
    agent = made(Step(text="as I was", hang=True), "well", stream_stall_timeout=0.05, runtime=Runtime(sleep=soon))
    session = agent.session("s")
    end = await says(session, "go")
    assert ("failed", "Transient: the model said nothing for 0.05 s") == (end.outcome, end.detail)
    await says(session, "go on")
    assert ["go", "as I was", "go on", "well"] == texts(session.conversation.messages())


async def soon(seconds: float) -> None:
    """Wait for what is short; a lease is never renewed."""
    await (asyncio.sleep(0) if seconds < 5 else asyncio.Event().wait())


async def test_a_model_that_never_ends() -> None:
    """After so many steps, the turn is over; all its calls have their results."""
    log = ToolLog()
    session = made(*[calling("look")] * 3, tools=[log.tool("look")], max_steps=3).session("s")
    end = await says(session, "go")
    assert ("out_of_steps", "no answer after 3 steps", 3) == (end.outcome, end.detail, len(log.ran))
    assert all(part.settled for part in calls(session))


async def test_a_hook_that_fails_ends_the_turn() -> None:
    """`before_turn` and `before_step` are part of it."""

    class Bad(Agent):
        def before_turn(self, _: Any) -> None:
            raise RuntimeError("no database")

    session = made("hello", kind=Bad).session("s")
    end = await says(session, "go")
    assert ("failed", "RuntimeError: no database") == (end.outcome, end.detail)
    assert ["failed"] == await ends(session)


# --- two at once ----------------------------------------------------------------------------------------------------


async def test_two_processes_at_once() -> None:
    """The second is told who is answering, and its message waits for the next turn."""
    store = MemoryStore()
    gate = asyncio.Event()
    log = ToolLog()
    session = made(calling("slow"), "well", "ah", tools=[log.tool("slow", lambda _: gate.wait())], store=store).session(
        "s"
    )
    turn = asyncio.create_task(heard(session.run("go")))
    await until(lambda: log.ran)
    with pytest.raises(BusyError, match="is being answered by"):
        await heard(made(store=store).session("s").run("and that"))
    gate.set()
    await turn
    await says(session, "go on")
    assert ["go", "well", "and that", "go on", "ah"] == texts(session.conversation.messages())


async def test_a_message_is_taken_once() -> None:
    """A client that sends it again, under its id, changes nothing."""
    agent = made("hello", "never said")
    session = agent.session("s")
    await says(session, "hi", id="m1")
    end = await says(session, "hi", id="m1")
    assert ("completed", 1) == (end.outcome, len(agent.model.requests))  # type: ignore[union-attr]
    assert ["hi", "hello"] == texts(session.conversation.messages())


async def test_whoever_was_taken_over_leaves_its_results() -> None:
    """A process back from the dead writes nothing but what its tools really did."""
    store = MemoryStore()
    gate = asyncio.Event()

    async def slow(_: Any) -> str:
        await gate.wait()
        return "it was done"

    log = ToolLog()
    first = made(calling("pay"), tools=[log.tool("pay", slow)], store=store).session("s")
    turn = asyncio.create_task(heard(first.run("go")))
    await until(lambda: log.ran)
    store._sessions["s"].owner = ""
    second = made("sorry", "ah", tools=[ToolLog().tool("pay")], store=store).session("s")
    await says(second, "go on")
    assert CAUSES["started"] == call(second, "pay").output
    gate.set()
    assert "interrupted" == (await turn)[-1].outcome
    await second.load()
    assert ("output-available", "it was done") == outcome(call(second, "pay"))
    assert ["interrupted", "completed"] == await ends(second)


# --- simple things --------------------------------------------------------------------------------------------------


def test_run_sync() -> None:
    """The text of the answer, and how it ended; messages can be read without a loop."""
    session = made("hello there").session("s")
    reply = session.run_sync("hi")
    assert ("hello there", "completed", "") == (reply.text, reply.outcome, reply.detail)
    assert ["hi", "hello there"] == texts(session.messages)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected a model .*, got none"),
        ({"model": "gpt-5.1"}, "expected PROVIDER:MODEL .*, got 'gpt-5.1'"),
        ({"model": scripted([]), "max_steps": 0}, "max_steps to be at least 1, got 0"),
        ({"model": scripted([]), "tools": [ToolLog().tool("a"), ToolLog().tool("a")]}, "two tools have the name 'a'"),
    ],
    ids=brief,
)
def test_an_agent_that_cannot_be(options: Any, message: str) -> None:
    """Says what was expected."""
    with pytest.raises(UsageError, match=message):
        Agent(**options)


async def test_run_sync_in_a_loop() -> None:
    """Says what to use instead."""
    with pytest.raises(UsageError, match=r"session\.run"):
        made("hello").session("s").run_sync("hi")


@pytest.mark.parametrize("text", ["", "  \n", []], ids=repr)
async def test_an_empty_message(text: Any) -> None:
    """Is refused, and nothing is recorded."""
    session = made("hello").session("s")
    with pytest.raises(UsageError, match="says something"):
        await heard(session.run(text))
    assert [] == await session.agent.opened.sessions()


async def test_half_a_character() -> None:
    """From the user, or from the model: it becomes U+FFFD, and the turn goes on."""
    log = ToolLog()
    said = Step(text="cut \ud83d", calls=(("look", '{"value": "\\ud83d"}'),))
    session = made(said, "ok", tools=[log.tool("look")]).session("s")
    assert "completed" == (await says(session, "half \ud83d")).outcome
    assert ["half \ufffd", "cut \ufffd", "ok"] == texts(session.conversation.messages())
    assert [("look", "\ufffd")] == log.ran


async def test_an_unknown_tool() -> None:
    """The model is told which ones there are."""
    session = made(calling("nope"), "sorry", tools=[ToolLog().tool("look")]).session("s")
    await says(session, "go")
    assert ("output-error", "There is no tool 'nope'; the tools are: look.") == outcome(call(session, "nope"))


async def test_calls_of_a_step_run_at_once_but_not_all() -> None:
    """Up to the limit; a tool that says so runs alone and in order."""
    running: list[int] = []
    most: list[int] = []

    async def busy(_: Any) -> None:
        running.append(1)
        most.append(len(running))
        for _turn in range(5):
            await asyncio.sleep(0)
        running.pop()

    log = ToolLog()
    tools = [log.tool("many", busy), log.tool("alone", busy, parallel=False)]
    session = made(calling(*["many"] * 5, "alone", "many"), "ok", tools=tools, max_parallel=3).session("s")
    await says(session, "go")
    assert (3, 1) == (max(most[:5]), most[5])
    assert ["many"] * 5 + ["alone", "many"] == log.names
    assert all(part.state == "output-available" for part in calls(session))
