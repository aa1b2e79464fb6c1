"""How an answer is sent in OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from suture.testing.contract.openai_shared import chunk
from suture.testing.contract.script import Answer, arguments, call_id, pieces
from suture.testing.contract.seals import seal

__all__ = ["events", "whole"]

_CREATED: Final = 1_700_000_000
_REASON: Final = {"length": "max_output_tokens", "filter": "content_filter"}

_Emit = Callable[..., bytes]


def whole(answer: Answer, body: Any) -> dict[str, Any]:
    """The answer as one object."""
    reason = _REASON.get(answer.finish)
    return {
        **_envelope(answer, body),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": _output(answer, body),
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": answer.cached_tokens},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }


def events(answer: Answer, body: Any) -> Iterator[bytes]:
    """The answer as the events of a stream."""
    number = -1

    def emit(kind: str, **data: Any) -> bytes:
        nonlocal number
        number += 1
        return chunk({"type": kind, "sequence_number": number, **data}, kind)

    done = whole(answer, body)
    begun = {**_envelope(answer, body), "status": "in_progress", "output": []}
    yield emit("response.created", response=begun)
    yield emit("response.in_progress", response=begun)
    for index, item in enumerate(done["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        yield emit("response.output_item.added", output_index=index, item=_opened(item))
        yield from _STREAMS[item["type"]](emit, item, place)
        yield emit("response.output_item.done", output_index=index, item=item)
    yield emit(f"response.{done['status']}", response=done)


def _message(emit: _Emit, item: dict[str, Any], place: dict[str, Any]) -> Iterator[bytes]:
    part = item["content"][0]
    at = {**place, "content_index": 0}
    yield emit("response.content_part.added", **at, part={**part, "text": ""})
    for each in pieces(part["text"]):
        yield emit("response.output_text.delta", **at, delta=each, logprobs=[])
    yield emit("response.output_text.done", **at, text=part["text"], logprobs=[])
    yield emit("response.content_part.done", **at, part=part)


def _call(emit: _Emit, item: dict[str, Any], place: dict[str, Any]) -> Iterator[bytes]:
    for each in pieces(item["arguments"]):
        yield emit("response.function_call_arguments.delta", **place, delta=each)
    yield emit("response.function_call_arguments.done", **place, name=item["name"], arguments=item["arguments"])


def _thought(emit: _Emit, item: dict[str, Any], place: dict[str, Any]) -> Iterator[bytes]:
    part = item["summary"][0]
    at = {**place, "summary_index": 0}
    yield emit("response.reasoning_summary_part.added", **at, part={**part, "text": ""})
    for each in pieces(part["text"]):
        yield emit("response.reasoning_summary_text.delta", **at, delta=each)
    yield emit("response.reasoning_summary_text.done", **at, text=part["text"])
    yield emit("response.reasoning_summary_part.done", **at, part=part)


_STREAMS: Final = {"message": _message, "function_call": _call, "reasoning": _thought}
_EMPTY: Final[dict[str, dict[str, Any]]] = {
    "message": {"content": [], "status": "in_progress"},
    "function_call": {"arguments": "", "status": "in_progress"},
    "reasoning": {"summary": []},
}


def _opened(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, **_EMPTY[item["type"]]}


def _envelope(answer: Answer, body: Any) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.number}",
        "object": "response",
        "created_at": _CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": body.get("model"),
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "store": body.get("store") is not False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
    }


def _output(answer: Answer, body: Any) -> list[dict[str, Any]]:
    status = "incomplete" if answer.finish else "completed"
    items: list[dict[str, Any]] = []
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        include = body.get("include")
        sealed = (
            seal(answer.reasoning) if isinstance(include, list) and "reasoning.encrypted_content" in include else None
        )
        items.append(
            {"type": "reasoning", "id": f"rs_{answer.number}", "summary": summary, "encrypted_content": sealed}
        )
    if answer.text or not answer.calls:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        item = {"type": "message", "id": f"msg_{answer.number}", "role": "assistant", "status": status}
        items.append({**item, "content": [part]})
    for index, (name, given) in enumerate(answer.calls):
        item = {"type": "function_call", "id": f"fc_{answer.number}_{index}", "status": status, "name": name}
        items.append({**item, "call_id": call_id(answer, index, "call_"), "arguments": arguments(given)})
    return items
