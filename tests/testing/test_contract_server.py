"""The contract server as the official clients see it, and how it lives and dies."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from typing import Any, Final

import anthropic
import openai
import pytest

from suture.testing import Answer, ContractServer, Fault
from tests.testing.contracts import FORMATS, HEADERS

MESSAGES: Final[Any] = [{"role": "user", "content": "What do you see?"}]
MODEL: Final = "claude-opus-5"
ANSWER: Final = Answer(
    "Let me look at it.\n",
    calls=[("look_up", {"n": 1, "é": "日本"}), ("look_up", {"n": 2})],
    reasoning="They want it.",
    input_tokens=20,
    cached_tokens=8,
    output_tokens=7,
    reasoning_tokens=3,
)
CALLS: Final = [("look_up", {"n": 1, "é": "日本"}), ("look_up", {"n": 2})]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_chat_client_gets_the_answer(
    contract_server: ContractServer, openai_client: openai.OpenAI, *, streamed: bool
) -> None:
    """Text, parallel calls, reasoning and usage are what the script says, streamed or not."""
    contract_server.script = [ANSWER]
    completions = openai_client.chat.completions
    if streamed:
        with completions.stream(model="m", messages=MESSAGES, stream_options={"include_usage": True}) as stream:
            for _ in stream:
                pass
            completion: Any = stream.get_final_completion()
    else:
        completion = completions.create(model="m", messages=MESSAGES)
    message = completion.choices[0].message

    assert (ANSWER.text, ANSWER.reasoning) == (message.content, message.reasoning_content)
    assert CALLS == [(each.function.name, json.loads(each.function.arguments)) for each in message.tool_calls]
    assert ["call_1_0", "call_1_1"] == [each.id for each in message.tool_calls]
    assert "tool_calls" == completion.choices[0].finish_reason
    assert (20, 7, 27) == (
        completion.usage.prompt_tokens,
        completion.usage.completion_tokens,
        completion.usage.total_tokens,
    )
    assert 8 == completion.usage.prompt_tokens_details.cached_tokens


@pytest.mark.parametrize("streamed", [False, True])
def test_a_responses_client_gets_the_answer(
    contract_server: ContractServer, openai_client: openai.OpenAI, *, streamed: bool
) -> None:
    """Reasoning, text and parallel calls are items in this order, streamed or not."""
    contract_server.script = [ANSWER]
    if streamed:
        with openai_client.responses.stream(model="m", input="hi") as stream:
            for _ in stream:
                pass
            response: Any = stream.get_final_response()
    else:
        response = openai_client.responses.create(model="m", input="hi")
    thought, message, *calls = response.output

    assert ANSWER.reasoning == thought.summary[0].text
    assert ANSWER.text == message.content[0].text == response.output_text
    assert CALLS == [(each.name, json.loads(each.arguments)) for each in calls]
    assert ("completed", 20, 7) == (response.status, response.usage.input_tokens, response.usage.output_tokens)
    assert (8, 3) == (
        response.usage.input_tokens_details.cached_tokens,
        response.usage.output_tokens_details.reasoning_tokens,
    )


@pytest.mark.parametrize("streamed", [False, True])
def test_an_anthropic_client_gets_the_answer(
    contract_server: ContractServer, anthropic_client: anthropic.Anthropic, *, streamed: bool
) -> None:
    """Thinking, text and parallel calls are blocks in this order, streamed or not."""
    contract_server.script = [ANSWER]
    if streamed:
        with anthropic_client.messages.stream(model=MODEL, max_tokens=9, messages=MESSAGES) as stream:
            answer: Any = stream.get_final_message()
    else:
        answer = anthropic_client.messages.create(model=MODEL, max_tokens=9, messages=MESSAGES)
    thought, text, *calls = answer.content

    assert (ANSWER.reasoning, ANSWER.text) == (thought.thinking, text.text)
    assert CALLS == [(each.name, each.input) for each in calls]
    assert "tool_use" == answer.stop_reason
    assert (12, 8, 7) == (answer.usage.input_tokens, answer.usage.cache_read_input_tokens, answer.usage.output_tokens)


def test_what_the_server_said_can_be_sent_back(
    contract_server: ContractServer, openai_client: openai.OpenAI, anthropic_client: anthropic.Anthropic
) -> None:
    """An answer with results for its calls is a valid history in each format."""
    contract_server.script = [ANSWER, "a", ANSWER, "b", ANSWER, "c"]

    said = openai_client.chat.completions.create(model="m", messages=MESSAGES).choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in said.tool_calls or []]
    history: Any = [*MESSAGES, said.model_dump(exclude_none=True), *results]
    assert "a" == openai_client.chat.completions.create(model="m", messages=history).choices[0].message.content

    output = openai_client.responses.create(model="m", input="hi").output
    outputs = [
        {"type": "function_call_output", "call_id": item.call_id, "output": "ok"}
        for item in output
        if item.type == "function_call"
    ]
    items: Any = [*MESSAGES, *[item.model_dump(exclude_none=True) for item in output], *outputs]
    assert "b" == openai_client.responses.create(model="m", input=items).output_text

    thinking: Any = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    content = anthropic_client.messages.create(model=MODEL, max_tokens=9, messages=MESSAGES).content
    blocks = [
        {"type": "tool_result", "tool_use_id": block.id, "content": "ok"}
        for block in content
        if block.type == "tool_use"
    ]
    turns: Any = [
        *MESSAGES,
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in content]},
        {"role": "user", "content": blocks},
    ]
    answer = anthropic_client.messages.create(model=MODEL, max_tokens=2048, messages=turns, **thinking)
    assert "text" == answer.content[0].type


def test_responses_are_chained(contract_server: ContractServer, openai_client: openai.OpenAI) -> None:
    """What was stored counts: open calls have to be answered, and reasoning stays with what followed it."""
    contract_server.script = [ANSWER, "done"]
    begun = openai_client.responses.create(model="m", input="hi")
    calls: Any = [item for item in begun.output if item.type == "function_call"]
    outputs: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "ok"} for call in calls]

    with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_1_0"):
        openai_client.responses.create(model="m", input="go on", previous_response_id=begun.id)
    with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item: 'rs_1'"):
        openai_client.responses.create(model="m", input=[calls[0].model_dump(exclude_none=True), outputs[0]])
    assert "done" == openai_client.responses.create(model="m", input=outputs, previous_response_id=begun.id).output_text


def test_a_script_is_a_list_a_function_or_an_echo(
    contract_server: ContractServer, openai_client: openai.OpenAI, anthropic_client: anthropic.Anthropic
) -> None:
    """It echoes without a script; a function gets the body and the format; a list that is over is a 500."""

    def say() -> str:
        return openai_client.responses.create(model="m", input="hello").output_text

    assert "hello" == say()
    contract_server.script = lambda body, wire: f"{wire} {body['input']}"
    assert "openai_responses hello" == say()
    contract_server.script = ["one"]
    assert "one" == say()
    with pytest.raises(openai.InternalServerError, match="the script has 1 steps, and the server was asked once more"):
        say()
    contract_server.script = lambda body, _: body["nothing"]
    with pytest.raises(anthropic.InternalServerError, match="the script raised KeyError"):
        anthropic_client.messages.create(model=MODEL, max_tokens=9, messages=MESSAGES)


def test_requests_are_recorded_without_their_keys(
    contract_server: ContractServer, openai_client: openai.OpenAI, anthropic_client: anthropic.Anthropic
) -> None:
    """Format, path, body and status of every request, also of the refused; keys are masked."""
    openai_client.responses.create(model="m", input="hi")
    with pytest.raises(anthropic.BadRequestError):
        anthropic_client.messages.create(model=MODEL, max_tokens=9, messages=[])

    assert [
        ("openai_responses", "/v1/responses", {"model": "m", "input": "hi"}, 200),
        ("anthropic", "/v1/messages", {"model": MODEL, "max_tokens": 9, "messages": []}, 400),
    ] == [(each.format, each.path, each.body, each.status) for each in contract_server.requests]
    assert "sk-secret" not in str(contract_server.requests)


@pytest.mark.parametrize("format", FORMATS)
def test_without_a_key_nobody_is_answered(format: str) -> None:
    """The refusal is a 401, before anything else is looked at."""
    with ContractServer(validate=False) as server:
        status, body = post(server, FORMATS[format].PATH, b"{", {"anthropic-version": "2023-06-01"})

    assert 401 == status
    words = {"anthropic": "x-api-key header is required"}.get(format, "You didn't provide an API key.")
    assert words in body["error"]["message"]


def test_anthropic_wants_its_version(contract_server: ContractServer) -> None:
    """The version of the format is a header of its own."""
    status, body = post(contract_server, "/v1/messages", b"{}", {"x-api-key": "k"})

    assert (400, "anthropic-version: header is required") == (status, body["error"]["message"])


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_what_is_no_request_is_refused_in_the_providers_shape(path: str) -> None:
    """No JSON, too much of it, and other methods."""
    with ContractServer(limit=100) as server:
        for status, method, body in [
            (400, "POST", b"{"),
            (400, "POST", b"[]"),
            (413, "POST", b" " * 101),
            (405, "GET", b""),
        ]:
            got, error = post(server, path, body, HEADERS, method=method)
            assert status == got
            assert error["error"]["message"]
            assert ("error" == error.get("type")) == (path == "/v1/messages")
        assert 404 == post(server, "/v1/models", b"{}", HEADERS)[0]


def test_a_long_body_is_read_whole(contract_server: ContractServer) -> None:
    """A request of 20 MB is answered, one in chunks as well, over one connection."""
    text = "x" * 20_000_000
    body = json.dumps({"model": "m", "input": text}).encode()
    connection = http.client.HTTPConnection("127.0.0.1", port_of(contract_server), timeout=30)
    for chunked in (False, True):
        connection.request("POST", "/v1/responses", iter([body]) if chunked else body, HEADERS, encode_chunked=chunked)
        answer = json.load(connection.getresponse())
        assert text == answer["output"][0]["content"][0]["text"]
    connection.close()


def test_without_validation_anything_is_answered() -> None:
    """`validate=False` looks at nothing that a provider would refuse."""
    with ContractServer(["one", "two"], validate=False) as server:
        assert 200 == post(server, "/v1/messages", b'{"messages": [{"role": "tool"}]}', HEADERS)[0]
        assert 200 == post(server, "/v1/chat/completions", b"{}", HEADERS)[0]


def test_requests_at_the_same_time_get_an_answer_each(contract_server: ContractServer) -> None:
    """Every answer of the script is given once."""
    contract_server.script = [str(number) for number in range(40)]
    got: list[str] = []

    def ask() -> None:
        for _ in range(5):
            body = post(contract_server, "/v1/responses", b'{"model": "m", "input": "hi"}', HEADERS)[1]
            got.append(body["output"][0]["content"][0]["text"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert sorted(map(str, range(40))) == sorted(got)


def test_a_stopped_server_leaves_nothing_behind() -> None:
    """Stopping closes connections that are idle or hang, ends the threads, and may be done twice."""
    before = set(threading.enumerate())
    server = ContractServer().start()
    server.faults.append(Fault("hang"))
    idle = socket.create_connection(("127.0.0.1", port_of(server)), timeout=30)
    hanging = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)
    hanging.request("POST", "/v1/responses", b'{"model": "m", "input": "hi"}', HEADERS)
    while not server.requests:
        threading.Event().wait(0.001)
    server.stop()
    server.stop()

    assert b"" == idle.recv(1)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        hanging.getresponse()
    idle.close()
    hanging.close()
    assert set() == set(threading.enumerate()) - before


@pytest.mark.anyio
async def test_it_lives_in_an_event_loop() -> None:
    """It is an asynchronous context manager as well, and answers clients of the same loop."""
    async with ContractServer(["one"]) as server:
        client = openai.AsyncOpenAI(
            api_key="k",
            base_url=server.url,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, verify=False, timeout=10),
        )
        async with client:
            response, _ = await asyncio.gather(client.responses.create(model="m", input="hi"), asyncio.sleep(0))
            assert "one" == response.output_text


def test_a_server_that_was_not_started_has_no_address() -> None:
    """Its address is chosen when it starts."""
    with pytest.raises(RuntimeError, match="not started"):
        _ = ContractServer().url


def port_of(server: ContractServer) -> int:
    """Where a server listens."""
    return int(server.root.rpartition(":")[2])


def post(
    server: ContractServer, path: str, body: bytes, headers: dict[str, str], *, method: str = "POST"
) -> tuple[int, Any]:
    """The status and the body of one answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, json.load(response)
    finally:
        connection.close()
