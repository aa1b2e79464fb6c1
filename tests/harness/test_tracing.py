"""Traces: which spans there are, whose children they are, and what they say and keep to themselves."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, Tracer

from suture.errors import ProviderFatal, Transient
from suture.harness import Agent, Runtime, tool, tracing
from suture.models import Step, scripted
from suture.store.memory import MemoryStore
from suture.transcript import ToolPart
from suture.transcript.events import MessageAdded, StepAdded, TurnBegan
from tests.harness.agents import ToolLog, calling, dead, eventually, heard, made, says

pytestmark = pytest.mark.anyio

WORDS = "the treasure is under the oak"


class Traced:
    """What was traced."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._spans = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.tracer: Tracer = provider.get_tracer("test")

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that ended, in the order in which they began."""
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> ReadableSpan:
        """The only span of a name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span

    def tree(self) -> list[tuple[str, str]]:
        """Each span's parent's name and its own, sorted."""
        names = {span.context.span_id: span.name for span in self.spans if span.context}
        return sorted((names[span.parent.span_id] if span.parent else "", span.name) for span in self.spans)

    def status(self, name: str) -> tuple[StatusCode, Any, str | None]:
        """How the only span of a name ended: its status, the kind of its error, and in words."""
        span = self.named(name)
        return span.status.status_code, said(span).get("error.type"), span.status.description


def said(span: ReadableSpan) -> dict[str, Any]:
    """What a span says."""
    return dict(span.attributes or {})


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    """Spans go here."""
    traced = Traced()
    monkeypatch.setattr(tracing, "_tracer", lambda: traced.tracer)
    return traced


async def test_a_turn(traced: Traced) -> None:
    """One span for the turn, and in it one for each request and each call; calls that run at once are siblings."""
    both = asyncio.Barrier(2)
    log = ToolLog()
    tools = [log.tool("look", lambda _: both.wait()), log.tool("smell", lambda _: both.wait())]
    await says(made(calling("look", "smell"), "a rose", tools=tools).session("s"), "what is it?")
    turn = "invoke_agent Agent"
    assert [
        ("", turn),
        (turn, "chat scripted"),
        (turn, "chat scripted"),
        (turn, "execute_tool look"),
        (turn, "execute_tool smell"),
    ] == traced.tree()


async def test_what_the_spans_say(traced: Traced) -> None:
    """The conventions' names, and ours."""
    ids = iter(f"id{number}" for number in range(100))
    agent = made(calling("look"), "a rose", tools=[ToolLog().tool("look")], runtime=Runtime(new_id=lambda: next(ids)))
    await says(agent.session("s"), "what is it?")
    turn = traced.named("invoke_agent Agent")
    turn_id = said(turn)["suture.turn.id"]
    where = {"gen_ai.conversation.id": "s", "suture.turn.id": turn_id}
    model = {"gen_ai.provider.name": "scripted", "gen_ai.request.model": "scripted"}
    assert (
        SpanKind.INTERNAL,
        {
            **where,
            **model,
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "Agent",
            "suture.turn.trigger": "message",
            "suture.turn.outcome": "completed",
        },
    ) == (turn.kind, said(turn))
    first, second = [span for span in traced.spans if span.name == "chat scripted"]
    asked = {**where, **model, "gen_ai.operation.name": "chat"}
    assert [
        (SpanKind.CLIENT, {**asked, "suture.step.number": 1, "gen_ai.response.finish_reasons": ("tool_calls",)}),
        (SpanKind.CLIENT, {**asked, "suture.step.number": 2, "gen_ai.response.finish_reasons": ("stop",)}),
    ] == [(first.kind, said(first)), (second.kind, said(second))]
    assert {
        **where,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_0_0",
        "suture.tool.attempt": 1,
    } == said(traced.named("execute_tool look"))


