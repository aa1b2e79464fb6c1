"""What a client's copy of a conversation says that is new: a client never overwrites what is known here.

Web clients post the whole list of messages, with their own optimistic answers in it. What counts is what only a client
can know: what the user wrote, how a person decided, what came of a tool that runs at the client. All the rest is here
already, and stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from suture.harness.tools import AnyTool
from suture.transcript import DataPart, FilePart, Message, TextPart, ToolPart
from suture.transcript.conversation import Conversation
from suture.transcript.events import Admitted, ApprovalAnswered, CallSettled, Event

__all__ = ["RESERVED_IDS", "RESERVED_KEYS", "SAYABLE", "Received", "received"]

RESERVED_IDS: Final = ("compaction_",)
"""How the ids of messages begin that are made up for a model, and are never taken from a client."""
RESERVED_KEYS: Final = frozenset({"channel", "turnMetadata"})
"""What a client cannot say of its message: only the program that takes it in can."""


SAYABLE: Final = (TextPart, FilePart, DataPart)
"""What a user's message may hold."""


class Received(msgspec.Struct):
    """What is new in a list of messages."""

    events: list[Event] = []
    """What is to be recorded."""
    ignored: list[str] = []
    """What was not taken, in words."""


def received(
    posted: Sequence[Message],
    conversation: Conversation,
    tools: Mapping[str, AnyTool],
    *,
    new_id: Callable[[], str],
    settle: Callable[[str, ToolPart], CallSettled],
) -> Received:
    """What is new in a client's list.

    Args:
        posted: The client's messages, in their order; their ids may be its own.
        conversation: What is known here.
        tools: The session's tools by name.
        new_id: Makes an id for a message that has none.
        settle: Makes the event for a client's outcome, from the call's id and the client's copy of the call.
    """
    found = Received()
    said = Counter(
        _content(message) for message in conversation.messages() if message.role == "user"
    )  # a message without an id is known where one says the same that no other was taken for
    for message in posted:
        name = message.id or ""
        if name.startswith(RESERVED_IDS):
            found.ignored.append(f"message {name!r}: ids that begin so are not a client's")
        elif message.role == "user":
            known = conversation.has_message(name) or name in conversation.inputs
            if not known and not (not name and said[_content(message)] > 0):
                _admit(message, name or new_id(), found)
            elif not name:
                said[_content(message)] -= 1
        elif message.role == "assistant":
            for part in message.parts:
                if isinstance(part, ToolPart):
                    _answer(part, conversation, tools, settle, found)
        else:
            found.ignored.append(f"a {message.role} message: only the agent gives instructions")
    return found


def _content(message: Message) -> str:
    return repr(message.parts)


def _admit(message: Message, name: str, found: Received) -> None:
    """Take a user's message, but for what a user cannot say: a call in it would be one that nobody made."""
    metadata = {key: value for key, value in (message.metadata or {}).items() if key not in RESERVED_KEYS}
    parts = tuple(part for part in message.parts if isinstance(part, SAYABLE))
    if len(parts) != len(message.parts):
        found.ignored.append(f"parts of message {name!r}: a user says texts and files, and sends data")
    if parts:
        found.events.append(Admitted(message=name, parts=parts, metadata=metadata or None))


def _answer(
    part: ToolPart,
    conversation: Conversation,
    tools: Mapping[str, AnyTool],
    settle: Callable[[str, ToolPart], CallSettled],
    found: Received,
) -> None:
    """What a client's copy of a call says about one that is open here."""
    place = conversation.call(part.call_id)
    if place is None or not isinstance(place.part, ToolPart):
        found.ignored.append(f"the call {part.call_id!r}: there is none")
        return
    ours = place.part
    if ours.settled and not ours.synthetic:
        return
    decided = (part.approval or {}).get("approved")
    if ours.state == "approval-requested" and isinstance(decided, bool):
        reason = (part.approval or {}).get("reason")
        found.events.append(
            ApprovalAnswered(call=part.call_id, approved=decided, reason=reason if isinstance(reason, str) else None)
        )
    elif part.settled:
        known = tools.get(ours.name)
        if known is not None and known.client:
            found.events.append(settle(part.call_id, part))
        else:
            found.ignored.append(f"an outcome of {part.call_id!r}: {ours.name!r} does not run at the client")
