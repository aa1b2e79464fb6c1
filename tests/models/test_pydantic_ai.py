"""A model of pydantic-ai as ours: judged by its own test models, and by a server that refuses what providers do."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic_ai import exceptions
from pydantic_ai import messages as theirs
from pydantic_ai.models import Model as TheirModel
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel as PlainModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import RequestUsage

from suture import Agent, tool
from suture.errors import ContextOverflow, ModelError, ProviderFatal, Transient, UsageError
from suture.models import CallPiece, Finish, ModelRequest, ReasoningPiece, Remark, TextPiece, ToolSpec, Usage
from suture.models.pydantic_ai import PydanticAIModel, from_pydantic_ai
from suture.testing import Answer, ContractServer, Fault
from suture.transcript import (
    CAUSES,
    FilePart,
    Message,
    OpaquePart,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
)
from tests.models.asking import answered, asked, said

pytestmark = pytest.mark.anyio

MADE: dict[str, Callable[[str], TheirModel]] = {
    "openai": lambda url: OpenAIChatModel("gpt-5", provider=OpenAIProvider(base_url=url, api_key="sk-test")),
    "anthropic": lambda url: AnthropicModel(
        "claude-5", provider=AnthropicProvider(base_url=url.removesuffix("/v1"), api_key="sk-test")
    ),
}


@tool(effect="pure")
async def look(place: str) -> str:
    """Look somewhere."""
    if place == "nowhere":
        raise ValueError("there is no such place")
    return f"nothing in {place}"


class Told:
    """A function for pydantic-ai's `FunctionModel` that streams what it is told, and keeps what it was asked."""

    def __init__(self, *answers: list[Any]) -> None:
        """`answers` in their order."""
        self.answers: list[list[Any]] = list(answers)
        self.seen: list[list[theirs.ModelMessage]] = []
        self.infos: list[AgentInfo] = []

    async def __call__(self, messages: list[theirs.ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        """The next answer."""
        self.infos.append(info)
        for item in self.answers[len(self.seen)]:
            if isinstance(item, BaseException):
                raise item
            yield item
        self.seen.append(messages)

    @property
    def model(self) -> PydanticAIModel:
        """The model that says it."""
        return PydanticAIModel(FunctionModel(stream_function=self.__call__, model_name="told"))


async def written(*messages: Message, **options: Any) -> list[theirs.ModelMessage]:
    """What pydantic-ai gets to see of messages."""
    told = Told(["ok"])
    await answered(told.model, ModelRequest(messages=messages, **options))
    return told.seen[0]


def kinds(messages: list[theirs.ModelMessage]) -> list[tuple[str, list[str]]]:
    """The kinds of messages and of their parts."""
    return [(message.kind, [part.part_kind for part in message.parts]) for message in messages]


# --- what goes out ----------------------------------------------------------------------------------------------------


async def test_steps_become_responses_and_requests() -> None:
    """A message of several steps is told in its order; results follow their calls; two users' messages are one."""
    steps = Message(
        role="assistant",
        parts=(
            StepStart(),
            TextPart("let me see"),
            ToolPart(call_id="a", name="look", input={"place": "a"}, state="output-available", output="A"),
            ToolPart(call_id="b", name="look", input={"place": "b"}, state="output-available", output={"b": 1}),
            StepStart(),
            TextPart("done"),
        ),
    )
    seen = await written(said("Be kind.", "system"), said("hi"), said("there"), steps, said("more"), instructions="x")
    assert [
        ("request", ["user-prompt", "user-prompt"]),
        ("response", ["text", "tool-call", "tool-call"]),
        ("request", ["tool-return", "tool-return"]),
        ("response", ["text"]),
        ("request", ["user-prompt"]),
    ] == kinds(seen)
    assert [("a", "A"), ("b", {"b": 1})] == [(part.tool_call_id, part.content) for part in seen[2].parts]  # type: ignore[union-attr]
    assert [None, None, "x\n\nBe kind."] == [item.instructions for item in seen if item.kind == "request"]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (ToolPart(call_id="a", name="look", input={}, state="output-error", output="boom"), "boom"),
        (ToolPart(call_id="a", name="look", input={}, state="output-denied", output="no"), "no"),
        (ToolPart(call_id="a", name="look", input={}, cause="started"), CAUSES["started"]),
        (
            ToolPart(call_id="a", name="look", input={}, state="output-available", output="half", preliminary=True),
            CAUSES["unknown"],
        ),
    ],
    ids=["error", "denied", "open", "preliminary"],
)
async def test_an_error_looks_like_an_error(part: ToolPart, text: str) -> None:
    """Failed, refused and, though the harness leaves none, without an outcome."""
    seen = await written(said("hi"), Message(role="assistant", parts=(part,)))
    result = seen[-1].parts[0]
    assert isinstance(result, theirs.ToolReturnPart)
    assert ("failed", text) == (result.outcome, result.content)
    assert '{"error":' == result.model_response_str()[:9]