@pytest.mark.parametrize(
    ("name", "tokens", "expected"),
    [
        ("openai:gpt-5.1", {"prompt_tokens": 7, "completion_tokens": 3, "cached_tokens": 2}, (7, 3, 2)),
        ("openai_responses:gpt-5.1", {"input_tokens": 7, "output_tokens": 3}, (7, 3, None)),
        (
            "anthropic:claude-sonnet-4-5",
            {
                "input_tokens": 7,
                "cache_read_input_tokens": 20,
                "cache_creation_input_tokens": 100,
                "output_tokens": 3,
            },
            (127, 3, 20),
        ),
        (
            "pydantic-ai:anthropic:claude-sonnet-4-5",
            {"input_tokens": 27, "cache_read_input_tokens": 20, "cache_read_tokens": 20, "output_tokens": 3},
            (27, 3, 20),
        ),
        ("mine", {}, (None, None, None)),
        ("mine", {"output_tokens": 0}, (None, 0, None)),
    ],
)
async def test_usage(traced: Traced, name: str, tokens: dict[str, int], expected: Any) -> None:
    """Providers' own counts come under the conventions' names; what was read from a cache was read."""
    await says(Agent(model=scripted([Step(text="hi", usage=tokens)], name=name)).session("s"), "hello")
    told = said(next(span for span in traced.spans if span.name.startswith("chat")))
    counts = ("input_tokens", "output_tokens", "cache_read.input_tokens")
    assert expected == tuple(told.get(f"gen_ai.usage.{count}") for count in counts)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("anthropic:claude-sonnet-4-5", ("anthropic", "claude-sonnet-4-5")),
        ("ollama:qwen3:8b", ("ollama", "qwen3:8b")),
        ("openai_responses:gpt-5.1", ("openai", "gpt-5.1")),
        ("xai:grok-4", ("x_ai", "grok-4")),
        ("pydantic-ai:mistral:large", ("mistral", "large")),
        ("mine", ("mine", "mine")),
    ],
)
async def test_who_is_asked(traced: Traced, name: str, expected: tuple[str, str]) -> None:
    """The provider by the conventions' name for it, and the model by the provider's."""
    await says(Agent(model=scripted(["hi"], name=name)).session("s"), "hello")
    told = said(traced.named(f"chat {expected[1]}"))
    assert expected == (told["gen_ai.provider.name"], told["gen_ai.request.model"])


async def test_a_model_that_fails(traced: Traced) -> None:
    """Its span and the turn's are errors, of the same kind, and neither quotes it."""
    await says(made(Step(text="well", fault=ProviderFatal(WORDS))).session("s"), "hello")
    error = (StatusCode.ERROR, "ProviderFatal", None)
    assert [error, error] == [traced.status("chat scripted"), traced.status("invoke_agent Agent")]
    assert "failed" == said(traced.named("invoke_agent Agent"))["suture.turn.outcome"]
    assert WORDS not in "".join(span.to_json() for span in traced.spans)


async def test_a_request_that_is_sent_again(traced: Traced) -> None:
    """Each has its span, of the same step; the turn has not failed."""

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds if seconds > 5 else 0)  # the lease's is longer than a wait for another try

    agent = made(Step(fault=Transient("busy")), "hi", runtime=Runtime(sleep=sleep))
    await says(agent.session("s"), "hello")
    chats = [span for span in traced.spans if span.name == "chat scripted"]
    assert [(1, "Transient"), (1, None)] == [
        (said(span)["suture.step.number"], said(span).get("error.type")) for span in chats
    ]
    assert (StatusCode.UNSET, None, None) == traced.status("invoke_agent Agent")


async def test_a_tool_that_fails(traced: Traced) -> None:
    """Its span is an error, the turn's is none."""

    @tool
    def broken() -> None:
        """It is."""
        raise RuntimeError(WORDS)

    await says(made(calling("broken"), "so be it", tools=[broken]).session("s"), "go")
    assert (StatusCode.ERROR, "error", None) == traced.status("execute_tool broken")
    assert (StatusCode.UNSET, None, None) == traced.status("invoke_agent Agent")


