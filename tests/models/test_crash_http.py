"""The crash matrix again, over HTTP: killed anywhere, no request is ever refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from suture.harness import Agent, Runtime
from suture.models import Model, model
from suture.store import Store
from suture.store.memory import MemoryStore
from suture.testing import Answer, ContractServer, crash_matrix
from suture.transcript.codec import dumps
from tests.harness.scenarios import approved, ask, charge, compacted, look, once, overlapping, pay, stopped
from tests.models.test_remote import NAMES

pytestmark = pytest.mark.anyio

CHARGE, LOOK = ("charge", {"amount": 5}), ("look", {"what": "it"})

PLAYS: dict[str, tuple[list[Answer], Any]] = {
    "no tools": ([], once),
    "three parallel": ([Answer(text="now", calls=[CHARGE, LOOK, CHARGE])], once),
    "two steps": ([Answer(calls=[LOOK]), Answer(calls=[CHARGE])], once),
    "approval": ([Answer(calls=[("pay", {"amount": 5}), LOOK])], approved),
    "stop in flight": ([Answer(calls=[CHARGE, LOOK])], stopped),
    "two messages": ([Answer(calls=[LOOK])], overlapping),
    "compaction": ([Answer(calls=[LOOK])], compacted),
}
"""What the model answers to a message of the user before it says that it is done, and what is done with the session."""


def last_words(body: Any) -> tuple[str, int]:
    """What the user said last, and how many answers with calls came behind it: read off any of the three wires."""
    said, answers = "", 0
    for message in body.get("messages") or body["input"]:
        text = dumps(message)
        if message.get("role") == "user" and "tool_result" not in text:
            said, answers = text, 0
        elif message.get("role") == "assistant" or message.get("type") == "function_call_output":
            answers += "tool_use" in text or "tool_calls" in text or "function_call_output" in text
    return said, answers


def playing(steps: list[Answer]) -> Callable[[Any, str], Answer | str]:
    """Answers each request by where its conversation stands."""

    def answer(body: Any, format: str) -> Answer | str:
        said, answers = last_words(body)
        if format == "openai_responses":  # there each result is an item of its own
            answers = sum(1 for count in range(len(steps)) if answers >= sum(len(s.calls) for s in steps[: count + 1]))
        return "done" if "go on" in said or answers >= len(steps) else steps[answers]

    return answer


@pytest.fixture(params=NAMES)
def wire(request: pytest.FixtureRequest) -> Iterator[tuple[ContractServer, Model]]:
    """A server that refuses what providers refuse, and a model behind it."""
    with ContractServer() as server:
        yield server, model(request.param, base_url=server.url, api_key="k")


@pytest.mark.parametrize("name", PLAYS)
async def test_killed_anywhere_no_request_is_refused(name: str, wire: tuple[ContractServer, Model]) -> None:
    """Every promise holds, and the provider takes every request."""
    server, made = wire
    steps, scenario = PLAYS[name]
    server.script = playing(steps)

    def agent(store: Store, runtime: Runtime) -> Agent:
        return Agent(model=made, tools=[charge, look, pay, ask], store=store, runtime=runtime)

    report = await crash_matrix(agent, scenario, store=MemoryStore)
    await made.close()  # type: ignore[attr-defined]
    assert [] == report.broken
    assert {200} == {request.status for request in server.requests}
    assert len(report.crossings) >= 15
