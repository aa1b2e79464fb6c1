"""OpenAI Responses: `/responses` and its stream.

Quirks handled here:
- the last piece of a reasoning item holds its `encrypted_content` and its id; its parts are apart by a blank line, as
  the adapter reads them;
- a server may stream an item's deltas, or give the item only once it is done, or only in the whole response;
- calls of other sorts than functions come whole. What a custom tool takes is text: it is given as `{"input": text}`;
- items are told apart by their place: some servers give one item another id in every event.

A call of one of the provider's own tools has the executor `provider`, the item's id and what was asked; what the tool
gave back has no piece and is left out. So are the ids of calls and messages, annotations, log probabilities, and items
of other sorts: lists of tools, requests for approval, compactions, programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from suture.transcript.codec import dumps
from suture.transcript.deltas import CallPiece, Failure, Finish, Piece, ReasoningPiece, TextPiece
from suture.transcript.tools import ToolSpec
from suture.wire.exchange.base import StreamDecoder, failure, free_text, number, record, records, text, usage
from suture.wire.openai_responses_read import ASKED, CALLS, hosted

__all__ = ["NAME", "PATH", "Decoder", "body", "opening", "thinks"]

NAME: Final = "openai_responses"
PATH: Final = "/responses"

_REASONS: Final = {"max_output_tokens": "length"}
"""The provider's words for an early end that differ from ours."""


# --- asking ---------------------------------------------------------------------------------------------------------


def opening(instructions: str, /) -> list[dict[str, Any]]:
    """Nothing: the instructions have a key of their own."""
    return []


def body(
    model: str, *, instructions: str, messages: Any, tools: Sequence[ToolSpec], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """See `Exchange`. Nothing is stored; where the settings ask for `reasoning`, it comes in a form to send back.

    Models that do not reason refuse to be asked for that form.
    """
    asked: dict[str, Any] = {
        "model": model,
        "input": messages,
        "stream": True,
        "store": False,
    }
    if settings.get("reasoning"):
        asked["include"] = ["reasoning.encrypted_content"]
    if instructions:
        asked["instructions"] = instructions
    if tools:
        # Strict is this format's default, and demands more of a schema than a tool's need be.
        asked["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            }
            for tool in tools
        ]
    return asked | dict(settings)


def thinks(_settings: Mapping[str, Any], /) -> bool:
    """Always: what came encrypted may go back so."""
    return True


# --- reading the answer ---------------------------------------------------------------------------------------------

_HOSTED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "web_search_call": ("web_search", ("action",)),
    "file_search_call": ("file_search", ("queries",)),
    "code_interpreter_call": ("code_interpreter", ("code", "container_id")),
    "image_generation_call": ("image_generation", ("revised_prompt", "size", "quality")),
    "tool_search_call": ("tool_search", ("arguments",)),
}
"""The provider's own tools: what a call is named, and the keys that say what was asked, by the type of the item."""


class _Item(msgspec.Struct):
    """An item of the answer, as far as it was given."""

    call: int = -1
    given: bool = False
    """Whether deltas said what it holds."""
    part: Any = None
    """The part that the last delta was of."""


