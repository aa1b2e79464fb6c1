"""Models over HTTP, against a server that refuses what providers refuse."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from suture import Agent, tool
from suture.errors import ContextOverflow, ProviderFatal, Transient
from suture.harness.notices import ModelRemark
from suture.models import Finish, ModelRequest, ReasoningPiece, Usage, model
from suture.testing import Answer, ContractServer, Fault
from suture.transcript import Message, ReasoningPart, TextPart, ToolPart
from tests.harness.agents import eventually
from tests.models.asking import answered, asked, said

pytestmark = pytest.mark.anyio

NAMES = ("openai:gpt-5", "openai_responses:gpt-5", "anthropic:claude-5")


def made(name: str, server: ContractServer, **options: Any) -> Any:
    """A model behind the server."""
    return model(name, base_url=server.url, api_key="sk-test", timeout=10, **options)


@tool(effect="pure")
async def look(place: str) -> str:
    """Look somewhere."""
    return f"nothing in {place}"


@pytest.mark.parametrize("name", NAMES)
async def test_a_whole_conversation(name: str) -> None:
    """Instructions, tools, parallel calls and their results, another turn: the provider takes every request."""
    script: list[Answer | str] = [
        Answer(text="let me see", calls=[("look", {"place": "a"}), ("look", {"place": "b"})], reasoning="two places"),
        "nowhere",
        "you are welcome",
    ]
    with ContractServer(script=script) as server:
        agent = Agent(model=made(name, server), tools=[look], instructions="Be brief.")
        session = agent.session("s")
        replies = [await session.reply(session.run(text)) for text in ("where is it?", "thanks")]
        await agent.close()
    assert ["let me see\nnowhere", "you are welcome"] == [reply.text for reply in replies]
    assert [200, 200, 200] == [request.status for request in server.requests]
    message = replies[0].message
    assert message is not None
    assert ["nothing in a", "nothing in b"] == [part.output for part in message.parts if isinstance(part, ToolPart)]
    assert ["two places"] == [part.text for part in message.parts if isinstance(part, ReasoningPart)]
    assert "Be brief." in str(server.requests[0].body)


@pytest.mark.parametrize("name", NAMES)
async def test_what_an_answer_cost_and_who_gave_it(name: str) -> None:
    """Usage by the provider's names; the end under the name that the model was made with."""
    with ContractServer(script=[Answer(text="hi", input_tokens=7, output_tokens=3)]) as server:
        pieces = await answered(made(name, server), "hello")
    tokens = {key: count for piece in pieces if isinstance(piece, Usage) for key, count in piece.tokens.items()}
    assert {7, 3} <= set(tokens.values())
    assert Finish("stop", name) == pieces[-1]


@pytest.mark.parametrize("name", NAMES)
async def test_settings_are_the_provider_s_own(name: str) -> None:
    """Those of the model, and before them those of the request."""
    with ContractServer() as server:
        request = ModelRequest(messages=[said("hi")], settings={"temperature": 0.5})
        await answered(made(name, server, settings={"temperature": 1, "top_p": 0.9}), request)
    body = server.requests[0].body
    assert (0.5, 0.9) == (body["temperature"], body["top_p"])


# --- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", status=429, retry_after="0"), Transient),
        (Fault("status", status=500), Transient),
        (Fault("status", status=401), ProviderFatal),
        (Fault("overflow"), ContextOverflow),
        (Fault("cut"), Transient),
        (Fault("error", after=2), Transient),
        (Fault("garbage", after=2), Transient),
    ],
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else value.__name__,
)
async def test_each_fault_is_of_its_kind(name: str, fault: Fault, kind: Any) -> None:
    """So that whoever asks knows whether asking again may help."""
    with ContractServer(script=["hi"]) as server:
        server.faults.append(fault)
        with pytest.raises(kind):
            await answered(made(name, server), "hello")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "fault", [Fault("status", status=429, retry_after="0"), Fault("status", status=500), Fault("cut")]
)
async def test_what_is_over_in_a_moment_is_asked_again(name: str, fault: Fault) -> None:
    """By the turn, before anything came of it."""
    with ContractServer(script=["hi"]) as server:
        server.faults.append(fault)
        agent = Agent(model=made(name, server), runtime=_quick())
        reply = await agent.session("s").reply(agent.session("s").run("hello"))
        await agent.close()
    assert ("completed", "hi", 2) == (reply.outcome, reply.text, len(server.requests))


