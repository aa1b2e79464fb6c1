"""Tools of one turn, run by whoever sent the message. Rows TC78 to TC85, TC51, TC52, TC56, TC58 and TC59."""

from __future__ import annotations

from typing import Any

import pytest

from suture.errors import UsageError
from suture.harness import Agent, ToolContext, tool
from suture.harness.notices import TurnDone
from suture.models import Step
from suture.transcript import CAUSES, TextPart
from suture.transcript.events import CallStarted, MessageAdded, TurnBegan
from tests.harness.agents import ToolLog, call, calling, calls, dead, heard, made, outcome, says, texts
from tests.harness.test_client_tools import asked

pytestmark = pytest.mark.anyio


async def test_tc78_tc79_tc84_tc85_a_turn_s_own_tools_run_inline() -> None:
    """Several at once, in several steps; they are no client's tools, and the next turn has none of them."""
    log = ToolLog()
    session = made(calling("a", "b"), calling("a"), "done", "next").session("s")
    end = await says(session, "go", tools=[log.tool("a"), log.tool("b")])
    assert ("completed", ["a", "b", "a"]) == (end.outcome, log.names)
    assert ["output-available"] * 3 == [part.state for part in calls(session)]
    assert () == session.conversation.client_tools
    await says(session, "go on")
    assert [2, 2, 2, 0] == [len(request.tools) for request in session.agent.model.requests]  # type: ignore[union-attr]


async def test_tc80_tc81_a_restart_has_no_such_tool() -> None:
    """Its call waits for nobody: it is settled as what it is."""
    session = await dead(
        made("ok"),
        "s",
        TurnBegan(turn="t0"),
        MessageAdded(message="u0", role="user", parent=None, parts=(TextPart("go"),)),
        MessageAdded(message="a0", role="assistant", parent="u0"),
        *_called("a"),
    )
    await says(session, "go on")
    assert ("output-error", CAUSES["started"]) == outcome(call(session, "a"))


def _called(name: str) -> list[Any]:
    from suture.transcript import ToolPart
    from suture.transcript.events import StepAdded

    part = ToolPart(call_id="c0", name=name, input={}, cause="not_started")
    return [StepAdded(message="a0", parts=(part,)), CallStarted(call="c0")]


async def test_tc82_a_turn_s_tool_that_fails() -> None:
    """Its error is the outcome, and the turn goes on."""

    @tool
    def a() -> str:
        raise ValueError("no")

    session = made(calling("a"), "I see").session("s")
    assert "completed" == (await says(session, "go", tools=[a])).outcome
    assert ("output-error", "ValueError: no") == outcome(call(session, "a"))


async def test_tc83_without_anybody_to_run_it_the_call_waits() -> None:
    """A client's tool, and no client yet."""
    session = await asked("ask")
    assert ("input-available", ["go"]) == (call(session, "ask").state, texts(session.conversation.messages()))


async def test_two_tools_of_one_name() -> None:
    """In one turn: said before anything is recorded."""
    session = made("1").session("s")
    with pytest.raises(UsageError, match="two tools have the name 'a'"):
        await says(session, "go", tools=[ToolLog().tool("a"), ToolLog().tool("a")])
    assert 0 == (await session.agent.opened.load("s")).number


async def test_tools_are_told_what_came_with_the_message() -> None:
    """And where their call stands."""

    @tool
    def who(ctx: ToolContext) -> str:
        return f"{ctx.metadata['user']} {ctx.attempt}"

    session = made(calling("who"), "ok", tools=[who]).session("s")
    await says(session, "go", metadata={"user": "ada"})
    assert "ada 1" == call(session, "who").output


# --- hooks and other answers ----------------------------------------------------------------------------------------


class Listening(Agent):
    """Keeps how its turns ended."""

    ends: list[tuple[str, str]]

    def on_response(self, message: Any, end: TurnDone) -> None:
        """See `Agent`."""
        self.__dict__.setdefault("ends", []).append((end.outcome, " ".join(texts([message] if message else []))))


async def test_tc51_tc52_tc58_one_response_a_turn() -> None:
    """Of a message, of a turn that went on, of another answer."""
    session = made(
        calling("pay"), "paid", "paid once more", tools=[ToolLog().tool("pay", needs_approval=True)], kind=Listening
    ).session("s")
    await says(session, "go")
    await session.approve(call(session, "pay").call_id)
    await heard(session.resume())
    await heard(session.regenerate())
    ended: list[tuple[str, str]] = session.agent.ends  # type: ignore[attr-defined]
    assert [("parked", ""), ("completed", "paid"), ("completed", "paid once more")] == ended


async def test_tc56_three_answers_to_one_message() -> None:
    """Each is a branch of its own."""
    session = made("1", "2", "3").session("s")
    await says(session, "a", id="a")
    await heard(session.regenerate())
    await heard(session.regenerate("a"))
    answers = [session.conversation.message(name) for name in session.conversation.children("a")]
    assert (["1", "2", "3"], ["assistant"] * 3) == (texts(answers), [answer.role for answer in answers])


async def test_tc57_the_last_of_two_answers() -> None:
    """What was before it stays what it is; named by the answer, it is the same."""
    session = made("1", "2", "3", "4").session("s")
    await says(session, "a", id="a")
    await says(session, "b", id="b")
    before = session.conversation.path()
    await heard(session.regenerate())
    assert before[:3] == session.conversation.path()[:3]
    await heard(session.regenerate(before[1]))
    assert ["a", "4"] == texts(session.conversation.messages())
    assert 2 == len(session.conversation.children("b"))


async def test_tc59_an_answer_that_there_was_not_yet() -> None:
    """Where the message was never answered, its first answer is made; where there is no message, that is said."""
    session = made("1").session("s")
    with pytest.raises(UsageError, match="expected a conversation with a user's message, got none"):
        await heard(session.regenerate())
    with pytest.raises(UsageError, match="expected the id of a message in it, got x"):
        await heard(session.regenerate("x"))
    session = await dead(
        made("1"),
        "s",
        TurnBegan(turn="t0"),
        MessageAdded(message="u0", role="user", parent=None, parts=(TextPart("go"),)),
    )
    await heard(session.regenerate())
    assert ["go", "1"] == texts(session.conversation.messages())


async def test_tc89_another_answer_that_was_cut_off() -> None:
    """Before its first piece, or in the middle of it: the branch and its parent stay what they were."""
    for cut in (Step(hang=True), Step(text="as I sa", hang=True)):
        agent = made("1", cut)
        session = agent.session("s")
        await says(session, "a", id="a")
        turn = aiter(session.regenerate())
        while not (session.line.running and session.line.running.answer):
            await anext(turn)
        agent.opened._sessions["s"].owner = ""  # type: ignore[attr-defined]
        again = made("2", store=agent.opened).session("s")
        await heard(again.resume())
        assert ["a", "2"] == texts(again.conversation.messages())
        assert 2 == len(again.conversation.children("a"))
        await session.stop()


async def test_a_message_that_was_never_answered() -> None:
    """6.7 (1): the model had been asked, and nothing had come: the message is answered, not passed over."""
    session = await dead(
        made("1"),
        "s",
        TurnBegan(turn="t0"),
        MessageAdded(message="u0", role="user", parent=None, parts=(TextPart("go"),)),
    )
    assert "completed" == (await heard(session.resume()))[-1].outcome
    assert ["go", "1"] == texts(session.conversation.messages())