async def test_files_go_by_address_or_as_data() -> None:
    """In what a user says and in what a tool returns; what cannot be shown is named in its place."""
    files = (
        TextPart("see"),
        FilePart("image/png", "data:image/png;base64,iVBORw=="),
        FilePart("image/png", "https://example.org/a.png"),
        FilePart("application/pdf", "https://example.org/a.pdf"),
        FilePart("image/png"),
        FilePart("image/png", "data:image/png;base64,?"),
        OpaquePart("thing", {}),
    )
    call = ToolPart(call_id="a", name="look", input={}, state="output-available", output=files[:2])
    own = Message(role="assistant", parts=(*files[1:3], files[-1], call))
    seen = await written(Message(role="user", parts=files), own)
    content: Any = seen[0].parts[0].content  # type: ignore[union-attr]
    expected = ["str", "BinaryContent", "ImageUrl", "DocumentUrl", "str", "str", "str"]
    assert expected == [type(item).__name__ for item in content]
    assert b"\x89PNG" == content[1].data
    assert "[image/png: cannot be shown here]" == content[4]
    assert ["file", "text", "text", "tool-call"] == [part.part_kind for part in seen[1].parts]
    assert ["see", content[1]] == seen[2].parts[0].content  # type: ignore[union-attr]


async def test_tools_and_settings_are_passed_on() -> None:
    """Tools with their schemas; the model's settings, and before them those of the request."""
    told = Told(["ok"])
    model = from_pydantic_ai(FunctionModel(stream_function=told.__call__), settings={"temperature": 1, "top_p": 0.5})
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}
    tools = (ToolSpec("look", "Look somewhere.", schema),)
    await answered(model, ModelRequest(messages=[said("hi")], tools=tools, settings={"temperature": 0}))
    (info,) = told.infos
    assert [("look", "Look somewhere.", schema)] == [
        (each.name, each.description, each.parameters_json_schema) for each in info.function_tools
    ]
    assert {"temperature": 0, "top_p": 0.5} == info.model_settings
    assert info.allow_text_output


async def test_reasoning_goes_back_to_its_model_alone() -> None:
    """With its signature; that of another model is not shown."""
    payload = {"part": "thinking", "signature": "S", "provider_name": "function"}
    parts = (
        ReasoningPart("mine", payload, "pydantic-ai:function:told"),
        ReasoningPart("another's", {"signature": "T"}, "anthropic:claude-5"),
        TextPart("so"),
    )
    seen = await written(said("hi"), Message(role="assistant", parts=parts))
    thought, text = seen[1].parts
    assert isinstance(thought, theirs.ThinkingPart)
    assert ("mine", "S", "function") == (thought.content, thought.signature, thought.provider_name)
    assert "text" == text.part_kind


# --- what comes in ----------------------------------------------------------------------------------------------------


class Given(TheirModel):
    """A model that cannot stream."""

    def __init__(self, response: theirs.ModelResponse) -> None:
        """`response` is all it says."""
        super().__init__()
        self.response: theirs.ModelResponse = response
        self.seen: list[theirs.ModelMessage] = []

    @property
    def model_name(self) -> str:
        """Its name."""
        return "given"

    @property
    def system(self) -> str:
        """Who provides it."""
        return "us"

    async def request(self, messages: Any, *_: Any) -> theirs.ModelResponse:
        """What it was given."""
        self.seen = messages
        return self.response


