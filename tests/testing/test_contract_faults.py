"""What goes wrong on the way surfaces in the official clients as what it is."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from typing import Any, Final

import anthropic
import httpx2
import openai
import pytest

from suture.testing import ContractServer, Fault
from tests.testing.contracts import HEADERS
from tests.testing.test_contract_server import port_of, post

WORDS: Final = "one two three four five six"
MESSAGES: Final[Any] = [{"role": "user", "content": "hi"}]

Ask = Callable[..., Any]


@pytest.fixture(params=["openai_chat", "openai_responses", "anthropic"])
def ask(
    request: pytest.FixtureRequest,
    contract_server: ContractServer,
    openai_client: openai.OpenAI,
    anthropic_client: anthropic.Anthropic,
) -> Ask:
    """Asks for an answer to the end of it, in each format."""
    contract_server.script = lambda _body, _format: WORDS
    create: Any = {
        "openai_chat": lambda **more: openai_client.chat.completions.create(model="m", messages=MESSAGES, **more),
        "openai_responses": lambda **more: openai_client.responses.create(model="m", input="hi", **more),
        "anthropic": lambda **more: anthropic_client.messages.create(
            model="claude-opus-5", max_tokens=9, messages=MESSAGES, **more
        ),
    }[request.param]

    def fully(**more: Any) -> Any:
        answer = create(**more)
        return list(answer) if more.get("stream") else answer

    return fully


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "expected", "status"),
    [
        (Fault("status", 401), "AuthenticationError", 401),
        (Fault("status", 429, retry_after="7"), "RateLimitError", 429),
        (Fault("status", 500), "InternalServerError", 500),
        (Fault("status", 503), "InternalServerError", 503),
        (Fault("status", 529), "InternalServerError", 529),
        (Fault("overflow"), "BadRequestError", 400),
    ],
    ids=lambda value: str(getattr(value, "status", "")),
)
def test_a_status_is_the_clients_own_error(
    contract_server: ContractServer, ask: Ask, fault: Fault, expected: str, status: int, *, stream: bool
) -> None:
    """The client raises its own exception for the status, and the next request is answered."""
    contract_server.faults.append(fault)

    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as raised:
        ask(stream=stream)
    assert isinstance(raised.value, getattr(openai, expected) | getattr(anthropic, expected))
    assert status == raised.value.status_code
    assert (fault.retry_after or None) == raised.value.response.headers.get("retry-after")
    assert ask()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("after", [0, 2])
def test_a_cut_is_a_connection_error(contract_server: ContractServer, ask: Ask, *, after: int, stream: bool) -> None:
    """A closed connection is no answer, before or in the middle of it."""
    contract_server.faults.append(Fault("cut", after=after))

    # Anthropic's client lets through what its transport raises in the middle of a stream.
    with pytest.raises((openai.APIConnectionError, anthropic.APIConnectionError, httpx2.RemoteProtocolError)):
        ask(stream=stream)
    assert (200 if after else 0) == contract_server.requests[0].status


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("after", [0, 2])
def test_a_hanging_answer_times_out(contract_server: ContractServer, ask: Ask, *, after: int, stream: bool) -> None:
    """Nothing comes any more: the client's patience ends it."""
    contract_server.faults.append(Fault("hang", after=after))

    with pytest.raises((openai.APITimeoutError, anthropic.APITimeoutError, httpx2.ReadTimeout)):
        ask(stream=stream, timeout=0.2)


@pytest.mark.parametrize("stream", [False, True])
def test_garbage_is_no_json(contract_server: ContractServer, ask: Ask, *, stream: bool) -> None:
    """The clients fail to read it."""
    contract_server.faults.append(Fault("garbage", after=2))

    with pytest.raises(json.JSONDecodeError):
        ask(stream=stream)


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_in_the_stream_is_an_api_error(contract_server: ContractServer, ask: Ask, *, stream: bool) -> None:
    """The provider's error event ends the stream; an answer that is not streamed is a 500."""
    contract_server.faults.append(Fault("error", after=2, message="it broke"))

    with pytest.raises((openai.APIError, anthropic.APIError), match="it broke"):
        ask(stream=stream)


@pytest.mark.parametrize("fault", [Fault("slow", after=1), Fault("slow", seconds=0.001), Fault("delay", seconds=0.01)])
@pytest.mark.parametrize("stream", [False, True])
def test_what_comes_slowly_comes_whole(
    contract_server: ContractServer, ask: Ask, *, fault: Fault, stream: bool
) -> None:
    """Late, or byte by byte, the answer is the same."""
    quick = ask(stream=stream)
    contract_server.faults.append(fault)
    slow = ask(stream=stream)

    assert (len(quick) == len(slow)) if stream else (type(quick) is type(slow))
    assert [] == contract_server.faults


def test_a_fault_happens_as_often_as_it_says(contract_server: ContractServer) -> None:
    """`times` counts the requests that it happens to; a refused one is none, nor is one of another format."""
    contract_server.faults.append(Fault("status", 503, times=2, format="openai_responses"))
    path, body = "/v1/responses", b'{"model": "m", "input": "hi"}'

    assert 400 == post(contract_server, path, b"{}", HEADERS)[0]
    chat = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    assert 200 == post(contract_server, "/v1/chat/completions", chat, HEADERS)[0]
    assert [503, 503, 200] == [post(contract_server, path, body, HEADERS)[0] for _ in range(3)]


def test_an_answer_that_did_not_arrive_stays_in_the_script(contract_server: ContractServer) -> None:
    """Faults and scripts know nothing of each other: asked again, the server says what it was to say."""
    contract_server.script = ["one", "two"]
    contract_server.faults += [Fault("cut"), Fault("cut", after=1), Fault("status", 500)]
    said = []
    for _ in range(5):
        try:
            status, answer = post(contract_server, "/v1/responses", b'{"model": "m", "input": "hi"}', HEADERS)
        except (http.client.HTTPException, ConnectionError):
            said.append("cut")
        else:
            said.append(answer["output"][0]["content"][0]["text"] if status == 200 else str(status))

    assert ["cut", "cut", "500", "one", "two"] == said


def test_slow_is_byte_by_byte(contract_server: ContractServer) -> None:
    """Each byte of an event is a chunk of its own."""
    contract_server.faults.append(Fault("slow"))
    connection = http.client.HTTPConnection("127.0.0.1", port_of(contract_server), timeout=30)
    connection.request("POST", "/v1/responses", b'{"model": "m", "input": "hi", "stream": true}', HEADERS)
    response = connection.getresponse()
    first = response.read1()
    rest = response.read()
    connection.close()

    assert 1 == len(first)
    assert (first + rest).endswith(b"\n\n")
