"""The hooks of an agent: when they are called, what they may change, and what their faults do."""

from __future__ import annotations

from typing import Any

import pytest

from suture.harness import Agent, Allow, Block, Substitute
from suture.harness.notices import Notice, TurnDone
from suture.transcript import Message, TextPart, ToolPart
from suture.transcript.events import StepAdded
from tests.harness.agents import ToolLog, call, calling, made, outcome, says, texts

pytestmark = pytest.mark.anyio


class Recording(Agent):
    """Writes down which hook was called with what."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.heard: list[str] = []

    def before_turn(self, context: Any) -> None:
        """See `Agent`."""
        self.heard.append(f"before_turn {context.trigger} {context.tools}")

    def before_step(self, context: Any) -> None:
        """See `Agent`."""
        self.heard.append(f"before_step {context.number}")

    async def before_tool_call(self, part: ToolPart) -> None:
        """See `Agent`."""
        self.heard.append(f"before_tool_call {part.name} {part.state}")

    async def after_tool_call(self, part: ToolPart) -> None:
        """See `Agent`."""
        self.heard.append(f"after_tool_call {part.name} {part.state}")

    def on_step(self, step: StepAdded) -> None:
        """See `Agent`."""
        self.heard.append(f"on_step {step.finish}")

    def on_chunk(self, notice: Notice) -> None:
        """See `Agent`."""
        self.heard.append(f"on_chunk {type(notice).__name__}")

    def on_response(self, message: Message | None, end: TurnDone) -> None:
        """See `Agent`."""
        self.heard.append(f"on_response {end.outcome} {len(message.parts) if message else 0}")

    def on_error(self, error: Exception) -> None:
        """See `Agent`."""
        self.heard.append(f"on_error {error}")


async def test_the_order_of_everything() -> None:
    """One turn with one call."""
    agent = made(calling("look"), "found it", tools=[ToolLog().tool("look")], kind=Recording)
    await says(agent.session("s"), "go")
    assert isinstance(agent, Recording)
    assert [
        "before_turn message ['look']",
        "before_step 1",
        "on_chunk CallArguments",
        "on_chunk CallArguments",
        "on_step tool_calls",
        "before_tool_call look input-available",
        "after_tool_call look output-available",
        "before_step 2",
        "on_chunk AnswerText",
        "on_chunk AnswerText",
        "on_step stop",
        "on_response completed 4",
    ] == agent.heard


@pytest.mark.parametrize("hook", ["after_tool_call", "on_step", "on_chunk", "on_response", "on_error"])
async def test_an_observer_breaks_nothing(hook: str, caplog: pytest.LogCaptureFixture) -> None:
    """What it raises is logged."""

    def broken(*_: Any) -> None:
        raise RuntimeError("my own mistake")

    agent = made(calling("look"), "found it", tools=[ToolLog().tool("look")])
    setattr(agent, hook, broken)
    assert "completed" == (await says(agent.session("s"), "go")).outcome
    assert hook == "on_error" or "my own mistake" in caplog.text


@pytest.mark.parametrize(
    ("decision", "expected", "ran"),
    [
        (None, ("output-available", "look 1"), [("look", 1)]),
        (Allow(), ("output-available", "look 1"), [("look", 1)]),
        (Allow({"value": 2}), ("output-available", "look 2"), [("look", 2)]),
        (Block("not today"), ("output-error", "not today"), []),
        (Substitute({"cached": True}), ("output-available", {"cached": True}), []),
        (RuntimeError("no"), ("output-error", "RuntimeError: no"), []),
    ],
    ids=str,
)
async def test_a_decision_about_a_call(decision: Any, expected: Any, ran: Any) -> None:
    """Block and substitute never run the tool; a fault of the hook becomes the call's error."""

    def decide(_: ToolPart) -> Any:
        if isinstance(decision, Exception):
            raise decision
        return decision

    log = ToolLog()
    agent = made(calling(("look", {"value": 1})), "ok", tools=[log.tool("look")])
    agent.before_tool_call = decide  # type: ignore[method-assign, assignment]
    session = agent.session("s")
    await says(session, "go")
    assert (expected, ran) == (outcome(call(session, "look")), log.ran)


async def test_an_approved_call_keeps_its_arguments() -> None:
    """What a person agreed to is what runs, or nothing does."""
    log = ToolLog()
    agent = made(calling(("pay", {"value": 1})), "ok", tools=[log.tool("pay", needs_approval=True)])
    agent.before_tool_call = lambda _: Allow({"value": 1000})  # type: ignore[method-assign, assignment]
    session = agent.session("s")
    await says(session, "go")
    await session.approve(call(session, "pay").call_id)
    [_ async for _ in session.resume()]
    assert ([], "output-error") == (log.ran, call(session, "pay").state)


async def test_before_step_shapes_one_request() -> None:
    """What it adds is sent, and never stored."""

    class Reminding(Agent):
        def before_step(self, context: Any) -> None:
            """See `Agent`."""
            context.messages = [*context.messages, Message(role="user", parts=(TextPart("(be brief)"),))]
            context.instructions = "You are terse."
            context.tools.clear()

    agent = made("ok", "ok", tools=[ToolLog().tool("look")], kind=Reminding)
    session = agent.session("s")
    await says(session, "hi")
    (request,) = agent.model.requests  # type: ignore[union-attr]
    assert (["hi", "(be brief)"], "You are terse.", ()) == (texts(request), request.instructions, request.tools)
    assert ["hi", "ok"] == texts(session.conversation.messages())


async def test_before_turn_sets_the_limits() -> None:
    """Steps, settings, tools, for this turn."""

    class Limiting(Agent):
        def before_turn(self, context: Any) -> None:
            """See `Agent`."""
            context.max_steps = 1
            context.settings["temperature"] = 0

    agent = made(calling("look"), tools=[ToolLog().tool("look")], kind=Limiting)
    assert "out_of_steps" == (await says(agent.session("s"), "go")).outcome
    assert {"temperature": 0} == agent.model.requests[0].settings  # type: ignore[union-attr]
