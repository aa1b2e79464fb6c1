"""What an interrupted turn leaves, and what the next one makes of it. Rows TC70-77, MR, 6.7 of the behaviour tables."""

from __future__ import annotations

from typing import Any

import pytest

from suture.harness import Agent
from suture.harness.notices import TranscriptRepaired
from suture.transcript import CAUSES, TextPart, ToolPart
from suture.transcript.events import (
    Admitted,
    CallSettled,
    CallStarted,
    Event,
    MessageAdded,
    PartReplaced,
    StepAdded,
    TurnBegan,
    TurnEnded,
)
from tests.harness.agents import ToolLog, call, calling, calls, dead, heard, made, outcome, repairs, says, texts

pytestmark = pytest.mark.anyio


def cut(*names: str, after: tuple[Event, ...] = (), **inputs: Any) -> list[Event]:
    """A turn whose process died after it had recorded these calls, and what is given."""
    parts = tuple(
        ToolPart(call_id=f"c{n}", name=name, input=inputs.get(name, {}), cause="not_started")
        for n, name in enumerate(names)
    )
    return [
        Admitted(message="u1", parts=(TextPart("do it"),)),
        TurnBegan(turn="t1"),
        MessageAdded(message="u1", role="user", parent=None, parts=(TextPart("do it"),)),
        MessageAdded(message="a1", role="assistant", parent="u1"),
        StepAdded(message="a1", parts=parts, finish="tool_calls"),
        *after,
    ]


def started(*names: str) -> tuple[Event, ...]:
    """The tools of these calls began."""
    return tuple(CallStarted(call=name) for name in names)


async def log_of(session: Any) -> list[Event]:
    """The events of a session."""
    return [recorded.event async for recorded in session.agent.opened.events(session.name)]


# --- calls that nobody will finish ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("after", "cause"), [((), "not_started"), (started("c0"), "started")], ids=str)
async def test_an_interrupted_call_says_how_far_it_came(after: tuple[Event, ...], cause: Any) -> None:
    """Never started, or started and never heard of again."""
    log = ToolLog()
    session = await dead(made("sorry", tools=[log.tool("pay")]), "s", *cut("pay", after=after))
    notices = await heard(session.run("go on"))
    assert ["c0"] == repairs(notices)
    assert ("output-error", CAUSES[cause]) == outcome(call(session, "pay"))
    assert (True, cause, []) == (call(session, "pay").synthetic, call(session, "pay").cause, log.ran)


async def test_a_settled_sibling_stays() -> None:
    """The result of one parallel call outlives the cut of the other."""
    done = (*started("c0", "c1"), CallSettled(call="c1", state="output-available", output="real"))
    log = ToolLog()
    session = await dead(made("ok", tools=[log.tool("pay"), log.tool("look")]), "s", *cut("pay", "look", after=done))
    await says(session, "go on")
    assert [("output-error", CAUSES["started"]), ("output-available", "real")] == [outcome(p) for p in calls(session)]


async def test_what_may_run_again_runs_again() -> None:
    """A pure tool does, before the model is asked; a tool that may run once does not."""
    log = ToolLog()
    tools = [log.tool("look", effect="pure"), log.tool("put", effect="idempotent"), log.tool("pay")]
    session = await dead(made("ok", tools=tools), "s", *cut("look", "put", "pay", after=started("c0", "c1", "c2")))
    notices = await heard(session.run("go on"))
    assert ["c2"] == repairs(notices)
    assert ["look", "put"] == sorted(log.names)
    assert ["output-available", "output-available", "output-error"] == [part.state for part in calls(session)]
    assert 2 == sum(isinstance(event, CallStarted) and event.attempt == 2 for event in await log_of(session))


async def test_a_held_call_waits_for_its_owner() -> None:
    """A tool that says `hold` is settled by hand."""
    session = await dead(
        made("hm", tools=[ToolLog().tool("deploy", if_interrupted="hold")]), "s", *cut("deploy", after=started("c0"))
    )
    assert [] == repairs(await heard(session.run("go on")))
    assert "input-available" == call(session, "deploy").state
    assert await session.tool_result("c0", "it went through")
    assert ("output-available", "it went through") == outcome(call(session, "deploy"))


async def test_a_tool_that_is_no_more() -> None:
    """A call of a tool that the agent has no longer is settled like any other."""
    session = await dead(made("ok"), "s", *cut("gone", after=started("c0")))
    await says(session, "go on")
    assert ("output-error", CAUSES["started"]) == outcome(call(session, "gone"))


