"""What a turn looks like from outside: spans of OpenTelemetry where it is installed, and lines in the log.

    invoke_agent {agent}            one turn
      suture.repair                 calls that were cut off got their outcome
      chat {model}                  one request to the model; one that is sent again has another
      execute_tool {tool}           one call that runs; what the tool traces is inside of it

The names are those of the semantic conventions for generative AI, which are not stable yet: they stand here, once. What
was said (arguments, outputs, answers, the texts of errors) is left out unless `Agent.trace_content` asks for it.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from suture.harness.collect import Answer
from suture.harness.hooks import StepContext
from suture.harness.notices import TurnDone
from suture.harness.outputs import Outcome
from suture.models.base import Model
from suture.transcript import ToolPart
from suture.transcript.codec import dumps

if TYPE_CHECKING:
    from suture.harness.turn import Turn

__all__ = ["model_span", "repaired", "tool_span", "turn_span"]

_LOG = logging.getLogger("suture.harness")

# --- names ------------------------------------------------------------------------------------------------------------

AGENT: Final = "gen_ai.agent.name"
CONVERSATION: Final = "gen_ai.conversation.id"
ERROR: Final = "error.type"
FINISH: Final = "gen_ai.response.finish_reasons"
MODEL: Final = "gen_ai.request.model"
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
SAID: Final = "gen_ai.output.messages"
TOOL: Final = "gen_ai.tool.name"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL: Final = "gen_ai.tool.call.id"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
TOOL_TYPE: Final = "gen_ai.tool.type"

ATTEMPT: Final = "suture.tool.attempt"
OUTCOME: Final = "suture.turn.outcome"
REPAIRED: Final = "suture.repair.calls"
STEP: Final = "suture.step.number"
TRIGGER: Final = "suture.turn.trigger"
TURN: Final = "suture.turn.id"

_USAGE: Final[dict[str, tuple[str, ...]]] = {
    "gen_ai.usage.input_tokens": ("input_tokens", "prompt_tokens"),
    "gen_ai.usage.output_tokens": ("output_tokens", "completion_tokens"),
    "gen_ai.usage.cache_read.input_tokens": ("cache_read_input_tokens", "cached_tokens", "cache_read_tokens"),
}
"""The conventions' counts, and what providers call them, first found first."""

_BESIDE: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""What Anthropic counts beside its `input_tokens`; the conventions' are all that was read."""

_PROVIDERS: Final = {"openai_responses": "openai", "xai": "x_ai", "moonshot": "moonshot_ai"}
"""The conventions' names of providers, where ours are others."""

# --- spans ------------------------------------------------------------------------------------------------------------


@contextmanager
def turn_span(turn: Turn) -> Iterator[Callable[[TurnDone], None]]:
    """A turn. What is yielded is to be told how it ended; one that was stopped has not failed."""
    agent = turn.agent
    name = type(agent).__name__
    attributes = {AGENT: name, CONVERSATION: turn.session.name, TURN: turn.id, TRIGGER: turn.trigger}
    if agent.model is not None and not isinstance(agent.model, str):
        attributes |= _model(agent.model)
    with _span("invoke_agent", name, attributes) as span:

        def ended(end: TurnDone) -> None:
            _LOG.info("session %s: turn %s: %s after %d steps", end.session, end.turn, end.outcome, turn.steps)
            if span is None:
                return
            span.set_attribute(OUTCOME, end.outcome)
            if end.outcome in ("failed", "interrupted"):
                kind = "taken_over" if end.outcome == "interrupted" else "timeout"
                _fail(span, type(end.error).__name__ if end.error else kind, end.detail if agent.trace_content else "")

        yield ended


@contextmanager
def model_span(context: StepContext, turn: Turn, answer: Answer) -> Iterator[None]:
    """One request to a model; `answer` is read at its end, also where it was cut off."""
    told = _model(context.model)
    attributes = {**told, CONVERSATION: turn.session.name, TURN: turn.id, STEP: context.number}
    with _span("chat", told[MODEL], attributes, kind="CLIENT") as span:
        try:
            yield
        finally:
            finish = answer.finish.reason if answer.finish else "cut"
            _LOG.debug("turn %s: step %d: %s: %s", turn.id, context.number, context.model.name, finish)
            if span is not None:
                span.set_attributes(_usage(context.model, answer.usage))
                if answer.finish is not None:
                    span.set_attribute(FINISH, [finish])
                if turn.agent.trace_content:
                    text = "".join(word for piece in answer.pieces if isinstance(piece, list) for word in piece)
                    part = {"type": "text", "content": text}
                    said = {"role": "assistant", "parts": [part], "finish_reason": finish}
                    span.set_attribute(SAID, dumps([said]))