async def test_a_stream_in_pieces() -> None:
    """Reasoning with its signature at the end, text, calls by our own numbers, usage, the end under the name."""
    told = Told(
        [
            {0: DeltaThinkingPart(content="hm ")},
            {0: DeltaThinkingPart(content="so", signature="S")},
            "let ",
            "me",
            {1: DeltaToolCall(name="look", json_args='{"place":', tool_call_id="a")},
            {1: DeltaToolCall(json_args='"a"}')},
            {2: DeltaToolCall(name="look", json_args="{}", tool_call_id="b")},
        ]
    )
    pieces = await answered(told.model, "hi")
    assert [
        ReasoningPiece("hm "),
        ReasoningPiece("so"),
        ReasoningPiece(payload={"part": "thinking", "signature": "S", "provider_name": "function"}),
        TextPiece("let "),
        TextPiece("me"),
        CallPiece(index=0, call_id="a", name="look", arguments='{"place":'),
        CallPiece(index=0, arguments='"a"}'),
        CallPiece(index=1, call_id="b", name="look", arguments="{}"),
    ] == pieces[:-2]
    assert isinstance(pieces[-2], Usage)
    assert {"input_tokens", "output_tokens"} <= set(pieces[-2].tokens)
    assert Finish("tool_calls", "pydantic-ai:function:told") == pieces[-1]


async def test_a_model_that_cannot_stream_answers_in_one_go() -> None:
    """The same pieces; arguments as an object become JSON; what the provider ran is told of and not ours to run."""
    parts: list[theirs.ModelResponsePart] = [
        theirs.ThinkingPart("hm"),
        theirs.TextPart("so"),
        theirs.NativeToolCallPart("web_search", {"query": "x"}, "w"),
        theirs.NativeToolReturnPart("web_search", "found", "w"),
        theirs.FilePart(content=theirs.BinaryContent(data=b"x", media_type="image/png")),
    ]
    usage = RequestUsage(input_tokens=7, output_tokens=3, details={"searches": 2})
    model = from_pydantic_ai(Given(theirs.ModelResponse(parts=parts, usage=usage, finish_reason="length")))
    pieces = [piece async for piece in model.stream(ModelRequest(messages=[said("hi")]))]
    assert [
        ReasoningPiece("hm"),
        TextPiece("so"),
        CallPiece(index=0, call_id="w", name="web_search", executor="provider"),
        CallPiece(index=0, arguments='{"query":"x"}'),
        Remark("a part of the answer cannot be kept: file"),
        Usage({"searches": 2, "input_tokens": 7, "output_tokens": 3}),
        Finish("length", "pydantic-ai:us:given"),
    ] == pieces


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("stop", "stop"), ("tool_call", "tool_calls"), ("length", "length"), ("content_filter", "content_filter")],
)
async def test_why_an_answer_ended(reason: Any, expected: str) -> None:
    """In our words; an answer that the provider calls an error is none."""
    response = theirs.ModelResponse(parts=[theirs.TextPart("x")], finish_reason=reason)
    end = (await answered(from_pydantic_ai(Given(response)), "hi"))[-1]
    assert Finish(expected, "pydantic-ai:us:given") == end
    response.finish_reason = "error"
    with pytest.raises(Transient, match="broke its answer off: error"):
        await answered(from_pydantic_ai(Given(response)), "hi")


