"""JSON in and out, tolerant of what really occurs.

msgspec is strict: it refuses lone surrogates, NaN and Infinity, which histories on disk do contain. Reading falls back
to the standard library there; writing replaces what UTF-8 cannot hold.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

__all__ = ["dumps", "is_plain", "loads", "plain", "plain_json"]

_SURROGATES = dict.fromkeys(range(55296, 57344), "�")


def loads(text: str | bytes, *, finite: bool = False) -> Any:
    """Parse one JSON value; `finite` refuses NaN and Infinity, which no other reader would take once they are printed.

    Raises:
        ValueError: if `text` is not JSON, or is nested deeper than can be read.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        pass
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    try:
        return json.loads(text, parse_constant=_refuse if finite else None)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def dumps(value: Any) -> str:
    """Print one JSON value, compact, keys in their order.

    What JSON or UTF-8 cannot hold (NaN, lone surrogates) is printed as the standard library prints it, escaped.
    """
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, UnicodeError, RecursionError):
        return json.dumps(value, separators=(",", ":"), default=str)


def is_plain(value: Any) -> bool:
    """Whether UTF-8 can hold every text in a JSON value; answered in C."""
    try:
        msgspec.json.encode(value)
    except UnicodeError:
        return False
    except (TypeError, ValueError, RecursionError):
        return True
    return True


def plain_json(value: Any) -> Any:
    """A JSON value whose every text can be written; the very object where it can already."""
    if is_plain(value):
        return value
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [plain_json(item) for item in value]
    if isinstance(value, dict):
        return {plain(str(key)): plain_json(item) for key, item in value.items()}
    return value


def plain(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD: what any encoder can write."""
    return text if text.isascii() else text.translate(_SURROGATES)