def _quick() -> Any:
    from suture.harness.runtime import Runtime

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0 if seconds < 5 else seconds)

    return Runtime(sleep=sleep)


@pytest.mark.parametrize("name", NAMES)
async def test_a_stream_that_is_cut_keeps_what_came(name: str) -> None:
    """The turn fails, its text stays, and the next message is answered."""
    with ContractServer(script=["one two three four five six", "well"]) as server:
        server.faults.append(Fault("cut", after=5))
        agent = Agent(model=made(name, server))
        session = agent.session("s")
        cut = await session.reply(session.run("count"))
        server.script = ["well"]
        reply = await session.reply(session.run("go on"))
        await agent.close()
    assert "failed" == cut.outcome
    assert cut.text.startswith("one")
    assert ("completed", "well") == (reply.outcome, reply.text)


NEVER = [
    Fault("hang"),
    Fault("hang", after=3),
    Fault("slow", seconds=3600),
    Fault("delay", seconds=3600),
    Fault("status", status=429, retry_after="3600"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", NEVER, ids=lambda fault: f"{fault.kind}-{fault.after}")
async def test_stop_ends_whatever_hangs(name: str, fault: Fault) -> None:
    """A request, a stream, a pause before the next try; the next message is answered, and the history is whole."""
    with ContractServer(script=["one two three four five six"]) as server:
        server.faults.append(fault)
        agent = Agent(model=made(name, server))
        session = agent.session("s")
        turn = asyncio.create_task(session.reply(session.run("hello")))
        await eventually(lambda: not server.faults)
        await session.stop()
        assert "stopped" == (await turn).outcome
        server.script = ["well"]
        assert "well" == (await session.reply(session.run("go on"))).text
        await agent.close()
    assert 200 == server.requests[-1].status


async def test_nobody_is_there() -> None:
    """A port at which nothing listens: said with the address, and without the key."""
    with ContractServer() as server:
        url = server.url
    with pytest.raises(Transient, match=f"openai at {url} cannot be reached") as found:
        await answered(model("openai:gpt-5", base_url=url, api_key="sk-test"), "hello")
    assert "sk-test" not in str(found.value)


# --- a history that is refused all the same ------------------------------------------------------------------------


def broken() -> list[Message]:
    """A call without an outcome, as no turn sends it: a hook of the user's put it there."""
    call = ToolPart(call_id="call_1", name="look", input={"place": "a"})
    return [said("look"), Message(role="assistant", parts=(call,)), said("and?")]


@pytest.mark.parametrize("name", NAMES)
async def test_what_a_hook_breaks_is_mended(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The pipeline is the last step before the wire; that it had to mend is said."""
    with caplog.at_level(logging.WARNING), ContractServer() as server:
        assert "and?" == await asked(made(name, server), ModelRequest(messages=broken()))
    assert [200] == [request.status for request in server.requests]
    assert "a request had to be mended: unanswered-call" in caplog.text


REFUSALS = {
    "openai:gpt-5": "An assistant message with 'tool_calls' must be followed by tool messages",
    "openai_responses:gpt-5": "No tool output found for function call call_1.",
    "anthropic:claude-5": "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: x",
}


@pytest.mark.parametrize("name", NAMES)
async def test_a_pairing_refusal_is_never_the_end(name: str) -> None:
    """A provider that refuses what every known rule allows: its calls are told of in words, once, and that is said."""
    call = ToolPart(call_id="call_1", name="look", input={"place": "a"}, state="output-available", output="nothing")
    history = [said("look"), Message(role="assistant", parts=(call, TextPart("nothing"))), said("sure?")]
    with ContractServer(script=["sure"]) as server:
        server.faults.append(Fault("status", status=400, message=REFUSALS[name]))
        agent = Agent(model=made(name, server))
        pieces = await answered(agent.model, ModelRequest(messages=history))  # type: ignore[arg-type]
    remarks = [piece.text for piece in pieces if hasattr(piece, "text") and "sent again" in piece.text]
    assert [400, 200] == [request.status for request in server.requests]
    assert 1 == len(remarks)
    assert "[called look" in str(server.requests[-1].body)


@pytest.mark.parametrize("name", NAMES)
async def test_a_second_refusal_is_one(name: str) -> None:
    """It is asked twice, not for ever; and whoever listens to the turn hears of the first."""
    with ContractServer(script=["sure"]) as server:
        server.faults.append(Fault("status", status=400, message=REFUSALS[name], times=2))
        agent = Agent(model=made(name, server))
        notices = [notice async for notice in agent.session("s").run("hi")]
        await agent.close()
    assert 1 == len([notice for notice in notices if isinstance(notice, ModelRemark)])
    assert ("failed", 2) == (notices[-1].outcome, len(server.requests))  # type: ignore[attr-defined]


# --- reasoning ------------------------------------------------------------------------------------------------------


THINKING: dict[str, dict[str, Any]] = {
    "openai_responses:gpt-5": {"reasoning": {"effort": "low", "summary": "auto"}},
    "anthropic:claude-5": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
}


@pytest.mark.parametrize("name", THINKING)
async def test_signed_reasoning_goes_back_to_who_made_it(name: str) -> None:
    """In the form that came, in the next step of the turn and in the next turn."""
    script: list[Answer | str] = [
        Answer(calls=[("look", {"place": "a"})], reasoning="look first"),
        Answer("done", reasoning="so"),
        "ok",
    ]
    with ContractServer(script=script) as server:
        agent = Agent(model=made(name, server, settings=THINKING[name]), tools=[look])
        session = agent.session("s")
        await session.reply(session.run("go"))
        end = await session.reply(session.run("go on"))
        await agent.close()
    assert ("completed", [200] * 3) == (end.outcome, [request.status for request in server.requests])
    key = "'thinking': '" if name.startswith("anthropic") else "'encrypted_content': '"
    sent = [str(request.body.get("messages") or request.body["input"]) for request in server.requests]
    assert [0, 1, 2] == [messages.count(key) for messages in sent]


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
async def test_another_model_takes_the_session_up(first: str, second: str) -> None:
    """Calls and results go with it, reasoning that another one signed does not."""
    script: list[Answer | str] = [
        Answer(calls=[("look", {"place": "a"})], reasoning="look first"),
        "done",
        Answer("ok"),
    ]
    with ContractServer(script=script) as server:
        agent = Agent(model=made(first, server, settings=THINKING.get(first)), tools=[look])
        session = agent.session("s")
        await session.reply(session.run("go"))
        await agent.disconnect()
        agent.model = model(second + "-mini", base_url=server.url, api_key="k", settings=THINKING.get(second))
        end = await session.reply(session.run("go on"))
        await agent.close()
    assert ("completed", "ok") == (end.outcome, end.text)
    assert "look first" not in str(server.requests[-1].body)
    assert "nothing in a" in str(server.requests[-1].body)


async def test_reasoning_is_a_piece() -> None:
    """Of an answer that thinks aloud, as compatible hosts do."""
    with ContractServer(script=[Answer("so", reasoning="hm")]) as server:
        pieces = await answered(made("openai:gpt-5", server), "think")
    assert "hm" == "".join(piece.text for piece in pieces if isinstance(piece, ReasoningPiece))