async def test_a_turn_that_takes_too_long(traced: Traced) -> None:
    """Its time is up: that is an error of the turn, and none of what it cut off."""
    await says(made(Step(hang=True), turn_timeout=0.01).session("s"), "hello")
    assert (StatusCode.ERROR, "timeout", None) == traced.status("invoke_agent Agent")
    assert (StatusCode.UNSET, None, None) == traced.status("chat scripted")


async def test_a_turn_that_is_stopped(traced: Traced) -> None:
    """A stop is no error: not of the turn, and not of the call that it cut off."""
    log = ToolLog()
    session = made(calling("wait"), tools=[log.tool("wait", lambda _: asyncio.Event().wait())]).session("s")
    turn = asyncio.create_task(says(session, "go"))
    await eventually(lambda: log.names == ["wait"])
    await session.stop()
    await turn
    assert "stopped" == said(traced.named("invoke_agent Agent"))["suture.turn.outcome"]
    calm = (StatusCode.UNSET, None, None)
    assert [calm, calm] == [traced.status("invoke_agent Agent"), traced.status("execute_tool wait")]


async def test_a_repair(traced: Traced) -> None:
    """It is told how many calls were cut off; a turn that repairs nothing has no such span."""
    parts = tuple(
        ToolPart(call_id=f"c{number}", name="look", input={}, cause="started", attempts=1) for number in range(2)
    )
    session = await dead(
        made("sorry", "again", tools=[ToolLog().tool("look")]),
        "s",
        TurnBegan(turn="t"),
        MessageAdded(message="a", role="assistant", parent=None),
        StepAdded(message="a", parts=parts),
    )
    await says(session, "well?")
    await says(session, "and?")
    assert 2 == said(traced.named("suture.repair"))["suture.repair.calls"]
    assert ("invoke_agent Agent", "suture.repair") in traced.tree()


@pytest.mark.parametrize("told", [False, True])
async def test_content(traced: Traced, told: bool) -> None:
    """Arguments, outputs and answers are in the traces where the agent asks for it, and nowhere else."""

    @tool
    def find(what: str) -> dict[str, str]:
        """Look for something."""
        return {"found": f"{what}: {WORDS}"}

    @tool
    def dig() -> None:
        """Dig."""
        raise RuntimeError(WORDS)

    agent = made(calling(("find", {"what": WORDS}), "dig"), f"Ah, {WORDS}", tools=[find, dig], trace_content=told)
    await says(agent.session("s"), WORDS)
    found, dug = said(traced.named("execute_tool find")), traced.status("execute_tool dig")
    last = said(traced.spans[-1])
    if not told:
        assert WORDS not in "".join(span.to_json() for span in traced.spans)
        return
    assert (f'{{"what":"{WORDS}"}}', f'{{"found":"{WORDS}: {WORDS}"}}') == (
        found["gen_ai.tool.call.arguments"],
        found["gen_ai.tool.call.result"],
    )
    assert (StatusCode.ERROR, "error", f"RuntimeError: {WORDS}") == dug
    assert (
        f'[{{"role":"assistant","parts":[{{"type":"text","content":"Ah, {WORDS}"}}],"finish_reason":"stop"}}]'
        == last["gen_ai.output.messages"]
    )


async def test_content_of_a_class(traced: Traced) -> None:
    """A subclass may ask for it, as for everything else."""

    class Open(Agent):
        trace_content = True

    await says(made("hi there", kind=Open).session("s"), "hello")
    assert "hi there" in said(traced.named("chat scripted"))["gen_ai.output.messages"]


@pytest.mark.parametrize("threaded", [False, True])
async def test_what_a_tool_traces(traced: Traced, threaded: bool) -> None:
    """It is inside of the tool's own span, also of one that runs in a thread."""

    def plain() -> str:
        """Trace something."""
        with traced.tracer.start_as_current_span("inner"):
            return "ok"

    async def coroutine() -> str:
        """Trace something."""
        return plain()

    made_tool = tool(plain if threaded else coroutine)
    await says(made(calling(made_tool.name), "done", tools=[made_tool]).session("s"), "go")
    assert (f"execute_tool {made_tool.name}", "inner") in traced.tree()


