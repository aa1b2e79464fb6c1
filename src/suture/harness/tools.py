"""Tools: plain functions that a model may call, with what is promised about running them.

>>> @tool(effect="pure", timeout=10)
... def search(query: str, limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10) -> list[str]:
...     \"\"\"Search the documents.
...
...     Args:
...         query: Words that have to occur.
...         limit: How many hits to give at most.
...     \"\"\"
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Final, Generic, Literal, ParamSpec, TypeVar, get_args, overload

import msgspec

from suture.errors import ToolDefinitionError, UsageError
from suture.harness.arguments import ArgumentsError, decode
from suture.harness.context import ToolContext
from suture.harness.docstrings import described
from suture.harness.schema import Signature, signature_of
from suture.transcript.tools import ToolSpec

__all__ = [
    "NAME",
    "AnyTool",
    "Approval",
    "ArgumentsError",
    "Effect",
    "IfInterrupted",
    "Tool",
    "ToolContext",
    "client_tool",
    "named",
    "tool",
]

P = ParamSpec("P")
R = TypeVar("R")

Effect = Literal["pure", "idempotent", "once"]
"""What a second run of the same call does: nothing, the same again, or harm."""
IfInterrupted = Literal["error", "retry", "hold", "answer_by_next_message"]
"""What becomes of a call that has no result when its turn is over."""
Approval = bool | Callable[[dict[str, Any]], bool | Awaitable[bool]]
"""Whether a person has to allow a call, or a function that says so for its arguments."""

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The names that every provider takes."""


class Tool(msgspec.Struct, Generic[P, R], frozen=True, eq=False, kw_only=True):
    """A function that a model may call. Made by `tool`; calling it calls the function."""

    function: Callable[P, R]
    name: str
    description: str
    effect: Effect
    timeout: float | None
    needs_approval: Approval
    client: bool
    if_interrupted: IfInterrupted | None
    """As it was given: `when_interrupted` says what holds."""
    parallel: bool
    max_output: int
    signature: Signature
    """What the function takes, for `decode`."""

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, as if it had never become a tool."""
        return self.function(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[P, R]:
        """The function: `inspect.signature(tool)` is the function's."""
        return self.function

    @property
    def __name__(self) -> str:
        """The function's name, for what asks every function for one."""
        return getattr(self.function, "__name__", self.name)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments: an object that is complete in itself."""
        return self.signature.schema

    @property
    def when_interrupted(self) -> IfInterrupted:
        """What becomes of an interrupted call: what was asked for, or what fits the tool's kind and effect."""
        if self.if_interrupted is not None:
            return self.if_interrupted
        if self.client:
            return "hold"
        return "error" if self.effect == "once" else "retry"

    @property
    def wants_context(self) -> bool:
        """Whether the function takes a `ctx`, which its caller fills in."""
        return self.signature.wants_context

    def decode(self, arguments: Any) -> dict[str, Any]:
        """The arguments of a call as the function takes them, by name, without `ctx`.

        Text is taken where it reads as what is asked for: `"5"` as an integer. Arguments that were not given are not
        there: the function's own defaults hold. Nothing is shared with `arguments`.

        Args:
            arguments: What the model gave, decoded from JSON.

        Raises:
            ArgumentsError: they do not fit. The message is meant for the model and names each argument that does not,
                with what was expected. Nothing else is ever raised.
        """
        return decode(self.signature, arguments)


AnyTool = Tool[..., Any]
"""A tool, whatever its function takes and gives."""


@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "once",
    timeout: float | None = None,
    needs_approval: Approval = False,
    client: bool = False,
    if_interrupted: IfInterrupted | None = None,
    parallel: bool = True,
    max_output: int = 100_000,
    schema: dict[str, Any] | None = None,
) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "once",
    timeout: float | None = None,
    needs_approval: Approval = False,
    client: bool = False,
    if_interrupted: IfInterrupted | None = None,
    parallel: bool = True,
    max_output: int = 100_000,
    schema: dict[str, Any] | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "once",
    timeout: float | None = None,
    needs_approval: Approval = False,
    client: bool = False,
    if_interrupted: IfInterrupted | None = None,
    parallel: bool = True,
    max_output: int = 100_000,
    schema: dict[str, Any] | None = None,
) -> Any:
    """Make a tool of a function: `@tool`, `@tool(effect="pure")` or `tool(function)`.

    What the model is told comes from the signature and the docstring (Google, NumPy or reST style). A parameter
    `ctx: ToolContext` is filled in when the tool runs and is not shown to the model.

    Args:
        function: A function or a bound method, synchronous or not.
        name: What the model calls it; the function's name where it is not given.
        description: What the model is told it is for; the docstring's text where it is not given.
        effect: What a second run of the same call does. `pure`: nothing, it only looks; `idempotent`: the same again;
            `once`: harm, so an interrupted call is never run again unasked.
        timeout: How many seconds a call may take.
        needs_approval: A person has to allow each call; or a function of the arguments that says whether.
        client: It runs at the client: the function's body is never run here.
        if_interrupted: What becomes of a call without a result. `error`: it failed, honestly; `retry`: it is run again;
            `hold`: it stays open until somebody answers; `answer_by_next_message`: the user's next message is the
            answer. Where it is not given: `hold` for client tools, `retry` for pure and idempotent ones, else `error`.
        parallel: False: a call runs alone, in its order among the calls of its step.
        max_output: How many characters of a result are kept.
        schema: The JSON Schema of the arguments, where the signature cannot say it. The function then gets the
            arguments by name as they are.

    Raises:
        ToolDefinitionError: no tool can be made of this; says which parameter or option, and what was expected.
    """

    def decorate(function: Callable[..., Any]) -> Tool[..., Any]:
        return _made(
            function,
            name=name,
            description=description,
            effect=effect,
            timeout=timeout,
            needs_approval=needs_approval,
            client=client,
            if_interrupted=if_interrupted,
            parallel=parallel,
            max_output=max_output,
            schema=schema,
        )

    return decorate if function is None else decorate(function)