async def test_a_signed_call_comes_back_signed() -> None:
    """Gemini signs calls and texts: what it wants back with them survives the session, and goes nowhere else."""
    signed = {"provider_name": "us", "provider_details": {"thought_signature": "c2ln"}}
    call = theirs.ToolCallPart("look", {"place": "a"}, "a", **signed)  # type: ignore[arg-type]
    text = theirs.TextPart("one moment", id="t", provider_name="us")
    given = Given(theirs.ModelResponse(parts=[text, call], finish_reason="stop"))
    agent = Agent(model=from_pydantic_ai(given), tools=[look], max_steps=1)
    session = agent.session("s")
    await session.reply(session.run("go"))
    given.response = theirs.ModelResponse(parts=[theirs.TextPart("done")])
    end = await session.reply(session.run("go on"))
    await agent.close()
    back_text, back = given.seen[1].parts
    assert isinstance(back, theirs.ToolCallPart)
    assert isinstance(back_text, theirs.TextPart)
    assert (signed, {"place": "a"}) == ({key: getattr(back, key) for key in signed}, back.args)
    assert ("one moment", "t") == (back_text.content, back_text.id)
    assert "done" == end.text


# --- the agent over it ------------------------------------------------------------------------------------------------


async def test_the_loop_with_parallel_calls_and_reasoning() -> None:
    """Calls run, an error is told as one, reasoning goes back signed, the next turn and a regenerated one go on."""
    told = Told(
        [
            {0: DeltaThinkingPart(content="two places", signature="S")},
            {1: DeltaToolCall(name="look", json_args='{"place":"a"}', tool_call_id="a")},
            {2: DeltaToolCall(name="look", json_args='{"place":"nowhere"}', tool_call_id="b")},
        ],
        ["not there"],
        ["you are welcome"],
        ["not at all"],
    )
    agent = Agent(model=told.model, tools=[look], instructions="Be brief.")
    session = agent.session("s")
    texts = [(await session.reply(session.run(text))).text for text in ("where?", "thanks")]
    again = await session.reply(session.regenerate())
    await agent.close()
    assert ["not there", "you are welcome", "not at all"] == [*texts, again.text]
    shape = [("request", ["user-prompt"]), ("response", ["thinking", "tool-call", "tool-call"])]
    shape += [("request", ["tool-return", "tool-return"])]
    assert shape == kinds(told.seen[1])
    last = [*shape, ("response", ["text"]), ("request", ["user-prompt"])]
    assert [last, last] == [kinds(told.seen[2]), kinds(told.seen[3])]
    assert "Be brief." == told.infos[3].instructions
    thought: Any = told.seen[2][1].parts[0]
    assert ("two places", "S") == (thought.content, thought.signature)
    results: list[Any] = list(told.seen[2][2].parts)
    assert ["success", "failed"] == [part.outcome for part in results]
    assert "there is no such place" in results[1].content


async def test_pydantic_ai_s_own_test_model() -> None:
    """It calls every tool once and tells what came."""
    agent = Agent(model=from_pydantic_ai(PlainModel()), tools=[look])
    session = agent.session("s")
    end = await session.reply(session.run("go"))
    await agent.close()
    assert ("completed", '{"look":"nothing in a"}') == (end.outcome, end.text)


# --- real providers' formats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", MADE)
async def test_a_whole_conversation_is_accepted(provider: str) -> None:
    """Instructions, parallel calls with an error among their results, another turn: every request is taken."""
    calls = [("look", {"place": "a"}), ("look", {"place": "nowhere"})]
    script: list[Answer | str] = [
        Answer(text="let me see", calls=calls),
        "not there",
        "you are welcome",
    ]
    with ContractServer(script=script) as server:
        async with MADE[provider](server.url) as theirs_:
            agent = Agent(model=from_pydantic_ai(theirs_), tools=[look], instructions="Be brief.")
            session = agent.session("s")
            replies = [await session.reply(session.run(text)) for text in ("where is it?", "thanks")]
            await agent.close()
    assert ["let me see\nnot there", "you are welcome"] == [reply.text for reply in replies]
    assert [200, 200, 200] == [request.status for request in server.requests]
    sent = str(server.requests[-1].body)
    assert "Be brief." in sent
    assert "there is no such place" in sent
    assert ("'is_error': True" if provider == "anthropic" else '{"error":') in sent


