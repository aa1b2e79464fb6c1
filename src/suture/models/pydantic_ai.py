"""A model of pydantic-ai as a model of ours: every provider that it knows answers (Gemini, Bedrock, Mistral, Cohere …).

pydantic-ai is loaded when the first model is made. Its objects are `Any` here: their fields differ from release to
release, and what is read from them is named in the tables below.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import inspect
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec

from suture.errors import ContextOverflow, ModelError, ProviderFatal, Transient, UsageError
from suture.models.base import (
    CallPiece,
    Finish,
    Model,
    ModelRequest,
    Piece,
    ReasoningPiece,
    Remark,
    TextPiece,
    Usage,
    closing,
)
from suture.models.faults import refused
from suture.transcript import (
    CAUSES,
    FilePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
    output_text,
)
from suture.transcript.codec import dumps

__all__ = ["PydanticAIModel", "from_pydantic_ai"]

_SEALS: Final = {
    "thinking": ("id", "signature", "provider_name", "provider_details"),
    "text": ("id", "provider_name", "provider_details"),
    "tool-call": ("id", "provider_name", "provider_details"),
}
"""What a provider wants back with a part of its answer, by the kind of the part: signatures, ids, and what it says of
itself. Gemini signs calls and texts, not its thoughts alone."""

_CLASSES: Final = {"thinking": "ThinkingPart", "text": "TextPart", "tool-call": "ToolCallPart"}

_REASONS: Final = {"tool_call": "tool_calls", "length": "length", "content_filter": "content_filter"}

_URLS: Final = (("image", "ImageUrl"), ("audio", "AudioUrl"), ("video", "VideoUrl"), ("", "DocumentUrl"))
"""The class of a file's address, by how its media type begins."""

_FAULTS: Final[tuple[tuple[str, type[Exception]], ...]] = (
    ("UserError", UsageError),
    ("ModelContextWindowExceededError", ContextOverflow),
    ("ModelQuotaExceededError", ProviderFatal),
    ("ModelRequestRejectedError", ProviderFatal),
    ("ContentFilterError", ProviderFatal),
    ("ModelAPIError", Transient),
    ("UnexpectedModelBehavior", Transient),  # a stream that cannot be read: the next one may be whole
    ("APIError", Transient),  # of the SDKs, in mid-stream: what has a status is a ModelHTTPError
    ("TransportError", Transient),
    ("StreamError", Transient),
    ("ConnectionError", Transient),
    ("TimeoutError", Transient),
)
"""What an exception is, by the name of its class or of one above it, first match first: the classes of pydantic-ai, of
the SDKs and of two HTTP clients, of which none has to be installed. Any other is passed on as it is."""


def _library() -> Any:
    """pydantic-ai, with the modules that are needed here.

    Raises:
        UsageError: it is not installed.
    """
    try:
        for name in ("direct", "exceptions", "messages", "models", "tools"):
            importlib.import_module(f"pydantic_ai.{name}")
    except ImportError as error:
        raise UsageError(f"a model of pydantic-ai needs it: install pydantic-ai-slim ({error})") from error
    return importlib.import_module("pydantic_ai")


def from_pydantic_ai(model: Any, *, settings: Mapping[str, Any] | None = None) -> Model:
    """A model of pydantic-ai as a model of ours: `from_pydantic_ai("google:gemini-2.5-pro")`.

    Args:
        model: One of its models, or a name that it makes one of. One that was made here is closed with the agent; one
            that was given is its owner's to close.
        settings: Sent with each request, by pydantic-ai's names: `temperature`, `max_tokens` …

    Raises:
        UsageError: pydantic-ai is not installed, it knows no such name, or the object is none of its models.
    """
    return PydanticAIModel(model, settings=settings)