async def test_nothing_is_repaired_twice() -> None:
    """The repair is recorded; the next turn finds nothing to do, and neither does another process."""
    agent = made("one", "two", tools=[ToolLog().tool("pay")])
    session = await dead(agent, "s", *cut("pay"))
    assert ["c0"] == repairs(await heard(session.run("go on")))
    assert [] == repairs(await heard(session.run("and on")))
    assert [] == repairs(await heard(made("three", store=agent.opened).session("s").run("and on")))
    assert 1 == sum(isinstance(event, PartReplaced) for event in await log_of(session))


async def test_the_record_shows_what_happened() -> None:
    """The repair is one more event: the old ones are as they were, and the dead turn has its end."""
    before = cut("pay", after=started("c0"))
    session = await dead(made("ok", tools=[ToolLog().tool("pay")]), "s", *before)
    await says(session, "go on")
    events = await log_of(session)
    assert before == events[: len(before)]
    assert TurnEnded(turn="t1", outcome="interrupted") == next(e for e in events if isinstance(e, TurnEnded))


async def test_mr3_a_repair_comes_before_the_message() -> None:
    """It shapes this very turn, and the user's message is stored behind it."""
    agent = made("ok", tools=[ToolLog().tool("pay")])
    session = await dead(agent, "s", *cut("pay"))
    notices = await heard(session.run("go on"))
    kinds = [type(notice).__name__ for notice in notices]
    assert kinds.index("TranscriptRepaired") < kinds.index("MessageTaken")
    assert ["do it", "go on", "ok"] == texts(session.conversation.messages())
    (request,) = agent.model.requests  # type: ignore[union-attr]
    assert [("output-error", CAUSES["not_started"])] == [
        outcome(part) for message in request.messages for part in message.parts if isinstance(part, ToolPart)
    ]


async def test_mr7_mr8_settled_calls_are_left_alone() -> None:
    """An error keeps its text, a denial its reason; neither counts as a repair."""
    settled = (
        CallSettled(call="c0", state="output-error", output="disk full"),
        CallSettled(call="c1", state="output-denied", output="no"),
        TurnEnded(turn="t1", outcome="completed"),
    )
    session = await dead(made("ok"), "s", *cut("a", "b", after=settled))
    assert [] == repairs(await heard(session.run("go on")))
    assert [("output-error", "disk full"), ("output-denied", "no")] == [outcome(part) for part in calls(session)]


# --- the hook -------------------------------------------------------------------------------------------------------


class Asking(Agent):
    """Turns a question that was cut off into text, and leaves the rest to the default."""

    def repair_interrupted_tool_part(self, part: ToolPart) -> Any:
        """See `Agent`."""
        if part.name == "ask_user":
            return TextPart(part.input["question"])
        return super().repair_interrupted_tool_part(part)


async def test_tc70_tc71_a_hook_shapes_the_repair() -> None:
    """A question becomes text, counted as one repair; another tool gets the default."""
    tools = [ToolLog().tool(name) for name in ("ask_user", "pay")]
    events = cut("ask_user", "pay", ask_user={"question": "Which card?"})
    session = await dead(made("ok", tools=tools, kind=Asking), "s", *events)
    assert ["c0", "c1"] == repairs(await heard(session.run("the blue one")))
    assert ["do it", "Which card?", "the blue one", "ok"] == texts(session.conversation.messages())
    assert [("output-error", CAUSES["not_started"])] == [outcome(part) for part in calls(session)]


async def test_tc72_a_settled_call_does_not_reach_the_hook() -> None:
    """An answered question stays what it is."""
    answered = (
        CallSettled(call="c0", state="output-available", output="blue"),
        TurnEnded(turn="t1", outcome="completed"),
    )
    tools = [ToolLog().tool("ask_user")]
    events = cut("ask_user", after=answered, ask_user={"question": "Which card?"})
    session = await dead(made("ok", tools=tools, kind=Asking), "s", *events)
    assert [] == repairs(await heard(session.run("go on")))
    assert ("output-available", "blue") == outcome(call(session, "ask_user"))


@pytest.mark.parametrize("bad", ["raises", "unsettled", "another call", "no part"])
async def test_a_bad_hook_never_fails_a_turn(bad: str, caplog: pytest.LogCaptureFixture) -> None:
    """6.7 (3): the default takes its place, and the log says why."""

    class Bad(Agent):
        def repair_interrupted_tool_part(self, part: ToolPart) -> Any:
            if bad == "raises":
                raise RuntimeError("my mistake")
            return {"unsettled": part, "another call": ToolPart(call_id="x", name="pay").settle("x"), "no part": 5}[bad]

    caplog.set_level("INFO", "suture.harness")
    session = await dead(made("ok", tools=[ToolLog().tool("pay")], kind=Bad), "s", *cut("pay"))
    assert "completed" == (await says(session, "go on")).outcome
    assert ("output-error", CAUSES["not_started"]) == outcome(call(session, "pay"))
    assert "the hook" in caplog.text


