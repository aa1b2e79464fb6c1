"""Every exception that Suture raises, named by whose fault it is.

    SutureError
    ├── UsageError            the caller asked for something that does not exist or does not fit
    │   ├── UnknownFormatError    a format name that no adapter has, or messages of no known format
    │   ├── PolicyError           a policy argument with a value that it does not take
    │   ├── EventError            an event that cannot follow what happened in its session before
    │   └── ToolDefinitionError   a function or an option that no tool can be made of
    ├── InputError            the messages are not what a message list can be; says what was expected at which path
    ├── SessionError          a session file that cannot be read, written or understood
    │   └── ChangedFileError      the file changed between reading and writing; nothing was written
    ├── ModelError            a provider refused a request, or failed
    │   ├── Transient             for the moment: asking again may help
    │   ├── ContextOverflow       the conversation is longer than the model can take
    │   ├── Cancelled             it broke the answer off because it was told to
    │   └── ProviderFatal         it will refuse the request again: a wrong key, an unknown model, a spent quota
    │       └── PairingRefused        because of the calls and results in it
    ├── ToolServerError       a server of tools cannot be reached, or a call failed there
    └── StoreError            a store that cannot be opened, read or written; says which and why
        ├── BusyError             another process is answering in this session
        └── FencedError           another process took this session since; nothing was written

Each class holds its facts in attributes and makes its sentence from them.
"""

from __future__ import annotations

__all__ = [
    "BusyError",
    "Cancelled",
    "ChangedFileError",
    "ContextOverflow",
    "EventError",
    "FencedError",
    "InputError",
    "ModelError",
    "PairingRefused",
    "PolicyError",
    "ProviderFatal",
    "SessionError",
    "StoreError",
    "SutureError",
    "ToolDefinitionError",
    "ToolServerError",
    "Transient",
    "UnknownFormatError",
    "UsageError",
]


class SutureError(Exception):
    """The root of all of Suture's exceptions."""


class UsageError(SutureError):
    """The caller asked for something that does not exist or does not fit."""


class UnknownFormatError(UsageError):
    """No adapter has this name, or no format fits these messages."""

    def __init__(self, name: str | None, known: tuple[str, ...], hint: str = "") -> None:
        """`name` is what was asked for (None: detection failed), `known` what could have been."""
        self.name = name
        self.known = known
        self.hint = hint
        asked = "the format of these messages is not recognised" if name is None else f"unknown format {name!r}"
        super().__init__(f"{asked}; expected one of {', '.join(known)}{'; ' + hint if hint else ''}")


class PolicyError(UsageError):
    """A policy argument with a value that it does not take."""

    def __init__(self, argument: str, value: object, expected: tuple[str, ...]) -> None:
        """`argument` is the parameter's name, `expected` the values that it takes."""
        self.argument = argument
        self.value = value
        self.expected = expected
        super().__init__(f"{argument}={value!r}: expected one of {', '.join(map(repr, expected))}")


class EventError(UsageError):
    """An event that cannot follow what happened in its session before; nothing was written."""

    def __init__(self, event: str, problem: str) -> None:
        """`event` is the event's type, `problem` one clause."""
        self.event = event
        self.problem = problem
        super().__init__(f"{event} cannot be recorded: {problem}")


class ToolDefinitionError(UsageError):
    """A function or an option that no tool can be made of."""

    def __init__(self, tool: str, argument: str, expected: str, got: str) -> None:
        """`argument` is the parameter of the function, or the option, `expected` what fits, `got` what was found."""
        self.tool = tool
        self.argument = argument
        self.expected = expected
        self.got = got
        super().__init__(f"tool {tool!r}: {argument}: expected {expected}, got {got}")


class InputError(SutureError):
    """The messages are not what a message list can be."""

    def __init__(self, path: str, expected: str, got: object) -> None:
        """`path` says where (`messages[3].role`), `expected` what should be there, `got` what is."""
        self.path = path
        self.expected = expected
        self.got: str = type(got).__name__ if not isinstance(got, str) else got
        super().__init__(f"{path}: expected {expected}, got {self.got}")


class SessionError(SutureError):
    """A session file that cannot be read, written or understood."""

    def __init__(self, path: str, problem: str) -> None:
        """`path` is the file, `problem` one sentence."""
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class ChangedFileError(SessionError):
    """The file changed between reading and writing; nothing was written."""

    def __init__(self, path: str) -> None:
        """`path` is the file that changed."""
        super().__init__(path, "the file changed since it was read; nothing was written. Stop the agent and run again")


class ModelError(SutureError):
    """A provider refused a request, or failed."""

    def __init__(self, problem: str, *, transient: bool = False, retry_after: float | None = None) -> None:
        """`transient`: asking again may help; `retry_after`: in how many seconds, where the provider says so."""
        self.problem = problem
        self.transient = transient
        self.retry_after = retry_after
        super().__init__(problem)


class Transient(ModelError):  # noqa: N818 - the kinds of a provider's faults are named for what they are
    """It failed for the moment: asking again may help."""

    def __init__(self, problem: str, *, retry_after: float | None = None) -> None:
        """See `ModelError`."""
        super().__init__(problem, transient=True, retry_after=retry_after)


class ContextOverflow(ModelError):  # noqa: N818
    """The conversation is longer than the model can take."""


class ProviderFatal(ModelError):  # noqa: N818
    """It refused the request, and will refuse it again: a wrong key, an unknown model, a spent quota."""


class PairingRefused(ProviderFatal):
    """It refused the history for its calls and results."""


class Cancelled(ModelError):  # noqa: N818
    """The provider broke the answer off because it was told to."""


class ToolServerError(SutureError):
    """A server of tools cannot be reached, or a call failed there."""

    def __init__(self, problem: str, *, server: str) -> None:
        """`problem` is a sentence, or what the server itself said; `server` names it."""
        self.problem = problem
        self.server = server
        super().__init__(problem)


class StoreError(SutureError):
    """A store that cannot be opened, read or written."""

    def __init__(self, store: str, problem: str) -> None:
        """`store` is its URL or path, `problem` one sentence."""
        self.store = store
        self.problem = problem
        super().__init__(f"{store}: {problem}")


class BusyError(StoreError):
    """Another process is answering in this session."""

    def __init__(self, store: str, session: str, owner: str) -> None:
        """`owner` names the process."""
        self.session = session
        self.owner = owner
        super().__init__(store, f"session {session!r} is being answered by {owner}; try again when it is done")


class FencedError(StoreError):
    """Another process took this session since; nothing was written."""

    def __init__(self, store: str, session: str, epoch: int, current: int) -> None:
        """`epoch` is the one that was given up, `current` the session's."""
        self.session = session
        self.epoch = epoch
        self.current = current
        super().__init__(store, f"session {session!r} was taken over (epoch {current}, this one had {epoch})")
