"""The agent: what answers, with what, and how its owner may step in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

from suture import models
from suture.errors import UsageError
from suture.harness.healing import as_text
from suture.harness.hooks import CallDecision, StepContext, TurnContext
from suture.harness.line import Overlap
from suture.harness.notices import Notice, TurnDone
from suture.harness.runtime import Runtime
from suture.harness.session import Session
from suture.harness.tools import AnyTool, named
from suture.models.base import Model
from suture.repair.settle import default_outcome
from suture.store import Store, open_store
from suture.transcript import Message, Part, ToolPart
from suture.transcript.events import StepAdded

__all__ = ["Agent"]


class Agent:
    """A model with instructions and tools, whose conversations are on disk before anything happens.

    Configure it, or subclass it: each argument may be a class attribute instead, and the hooks are methods.

    >>> agent = Agent(model=..., tools=[search], store="sqlite:chats.db")
    >>> agent.session("customer-42").run_sync("Where is my order?").text
    """

    model: Model | str | None = None
    """A model, or the name of one: `anthropic:claude-sonnet-4-5`."""
    instructions: str = ""
    tools: Sequence[AnyTool | Callable[..., Any]] = ()
    store: Store | str = "memory:"
    max_steps: int = 10
    """How many times the model is asked in one turn."""
    max_parallel: int = 8
    """How many calls of one step run at once."""
    turn_timeout: float | None = None
    """Seconds that a turn may take; None: any number."""
    retries: int = 2
    """How often a request is sent again that failed before anything came of it."""
    stream_stall_timeout: float | None = None
    """Seconds in which a model has to say something more; then the request is sent again, or, where it had said
    something already, the turn fails with what there is. None: any number, as far as the model's own limits go."""
    overlap: Overlap = "queue"
    """What becomes of a message that comes while another one is being answered: see `Overlap`."""
    debounce: float = 0.75
    """Seconds without another message, where `overlap` is `debounce`."""
    settings: Mapping[str, Any] = MappingProxyType({})
    """What the model is told beside the messages: `temperature`, …"""
    trace_content: bool = False
    """Whether traces hold what was said too: arguments, outputs, answers."""

    def __init__(
        self,
        *,
        model: Model | str | None = None,
        instructions: str | None = None,
        tools: Iterable[AnyTool | Callable[..., Any]] | None = None,
        store: Store | str | None = None,
        max_steps: int | None = None,
        max_parallel: int | None = None,
        turn_timeout: float | None = None,
        retries: int | None = None,
        stream_stall_timeout: float | None = None,
        overlap: Overlap | None = None,
        debounce: float | None = None,
        settings: Mapping[str, Any] | None = None,
        trace_content: bool | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """What is not given is the class's.

        Raises:
            UsageError: there is no model, a number is less than it can be, or two tools have one name.
            StoreError: the store cannot be opened.
        """
        given = {
            "model": model,
            "instructions": instructions,
            "tools": None if tools is None else tuple(tools),
            "store": store,
            "max_steps": max_steps,
            "max_parallel": max_parallel,
            "turn_timeout": turn_timeout,
            "retries": retries,
            "stream_stall_timeout": stream_stall_timeout,
            "overlap": overlap,
            "debounce": debounce,
            "settings": settings,
            "trace_content": trace_content,
        }
        for name, value in given.items():
            if value is not None:
                setattr(self, name, value)
        if isinstance(self.model, str):
            self.model = models.model(self.model)
        if not callable(getattr(self.model, "stream", None)):
            got = "none" if self.model is None else repr(self.model)
            raise UsageError(f"Agent: expected a model (an object with a method `stream`), got {got}")
        for name, least in (("max_steps", 1), ("max_parallel", 1), ("retries", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"Agent: expected {name} to be at least {least}, got {getattr(self, name)}")
        if self.overlap not in get_args(Overlap):
            expected = ", ".join(map(repr, get_args(Overlap)))
            raise UsageError(f"Agent: expected overlap to be one of {expected}, got {self.overlap!r}")
        self.toolbox: dict[str, AnyTool] = named(self.tools)
        self.runtime: Runtime = runtime or Runtime()
        self.opened: Store = open_store(self.store) if isinstance(self.store, str) else self.store
        self._sessions: dict[str, Session] = {}

    def session(self, name: str) -> Session:
        """The session of this name, new or known; the same object every time."""
        if name not in self._sessions:
            self._sessions[name] = Session(self, name)
        return self._sessions[name]

    async def close(self) -> None:
        """Stop what runs and let go of the store."""
        for session in self._sessions.values():
            await session.stop()
        await self.disconnect()
        await self.opened.close()

    async def disconnect(self) -> None:
        """Let go of the model's connections; they are made again where they are needed again."""
        close = getattr(self.model, "close", None)
        if close is not None:
            await close()

    # --- hooks ------------------------------------------------------------------------------------------------------

    def repair_interrupted_tool_part(self, part: ToolPart) -> Part:
        """Shape what takes the place of a call that was cut off, before the turn that finds it begins.

        The part's input is an object, and its `cause` says what is known. Give back a settled call of the same id, or
        any other part. What is raised here, or an unsettled call, falls back to the default and is reported.
        """
        found = self.toolbox.get(part.name)
        if found is not None and found.when_interrupted == "answer_by_next_message":
            return as_text(part)
        return part.settle(default_outcome(part))

    def before_turn(self, context: TurnContext) -> Any:
        """Change what the model is given in this turn; the transcript is repaired by now. May be asynchronous."""

    def before_step(self, context: StepContext) -> Any:
        """Change what the model is given in this step. May be asynchronous."""

    def before_tool_call(self, part: ToolPart) -> CallDecision | Any:
        """Decide about a call: `Allow`, `Block`, `Substitute`, `Ask`, or None to allow. May be asynchronous.

        What is raised here becomes the call's error. An approved call runs with the arguments that were approved.
        """

    def after_tool_call(self, part: ToolPart) -> Any:
        """Look at a call that has its outcome. May be asynchronous; what it raises is logged."""

    def on_step(self, step: StepAdded) -> Any:
        """Look at an answer that was recorded."""

    def on_chunk(self, notice: Notice) -> Any:
        """Look at anything that a session tells while a turn runs."""

    def on_response(self, message: Message | None, end: TurnDone) -> Any:
        """Look at a turn that is over; the session is free, and another turn may be started and waited for."""

    def on_error(self, error: Exception) -> Any:
        """Look at what made a turn fail."""
