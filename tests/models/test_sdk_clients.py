"""A client of the provider's own SDK, in place of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI

from suture import Agent, model
from suture.errors import ContextOverflow, ProviderFatal, Transient, UsageError
from suture.testing import Answer, ContractServer, Fault
from suture.transcript import ToolPart
from tests.models.asking import answered
from tests.models.test_remote import NAMES, look

pytestmark = pytest.mark.anyio


@pytest.fixture(params=NAMES)
async def served(request: pytest.FixtureRequest) -> AsyncIterator[tuple[ContractServer, Any]]:
    """A server, and a model that reaches it through the SDK."""
    async with ContractServer() as server:
        if request.param.startswith("anthropic"):
            client: Any = AsyncAnthropic(base_url=server.root, api_key="sk-theirs", max_retries=0)
        else:
            client = AsyncOpenAI(base_url=server.url, api_key="sk-theirs", max_retries=0)
        async with client:
            yield server, model(request.param, client=client)


async def test_a_whole_conversation(served: tuple[ContractServer, Any]) -> None:
    """Text, parallel calls, another turn: as over our own connections."""
    server, made = served
    server.script = [
        Answer(text="let me see", calls=[("look", {"place": "a"}), ("look", {"place": "b"})]),
        "nowhere",
        "you are welcome",
    ]
    session = Agent(model=made, tools=[look], instructions="Be brief.").session("s")
    replies = [await session.reply(session.run(text)) for text in ("where is it?", "thanks")]
    assert ["let me see\nnowhere", "you are welcome"] == [reply.text for reply in replies]
    assert [200, 200, 200] == [request.status for request in server.requests]
    parts = replies[0].message.parts if replies[0].message else ()
    assert ["nothing in a", "nothing in b"] == [part.output for part in parts if isinstance(part, ToolPart)]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", status=429, retry_after="7"), Transient),
        (Fault("status", status=500), Transient),
        (Fault("status", status=401), ProviderFatal),
        (Fault("overflow"), ContextOverflow),
        (Fault("cut"), Transient),
        (Fault("cut", after=3), Transient),
        (Fault("error", after=2), Transient),
    ],
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else value.__name__,
)
async def test_each_fault_is_of_its_kind(served: tuple[ContractServer, Any], fault: Fault, kind: Any) -> None:
    """The SDK's exceptions are ours, with what the provider said, and without the key."""
    server, made = served
    server.script = ["one two three four five six seven"]
    server.faults.append(fault)
    with pytest.raises(kind) as found:
        await answered(made, "hello")
    assert "sk-theirs" not in str(found.value)
    if fault.retry_after:
        assert 7.0 == found.value.retry_after


async def test_the_client_is_its_owner_s() -> None:
    """Closing the model leaves it open."""
    async with ContractServer() as server:
        client = AsyncOpenAI(base_url=server.url, api_key="k")
        made = model("openai:gpt-5", client=client)
        await answered(made, "hello")
        assert not client.is_closed()
        await client.close()


@pytest.mark.parametrize("client", [Anthropic(api_key="k"), "client"], ids=["synchronous", "no client"])
def test_another_object_is_none(client: Any) -> None:
    """Said with what was expected."""
    with pytest.raises(UsageError, match="expected client to be an asynchronous client of the SDK"):
        model("anthropic:claude-5", client=client)
