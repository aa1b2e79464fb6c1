"""Anthropic Messages: `/messages` and its stream.

Quirks handled here:
- every block has a start, deltas and a stop; the index of a block counts blocks of all types, ours counts calls;
- what a call takes comes as JSON text; servers that do not stream it put it into the block's start;
- the signature of a thinking block, and the data of a redacted one, is the payload, as the adapter reads it;
- the usage at the end replaces the one at the start, key by key.

A call of one of the provider's own tools has the executor `provider`. There is no piece for what such a tool gave back
(`web_search_tool_result` …), for the server's name of an MCP call, for citations, for compactions and for files: these
are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from suture.transcript.codec import dumps
from suture.transcript.deltas import CallPiece, Failure, Finish, Piece, ReasoningPiece, TextPiece
from suture.transcript.tools import ToolSpec
from suture.wire.exchange.base import StreamDecoder, number, record, records, text, usage

__all__ = ["NAME", "PATH", "Decoder", "body", "opening", "thinks"]

NAME: Final = "anthropic"
PATH: Final = "/messages"

_MAX_TOKENS: Final = 8192
"""What an answer may take where the settings do not say: the format demands a number."""

_THINKS: Final = frozenset({"enabled", "adaptive"})

_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""The provider's words for the end that differ from ours."""


# --- asking ---------------------------------------------------------------------------------------------------------


def opening(instructions: str, /) -> list[dict[str, Any]]:
    """Nothing: the instructions have a key of their own."""
    return []


def body(
    model: str, *, instructions: str, messages: Any, tools: Sequence[ToolSpec], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """See `Exchange`. An answer may take 8192 tokens, unless the settings say otherwise."""
    asked: dict[str, Any] = {"model": model, "max_tokens": _MAX_TOKENS, "messages": messages, "stream": True}
    if instructions:
        asked["system"] = instructions
    if tools:
        asked["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools
        ]
    return asked | dict(settings)


def thinks(settings: Mapping[str, Any], /) -> bool:
    """Where `thinking` is on; else the format refuses what was thought before."""
    return record(settings.get("thinking")).get("type") in _THINKS


# --- reading the answer ---------------------------------------------------------------------------------------------

_CALLS: Final = {"tool_use": "host", "server_tool_use": "provider", "mcp_tool_use": "provider"}
"""Who runs a call, by the type of its block."""


class _Block(msgspec.Struct):
    """A block that has begun and not ended."""

    kind: str
    call: int = -1
    input: Any = None
    """What the call takes, as far as its start says so and no delta does."""
    signature: str = ""


class Decoder(StreamDecoder):
    """See `StreamDecoder`."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        super().__init__()
        self._model = ""
        self._reason = ""
        self._calls = 0
        self._blocks: dict[int, _Block] = {}

    def event(self, kind: str, value: dict[str, Any], /) -> Iterable[Piece | Failure]:
        """What one event says."""
        read = _EVENTS.get(kind)
        return read(self, value) if read else ()

    def document(self, value: dict[str, Any], /) -> Iterator[Piece | Failure]:
        """What a whole message says: what its events would."""
        yield from self.message_start({"message": value})
        for index, block in enumerate(records(value.get("content"))):
            yield from self.block_start({"index": index, "content_block": block})
            yield from self.block_stop({"index": index})
        if text(value.get("stop_reason")):
            yield from self.message_delta({"delta": value})
            yield from self.message_stop(value)

    def message_start(self, value: dict[str, Any]) -> Iterable[Piece]:
        """Which model answers, and what it read."""
        message = record(value.get("message"))
        self._model = text(message.get("model"))
        return usage(message.get("usage"))

    def block_start(self, value: dict[str, Any]) -> Iterator[Piece]:
        """A new block, and what it holds from the start."""
        wire = record(value.get("content_block"))
        block = self._blocks[number(value.get("index"))] = _Block(text(wire.get("type")))
        if block.kind in _CALLS:
            block.call, block.input = self._calls, wire.get("input")
            self._calls += 1
            yield CallPiece(
                index=block.call,
                call_id=text(wire.get("id")),
                name=text(wire.get("name")),
                executor=_CALLS[block.kind],
            )
        elif block.kind == "redacted_thinking":
            yield ReasoningPiece(payload=text(wire.get("data")) or None, key="redacted_thinking")
        elif block.kind in _STARTS:
            block.signature = text(wire.get("signature"))
            yield from _STARTS[block.kind](block, wire)

    def block_delta(self, value: dict[str, Any]) -> Iterable[Piece]:
        """More of a block."""
        block = self._blocks.get(number(value.get("index")))
        delta = record(value.get("delta"))
        read = _DELTAS.get(text(delta.get("type")))
        return read(block, delta) if block and read else ()

    def block_stop(self, value: dict[str, Any]) -> Iterator[Piece]:
        """The end of a block: its signature, or what its call takes where no delta said so."""
        block = self._blocks.pop(number(value.get("index")), None)
        if block and block.signature:
            yield ReasoningPiece(payload=block.signature)
        if block and block.input:
            yield CallPiece(index=block.call, arguments=dumps(block.input))

    def message_delta(self, value: dict[str, Any]) -> Iterable[Piece]:
        """Why the answer ends, and what it took."""
        self._reason = text(record(value.get("delta")).get("stop_reason")) or self._reason
        return usage(value.get("usage"))

    def message_stop(self, _value: dict[str, Any]) -> Iterable[Piece]:
        """The end."""
        return [Finish(_REASONS.get(self._reason, self._reason or "stop"), self._model)]


_EVENTS: Final[dict[str, Callable[[Decoder, dict[str, Any]], Iterable[Piece | Failure]]]] = {
    "message_start": Decoder.message_start,
    "content_block_start": Decoder.block_start,
    "content_block_delta": Decoder.block_delta,
    "content_block_stop": Decoder.block_stop,
    "message_delta": Decoder.message_delta,
    "message_stop": Decoder.message_stop,
}
"""How an event is read. `ping` says nothing."""


# --- what blocks hold -----------------------------------------------------------------------------------------------


def _text(block: _Block, delta: dict[str, Any]) -> Iterable[Piece]:
    said = text(delta.get("text"))
    return [TextPiece(said)] if said else ()


def _thinking(block: _Block, delta: dict[str, Any]) -> Iterable[Piece]:
    said = text(delta.get("thinking"))
    return [ReasoningPiece(said)] if said else ()


def _signature(block: _Block, delta: dict[str, Any]) -> Iterable[Piece]:
    block.signature = text(delta.get("signature"))
    return ()


def _input(block: _Block, delta: dict[str, Any]) -> Iterable[Piece]:
    said = text(delta.get("partial_json"))
    if not said or block.call < 0:
        return ()
    block.input = None
    return [CallPiece(index=block.call, arguments=said)]


_Reader = Callable[[_Block, dict[str, Any]], Iterable[Piece]]

_STARTS: Final[dict[str, _Reader]] = {"text": _text, "thinking": _thinking}
"""What a block can hold from its start, by its type."""

_DELTAS: Final[dict[str, _Reader]] = {
    "text_delta": _text,
    "thinking_delta": _thinking,
    "signature_delta": _signature,
    "input_json_delta": _input,
}
"""How a delta is read, by its type."""