class PydanticAIModel:
    """See `Model`. Made by `from_pydantic_ai`."""

    def __init__(self, model: Any, *, settings: Mapping[str, Any] | None = None) -> None:
        """See `from_pydantic_ai`."""
        self._pai = _library()
        self._called = model if isinstance(model, str) else None
        self._model: Any = self._infer(model) if isinstance(model, str) else model
        if not isinstance(self._model, self._pai.models.Model):
            expected = "expected a model of pydantic-ai, or the name of one"
            raise UsageError(f"from_pydantic_ai: {expected}, got {type(model).__name__}")
        # The same model may be reached without pydantic-ai, and what one way signs is not in the other's form.
        self.name: str = f"pydantic-ai:{self._model.system}:{self._model.model_name}"
        self._settings = dict(settings or {})

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[Piece]:
        """The answer, piece by piece, `Finish` last; in one go from a model that cannot stream.

        Raises:
            ModelError: the provider refused or failed: `Transient`, `ContextOverflow`, `Cancelled` or `ProviderFatal`.
            UsageError: pydantic-ai finds the model or the request wrongly put together.
        """
        if self._model is None:
            self._model = self._infer(self._called or "")
        asked = {
            "model": self._model,
            "messages": _Writer(self._pai, self.name).write(request.messages, request.instructions),
            "model_settings": {**self._settings, **request.settings} or None,
            "model_request_parameters": self._parameters(request),
        }
        try:
            async with closing(self._answered(asked, _Reader(self.name))) as pieces:
                async for piece in pieces:
                    yield piece
        except Exception as error:
            fault = _fault(self.name, error)
            if fault is None:
                raise
            raise fault from error

    async def close(self) -> None:
        """Let go of connections, where they are not somebody else's."""
        if self._called is not None and self._model is not None:
            model, self._model = self._model, None
            async with model:  # leaving it closes what its provider holds
                pass

    def _infer(self, name: str) -> Any:
        try:
            return self._pai.models.infer_model(name)
        except (self._pai.exceptions.UserError, ValueError, ImportError) as error:
            raise UsageError(f"from_pydantic_ai: {name!r}: {error}") from error

    def _parameters(self, request: ModelRequest) -> Any:
        tools = [
            self._pai.tools.ToolDefinition(
                name=tool.name, description=tool.description, parameters_json_schema=tool.schema
            )
            for tool in request.tools
        ]
        return self._pai.models.ModelRequestParameters(function_tools=tools, allow_text_output=True)

    async def _answered(self, asked: dict[str, Any], reader: _Reader) -> AsyncIterator[Piece]:
        response = None
        async with AsyncExitStack() as stack:
            try:
                stream = await stack.enter_async_context(self._pai.direct.model_request_stream(**asked))
            except (NotImplementedError, AssertionError):  # pydantic-ai's own ways to say that a model cannot stream
                stream = None
            if stream is not None:
                async for event in stream:
                    for piece in reader.read(event):
                        yield piece
                response = stream.get()
        if response is None:
            response = await self._pai.direct.model_request(**asked)
        for piece in reader.rest(response):
            yield piece


# --- requests ---------------------------------------------------------------------------------------------------------


