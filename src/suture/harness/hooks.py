"""What an agent's hooks are given and may give back."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from suture.harness.notices import Notice
from suture.models.base import Model
from suture.transcript import Message, Part, ToolPart

__all__ = ["Allow", "Ask", "Block", "CallDecision", "StepContext", "Substitute", "TurnContext", "observe", "resolved"]

_LOG = logging.getLogger("suture.harness")


class TurnContext(msgspec.Struct, kw_only=True):
    """A turn before its first step: `before_turn` may change every field but the first three."""

    session: str
    turn: str
    trigger: Literal["message", "resume", "regenerate"]
    model: Model
    instructions: str
    tools: list[str]
    """The names of the tools that the model is offered."""
    settings: dict[str, Any]
    max_steps: int
    metadata: dict[str, Any] = {}
    """What came with the user's message that is being answered; changing it changes nothing."""


class StepContext(msgspec.Struct, kw_only=True):
    """One step before the model is asked: `before_step` may change every field but the first three, for this step."""

    session: str
    turn: str
    number: int
    """From 1."""
    model: Model
    instructions: str
    messages: Sequence[Message]
    """What the model is shown. Put another list in its place to change that; no record changes."""
    tools: list[str]
    settings: dict[str, Any]


class Allow(msgspec.Struct, frozen=True):
    """Run the call, with other arguments where they are given."""

    arguments: dict[str, Any] | None = None


class Block(msgspec.Struct, frozen=True):
    """Do not run it; the model is told why."""

    reason: str = "This tool call was refused."


class Substitute(msgspec.Struct, frozen=True):
    """Do not run it; this is its result."""

    output: Any


class Ask(msgspec.Struct, frozen=True):
    """Let a person decide first."""


CallDecision = Allow | Block | Substitute | Ask | None
"""What `before_tool_call` may answer; None allows."""


async def resolved(value: Any) -> Any:
    """What a hook gave back, awaited where it is to be."""
    return await value if inspect.isawaitable(value) else value


async def observe(hook: Callable[..., Any], *arguments: Notice | Message | Part | ToolPart | Any) -> None:
    """Call a hook that only looks on: what it raises is logged, and breaks nothing."""
    try:
        await resolved(hook(*arguments))
    except Exception:  # noqa: BLE001 (the hook is the user's code: it only looks on)
        _LOG.exception("the hook %s failed", getattr(hook, "__name__", hook))
