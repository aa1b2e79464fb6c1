"""From the neutral transcript to a request: messages that were never on a wire, as one format writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from suture.transcript import DataPart, Limits, Message, ReasoningPart, SourcePart, StepStart
from suture.wire.base import Adapter

__all__ = ["outgoing"]

_SHOWN_ONLY: Final = (StepStart, SourcePart, DataPart)
"""What is for readers and not for the model."""


def outgoing(
    messages: Iterable[Message], adapter: Adapter, request: Mapping[str, Any], *, model: str = ""
) -> list[Any]:
    """The messages as the adapter's format writes them in a request.

    A message of several steps is one message a step, each with the outcomes of its calls, so that the model reads them
    in the order in which they happened. A message that leaves nothing to send is left out.

    Reasoning goes back to the model that made it, `model`, as its steps name it, where the format takes it back at all;
    to any other it is not shown.
    """
    limits = adapter.limits(request)
    return [
        item
        for message in messages
        for step in _steps(message, limits, model)
        for item in adapter.encode([step], limits)
    ]


def _steps(message: Message, limits: Limits, model: str) -> Iterator[Message]:
    step: list[Any] = []
    for part in message.parts:
        if isinstance(part, StepStart) and step:
            yield msgspec.structs.replace(message, parts=tuple(step))
            step = []
        elif isinstance(part, ReasoningPart):
            if model and part.model == model and (part.payload is not None or limits.reasoning_key):
                step.append(msgspec.structs.replace(part, key=limits.reasoning_key or part.key, model=None))
        elif not isinstance(part, _SHOWN_ONLY):
            step.append(part)
    if step:
        yield msgspec.structs.replace(message, parts=tuple(step))