class _Writer:
    """Messages as pydantic-ai's requests and responses, which take turns."""

    def __init__(self, pai: Any, model: str) -> None:
        """`model` is the model as steps name it: reasoning goes back to it alone."""
        self._pai = pai
        self._m = pai.messages
        self._model = model
        self._items: list[tuple[str, list[Any], dict[str, Any]]] = []

    def write(self, messages: Iterable[Message], instructions: str) -> list[Any]:
        """The messages; what the system says is part of the instructions, which are the last request's."""
        said = [instructions]
        for message in messages:
            if message.role == "system":
                said += [part.text for part in message.parts if isinstance(part, TextPart)]
            elif message.role == "user":
                self._add("request", self._user(message))
            else:
                for step in _steps(message):
                    self._step(step)
        if not any(kind == "request" for kind, _, _ in self._items):
            self._items.append(("request", [], {}))
        last = max(number for number, (kind, _, _) in enumerate(self._items) if kind == "request")
        if told := "\n\n".join(filter(None, said)):
            self._items[last][2]["instructions"] = told
        made = {"request": self._m.ModelRequest, "response": self._m.ModelResponse}
        return [_made(made[kind], {"parts": parts, **fields}) for kind, parts, fields in self._items]

    def _add(self, kind: str, parts: list[Any], fields: Mapping[str, Any] | None = None) -> None:
        """One more; two in a row of the same kind are one, as some providers insist."""
        if not parts:
            return
        if not self._items or self._items[-1][0] != kind:
            self._items.append((kind, [], {}))
        self._items[-1][1].extend(parts)
        self._items[-1][2].update(fields or {})

    def _user(self, message: Message) -> list[Any]:
        content = [item for part in message.parts for item in self._content(part)]
        if not content:
            return []
        alone = len(content) == 1 and isinstance(content[0], str)
        return [self._m.UserPromptPart(content=content[0] if alone else content)]

    def _content(self, part: Part) -> list[Any]:
        """What a user or a tool hands over. What cannot be shown is named in its place."""
        if isinstance(part, TextPart):
            return [part.text] if part.text else []
        if isinstance(part, FilePart):
            return [self._file(part)]
        return [_named(part)] if isinstance(part, OpaquePart) else []

    def _file(self, part: FilePart) -> Any:
        url = part.url or ""
        if url.startswith("data:"):
            head, _, body = url[5:].partition(",")
            media, *options = head.split(";")
            try:
                data = unquote_to_bytes(body)
                data = base64.b64decode(data, validate=True) if "base64" in options else data
            except binascii.Error:
                return f"[{media or 'file'}: its data is damaged]"
            return self._m.BinaryContent(data=data, media_type=part.media_type or media or "text/plain")
        if not url:
            return _named(part)
        name = next(name for begins, name in _URLS if part.media_type.startswith(begins))
        # A bare kind ("image") is no media type: pydantic-ai guesses one from the address then.
        return getattr(self._m, name)(url=url, media_type=part.media_type if "/" in part.media_type else None)

    # --- answers ------------------------------------------------------------------------------------------------------

    def _step(self, parts: list[Part]) -> None:
        """An answer of the model, and behind it the outcomes of its calls in their order."""
        said: list[Any] = []
        outcomes: list[Any] = []
        fields: dict[str, Any] = {}
        for part in parts:
            if isinstance(part, ToolPart):
                call_id = part.call_id or f"call_{len(self._items)}_{len(outcomes)}"
                given = part.input if isinstance(part.input, dict) else {"_raw": part.raw_input or part.input}
                said.append(self._m.ToolCallPart(tool_name=part.name, args=given, tool_call_id=call_id))
                outcomes.append(self._outcome(part, call_id))
            elif isinstance(part, ReasoningPart):
                self._reasoning(part, said, fields)
            elif isinstance(part, TextPart) and part.text:
                said.append(self._m.TextPart(content=part.text))
            elif isinstance(part, FilePart):
                file = self._file(part)
                kept = isinstance(file, self._m.BinaryContent)
                said.append(self._m.FilePart(content=file) if kept else self._m.TextPart(content=_named(part)))
            elif isinstance(part, OpaquePart):
                said.append(self._m.TextPart(content=_named(part)))
        self._add("response", said, fields)
        self._add("request", outcomes)

    def _reasoning(self, part: ReasoningPart, said: list[Any], fields: dict[str, Any]) -> None:
        """Reasoning, or the seal of the text or call before it: see `_Reader`."""
        if part.model != self._model:
            return
        seal = part.payload if isinstance(part.payload, dict) else {}
        kind = seal.get("part", "thinking")
        given = {key: seal[key] for key in _SEALS.get(kind, ()) if key in seal}
        fields.update({key: seal[key] for key in ("provider_name", "canonical_system") if key in seal})
        if kind == "thinking":
            said.append(self._m.ThinkingPart(content=part.text, **given))
        elif said and said[-1].part_kind == kind:
            for key, value in given.items():
                setattr(said[-1], key, value)

    def _outcome(self, part: ToolPart, call_id: str) -> Any:
        """A result. An error is marked as one, a refused call too, and text alone, as some providers insist."""
        settled = part if part.settled else part.settle(CAUSES[part.cause or "unknown"])
        if settled.state != "output-available":
            return self._m.ToolReturnPart(
                tool_name=part.name, content=output_text(settled.output), tool_call_id=call_id, outcome="failed"
            )
        output = settled.output
        if isinstance(output, tuple):
            output = [item for each in output for item in self._content(each)]
            output = output[0] if len(output) == 1 and isinstance(output[0], str) else output
        return self._m.ToolReturnPart(tool_name=part.name, content=output, tool_call_id=call_id)


def _named(part: FilePart | OpaquePart) -> str:
    what = part.kind if isinstance(part, OpaquePart) else part.media_type or "file"
    return f"[{what}: cannot be shown here]"


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    """A record with those of the fields that this release of pydantic-ai knows."""
    known = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in fields.items() if key in known})


def _steps(message: Message) -> Iterator[list[Part]]:
    step: list[Part] = []
    for part in message.parts:
        if isinstance(part, StepStart):
            yield step
            step = []
        else:
            step.append(part)
    yield step


# --- answers ----------------------------------------------------------------------------------------------------------


class _Call(msgspec.Struct):
    index: int
    streamed: bool = False
    """Whether arguments came as text; an object is passed on once it is whole."""


