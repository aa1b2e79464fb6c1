"""Logs of every shape: events in any order that the table allows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from suture.transcript import CAUSES, Part, ReasoningPart, TextPart, ToolPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import (
    WHEN,
    Admitted,
    ApprovalAnswered,
    ApprovalAsked,
    CallProgressed,
    CallSettled,
    CallStarted,
    ClientToolsSet,
    Compacted,
    Event,
    LeafMoved,
    MessageAdded,
    PartReplaced,
    StepAdded,
    TurnBegan,
    TurnEnded,
    Withdrawn,
)
from suture.transcript.tools import ToolSpec

__all__ = ["logs"]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=4,
)
TEXTS = st.sampled_from(["hello", "the quick brown fox", "naïve café ☕", ""])


@st.composite
def logs(draw: st.DrawFn, *, max_events: int = 30) -> list[Event]:
    """Events of one session that can follow one another."""
    conversation, events = Conversation(), []
    for number in range(draw(st.integers(1, max_events))):
        kinds = [kind for kind, when in WHEN.items() if (conversation.head.turn is not None) in when]
        event = _event(draw, draw(st.sampled_from(kinds)), conversation, number)
        if event is not None:
            conversation.apply(event)
            events.append(event)
    return events


def _event(draw: st.DrawFn, kind: type[Event], conversation: Conversation, number: int) -> Event | None:
    """An event of a kind; None where there is nothing yet that it could be about."""
    messages = conversation.ids()
    calls = [
        part.call_id for name in messages for part in conversation.message(name).parts if isinstance(part, ToolPart)
    ]
    if kind in {CallStarted, CallProgressed, CallSettled, ApprovalAsked, ApprovalAnswered} and not calls:
        return None
    if kind in {StepAdded, PartReplaced, Compacted, LeafMoved} and not messages:
        return None
    made: Event | None = _MADE[kind](draw, conversation, number, calls)
    return made


def _parts(draw: st.DrawFn, number: int) -> tuple[Part, ...]:
    made: list[Part] = []
    for index in range(draw(st.integers(0, 3))):
        match draw(st.sampled_from(["text", "reasoning", "call"])):
            case "text":
                made.append(TextPart(draw(TEXTS)))
            case "reasoning":
                made.append(ReasoningPart(draw(TEXTS), payload=draw(st.none() | st.just("c2ln")), model="m"))
            case _:
                arguments = draw(st.dictionaries(st.text("ab", min_size=1), JSON, max_size=2))
                made.append(ToolPart(call_id=f"c{number}_{index}", name="f", input=arguments, cause="not_started"))
    return tuple(made)


def _admitted(draw: st.DrawFn, conversation: Conversation, number: int, _: list[str]) -> Event:
    known: list[str] = [*conversation.inputs, *conversation.ids()]
    name = draw(st.sampled_from(known)) if known and not draw(st.integers(0, 4)) else f"m{number}"
    metadata = draw(st.none() | st.just({"channel": "web"}))
    return Admitted(message=name, parts=(TextPart(draw(TEXTS)),), metadata=metadata)


def _message_added(draw: st.DrawFn, conversation: Conversation, number: int, _: list[str]) -> Event:
    waiting = [name for name in conversation.inputs if not conversation.has_message(name)]
    name = draw(st.sampled_from([*waiting, f"m{number}"]))
    branches = not draw(st.integers(0, 4))
    parents: list[str | None] = [None, *conversation.ids()]
    parent = draw(st.sampled_from(parents)) if branches else conversation.head.leaf
    role: Any = draw(st.sampled_from(["user", "assistant"]))
    parts = (TextPart(draw(TEXTS)),) if role == "user" else ()
    return MessageAdded(message=name, role=role, parent=parent, parts=parts)


def _step_added(draw: st.DrawFn, conversation: Conversation, number: int, _: list[str]) -> Event:
    message = draw(st.sampled_from(conversation.ids()))
    return StepAdded(message=message, parts=_parts(draw, number), finish="stop", usage={"input": 3}, model="m")


def _settled(draw: st.DrawFn, _: Conversation, __: int, calls: list[str]) -> Event:
    state: Any = draw(st.sampled_from(["output-available", "output-error"]))
    synthetic = draw(st.booleans())
    cause: Any = draw(st.sampled_from(sorted(CAUSES))) if synthetic else None
    return CallSettled(
        call=draw(st.sampled_from(calls)), state=state, output=draw(JSON), synthetic=synthetic, cause=cause
    )


def _replaced(draw: st.DrawFn, conversation: Conversation, _: int, __: list[str]) -> Event | None:
    message = conversation.message(draw(st.sampled_from(conversation.ids())))
    if not message.parts:
        return None
    index = draw(st.integers(0, len(message.parts) - 1))
    old = message.parts[index]
    new = old.settle("cut off") if isinstance(old, ToolPart) and draw(st.booleans()) else TextPart("in its place")
    call = old.call_id if isinstance(old, ToolPart) else None
    return PartReplaced(message=str(message.id), index=index, part=new, rule="unanswered-call", call=call)


_MADE: dict[type[Event], Any] = {
    Admitted: _admitted,
    Withdrawn: lambda draw, c, n, _: Withdrawn(message=draw(st.sampled_from([*c.inputs, f"m{n}"]))),
    ClientToolsSet: lambda draw, _c, n, _: ClientToolsSet(
        tools=draw(st.sampled_from([(), (ToolSpec("clip", f"tool {n}", {"type": "object"}),)]))
    ),
    TurnBegan: lambda draw, _c, n, _: TurnBegan(turn=f"t{n}", trigger=draw(st.sampled_from(["message", "resume"]))),
    MessageAdded: _message_added,
    StepAdded: _step_added,
    CallStarted: lambda draw, _c, _n, calls: CallStarted(call=draw(st.sampled_from(calls)), attempt=2),
    CallProgressed: lambda draw, _c, _n, calls: CallProgressed(call=draw(st.sampled_from(calls)), output=draw(JSON)),
    CallSettled: _settled,
    ApprovalAsked: lambda draw, _c, n, calls: ApprovalAsked(call=draw(st.sampled_from(calls)), approval=f"ap{n}"),
    ApprovalAnswered: lambda draw, _c, _n, calls: ApprovalAnswered(
        call=draw(st.sampled_from(calls)), approved=draw(st.booleans()), reason=draw(st.none() | st.just("no"))
    ),
    PartReplaced: _replaced,
    LeafMoved: lambda draw, c, _n, _: LeafMoved(leaf=draw(st.sampled_from([None, *c.ids()]))),
    Compacted: lambda draw, c, _n, _: Compacted(summary="so far", first_kept=draw(st.sampled_from(c.ids()))),
    TurnEnded: lambda draw, c, _n, _: TurnEnded(turn=c.head.turn or "", outcome=draw(st.sampled_from(["completed"]))),
}