def client_tool(spec: ToolSpec) -> AnyTool:
    """The tool that a client said it runs.

    Raises:
        ToolDefinitionError: its name, or the schema of its arguments, is none.
    """

    def elsewhere(**_: Any) -> None:
        """Run at the client."""

    made: AnyTool = tool(name=spec.name, description=spec.description, client=True, schema=spec.schema)(elsewhere)
    return made


def named(tools: Iterable[AnyTool | Callable[..., Any]]) -> dict[str, AnyTool]:
    """Tools by their names; plain functions become tools.

    Raises:
        UsageError: two of them have one name.
        ToolDefinitionError: no tool can be made of one.
    """
    found: dict[str, AnyTool] = {}
    for each in tools:
        made = each if isinstance(each, Tool) else tool(each)
        if made.name in found:
            raise UsageError(f"two tools have the name {made.name!r}")
        found[made.name] = made
    return found


def _made(
    function: Callable[..., Any],
    *,
    name: str | None,
    description: str | None,
    schema: dict[str, Any] | None,
    **options: Any,
) -> Tool[..., Any]:
    """The tool, once everything about it is checked."""
    called = getattr(function, "__name__", type(function).__name__) if name is None else name
    if not inspect.isroutine(function):
        expected = "a function or a bound method"
        raise ToolDefinitionError(str(called), "function", expected, f"an object of type {type(function).__name__}")
    for argument, value, fits, expected in _checks({"name": called, "description": description, **options}, schema):
        if not fits:
            raise ToolDefinitionError(str(called), argument, expected, repr(value)[:200])
    said = described(function)
    return Tool(
        function=function,
        name=called,
        description=said.text if description is None else description,
        signature=signature_of(called, function, said.parameters, schema),
        **options,
    )


def _checks(options: dict[str, Any], schema: Any) -> Iterator[tuple[str, object, bool, str]]:
    """For each option its name, its value, whether that fits, and what was expected."""
    name, description, timeout = options["name"], options["description"], options["timeout"]
    effect, interrupted, kept = options["effect"], options["if_interrupted"], options["max_output"]
    whole = isinstance(kept, int) and not isinstance(kept, bool)
    fits = isinstance(name, str) and NAME.fullmatch(name) is not None
    yield "name", name, fits, "1 to 64 letters, digits, _ or -"
    yield "description", description, description is None or isinstance(description, str), "text"
    yield "effect", effect, effect in get_args(Effect), _one_of(Effect)
    fits = timeout is None or (type(timeout) in (int, float) and math.isfinite(timeout) and timeout > 0)
    yield "timeout", timeout, fits, "a number of seconds above 0, or None"
    approval = options["needs_approval"]
    yield "needs_approval", approval, isinstance(approval, bool) or callable(approval), "a bool or a function"
    yield "client", options["client"], isinstance(options["client"], bool), "a bool"
    fits = interrupted is None or interrupted in get_args(IfInterrupted)
    yield "if_interrupted", interrupted, fits, f"{_one_of(IfInterrupted)}, or None"
    fits = interrupted != "retry" or effect != "once"
    yield "if_interrupted", interrupted, fits, "another value for effect='once', which must not run twice"
    yield "parallel", options["parallel"], isinstance(options["parallel"], bool), "a bool"
    yield "max_output", kept, whole and kept > 0, "a number of characters above 0"
    fits = schema is None or (isinstance(schema, dict) and schema.get("type") == "object" and _is_json(schema))
    yield "schema", schema, fits, "a JSON Schema with the type 'object'"


def _one_of(choice: Any) -> str:
    return f"one of {', '.join(map(repr, get_args(choice)))}"


def _is_json(value: Any) -> bool:
    try:
        msgspec.json.encode(value)
    except Exception:  # noqa: BLE001 - whatever is wrong with it
        return False
    return True