class _Reader:
    """Reads one answer: pydantic-ai's events in, pieces out.

    A seal (a signature, an id …) ends the reasoning that it belongs to. That of a text or a call is a piece of empty
    reasoning behind it: no other piece can carry one.
    """

    def __init__(self, model: str) -> None:
        """Nothing was read yet; `model` is the name that the end bears."""
        self._model = model
        self._calls: dict[int, _Call] = {}
        self._ran: int = 0
        """How many calls the host has to run: not those that the provider ran itself."""
        self._begun: set[int] = set()
        self._ended: set[int] = set()

    def read(self, event: Any) -> Iterator[Piece]:
        """The pieces of an event; one of a kind that is not known here says nothing."""
        if event.event_kind == "part_start":
            yield from self._start(event.index, event.part)
        elif event.event_kind == "part_delta":
            yield from self._more(event.index, event.delta)
        elif event.event_kind == "part_end":
            yield from self._end(event.index, event.part, getattr(event, "canonical_system", None))

    def rest(self, response: Any) -> Iterator[Piece]:
        """What is left when the answer is there: parts that no event told of, what it cost, and its end.

        Raises:
            Transient: it was cut off, or the provider says that it failed.
        """
        for index, part in enumerate(response.parts):
            if index not in self._begun:
                yield from self._start(index, part)
            if index not in self._ended:
                yield from self._end(index, part, getattr(response, "canonical_system", None))
        if tokens := _tokens(response.usage):
            yield Usage(tokens)
        reason = response.finish_reason
        state = getattr(response, "state", "complete")
        if reason == "error" or state in ("incomplete", "interrupted"):
            raise Transient(f"{self._model} broke its answer off: {reason or state}")
        if state == "suspended":
            yield Remark(f"{self._model} paused its answer: it goes on with the next message")
        yield Finish(_REASONS.get(reason or "", "tool_calls" if self._ran else "stop"), self._model)

    def _start(self, index: int, part: Any) -> Iterator[Piece]:
        self._begun.add(index)
        kind = part.part_kind
        if kind == "text":
            yield from [TextPiece(part.content)] if part.content else []
        elif kind == "thinking":
            yield from [ReasoningPiece(part.content)] if part.content else []
        elif kind in ("tool-call", "builtin-tool-call"):
            host = kind == "tool-call"
            self._ran += host
            call = self._calls[index] = _Call(len(self._calls), isinstance(part.args, str))
            yield CallPiece(
                index=call.index,
                call_id=part.tool_call_id,
                name=part.tool_name,
                arguments=part.args if isinstance(part.args, str) else "",
                executor="host" if host else "provider",
            )
        elif kind != "builtin-tool-return":  # of a call that is told of
            yield Remark(f"a part of the answer cannot be kept: {kind}")

    def _more(self, index: int, delta: Any) -> Iterator[Piece]:
        kind = delta.part_delta_kind
        if kind == "text" and delta.content_delta:
            yield TextPiece(delta.content_delta)
        elif kind == "thinking" and delta.content_delta:
            yield ReasoningPiece(delta.content_delta)
        elif kind == "tool_call" and isinstance(delta.args_delta, str) and delta.args_delta:
            call = self._calls[index]
            call.streamed = True
            yield CallPiece(index=call.index, arguments=delta.args_delta)

    def _end(self, index: int, part: Any, system: str | None) -> Iterator[Piece]:
        self._ended.add(index)
        kind = part.part_kind
        call = self._calls.get(index)
        if call is not None and not call.streamed and isinstance(part.args, dict) and part.args:
            yield CallPiece(index=call.index, arguments=dumps(_json(part.args)))
        found = {key: value for key in _SEALS.get(kind, ()) if (value := getattr(part, key, None)) is not None}
        if found.keys() - {"provider_name"}:
            told = {"canonical_system": system} if system else {}
            yield ReasoningPiece(payload={"part": kind, **_json(found), **told})


def _json(value: Any) -> Any:
    """A value of plain JSON: what pydantic-ai keeps may be any object."""
    return importlib.import_module("pydantic_core").to_jsonable_python(value, serialize_unknown=True)


def _tokens(usage: Any) -> dict[str, int]:
    """What an answer cost, flat: pydantic-ai's counts, and the provider's own beside them."""
    own = {key: value for key, value in vars(usage).items() if isinstance(value, int) and value}
    return {**{key: value for key, value in usage.details.items() if isinstance(value, int) and value}, **own}


# --- faults -----------------------------------------------------------------------------------------------------------


def _fault(model: str, error: Exception) -> Exception | None:
    """What an exception is to whoever asked; None: none of ours."""
    if isinstance(error, ModelError | UsageError):
        return None
    if isinstance(error, ExceptionGroup):  # of a model that has others to fall back on: the last one's word counts
        inner = error.exceptions[-1]
        return _fault(model, inner) if isinstance(inner, Exception) else None
    above: Sequence[str] = [kind.__name__ for kind in type(error).__mro__]
    after = getattr(error, "retry_after", None)
    if "ModelHTTPError" in above:
        headers = dict(getattr(error, "headers", None) or {})
        told = {**headers, **({"retry-after": str(after)} if after is not None else {})}
        return refused(model, error.status_code, _body(error), told)  # type: ignore[attr-defined]
    kind = next((kind for name, kind in _FAULTS if name in above), None)
    said = f"{model}: {str(error) or type(error).__name__}"
    if kind is Transient:
        return Transient(said, retry_after=after)
    return kind(said) if kind is not None else None


def _body(error: Any) -> bytes:
    body = error.body
    if body is None or isinstance(body, str):
        return (body or "").encode()
    return body if isinstance(body, bytes) else dumps(_json(body)).encode()