async def test_the_hook_runs_before_before_turn() -> None:
    """What `before_turn` sees is repaired."""
    seen: list[Any] = []

    class Watching(Agent):
        def repair_interrupted_tool_part(self, part: ToolPart) -> Any:
            seen.append("repair")
            return super().repair_interrupted_tool_part(part)

        def before_turn(self, context: Any) -> None:
            seen.append([outcome(part) for part in calls(self.session(context.session))])

    session = await dead(made("ok", tools=[ToolLog().tool("pay")], kind=Watching), "s", *cut("pay"))
    await says(session, "go on")
    assert ["repair", [("output-error", CAUSES["not_started"])]] == seen


# --- arguments, ids -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["null", "[1]", "5", '"x"', '{"a": 1', "{'a': 1}"])
async def test_tc73_arguments_that_are_no_object(arguments: str) -> None:
    """The call is recorded with what stood there, says that it was not run, and the model may try again."""
    log = ToolLog()
    session = made(calling(("pay", arguments)), "sorry", tools=[log.tool("pay")]).session("s")
    assert "completed" == (await says(session, "go")).outcome
    assert ([], {"_raw": arguments}) == (log.ran, call(session, "pay").input)
    assert ("output-error", CAUSES["malformed"]) == outcome(call(session, "pay"))


async def test_no_arguments_are_an_empty_object() -> None:
    """Some streams send nothing where they mean `{}`."""
    log = ToolLog()
    session = made(calling(("look", "")), "ok", tools=[log.tool("look")]).session("s")
    await says(session, "go")
    assert ({}, ["look"]) == (call(session, "look").input, log.names)


async def test_ids_that_repeat() -> None:
    """6.7 (5): in one step, in a later one, or none at all: each call has an id of its own, and its own result."""
    log = ToolLog()
    twice = calling(("look", {"value": 1}), ("look", {"value": 2}), ids=("call_0", "call_0"))
    again = calling(("look", {"value": 3}), ("look", {"value": 4}), ids=("call_0", ""))
    session = made(twice, again, "ok", tools=[log.tool("look")]).session("s")
    await says(session, "go")
    found = calls(session)
    assert 4 == len({part.call_id for part in found})
    assert ["look 1", "look 2", "look 3", "look 4"] == [part.output for part in found]
    assert "" not in {part.call_id for part in found}


# --- branches -------------------------------------------------------------------------------------------------------


async def test_tc88_a_repair_of_an_older_branch_shows_nothing() -> None:
    """The conversation stays where it is; the broken call of the other branch is settled, and not run."""
    log = ToolLog()
    agent = made("one", "two", tools=[log.tool("look", effect="pure")])
    session = await dead(agent, "s", *cut("look", after=(*started("c0"), TurnEnded(turn="t1", outcome="interrupted"))))
    await session.fork(None)
    notices = await heard(session.run("anew"))
    assert ["c0"] == repairs(notices)
    assert ["anew", "one"] == texts(session.conversation.messages())
    assert ([], []) == (calls(session), log.ran)


async def test_tc55_tc57_tc87_another_answer_is_a_sibling() -> None:
    """The model is not shown the answer that is replaced, and both stay."""
    agent = made("first", "second", "third")
    session = agent.session("s")
    await says(session, "tell me")
    await heard(session.regenerate())
    assert ["tell me"] == texts(agent.model.requests[-1])  # type: ignore[union-attr]
    assert ["tell me", "second"] == texts(session.conversation.messages())
    await heard(session.regenerate())
    assert 3 == len(session.conversation.children(session.conversation.path()[0]))


async def test_a_repair_notice_comes_with_what_changed() -> None:
    """Call, place and new part, for whoever shows it."""
    session = await dead(made("ok", tools=[ToolLog().tool("pay")]), "s", *cut("pay"))
    notices = await heard(session.run("go on"))
    (notice,) = [notice for notice in notices if isinstance(notice, TranscriptRepaired)]
    (repair,) = notice.repairs
    assert ("a1", 1, "c0", "unanswered-call") == (repair.message, repair.index, repair.call, repair.rule)
