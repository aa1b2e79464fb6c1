"""What must hold of a session that was cut off and went on: each promise is one function over the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from suture.harness.tools import AnyTool
from suture.models.base import ModelRequest
from suture.pipeline import check
from suture.transcript import ToolPart, output_text
from suture.transcript.conversation import Conversation
from suture.transcript.events import CallSettled, Event, PartReplaced, TurnBegan, TurnEnded
from suture.wire import ADAPTERS
from suture.wire.outgoing import outgoing

__all__ = ["broken_promises"]

_FORMATS: Final = ("openai_chat", "anthropic", "openai_responses")
_NEVER_RAN: Final = "did not run"


def broken_promises(
    before: Sequence[Event],
    after: Sequence[Event],
    requests: Sequence[ModelRequest],
    runs: Counter[str],
    tools: Mapping[str, AnyTool],
) -> Iterator[str]:
    """Each promise that was not kept.

    Args:
        before: The log when the agent was killed.
        after: The log when the session has gone on.
        requests: What the model was asked after the kill.
        runs: How often each call's tool was run, before and after.
        tools: The agent's tools.
    """
    conversation = Conversation(after)
    if list(after[: len(before)]) != list(before):
        yield "the log was rewritten"
    yield from _refused_requests(requests)
    yield from _lost_results(before, conversation)
    yield from _repeated_effects(conversation, runs, tools)
    yield from _untrue_outcomes(after, conversation, runs)
    yield from _endings(after)


def _refused_requests(requests: Sequence[ModelRequest]) -> Iterator[str]:
    if not requests:
        yield "the model was not asked again"
    for request in requests:
        for name in _FORMATS:
            sent = outgoing(request.messages, ADAPTERS[name], {})
            yield from (f"{name} would refuse the request: {found.message}" for found in check(sent, name))


def _lost_results(before: Sequence[Event], conversation: Conversation) -> Iterator[str]:
    shown = [part for message in conversation.messages() for part in message.parts if isinstance(part, ToolPart)]
    times = Counter(part.call_id for part in shown)
    yield from (f"the call {call!r} is there {count} times" for call, count in times.items() if count > 1)
    first: dict[str, CallSettled] = {}
    for event in before:
        if isinstance(event, CallSettled) and not event.synthetic:
            first.setdefault(event.call, event)
    held = {part.call_id: part for part in shown}
    for call, event in first.items():
        part = held.get(call)
        if part is None or (part.state, part.output) != (event.state, event.output):
            yield f"the result of {call!r} was lost"


def _repeated_effects(conversation: Conversation, runs: Counter[str], tools: Mapping[str, AnyTool]) -> Iterator[str]:
    for call, count in runs.items():
        place = conversation.call(call)
        if count > 1 and place is not None and isinstance(place.part, ToolPart):
            tool = tools.get(place.part.name)
            if tool is not None and tool.effect == "once":
                yield f"the tool of {call!r} may run once, and ran {count} times"


def _untrue_outcomes(after: Sequence[Event], conversation: Conversation, runs: Counter[str]) -> Iterator[str]:
    replaced = {event.call for event in after if isinstance(event, PartReplaced)}
    settled = {event.call for event in after if isinstance(event, CallSettled)}
    for call in sorted((replaced | settled) - {None}, key=str):
        place = conversation.call(str(call))
        if place is None or not isinstance(place.part, ToolPart) or not place.part.synthetic:
            continue
        if runs[str(call)] and _NEVER_RAN in output_text(place.part.output):
            yield f"the outcome of {call!r} says that it did not run, and it did"


def _endings(after: Sequence[Event]) -> Iterator[str]:
    began = Counter(event.turn for event in after if isinstance(event, TurnBegan))
    ended = Counter(event.turn for event in after if isinstance(event, TurnEnded))
    for turn in began.keys() | ended.keys():
        if (began[turn], ended[turn]) != (1, 1):
            yield f"the turn {turn!r} began {began[turn]} times and ended {ended[turn]} times"
