"""What went wrong at a provider, by what it says: one table for all of them, first match first.

A status alone says little: one host's 400 is another's 429. The texts are those that the providers' own documentation
and their users' reports show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from suture.errors import Cancelled, ContextOverflow, ModelError, PairingRefused, ProviderFatal, Transient
from suture.transcript.codec import loads
from suture.transcript.deltas import Failure

__all__ = ["FAULTS", "failed", "refused"]

_PAIRING: Final = (
    r"tool_use.{0,3} ids? were found without|tool_use.{0,3} ids must be unique|unexpected .{0,3}tool_use_id"
    r"|did not have response messages|must be followed by tool messages|must be a response to a prec\w+ message"
    r"|no tool (call|output) found|duplicate value for 'tool_call_id'|tool_call_id.{0,40}(not found|is not found)"
    r"|insufficient tool messages|number of function (response|call)|not the same number of function calls"
    r"|tool result's tool id.{0,40}not found|provided without its required|each .{0,3}tool_use.{0,3} block must have"
)
_OVERFLOW: Final = (
    r"context_length_exceeded|maximum context length|context window|prompt is too long|input is too long"
    r"|input length and .{0,3}max_tokens.{0,3} exceed|exceeds? the (model'?s? )?(maximum|available) context"
    r"|too many (input )?tokens|input token count.{0,40}exceeds|reduce the length of the messages"
)
_SPENT: Final = r"insufficient_quota|credit balance|billing|exceeded your current quota|insufficient (balance|credits?)"
_LATER: Final = (
    r"overloaded|rate.?limit|server_error|internal.{0,6}error|api_error|timeout|timed out|unavailable|try again"
    r"|malformed_stream|capacity"
)
_ANY: Final = r""
_STREAMING: Final[frozenset[int | None]] = frozenset({None})
"""It was said in mid-stream, where there is no status."""
_BAD: Final[frozenset[int | None]] = frozenset({400, 404, 413, 422, None})
_SOON: Final[frozenset[int | None]] = frozenset({408, 409, 425, 429, *range(500, 600)})

FAULTS: Final[tuple[tuple[frozenset[int | None] | None, str, type[ModelError]], ...]] = (
    (_BAD, _PAIRING, PairingRefused),
    (_BAD, _OVERFLOW, ContextOverflow),
    (None, _SPENT, ProviderFatal),
    (frozenset({499}), _ANY, Cancelled),
    (_SOON, _ANY, Transient),
    (_STREAMING, _LATER, Transient),
    (None, _ANY, ProviderFatal),
)
"""Statuses (None in place of the set: any), what is said, and what that is."""

_SHOWN: Final = 500


def refused(provider: str, status: int, body: bytes, headers: Mapping[str, str], *, secret: str = "") -> ModelError:
    """The fault behind a response that is none of the good ones.

    Args:
        provider: Who said it, for the sentence.
        status: The HTTP status.
        body: What stood in the response.
        headers: Its headers; `retry-after` is read.
        secret: The key that was sent: it is nowhere in the sentence, also where the provider repeats it.
    """
    said = body.decode("utf-8", "replace")
    shown = _masked(_message(said)[:_SHOWN], secret)
    return _fault(status, said, f"{provider} answered {status}: {shown or 'nothing'}", _retry_after(headers))


def failed(provider: str, failure: Failure) -> ModelError:
    """The fault that a provider told of while it answered."""
    said = f"{failure.kind} {failure.message}"
    return _fault(None, said, f"{provider} failed while it answered: {failure.kind}: {failure.message[:_SHOWN]}", None)


def _fault(status: int | None, said: str, problem: str, retry_after: float | None) -> ModelError:
    kind = next(
        kind
        for statuses, pattern, kind in FAULTS
        if (statuses is None or status in statuses) and re.search(pattern, said, re.IGNORECASE)
    )
    return Transient(problem, retry_after=retry_after) if kind is Transient else kind(problem)


def _message(said: str) -> str:
    """The provider's own sentence, out of whatever it is wrapped in."""
    try:
        value: Any = loads(said)
    except ValueError:
        return said.strip()
    while isinstance(value, list) and value:
        value = value[0]
    for key in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(key):
            value = value[key]
    return value if isinstance(value, str) else said.strip()


def _masked(text: str, secret: str) -> str:
    return text.replace(secret, "***") if secret else text


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """In how many seconds to ask again, where the provider says so."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = headers.get(name, "").strip()
        try:
            seconds = float(said) * unit
        except ValueError:
            seconds = _until(said)
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None


def _until(date: str) -> float:
    """The seconds until a date, as HTTP writes it; not a number for what is none."""
    try:
        at = parsedate_to_datetime(date)
    except (ValueError, TypeError, OverflowError):
        return math.nan
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