async def test_signed_thinking_is_taken_back() -> None:
    """By the provider that signed it, in the next step and in the next turn."""
    script: list[Answer | str] = [Answer(calls=[("look", {"place": "a"})], reasoning="look first"), "done", "ok"]
    thinking = {"anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4096}
    with ContractServer(script=script) as server:
        async with MADE["anthropic"](server.url) as theirs_:
            agent = Agent(model=from_pydantic_ai(theirs_, settings=thinking), tools=[look])
            session = agent.session("s")
            ends = [(await session.reply(session.run(text))).outcome for text in ("go", "go on")]
            await agent.close()
    assert (["completed"] * 2, [200] * 3) == (ends, [request.status for request in server.requests])
    assert [0, 1, 1] == [str(request.body["messages"]).count("'thinking': 'look first'") for request in server.requests]


@pytest.mark.parametrize("provider", MADE)
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", status=429, retry_after="0"), Transient),
        (Fault("status", status=500), Transient),
        (Fault("status", status=401), ProviderFatal),
        (Fault("overflow"), ContextOverflow),
        (Fault("cut"), Transient),
        (Fault("error", after=2), Transient),
    ],
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else value.__name__,
)
async def test_each_fault_is_of_its_kind(provider: str, fault: Fault, kind: type[ModelError]) -> None:
    """As from our own way to the provider."""
    with ContractServer(script=["hi"]) as server:
        server.faults.extend([fault] * 3)  # the SDKs ask again by themselves
        async with MADE[provider](server.url) as theirs_:
            with pytest.raises(kind):
                await answered(from_pydantic_ai(theirs_), "hello")


async def test_a_name_makes_a_model_that_is_closed_and_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `Agent.disconnect` and the next turn do."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with ContractServer(script=["one", "two"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = from_pydantic_ai("openai-chat:gpt-5")
        assert ["one", "two"] == [await asked(model, text) for text in ("a", "b")]
    assert "pydantic-ai:openai:gpt-5" == model.name


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exceptions.ModelHTTPError(429, "m", {"message": "slow down"}), Transient),
        (exceptions.ModelHTTPError(400, "m", "the prompt is too long"), ContextOverflow),
        (exceptions.ModelHTTPError(403, "m"), ProviderFatal),
        (exceptions.ModelAPIError("m", "connection error"), Transient),
        (exceptions.UnexpectedModelBehavior("not JSON"), Transient),
        (exceptions.ContentFilterError("no"), ProviderFatal),
        (exceptions.UserError("not so"), UsageError),
        (TimeoutError(), Transient),
        (ConnectionResetError(), Transient),
        (ModelError("ours"), ModelError),
        (ZeroDivisionError(), ZeroDivisionError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_what_an_exception_is(error: Exception, kind: type[Exception]) -> None:
    """By its class; a fault of nobody's is passed on as it is."""
    with pytest.raises(kind) as caught:
        await answered(Told([error]).model, "hi")
    assert kind is type(caught.value)


async def test_when_to_ask_again_and_what_was_said() -> None:
    """The provider's own wait and its own sentence."""
    error = exceptions.ModelHTTPError(429, "m", {"message": "slow down"})
    error.retry_after = 7
    with pytest.raises(Transient, match="pydantic-ai:function:told answered 429: slow down") as caught:
        await answered(Told([error]).model, "hi")
    assert 7 == caught.value.retry_after


async def test_of_several_models_the_last_one_s_fault_counts() -> None:
    """A `FallbackModel` raises what all of its models raised."""
    told = [Told([exceptions.ModelHTTPError(status, "m")]) for status in (429, 401)]
    both = FallbackModel(*(FunctionModel(stream_function=each.__call__) for each in told))
    with pytest.raises(ProviderFatal):
        await answered(from_pydantic_ai(both), "hi")


def test_what_is_no_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object of another kind, a name that is unknown, and pydantic-ai where it is not installed."""
    with pytest.raises(UsageError, match="expected a model of pydantic-ai, or the name of one, got int"):
        from_pydantic_ai(7)
    with pytest.raises(UsageError, match="'nobody:x'"):
        from_pydantic_ai("nobody:x")

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match="install pydantic-ai-slim"):
        from_pydantic_ai(PlainModel())