async def test_inside_of_a_span(traced: Traced) -> None:
    """A span around a turn is its parent, also where it stood in line behind somebody else's."""
    log = ToolLog()
    go = asyncio.Event()
    session = made(calling("wait"), "one", "two", tools=[log.tool("wait", lambda _: go.wait())]).session("s")

    async def caller(name: str) -> None:
        with traced.tracer.start_as_current_span(name):
            await heard(session.run("go"))

    first = asyncio.create_task(caller("first"))
    await eventually(lambda: log.names == ["wait"])
    second = asyncio.create_task(caller("second"))
    await eventually(lambda: len(session.line.waiting) == 1)
    go.set()
    await asyncio.gather(first, second)
    turns = [parent for parent, name in traced.tree() if name == "invoke_agent Agent"]
    assert ["first", "second"] == turns


async def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a provider the spans are empty, and nothing is made for them."""
    monkeypatch.setattr(tracing, "_fail", lambda *_: pytest.fail("nobody wants it"))
    agent = made(Step(fault=ProviderFatal("no")), trace_content=True)
    assert "failed" == (await says(agent.session("s"), "hello")).outcome


@pytest.mark.parametrize("api", [None, SimpleNamespace(get_tracer=lambda name: f"a tracer for {name}")])
async def test_with_and_without_the_package(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tracer is the package's; without it there is none."""
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", api)
    tracing_api: Callable[[], Any] = tracing._api.__wrapped__
    assert api is tracing_api()
    monkeypatch.setattr(tracing, "_api", tracing_api)
    assert (api and "a tracer for suture") == tracing._tracer.__wrapped__()


async def test_a_turn_without_the_package() -> None:
    """Everything works where it cannot be imported: a call, a repair, an error."""
    script = """
import asyncio, sys
sys.modules["opentelemetry"] = None
from suture.harness import Agent, tool
from suture.models import Step, scripted
from suture.transcript import ToolPart
from suture.transcript.events import MessageAdded, StepAdded, TurnBegan

@tool
def look() -> str:
    '''Look.'''
    return "a rose"

async def main():
    agent = Agent(model=scripted([Step(calls=(("look", {}),)), "done", Step(fault=RuntimeError("no"))]), tools=[look])
    part = ToolPart(call_id="c", name="gone", input={}, cause="started")
    dead = [TurnBegan(turn="t"), MessageAdded(message="a", role="assistant", parent=None)]
    await agent.opened.append("s", [*dead, StepAdded(message="a", parts=(part,))])
    session = agent.session("s")
    for text in ("one", "two"):
        async for notice in session.run(text):
            pass
        print(notice.outcome)
    print([name for name, module in sys.modules.items() if name.startswith("opentelemetry") and module])

asyncio.run(main())
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: ASYNC221
    assert (["completed", "failed", "[]"], "") == (run.stdout.splitlines(), run.stderr)


async def test_nothing_is_imported_before_a_turn() -> None:
    """Whoever only makes an agent does not pay for it."""
    script = "import sys; from suture.harness import Agent; import suture.models as m; Agent(model=m.scripted([])); "
    script += "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: ASYNC221
    assert "[]\n" == run.stdout


@pytest.mark.parametrize("traces", [False, True])
async def test_the_log(
    traces: bool, traced: Traced, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A line for the turn, and finer ones for each request and call, with traces and without; none says more."""
    if not traces:
        monkeypatch.setattr(tracing, "_tracer", lambda: None)
    caplog.set_level(logging.DEBUG, logger="suture.harness")
    agent = made(calling(("look", {"value": WORDS})), WORDS, tools=[ToolLog().tool("look")], store=MemoryStore())
    turn = (await says(agent.session("s"), WORDS)).turn
    assert [
        ("DEBUG", f"turn {turn}: step 1: scripted: tool_calls"),
        ("DEBUG", f"turn {turn}: call call_0_0 of look: ok"),
        ("DEBUG", f"turn {turn}: step 2: scripted: stop"),
        ("INFO", f"session s: turn {turn}: completed after 2 steps"),
    ] == [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "suture.harness"]
    assert traces == bool(traced.spans)
