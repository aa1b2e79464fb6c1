"""Messages that come while another one is being answered. Rows TC60 to TC69, 6.7 (8) and 6.7 (10)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from suture.errors import UsageError
from suture.harness import Agent, tool
from suture.harness.notices import TurnDone
from suture.transcript.events import Withdrawn
from tests.harness.agents import ToolLog, calling, heard, made, says, texts
from tests.harness.test_endings import ends, until

pytestmark = pytest.mark.anyio


class Talk:
    """A session whose first turn is held by its tool until `go`, and what was sent meanwhile."""

    def __init__(self, *answers: str, **options: Any) -> None:
        """`answers` are those behind the first."""
        self.gate = asyncio.Event()
        self.log = ToolLog()
        tools = [self.log.tool("slow", lambda _: self.gate.wait())]
        self.session = made(calling("slow"), "one", *answers, tools=tools, **options).session("s")
        self.turns: list[asyncio.Task[list[Any]]] = []

    async def say(self, *said: str) -> None:
        """Send messages; the first one is being answered when this returns."""
        for text in said:
            self.turns.append(asyncio.create_task(heard(self.session.run(text, id=text))))
            for _ in range(20):
                await asyncio.sleep(0)
            await until(lambda: self.log.ran)

    async def end(self) -> list[Any]:
        """Let the first turn go on; how each of them ended."""
        self.gate.set()
        return [(await turn)[-1] for turn in self.turns]

    @property
    def said(self) -> list[str]:
        """The conversation, in words."""
        return texts(self.session.conversation.messages())


async def test_tc60_each_is_answered_in_its_order() -> None:
    """`queue`: two turns more, each with its own message, and its own answer at its own sender."""
    talk = Talk("two", "three")
    await talk.say("a", "b", "c")
    ended = await talk.end()
    assert ["a", "one", "b", "two", "c", "three"] == talk.said
    assert ["completed"] * 3 == [end.outcome for end in ended]
    told = [talk.session.conversation.message(end.message) for end in ended]
    assert ["one", "two", "three"] == texts(told)


async def test_a_reply_is_the_one_to_its_message() -> None:
    """6.7 (10): also when another turn has begun by the time it is read."""
    talk = Talk("two")
    first = asyncio.create_task(talk.session.reply(talk.session.run("a")))
    await until(lambda: talk.log.ran)
    second = asyncio.create_task(talk.session.reply(talk.session.run("b")))
    await asyncio.sleep(0)
    talk.gate.set()
    assert ["one", "two"] == [(await first).text, (await second).text]


@pytest.mark.parametrize("overlap", ["latest", "merge"])
async def test_tc61_tc63_tc68_the_newest_is_answered(overlap: Any) -> None:
    """All are stored; the model is asked once for those that waited; `merge` tells all who sent them."""
    talk = Talk("two", overlap=overlap)
    await talk.say("a", "b", "c")
    ended = await talk.end()
    assert ["a", "one", "b", "c", "two"] == talk.said
    middle = "superseded" if overlap == "latest" else "completed"
    assert ["completed", middle, "completed"] == [end.outcome for end in ended]
    assert ["completed", "completed"] == await ends(talk.session)


async def test_tc62_tc69_what_is_dropped_is_not_stored() -> None:
    """`drop`: its sender is told at once; one turn, one response."""
    responses: list[Any] = []

    class Counting(Agent):
        def on_response(self, message: Any, end: TurnDone) -> None:
            responses.append((bool(message), end.outcome))

    talk = Talk(kind=Counting, overlap="drop")
    await talk.say("a", "b")
    ended = await talk.end()
    assert ["completed", "declined"] == [end.outcome for end in ended]
    assert (["a", "one"], [(True, "completed")]) == (talk.said, responses)


async def test_tc64_a_pause_is_waited_for() -> None:
    """`debounce`: what came in a row is answered once, when nothing more has come for a while."""
    talk = Talk("two", overlap="debounce", debounce=0.05)
    await talk.say("a", "b", "c")
    ended = await talk.end()
    assert ["a", "one", "b", "c", "two"] == talk.said
    assert ["completed", "superseded", "completed"] == [end.outcome for end in ended]


async def test_tc65_another_answer_is_never_dropped() -> None:
    """What a person asked for again is no message that came too often."""
    talk = Talk("another", overlap="drop")
    await talk.say("a")
    again = asyncio.create_task(heard(talk.session.regenerate()))
    await talk.end()
    assert "completed" == (await again)[-1].outcome
    assert ["a", "another"] == talk.said


async def test_tc66_clear_sends_all_away() -> None:
    """What runs is stopped, what waits never enters the conversation, which is empty."""
    talk = Talk("two", overlap="latest")
    await talk.say("a", "b")
    await talk.session.clear()
    assert ["stopped", "stopped"] == [(await turn)[-1].outcome for turn in talk.turns]
    assert [] == talk.said
    assert not talk.session.conversation.has_message("b")


async def test_tc67_after_a_clear_messages_are_taken() -> None:
    """Nothing of what was before holds them up."""
    talk = Talk("two", overlap="drop")
    await talk.say("a")
    await talk.end()
    await talk.session.clear()
    await says(talk.session, "b")
    assert ["b", "two"] == talk.said


async def test_stop_takes_back_what_waits() -> None:
    """6.7 (8): it is not answered after a restart either; what is said next is."""
    talk = Talk()
    await talk.say("a", "b")
    await talk.session.stop()
    assert ["stopped", "stopped"] == [(await turn)[-1].outcome for turn in talk.turns]
    again = made("well", store=talk.session.agent.opened).session("s")
    await says(again, "c")
    assert ["a", "c", "well"] == texts(again.conversation.messages())
    events = [recorded.event async for recorded in again.agent.opened.events("s")]
    assert [Withdrawn(message="b")] == [event for event in events if isinstance(event, Withdrawn)]


async def test_stop_before_the_first_step() -> None:
    """A turn that was started and has not run yet: whoever waits is told, and the session is free."""
    session = made("well").session("s")
    turn = asyncio.create_task(heard(session.resume()))
    await asyncio.sleep(0)
    await session.stop()
    assert "stopped" == (await turn)[-1].outcome
    assert "completed" == (await says(session, "a")).outcome


async def test_a_queue_survives_those_who_listen() -> None:
    """Whoever goes away while their message waits finds it answered."""
    talk = Talk("two")
    await talk.say("a", "b")
    for turn in talk.turns:
        turn.cancel()
    talk.gate.set()
    await until(lambda: not talk.session.line.busy)
    assert ["a", "one", "b", "two"] == talk.said


async def test_what_waits_is_answered_after_a_kill() -> None:
    """The process died while a message waited: it is part of what the next turn answers."""
    talk = Talk()
    await talk.say("a", "b")
    again = made("well", tools=[ToolLog().tool("slow")], store=talk.session.agent.opened).session("s")
    talk.session.agent.opened._sessions["s"].owner = ""  # type: ignore[attr-defined]
    await says(again, "c")
    assert ["a", "b", "c", "well"] == texts(again.conversation.messages())
    assert ["interrupted", "completed"] == await ends(again)
    await talk.end()


@pytest.mark.parametrize("what", ["run", "resume", "regenerate", "stop"])
async def test_a_turn_does_not_wait_for_itself(what: str) -> None:
    """A tool that speaks into its own session is told, and nothing hangs."""

    @tool
    async def speak() -> str:
        arguments = ["again"] if what == "run" else []
        made = getattr(session, what)(*arguments)
        try:
            await made if what == "stop" else await heard(made)
        except UsageError as error:
            return str(error)
        return "it went through"

    session = made(calling("speak"), "ok", tools=[speak]).session("s")
    assert "completed" == (await says(session, "go")).outcome
    assert "a turn cannot wait for itself" in session.conversation.messages()[-1].parts[1].output  # type: ignore[union-attr]


async def test_a_response_may_start_another_turn() -> None:
    """`on_response` runs when the session is free: it may ask on, and wait."""

    class Curious(Agent):
        async def on_response(self, message: Any, end: TurnDone) -> None:
            if end.message and texts([message]) == ["one"]:
                await heard(self.session("s").run("and?"))

    session = made("one", "two", kind=Curious).session("s")
    await says(session, "go")
    assert ["go", "one", "and?", "two"] == texts(session.conversation.messages())


def test_a_strategy_that_there_is_not() -> None:
    """Those that there are are named."""
    with pytest.raises(UsageError, match=r"expected overlap to be one of 'queue', .*, got 'first'"):
        made(overlap="first")
