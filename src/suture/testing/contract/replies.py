"""What is sent for a request: refusals of what is no request at all, faults, and answers, streamed or whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from suture.testing.contract import errors
from suture.testing.contract.base import Format, Refusal
from suture.testing.contract.connection import Reply, Request
from suture.testing.contract.faults import Fault, spoiled
from suture.testing.contract.script import Answer

__all__ = ["answered", "failed", "instead", "read", "whole"]

_NO_JSON: Final = {
    "anthropic": "The request body is not valid JSON: expected an object",
    "": (
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library "
        "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble "
        "figuring out how to fix this, please contact us through our help center at help.openai.com.)"
    ),
}
_GARBAGE: Final = b'{"type": '
_FINAL: Final = {"x-should-retry": "false"}
"""Tells the official clients that asking again is of no use."""


def read(request: Request, format: Format | None, limit: int) -> tuple[Any, Refusal | None]:
    """The body of a request, an object; else its bytes, and the refusal of what is no request."""
    if format is None:
        return request.body, (404, errors.openai(404, f"Invalid URL ({request.method} {request.path})"))
    if request.method != "POST":
        hint = "(HINT: Perhaps you meant to use a different HTTP method?)"
        words = "" if format.NAME == "anthropic" else f"Not allowed to {request.method} on {format.PATH}. {hint}"
        return request.body, (405, format.error(405, words))
    refused = format.unauthorized(request.headers)
    if refused is not None:
        return request.body, refused
    if request.body is None:
        return None, (413, format.error(413, f"Request exceeds the maximum size of {limit} bytes"))
    try:
        body = msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        body = request.body
    if not isinstance(body, dict):
        return body, (400, format.error(400, _NO_JSON.get(format.NAME, _NO_JSON[""])))
    return body, None


def whole(status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
    """One JSON object."""
    data = msgspec.json.encode(body)
    return Reply(status, [data], len(data), headers or {})


def failed(format: Format, message: str) -> Reply:
    """A 500 that is not to be asked again."""
    return whole(500, format.error(500, message), _FINAL)


def instead(format: Format, body: Any, fault: Fault | None) -> Reply | None:
    """What a fault puts in the place of any answer; None where it puts nothing there."""
    if fault is None:
        return None
    if fault.kind == "overflow":
        return whole(*format.overflow())
    if fault.kind == "status" or (fault.kind == "error" and not body.get("stream")):
        headers = {"retry-after": fault.retry_after} if fault.retry_after else {}
        return whole(fault.status, format.error(fault.status, fault.message), headers)
    return None


def answered(format: Format, body: Any, answer: Answer, fault: Fault | None, over: threading.Event) -> Reply:
    """An answer, with what a fault does to it."""
    if body.get("stream"):
        words = fault.message if fault else ""
        # All of them at once: an answer that cannot be sent is to be found out before the status line.
        sent, length = spoiled(iter([*format.events(answer, body)]), fault, format.failed(words), over), None
    else:
        data = msgspec.json.encode(format.whole(answer, body))
        if fault is not None and fault.kind == "garbage":
            data, fault = _GARBAGE, None
        sent, length = spoiled(_halves(data, fault), fault, b"", over), len(data)
    begun = fault is None or fault.after > 0 or fault.kind not in ("hang", "cut")
    return Reply(200, sent, length, begun=begun)


def _halves(data: bytes, fault: Fault | None) -> Iterator[bytes]:
    """A body as if it were streamed: its first half, as many empty events as the fault waits for, and the rest."""
    half = len(data) // 2 if fault is not None and fault.after else 0
    yield data[:half]
    yield from (b"" for _ in range(fault.after - 1 if fault is not None else 0))
    yield data[half:]
