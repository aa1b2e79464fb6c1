"""What went wrong at a provider, told from what it says."""

from __future__ import annotations

from typing import Any

import pytest

from suture.errors import Cancelled, ContextOverflow, PairingRefused, ProviderFatal, Transient
from suture.models.faults import failed, refused
from suture.transcript.codec import dumps
from suture.transcript.deltas import Failure

UNANSWERED = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
NOT_FOLLOWED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: call_1"
)

CASES: list[tuple[int, str, type[Exception]]] = [
    (400, UNANSWERED, PairingRefused),
    (400, "messages.1.content.1: `tool_use` ids must be unique", PairingRefused),
    (400, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.", PairingRefused),
    (400, NOT_FOLLOWED, PairingRefused),
    (400, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", PairingRefused),
    (400, "No tool output found for function call call_1.", PairingRefused),
    (400, "No tool call found for function call output with call_id call_1.", PairingRefused),
    (400, "Duplicate value for 'tool_call_id' of 'call_1' in message[2]", PairingRefused),
    (400, "This model's maximum context length is 128000 tokens. However, you requested 130000.", ContextOverflow),
    (400, "prompt is too long: 210000 tokens > 200000 maximum", ContextOverflow),
    (400, "Your input exceeds the context window of this model.", ContextOverflow),
    (413, "Prompt is too long", ContextOverflow),
    (400, "temperature: expected a number", ProviderFatal),
    (401, "Incorrect API key provided", ProviderFatal),
    (404, "The model `gpt-9` does not exist", ProviderFatal),
    (429, "You exceeded your current quota, please check your plan and billing details.", ProviderFatal),
    (400, "Your credit balance is too low to access the API.", ProviderFatal),
    (429, "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Requested 31000.", Transient),
    (408, "", Transient),
    (500, "The server had an error while processing your request.", Transient),
    (502, "<html>bad gateway</html>", Transient),
    (529, "Overloaded", Transient),
    (499, "the client left", Cancelled),
]


@pytest.mark.parametrize(("status", "said", "kind"), CASES, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("wrapped", ["openai", "anthropic", "bare"])
def test_a_refusal_is_told_from_status_and_text(status: int, said: str, kind: Any, wrapped: str) -> None:
    """However the provider wraps its sentence; the sentence is what the user reads."""
    error = {"message": said, "type": "invalid_request_error"}
    body = {"openai": {"error": error}, "anthropic": {"type": "error", "error": error}, "bare": {"message": said}}
    fault = refused("acme", status, dumps(body[wrapped]).encode(), {})
    assert kind is type(fault)
    assert f"acme answered {status}: {said}"[:500] in str(fault) or not said
    assert (kind is Transient) == fault.transient


MID_STREAM = [
    ("overloaded_error", "Overloaded", Transient),
    ("server_error", "The model had an error", Transient),
    ("rate_limit_exceeded", "Slow down", Transient),
    ("malformed_stream", "expected JSON, found <html>", Transient),
    ("context_length_exceeded", "Your input is too long", ContextOverflow),
    ("invalid_request_error", "No tool output found for function call call_1.", PairingRefused),
    ("content_policy", "Not this", ProviderFatal),
]


@pytest.mark.parametrize(("kind", "said", "fault"), MID_STREAM, ids=lambda value: str(value)[:30])
def test_a_failure_in_mid_stream(kind: str, said: str, fault: Any) -> None:
    """By the provider's word for it."""
    found = failed("acme", Failure(kind, said))
    assert (fault, f"acme failed while it answered: {kind}: {said}") == (type(found), str(found))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_when_to_ask_again(headers: dict[str, str], seconds: float | None) -> None:
    """In seconds, in milliseconds, or as a date; what cannot be read says nothing."""
    assert seconds == refused("acme", 429, b"{}", headers).retry_after


def test_a_key_is_nowhere() -> None:
    """Also where the provider repeats it."""
    fault = refused("acme", 401, b'{"error": {"message": "Incorrect key: sk-123"}}', {}, secret="sk-123")  # noqa: S106
    assert "acme answered 401: Incorrect key: ***" == str(fault)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"error": null}', b"\xff", b'[{"error": {"message": "no"}}]', b"[[[]]]"]
)
def test_whatever_a_host_answers(body: bytes) -> None:
    """It is shown as far as it can be read, and shortly."""
    assert str(refused("acme", 400, body, {})).startswith("acme answered 400: ")
    assert len(str(refused("acme", 400, b"x" * 10_000, {}))) < 600