@contextmanager
def tool_span(turn: Turn, part: ToolPart, arguments: Any, attempt: int) -> Iterator[Callable[[Outcome], None]]:
    """A call that runs. What is yielded is to be told its outcome."""
    content = turn.agent.trace_content
    attributes = {
        TOOL: part.name,
        TOOL_CALL: part.call_id,
        TOOL_TYPE: "function",
        CONVERSATION: turn.session.name,
        TURN: turn.id,
        ATTEMPT: attempt,
    }
    if content:
        attributes[TOOL_ARGUMENTS] = dumps(arguments)
    with _span("execute_tool", part.name, attributes) as span:

        def landed(outcome: Outcome) -> None:
            _LOG.debug("turn %s: call %s of %s: %s", turn.id, part.call_id, part.name, outcome.kind)
            if span is None:
                return
            if content:
                text = outcome.output if isinstance(outcome.output, str) else dumps(outcome.output)
                span.set_attribute(TOOL_RESULT, text)
            if outcome.state == "output-error":
                _fail(span, outcome.kind, str(outcome.output) if content else "")

        yield landed


def repaired(turn: Turn, calls: int) -> None:
    """A span without length: so many calls that were cut off have their outcome now."""
    tracer = _tracer()
    if tracer is not None:
        attributes = {CONVERSATION: turn.session.name, TURN: turn.id, REPAIRED: calls}
        tracer.start_span("suture.repair", attributes=attributes).end()


# --- OpenTelemetry ----------------------------------------------------------------------------------------------------


@functools.cache
def _api() -> Any:
    """Its module of traces; None where it is not installed."""
    try:
        return importlib.import_module("opentelemetry.trace")
    except ImportError:
        return None


@functools.cache
def _tracer() -> Any:
    """Where spans come from, also from a provider that is set up later; None: there are none."""
    api = _api()
    return api and api.get_tracer("suture")


@contextmanager
def _span(operation: str, of: str, attributes: dict[str, Any], *, kind: str = "INTERNAL") -> Iterator[Any]:
    """The current span until it is left; None where nobody wants it. A cancellation is no error."""
    tracer = _tracer()
    if tracer is None:
        yield None
        return
    with tracer.start_as_current_span(
        f"{operation} {of}",
        kind=getattr(_api().SpanKind, kind),
        attributes={OPERATION: operation, **attributes},
        record_exception=False,  # its text may quote what was said
        set_status_on_exception=False,
    ) as span:
        wanted = span if span.is_recording() else None
        try:
            yield wanted
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            if wanted is not None:
                _fail(wanted, type(error).__name__, "")
            raise


def _fail(span: Any, kind: str, text: str) -> None:
    span.set_attribute(ERROR, kind)
    span.set_status(_api().StatusCode.ERROR, text or None)


# --- what they say ----------------------------------------------------------------------------------------------------


def _model(model: Model) -> dict[str, Any]:
    """Who is asked, of a name such as `anthropic:claude-sonnet-4-5`; one without a provider is its own."""
    provider, _, called = model.name.removeprefix("pydantic-ai:").partition(":")
    return {PROVIDER: _PROVIDERS.get(provider, provider), MODEL: called or provider}


def _usage(model: Model, tokens: dict[str, int]) -> dict[str, int]:
    """What an answer took, by the conventions' names."""
    found = {
        ours: next(tokens[name] for name in names if name in tokens)
        for ours, names in _USAGE.items()
        if not tokens.keys().isdisjoint(names)
    }
    if "input_tokens" in tokens and model.name.startswith("anthropic:"):
        found["gen_ai.usage.input_tokens"] += sum(tokens.get(name, 0) for name in _BESIDE)
    return found
