"""The providers' own SDKs as judges: what they find in our streams is what we find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import anthropic
import httpx2
import msgspec
import openai
import pytest

from suture.transcript.codec import loads
from suture.transcript.deltas import CallPiece, Failure, Finish, TextPiece
from tests.wire.exchange.streams import STREAMS, decoded, name_of

NOT_THEIRS: Final = {
    "openai_chat": {
        "another_id_in_each_chunk": "a call is begun anew",
        "byte_order_mark": "the first line is lost",
        "garbage": "JSON is expected everywhere",
        "cut": "the cut event is read",
        "empty_data": "JSON is expected everywhere",
        "error_as_event": "only `error` in the data is an error",
        "error_as_object": "only `error` in the data is an error",
        "half_characters": "halves of a character are kept as they are",
        "message_in_chunk": "a chunk has a delta",
        "not_an_object": "a chunk is an object",
        "one_index_no_ids": "calls are told apart by their index",
        "one_index_other_ids": "calls are told apart by their index",
        "pieces_without_index": "calls are told apart by their index",
        "thinking_parts": "content is text",
        "whole_calls_without_index": "calls are told apart by their index",
    },
    "openai_responses": {
        "cut": "the cut event is read",
        "garbage": "JSON is expected everywhere",
        "untyped_data": "an event says its type",
    },
    "anthropic": {
        "cut": "the cut event is read",
        "garbage": "JSON is expected everywhere",
        "untyped_data": "an event says its type",
        "unknown_events": "a delta belongs to a block",
        "no_reason": "a block may begin behind the end",
        "input_from_the_start": "what a call takes is streamed",
    },
}
"""Streams that no SDK can judge: what it takes for granted there."""

JUDGED = [p for p in STREAMS if p.suffix == ".sse" and p.stem not in NOT_THEIRS[p.parent.name]]

REASONS: Final = {
    "function_call": "tool_calls",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""The providers' reasons in the one vocabulary."""


class Answer(msgspec.Struct):
    """What an answer comes down to."""

    text: str = ""
    calls: list[list[Any]] = []
    """The id, the name and the arguments of each."""
    reason: str | None = None
    failed: bool = False


def ours(path: Path) -> Answer:
    """What our decoder finds; calls that the provider made itself are left out, as SDKs have them elsewhere."""
    answer = Answer()
    calls: dict[int, list[str]] = {}
    for piece in decoded(path, [path.read_bytes()]):
        match piece:
            case TextPiece(text):
                answer.text += text
            case CallPiece():
                call = calls.setdefault(piece.index, [piece.call_id, piece.name, "", piece.executor])
                call[2] += piece.arguments
            case Finish(reason):
                answer.reason = reason
            case Failure():
                answer.failed = True
            case _:
                pass
    answer.calls = [[i, name, _read(said)] for i, name, said, executor in calls.values() if executor == "host"]
    return answer


def _read(arguments: str) -> Any:
    """Arguments as the object that they are; the text of those that were cut."""
    try:
        return loads(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments


def _http(path: Path) -> httpx2.Client:
    """A provider that answers with this stream."""

    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=path.read_bytes())

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def _openai(path: Path) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url="https://provider.test/v1", http_client=_http(path), max_retries=0)


def by_chat_completions(path: Path, answer: Answer) -> Iterator[None]:
    """Read a stream of Chat Completions."""
    calls: dict[int, list[str]] = {}
    stream = _openai(path).chat.completions.create(model="m", messages=[], stream=True)
    for choice in (choice for chunk in stream for choice in chunk.choices if choice.index == 0):
        answer.text += (choice.delta.content or "") + (choice.delta.refusal or "")
        for delta in choice.delta.tool_calls or []:
            _add(calls.setdefault(delta.index, ["", "", ""]), delta.id, delta.function)
        if choice.delta.function_call:
            _add(calls.setdefault(-1, ["", "", ""]), None, choice.delta.function_call)
        answer.reason = choice.finish_reason or answer.reason
        answer.calls = [[i, name, _read(said)] for i, name, said in calls.values()]
        yield


def _add(call: list[str], call_id: str | None, function: Any) -> None:
    call[0] = call[0] or call_id or ""
    call[1] = call[1] or (function and function.name) or ""
    call[2] += (function and function.arguments) or ""


def by_responses(path: Path, answer: Answer) -> Iterator[None]:
    """Read a stream of Responses: text from its deltas, calls from its whole items."""
    for event in _openai(path).responses.create(model="m", input="?", stream=True):
        match event.type:
            case "response.output_text.delta" | "response.refusal.delta":
                answer.text += event.delta
            case "response.output_item.done":
                answer.calls += _items([event.item])
            case "response.completed" | "response.incomplete":
                details = event.response.incomplete_details
                answer.calls = answer.calls or _items(event.response.output)
                answer.text = answer.text or event.response.output_text
                ends = {"completed": "tool_calls" if answer.calls else "stop"}
                answer.reason = (details and details.reason) or ends.get(event.response.status or "", "incomplete")
            case "response.failed" | "error":
                answer.failed = True
                return
            case _:
                pass
        yield


ASKED: Final[dict[str, Callable[[Any], list[Any]]]] = {
    "function_call": lambda item: [item.call_id, item.name, _read(item.arguments)],
    "custom_tool_call": lambda item: [item.call_id, item.name, {"input": item.input}],
    "local_shell_call": lambda item: [item.call_id, "local_shell", item.action.to_dict()],
    "computer_call": lambda item: [item.call_id, "computer", {"actions": [a.to_dict() for a in item.actions]}],
}
"""What an item that the host answers asks for, by its type."""


def _items(items: list[Any]) -> list[list[Any]]:
    return [ASKED[item.type](item) for item in items if item.type in ASKED]


def by_messages(path: Path, answer: Answer) -> Iterator[None]:
    """Read a stream of Messages, as the SDK puts it together."""
    client = anthropic.Anthropic(api_key="none", base_url="https://provider.test", http_client=_http(path))
    with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}]) as stream:
        raw: dict[int, str] = {}
        for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                raw[event.index] = raw.get(event.index, "") + event.delta.partial_json
            blocks = list(enumerate(stream.current_message_snapshot.content))
            answer.text = "".join(block.text for _, block in blocks if block.type == "text")
            answer.calls = [[b.id, b.name, _read(raw.get(n, ""))] for n, b in blocks if b.type == "tool_use"]
            answer.reason = stream.current_message_snapshot.stop_reason if event.type == "message_stop" else None
            yield


THEIRS: Final[dict[str, Callable[[Path, Answer], Iterator[None]]]] = {
    "openai_chat": by_chat_completions,
    "openai_responses": by_responses,
    "anthropic": by_messages,
}


@pytest.mark.parametrize("path", JUDGED, ids=name_of)
def test_the_official_sdk_finds_the_same(path: Path) -> None:
    """Text, the host's calls, the reason for the end, and whether the provider failed: as the official SDK reads it."""
    answer = Answer()
    try:
        for _ in THEIRS[path.parent.name](path, answer):
            pass
    except (openai.APIError, anthropic.APIError):
        answer.failed = True
    answer.reason = REASONS.get(answer.reason or "", answer.reason)

    assert answer == ours(path)


@pytest.mark.parametrize("format", THEIRS)
def test_what_no_sdk_judges_is_named_truly(format: str) -> None:
    """Every stream that is kept from the judges is there, and most streams are not kept from them."""
    names = {path.stem for path in STREAMS if path.parent.name == format and path.suffix == ".sse"}

    assert set() == NOT_THEIRS[format].keys() - names
    assert len(NOT_THEIRS[format]) < len(names) / 2