class Decoder(StreamDecoder):
    """See `StreamDecoder`."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        super().__init__()
        self._model = ""
        self._calls = 0
        self._called = False
        self._items: dict[int, _Item] = {}

    def event(self, kind: str, value: dict[str, Any], /) -> Iterable[Piece | Failure]:
        """What one event says."""
        read = _EVENTS.get(kind)
        return read(self, value) if read else ()

    def document(self, value: dict[str, Any], /) -> Iterable[Piece | Failure]:
        """What a whole response says: what the event that ends it would."""
        read = _ENDS.get(text(value.get("status")), Decoder.output)
        return read(self, {"response": value})

    def begun(self, value: dict[str, Any]) -> Iterable[Piece]:
        """Which model answers."""
        self._model = text(record(value.get("response")).get("model")) or self._model
        return ()

    def said(self, value: dict[str, Any]) -> Iterator[Piece]:
        """More text, or more of a refusal."""
        self._item(value).given = True
        if more := text(value.get("delta")):
            yield TextPiece(more)

    def thought(self, value: dict[str, Any]) -> Iterator[Piece]:
        """More of what the model thinks, or of its summary."""
        item = self._item(value)
        part = (value.get("type"), value.get("summary_index"), value.get("content_index"))
        gap = "\n\n" if item.given and item.part != part else ""
        if more := text(value.get("delta")):
            item.given, item.part = True, part
            yield ReasoningPiece(gap + more)

    def argued(self, value: dict[str, Any]) -> Iterator[Piece]:
        """More of what a function is called with."""
        item = self._item(value)
        more = text(value.get("delta"))
        if more and item.call >= 0:
            item.given = True
            yield CallPiece(index=item.call, arguments=more)

    def item_added(self, value: dict[str, Any]) -> Iterator[Piece]:
        """A new item. Of a function's call it says all but the arguments."""
        wire = record(value.get("item"))
        item = self._item(value)
        if wire.get("type") == "function_call":
            yield self._begin(item, text(wire.get("call_id")), text(wire.get("name")))

    def item_done(self, value: dict[str, Any]) -> Iterable[Piece]:
        """A whole item: what of it no delta said."""
        wire = record(value.get("item"))
        kind = text(wire.get("type"))
        item = self._item(value)
        if kind in _HOSTED and (kind not in CALLS or hosted(wire)):
            return self.hosted_call(item, wire)
        read = _ITEMS.get(kind)
        return read(self, item, wire) if read else ()

    def _item(self, value: dict[str, Any]) -> _Item:
        return self._items.setdefault(number(value.get("output_index")), _Item())

    def _begin(self, item: _Item, call_id: str, name: str, arguments: str = "", executor: str = "host") -> CallPiece:
        item.call = self._calls
        self._calls += 1
        self._called = self._called or executor == "host"
        return CallPiece(index=item.call, call_id=call_id, name=name, arguments=arguments, executor=executor)

    # Whole items.

    def message(self, item: _Item, wire: dict[str, Any]) -> Iterator[Piece]:
        """Its text, where no delta gave any."""
        for part in records(wire.get("content")) if not item.given else ():
            if said := text(part.get("text")) or text(part.get("refusal")):
                yield TextPiece(said)

    def reasoning(self, item: _Item, wire: dict[str, Any]) -> Iterator[Piece]:
        """What only its makers can read, and the text where no delta gave any."""
        parts = [text(part.get("text")) for key in ("summary", "content") for part in records(wire.get(key))]
        thought = "" if item.given else "\n\n".join(parts)
        payload, item_id = text(wire.get("encrypted_content")) or None, text(wire.get("id")) or None
        if thought or payload or item_id:
            yield ReasoningPiece(thought, payload, item_id=item_id)

    def function_call(self, item: _Item, wire: dict[str, Any]) -> Iterator[Piece]:
        """The call where nothing of it came before, its arguments where no delta gave any."""
        arguments = text(wire.get("arguments"))
        if item.call < 0:
            yield self._begin(item, text(wire.get("call_id")), text(wire.get("name")), arguments)
        elif arguments and not item.given:
            yield CallPiece(index=item.call, arguments=arguments)

    def other_call(self, item: _Item, wire: dict[str, Any]) -> Iterator[Piece]:
        """A call of another sort that the host answers: a custom tool's by its name, all others by their sort."""
        kind = CALLS[wire["type"]]
        asked = wire.get(ASKED[kind])
        if kind == "computer" and asked is None:
            asked = {"actions": wire.get("actions")}
        name = text(wire.get("name")) if kind == "custom" else kind
        arguments = free_text(asked) if isinstance(asked, str) else dumps(asked or {})
        yield self._begin(item, text(wire.get("call_id")), name, arguments)

    def hosted_call(self, item: _Item, wire: dict[str, Any]) -> Iterator[Piece]:
        """A call that the provider made and answered itself."""
        name, keys = _HOSTED[wire["type"]]
        asked = {key: wire[key] for key in keys if wire.get(key) is not None}
        yield self._begin(item, text(wire.get("id")), name, dumps(asked), "provider")

    def mcp_call(self, item: _Item, wire: dict[str, Any]) -> Iterator[Piece]:
        """A call of a tool of a server that the provider speaks with."""
        yield self._begin(item, text(wire.get("id")), text(wire.get("name")), text(wire.get("arguments")), "provider")

    # The end.

    def output(self, value: dict[str, Any]) -> Iterator[Piece]:
        """What a whole response holds, where no event said so, and what it took."""
        response = record(value.get("response"))
        self.begun(value)
        if not self._items:
            for index, wire in enumerate(records(response.get("output"))):
                yield from self.item_done({"output_index": index, "item": wire})
        yield from usage(response.get("usage"))

    def completed(self, value: dict[str, Any]) -> Iterator[Piece]:
        """The end of a whole answer: `tool_calls` where the host has to run some."""
        yield from self.output(value)
        yield Finish("tool_calls" if self._called else "stop", self._model)

    def incomplete(self, value: dict[str, Any]) -> Iterator[Piece]:
        """The end of an answer that the provider broke off."""
        yield from self.output(value)
        reason = text(record(record(value.get("response")).get("incomplete_details")).get("reason"))
        yield Finish(_REASONS.get(reason, reason or "incomplete"), self._model)

    def failed(self, value: dict[str, Any]) -> Iterable[Failure]:
        """The provider failed."""
        return [failure(record(value.get("response")).get("error"))]


_EVENTS: Final[dict[str, Callable[[Decoder, dict[str, Any]], Iterable[Piece | Failure]]]] = {
    "response.created": Decoder.begun,
    "response.in_progress": Decoder.begun,
    "response.output_text.delta": Decoder.said,
    "response.refusal.delta": Decoder.said,
    "response.reasoning_summary_text.delta": Decoder.thought,
    "response.reasoning_text.delta": Decoder.thought,
    "response.function_call_arguments.delta": Decoder.argued,
    "response.output_item.added": Decoder.item_added,
    "response.output_item.done": Decoder.item_done,
    "response.completed": Decoder.completed,
    "response.incomplete": Decoder.incomplete,
    "response.failed": Decoder.failed,
}
"""How an event is read."""

_ENDS: Final = {"completed": Decoder.completed, "incomplete": Decoder.incomplete, "failed": Decoder.failed}
"""How a whole response is read, by its status."""

_ITEMS: Final[dict[str, Callable[[Decoder, _Item, dict[str, Any]], Iterable[Piece]]]] = {
    **dict.fromkeys(CALLS, Decoder.other_call),
    "message": Decoder.message,
    "reasoning": Decoder.reasoning,
    "function_call": Decoder.function_call,
    "mcp_call": Decoder.mcp_call,
}
"""How a whole item is read, by its type."""
