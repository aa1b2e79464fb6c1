"""A model that says what it was told to say: for tests, demonstrations, and agents that must not vary."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import msgspec

from suture.errors import UsageError
from suture.models.base import CallPiece, Finish, ModelRequest, Piece, ReasoningPiece, TextPiece, Usage
from suture.transcript.codec import dumps

__all__ = ["Script", "ScriptedModel", "Step", "scripted"]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One answer."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    """Names and arguments, in order. A text as arguments is sent as it is, also where it is no JSON."""
    reasoning: str = ""
    ids: tuple[str, ...] = ()
    """The ids of the calls; made from the number of the answer where they are not given."""
    fault: Exception | None = None
    """Raised behind everything else: the answer is cut."""
    hang: bool = False
    """Behind everything else, nothing comes any more."""
    usage: dict[str, int] = {}


Script = Sequence[Step | str] | Callable[[ModelRequest], Step | str]
"""Answers in their order, or a function that answers a request; a text stands for a step that says it."""


def scripted(script: Script, *, name: str = "scripted") -> ScriptedModel:
    """A model that plays a script."""
    return ScriptedModel(script, name=name)


class ScriptedModel:
    """Plays a script, one step a request; it keeps the requests."""

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        """`script` is played from its beginning."""
        self.script: Script = script
        self.name: str = name
        self.requests: list[ModelRequest] = []
        """What it was asked so far."""

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[Piece]:
        """See `Model`.

        Raises:
            UsageError: the script has no more steps.
        """
        number = len(self.requests)
        self.requests.append(request)
        step = self._step(request, number)
        for piece in _pieces(step, number):
            await asyncio.sleep(0)
            yield piece
        if step.hang:
            await asyncio.Event().wait()
        if step.fault is not None:
            raise step.fault
        yield Usage(step.usage)
        yield Finish("tool_calls" if step.calls else "stop", self.name)

    def _step(self, request: ModelRequest, number: int) -> Step:
        if callable(self.script):
            step = self.script(request)
        elif number < len(self.script):
            step = self.script[number]
        else:
            raise UsageError(f"the script has {len(self.script)} steps, and the model was asked once more")
        return Step(text=step) if isinstance(step, str) else step


def _pieces(step: Step, number: int) -> Iterator[Piece]:
    if step.reasoning:
        yield ReasoningPiece(step.reasoning)
    for piece in re.findall(r"\s*\S+\s*?(?=\s|$)|\s+", step.text):
        yield TextPiece(piece)
    for index, (name, arguments) in enumerate(step.calls):
        call_id = step.ids[index] if index < len(step.ids) else f"call_{number}_{index}"
        yield CallPiece(index=index, call_id=call_id, name=name)
        text = arguments if isinstance(arguments, str) else dumps(arguments)
        for start in range(0, len(text), 16):
            yield CallPiece(index=index, arguments=text[start : start + 16])
