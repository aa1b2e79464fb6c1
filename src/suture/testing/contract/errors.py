"""The bodies of the providers' errors, and their own words for a status."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["anthropic", "openai"]

_OPENAI: Final = {
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again in 1s."),
    500: ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    503: ("server_error", None, "The server is overloaded or not ready yet."),
}
_OPENAI_KEY: Final = (
    "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."
)
_ANTHROPIC: Final = {
    400: ("invalid_request_error", "Bad request"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Payment required"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "Not found"),
    405: ("invalid_request_error", "Method Not Allowed"),
    409: ("conflict_error", "Conflict"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Request timed out"),
    529: ("overloaded_error", "Overloaded"),
}


def openai(status: int, message: str = "", *, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """The body of an error of OpenAI; without a message, in its own words for the status."""
    if status == 401 and not message:
        message, code = _OPENAI_KEY, "invalid_api_key"
    kind, usual, words = _OPENAI.get(
        status, ("server_error" if status > 500 else "invalid_request_error", None, f"HTTP status {status}")
    )
    return {"error": {"message": message or words, "type": kind, "param": param, "code": code or usual}}


def anthropic(status: int, message: str = "") -> dict[str, Any]:
    """The body of an error of Anthropic; without a message, in its own words for the status."""
    kind, words = _ANTHROPIC.get(
        status, ("api_error" if status > 500 else "invalid_request_error", f"HTTP status {status}")
    )
    return {"type": "error", "error": {"type": kind, "message": message or words}, "request_id": "req_contract"}
