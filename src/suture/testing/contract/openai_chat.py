"""OpenAI's Chat Completions: what is refused, and how an answer is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from suture.testing.contract import errors
from suture.testing.contract.base import KIND, Refusal, Rule, Stored, Wrong, first, objects, text_of
from suture.testing.contract.openai_shared import chunk, failed, name_is_wrong, refused, string_is_wrong, unauthorized
from suture.testing.contract.script import Answer, arguments, call_id, pieces

__all__ = [
    "NAME",
    "PATH",
    "RULES",
    "error",
    "events",
    "failed",
    "overflow",
    "refusal",
    "said",
    "unauthorized",
    "whole",
]

NAME: Final = "openai_chat"
PATH: Final = "/v1/chat/completions"

_ID: Final = 40
_PARTS: Final = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
    "function": (),
}
"""The parts that a message of each role may have."""
_FINISH: Final = {"length": "length", "filter": "content_filter"}
_CREATED: Final = 1_700_000_000


def refusal(body: Any, headers: Mapping[str, str], _stored: Stored | None = None) -> Refusal | None:
    """The refusal of the first rule that the request breaks; None where it is taken."""
    return unauthorized(headers) or refused(first(RULES, body))


def _shape(body: Any) -> Iterator[Wrong]:
    if not isinstance(body.get("model"), str):
        yield Wrong("you must provide a model parameter")
    messages = body.get("messages")
    if messages is None:
        yield Wrong("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    elif not isinstance(messages, list):
        words = f"Invalid type for 'messages': expected an array of objects, but got {KIND[type(messages)]} instead."
        yield Wrong(words, "messages", "invalid_type")
    elif not messages:
        yield _empty_array("messages")
    else:
        for place, message in enumerate(messages):
            yield from _role(message, f"messages[{place}]")


def _empty_array(path: str) -> Wrong:
    words = f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    return Wrong(words, path, "empty_array")


def _role(message: Any, path: str) -> Iterator[Wrong]:
    if not isinstance(message, dict):
        words = f"Invalid type for '{path}': expected an object, but got {KIND[type(message)]} instead."
        yield Wrong(words, path, "invalid_type")
    elif message.get("role") is None:
        yield Wrong(f"Missing required parameter: '{path}.role'.", f"{path}.role", "missing_required_parameter")
    elif not isinstance(message["role"], str) or message["role"] not in _PARTS:
        words = (
            f"Invalid value: {message['role']!r}. "
            "Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
        )
        yield Wrong(words, f"{path}.role", "invalid_value")


def _contents(body: Any) -> Iterator[Wrong]:
    for place, message in enumerate(body["messages"]):
        content, path = message.get("content"), f"messages[{place}].content"
        if content is None:
            if not _says_otherwise(message):
                yield Wrong("Invalid value for 'content': expected a string, got null.", f"messages.[{place}].content")
        elif not isinstance(content, str | list):
            words = (
                f"Invalid type for '{path}': expected one of a string or array of objects, "
                f"but got {KIND[type(content)]} instead."
            )
            yield Wrong(words, path, "invalid_type")
        elif isinstance(content, list):
            for index, part in enumerate(content):
                yield from _part(part, message["role"], place, f"{path}[{index}]")


def _says_otherwise(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and any(
        message.get(key) is not None for key in ("tool_calls", "function_call", "audio")
    )


def _part(part: Any, role: str, place: int, path: str) -> Iterator[Wrong]:
    if not isinstance(part, dict):
        words = f"Invalid type for '{path}': expected an object, but got {KIND[type(part)]} instead."
        yield Wrong(words, path, "invalid_type")
        return
    kind = part.get("type")
    if kind in _PARTS[role]:
        if kind in ("text", "refusal"):
            yield from string_is_wrong(part.get(kind), f"{path}.{kind}")
    elif kind == "image_url":
        words = (
            f"Invalid 'messages[{place}]'. Image URLs are only allowed for messages with role 'user', "
            f"but this message with role '{role}' contains an image URL."
        )
        yield Wrong(words, f"messages[{place}]", "invalid_value")
    else:
        known = ", ".join(f"'{each}'" for each in _PARTS[role])
        yield Wrong(f"Invalid value: '{kind}'. Supported values are: {known}.", path, "invalid_value")


def _calls(body: Any) -> Iterator[tuple[str, Any]]:
    """Each call with its path."""
    for place, message in enumerate(body["messages"]):
        if message["role"] == "assistant" and isinstance(message.get("tool_calls"), list):
            yield from ((f"messages[{place}].tool_calls[{n}]", call) for n, call in enumerate(message["tool_calls"]))


def _call_lists(body: Any) -> Iterator[Wrong]:
    for place, message in enumerate(body["messages"]):
        calls, path = message.get("tool_calls"), f"messages[{place}].tool_calls"
        if message["role"] != "assistant" or calls is None:
            continue
        if not isinstance(calls, list):
            words = f"Invalid type for '{path}': expected an array of objects, but got {KIND[type(calls)]} instead."
            yield Wrong(words, path, "invalid_type")
        elif not calls:
            yield _empty_array(path)


def _call_shapes(body: Any) -> Iterator[Wrong]:
    for path, call in _calls(body):
        if not isinstance(call, dict):
            words = f"Invalid type for '{path}': expected an object, but got {KIND[type(call)]} instead."
            yield Wrong(words, path, "invalid_type")
            return
        kind = call.get("type")
        yield from string_is_wrong(call.get("id"), f"{path}.id")
        if kind not in ("function", "custom"):
            yield from string_is_wrong(kind, f"{path}.type")
            words = f"Invalid value: '{kind}'. Supported values are: 'function' and 'custom'."
            yield Wrong(words, f"{path}.type", "invalid_value")
        elif not isinstance(call.get(kind), dict):
            yield Wrong(f"Missing required parameter: '{path}.{kind}'.", f"{path}.{kind}", "missing_required_parameter")


def _ids(body: Any) -> Iterator[Wrong]:
    for path, call in _calls(body):
        yield from string_is_wrong(call["id"], f"{path}.id", most=_ID)
    for place, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            yield from string_is_wrong(message.get("tool_call_id"), f"messages[{place}].tool_call_id", most=_ID)


def _arguments(body: Any) -> Iterator[Wrong]:
    for path, call in _calls(body):
        kind = call["type"]
        field = "arguments" if kind == "function" else "input"
        yield from string_is_wrong(call[kind].get(field), f"{path}.{kind}.{field}")


def _names(body: Any) -> Iterator[Wrong]:
    for path, call in _calls(body):
        yield from name_is_wrong(call[call["type"]].get("name"), f"{path}.{call['type']}.name")
    for place, tool in enumerate(objects(body.get("tools"))):
        for kind in ("function", "custom"):
            if isinstance(tool.get(kind), dict):
                yield from name_is_wrong(tool[kind].get("name"), f"tools[{place}].{kind}.name")


def _twice(body: Any) -> Iterator[Wrong]:
    answered: set[str] = set()
    for place, message in enumerate(body["messages"]):
        ids = [message["tool_call_id"]] if message["role"] == "tool" else []
        if message["role"] != "tool":
            answered = set()
        if message["role"] == "assistant":
            ids = [call["id"] for call in message.get("tool_calls") or []]
        seen = answered if message["role"] == "tool" else set[str]()
        for each in ids:
            if each in seen:
                yield Wrong(f"Duplicate value for 'tool_call_id' of '{each}' in message[{place}]")
            seen.add(each)


def _groups(body: Any) -> Iterator[Wrong]:
    """Each group of calls is answered by the tool messages behind it, in any order, and by nothing else."""
    group: set[str] = set()
    waiting: dict[str, None] = {}
    for place, message in enumerate(body["messages"]):
        if message["role"] != "tool":
            yield from _unanswered(waiting, place)
            calls = message.get("tool_calls") or [] if message["role"] == "assistant" else []
            waiting = dict.fromkeys(call["id"] for call in calls)
            group = set(waiting)
        elif not group:
            words = (
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                "'tool_calls'."
            )
            yield Wrong(words, f"messages.[{place}].role")
        elif message["tool_call_id"] not in group:
            words = (
                f"Invalid parameter: 'tool_call_id' of '{message['tool_call_id']}' not found in 'tool_calls' of "
                "previous message."
            )
            yield Wrong(words, f"messages.[{place}].tool_call_id")
        else:
            waiting.pop(message["tool_call_id"], None)
    yield from _unanswered(waiting, len(body["messages"]))


def _unanswered(waiting: dict[str, None], place: int) -> Iterator[Wrong]:
    if waiting:
        words = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
        )
        yield Wrong(words, f"messages.[{place}].role")


RULES: Final = (
    Rule("shape", _shape),
    Rule("OCC-07, OCC-11", _contents),
    Rule("OCC-06", _call_lists),
    Rule("shape", _call_shapes),
    Rule("OCC-05", _ids),
    Rule("OCC-08", _arguments),
    Rule("OCC-09, OCC-10", _names),
    Rule("OCC-04", _twice),
    Rule("OCC-01, OCC-02, OCC-03", _groups),
)
"""What is refused, in the order of looking; a rule may rely on what those before it let through."""


def error(status: int, message: str = "") -> dict[str, Any]:
    """The body of an error."""
    return errors.openai(status, message)


def overflow() -> Refusal:
    """The refusal of a request that is too long for the model."""
    words = (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. "
        "Please reduce the length of the messages."
    )
    return 400, errors.openai(400, words, param="messages", code="context_length_exceeded")


def said(body: Any) -> str:
    """The last text of the user."""
    users = [message for message in objects(body.get("messages")) if message.get("role") == "user"]
    return text_of(users[-1].get("content")) if users else ""


def whole(answer: Answer, body: Any) -> dict[str, Any]:
    """The answer as one object."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [_call(answer, index) for index in range(len(answer.calls))]
    elif not answer.text:
        message["content"] = ""
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    return {**_envelope(answer, body, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def events(answer: Answer, body: Any) -> Iterator[bytes]:
    """The answer as the events of a stream, with its usage where the request asks for it, and `[DONE]`."""
    envelope = _envelope(answer, body, "chat.completion.chunk")
    options = body.get("stream_options")
    counted: dict[str, Any] = {"usage": None} if isinstance(options, dict) and options.get("include_usage") else {}

    def piece(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return chunk({**envelope, "choices": [choice], **counted})

    yield piece({"role": "assistant", "content": None if answer.calls and not answer.text else "", "refusal": None})
    yield from (piece({"reasoning_content": each}) for each in pieces(answer.reasoning))
    yield from (piece({"content": each}) for each in pieces(answer.text))
    for index in range(len(answer.calls)):
        call = _call(answer, index)
        text = call["function"]["arguments"]
        call["function"] = {"name": call["function"]["name"], "arguments": ""}
        yield piece({"tool_calls": [{"index": index, **call}]})
        for each in pieces(text):
            yield piece({"tool_calls": [{"index": index, "function": {"arguments": each}}]})
    yield piece({}, _finish(answer))
    if counted:
        yield chunk({**envelope, "choices": [], "usage": _usage(answer)})
    yield b"data: [DONE]\n\n"


def _envelope(answer: Answer, body: Any, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.number}",
        "object": kind,
        "created": _CREATED,
        "model": body.get("model"),
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _call(answer: Answer, index: int) -> dict[str, Any]:
    name, given = answer.calls[index]
    function = {"name": name, "arguments": arguments(given)}
    return {"id": call_id(answer, index, "call_"), "type": "function", "function": function}


def _finish(answer: Answer) -> str:
    return _FINISH.get(answer.finish) or ("tool_calls" if answer.calls else "stop")


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": answer.reasoning_tokens, "audio_tokens": 0},
    }
