"""How an answer is sent in Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from suture.testing.contract.base import event
from suture.testing.contract.script import Answer, arguments, call_id, pieces
from suture.testing.contract.seals import seal

__all__ = ["events", "whole"]

_REASON: Final = {"length": "max_tokens", "filter": "refusal"}


def whole(answer: Answer, body: Any) -> dict[str, Any]:
    """The answer as one object. Arguments that are no JSON object stand under `_raw`: the format has no other place."""
    content = [_filled(block, text) for block, text in _blocks(answer)]
    return {**_envelope(answer, body), "content": content, **_end(answer), "usage": _usage(answer)}


def events(answer: Answer, body: Any) -> Iterator[bytes]:
    """The answer as the events of a stream."""
    begun = {**_envelope(answer, body), "stop_reason": None, "stop_sequence": None}
    yield _event("message_start", message={**begun, "usage": {**_usage(answer), "output_tokens": 1}})
    yield _event("ping")
    for index, (block, text) in enumerate(_blocks(answer)):
        yield _event("content_block_start", index=index, content_block=block)
        kind, field = _DELTAS[block["type"]]
        for piece in pieces(text):
            yield _event("content_block_delta", index=index, delta={"type": kind, field: piece})
        if block["type"] == "thinking":
            delta = {"type": "signature_delta", "signature": seal(text)}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", delta=_end(answer), usage=_usage(answer))
    yield _event("message_stop")


_DELTAS: Final = {
    "thinking": ("thinking_delta", "thinking"),
    "text": ("text_delta", "text"),
    "tool_use": ("input_json_delta", "partial_json"),
}


def _event(kind: str, **data: Any) -> bytes:
    return event(msgspec.json.encode({"type": kind, **data}), kind)


def _blocks(answer: Answer) -> Iterator[tuple[dict[str, Any], str]]:
    """Each block as it begins, and the text that streams into it."""
    if answer.reasoning:
        yield {"type": "thinking", "thinking": "", "signature": ""}, answer.reasoning
    if answer.text:
        yield {"type": "text", "text": ""}, answer.text
    for index, (name, given) in enumerate(answer.calls):
        block = {"type": "tool_use", "id": call_id(answer, index, "toolu_"), "name": name, "input": {}}
        yield block, arguments(given)


def _filled(block: dict[str, Any], text: str) -> dict[str, Any]:
    if block["type"] == "thinking":
        return {**block, "thinking": text, "signature": seal(text)}
    if block["type"] == "text":
        return {**block, "text": text}
    try:
        read: Any = msgspec.json.decode(text) if text else {}
    except msgspec.DecodeError:
        read = text
    return {**block, "input": read if isinstance(read, dict) else {"_raw": read}}


def _envelope(answer: Answer, body: Any) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [],
    }


def _end(answer: Answer) -> dict[str, Any]:
    reason = _REASON.get(answer.finish) or ("tool_use" if answer.calls else "end_turn")
    return {"stop_reason": reason, "stop_sequence": None}


def _usage(answer: Answer) -> dict[str, int]:
    """Tokens from the cache are not counted again among those of the input."""
    return {
        "input_tokens": answer.input_tokens - answer.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.cached_tokens,
        "output_tokens": answer.output_tokens,
    }
