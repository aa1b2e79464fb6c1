"""OpenAI Chat Completions: `/chat/completions` and its stream, and those of all hosts that speak it.

Quirks handled here:
- instructions are a message of their own, the first one;
- the reason for the end comes before the usage, so `Finish` waits for `[DONE]` or for the end of the body;
- hosts leave out the index of a call, give all calls index 0, repeat the id and the name in every chunk, give no ids,
  write arguments as an object, or put a whole call into one chunk;
- reasoning comes as `reasoning_content`, as `reasoning`, as both, or as a part of the content (Mistral);
- a chunk may hold a whole `message` in place of a `delta`, as a body that is no stream does.

Of several choices only the first is read. Log probabilities, annotations, audio and `reasoning_details` have no piece
and are left out. A custom tool's text is given as the object `{"input": text}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from suture.transcript.codec import dumps, loads
from suture.transcript.deltas import CallPiece, Failure, Finish, Piece, ReasoningPiece, TextPiece
from suture.transcript.tools import ToolSpec
from suture.wire.exchange.base import StreamDecoder, free_text, record, records, text, usage

__all__ = ["NAME", "PATH", "Decoder", "body", "opening", "thinks"]

NAME: Final = "openai_chat"
PATH: Final = "/chat/completions"

_REASONS: Final = {"function_call": "tool_calls"}
"""The provider's words for the end that differ from ours."""


# --- asking ---------------------------------------------------------------------------------------------------------


def opening(instructions: str, /) -> list[dict[str, Any]]:
    """The instructions as a system message; nothing where there are none."""
    return [{"role": "system", "content": instructions}] if instructions else []


def body(
    model: str, *, instructions: str, messages: Any, tools: Sequence[ToolSpec], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """See `Exchange`. The instructions are not in here: `opening` makes the first message of them."""
    asked: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        asked["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in tools
        ]
    return asked | dict(settings)


def thinks(_settings: Mapping[str, Any], /) -> bool:
    """Always: the hosts that take reasoning back say so in their profiles."""
    return True


# --- reading the answer ---------------------------------------------------------------------------------------------


class Decoder(StreamDecoder):
    """See `StreamDecoder`."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        super().__init__()
        self._calls = _Calls()
        self._model = ""
        self._reason = ""

    def event(self, _kind: str, value: dict[str, Any], /) -> Iterator[Piece | Failure]:
        """What one chunk says."""
        self._model = self._model or text(value.get("model"))
        for choice in records(value.get("choices")):
            if not choice.get("index"):
                said = record(choice["delta"] if "delta" in choice else choice.get("message"))
                # Some hosts give the same thought under both names.
                yield from self.reasoning(said.get("reasoning_content") or said.get("reasoning"))
                for key, read in _SAID:
                    if more := said.get(key):
                        yield from read(self, more)
                self._reason = text(choice.get("finish_reason")) or self._reason
        if spent := value.get("usage"):
            yield from usage(spent)

    def document(self, value: dict[str, Any], /) -> Iterator[Piece | Failure]:
        """What a whole completion says: what a chunk that holds all of it would."""
        yield from self.event("", value)
        yield from self.done()

    def done(self) -> Iterator[Piece | Failure]:
        """The end, where a reason for it was given: hosts write `[DONE]` behind a failure too."""
        if self._reason:
            yield from self._calls.nameless()
            yield Finish(_REASONS.get(self._reason, self._reason), self._model)

    def content(self, more: Any) -> Iterator[Piece]:
        """More text; or parts, of which some may be what the model thinks."""
        if isinstance(more, str):
            yield TextPiece(more)
        for part in records(more):
            if said := text(part.get("text")):
                yield TextPiece(said)
            thought = part.get("thinking")
            yield from self.reasoning("".join(text(piece.get("text")) for piece in records(thought)) or thought)

    def reasoning(self, more: Any) -> Iterator[Piece]:
        """More of what the model thinks."""
        if isinstance(more, str) and more:
            yield ReasoningPiece(more)

    def calls(self, more: Any) -> Iterator[Piece]:
        """More of some calls."""
        for delta in records(more):
            custom = record(delta.get("custom"))
            fields = record(delta.get("function")) or custom
            arguments = free_text(text(custom.get("input"))) if custom else fields.get("arguments")
            index = delta.get("index")
            yield from self._calls.add(
                index if isinstance(index, int) else None, text(delta.get("id")), text(fields.get("name")), arguments
            )

    def function_call(self, more: Any) -> Iterator[Piece]:
        """More of the one call of the old form, which has neither id nor index."""
        fields = record(more)
        yield from self._calls.add(_OLD, "", text(fields.get("name")), fields.get("arguments"))


_OLD: Final = -1
"""The index under which the call of the old form is kept."""


_SAID: Final[tuple[tuple[str, Callable[[Decoder, Any], Iterable[Piece]]], ...]] = (
    ("content", Decoder.content),
    ("refusal", Decoder.content),
    ("tool_calls", Decoder.calls),
    ("function_call", Decoder.function_call),
)
"""What a delta can hold beside reasoning, in the order in which a model says it."""


# --- calls ----------------------------------------------------------------------------------------------------------


class _Call(msgspec.Struct):
    """A call as far as it was said."""

    number: int = -1
    """Its index in the pieces, once it has one there."""
    call_id: str = ""
    name: str = ""
    arguments: list[str] = []

    def is_whole(self) -> bool:
        """Whether its arguments are complete: more of them cannot be its own."""
        try:
            loads("".join(self.arguments))
        except ValueError:
            return False
        return True


class _Calls:
    """The calls of an answer, told apart by whatever the host gives: an index, an id, or where a name stands."""

    def __init__(self) -> None:
        self.all: list[_Call] = []
        self.by_index: dict[int, _Call] = {}
        self.by_id: dict[str, _Call] = {}
        self.given = 0

    def add(self, index: int | None, call_id: str, name: str, arguments: Any) -> Iterator[CallPiece]:
        """The piece for one delta; none where it says nothing new, or the call has no name yet."""
        more = arguments if isinstance(arguments, str) else "" if arguments is None else dumps(arguments)
        call = self._meant(index, call_id, name, more)
        if call is None:
            call = _Call()
            self.all.append(call)
        if index is not None:
            self.by_index[index] = call
        if call_id:
            self.by_id.setdefault(call_id, call)
        call.call_id = call.call_id or call_id
        call.name = call.name or name
        call.arguments.append(more)
        if call.name and call.number < 0:
            yield self._first(call)
        elif call.name and more:
            yield CallPiece(index=call.number, arguments=more)

    def nameless(self) -> Iterator[CallPiece]:
        """The calls that never got a name, so that somebody can say that there is no such tool."""
        for call in self.all:
            if call.number < 0 and (call.call_id or any(call.arguments)):
                yield self._first(call)

    def _first(self, call: _Call) -> CallPiece:
        """The first piece of a call: all that was said of it so far."""
        call.number = self.given
        self.given += 1
        return CallPiece(index=call.number, call_id=call.call_id, name=call.name, arguments="".join(call.arguments))

    def _meant(self, index: int | None, call_id: str, name: str, more: str) -> _Call | None:
        """The call that a delta goes on with; None where it begins one."""
        last = self.all[-1] if self.all else None
        call = last if index is None else self.by_index.get(index)
        if call is None or call_id == call.call_id != "":
            return call
        if not call_id:
            return None if name and more and call.is_whole() else call
        # Another id than the last one's. Without a name it is made up anew for each chunk, which some hosts do.
        return self.by_id.get(call_id) or (None if name and call.name else call)
