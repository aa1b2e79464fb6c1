"""What a tool gave back, as the outcome of its call: always something that JSON can hold, and never too long."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final, Literal, cast

import msgspec

from suture.transcript.codec import plain

__all__ = ["Outcome", "cut", "failed", "outcome_of"]

_LONGEST_ERROR: Final = 2_000
_LONGEST_REPR: Final = 500
_DEEPEST: Final = 100
"""How many levels a JSON value may be nested: what is read back later must not exhaust the stack there."""
_BYTES: Final = (bytes, bytearray, memoryview)


class Outcome(msgspec.Struct, frozen=True):
    """What became of a call."""

    state: Literal["output-available", "output-error"]
    output: Any
    """The result, or the text of the error: a JSON value without NaN and without half characters."""
    kind: Literal["ok", "error", "timeout", "invalid"]
    """`error`: the tool failed, or gave what JSON cannot hold; `invalid`: its arguments do not fit, it did not run."""


class _Unholdable(Exception):  # noqa: N818 - it never leaves this module
    """A value that JSON cannot hold."""

    def __init__(self, value: object) -> None:
        super().__init__(type(value).__name__)


def outcome_of(value: Any, max_output: int) -> Outcome:
    """A result as the outcome of its call.

    Text stays text, without half characters. What JSON can hold, and structs, dataclasses and pydantic models, become
    JSON values. What is longer than `max_output` characters becomes text with its middle left out; so does, uncut, a
    JSON value that would not be read back as it is (more than 100 levels, one key twice).

    Anything else is an error that names the type and shows what there was. Never raises.
    """
    try:
        text = str.__str__(value) if isinstance(value, str) else _as_json(value)
    except Exception as error:  # noqa: BLE001 - printing a value runs code of whoever made its type
        return _unholdable(value, error)
    if not isinstance(value, str) and len(text) <= max_output:
        text = plain(text)
        with suppress(ValueError, RecursionError):  # too large a number, or too deep, for a decoder
            stored = msgspec.json.decode(text) if _shallow(text) else None
            if _printed(stored) == text:
                return Outcome("output-available", stored, "ok")
    return Outcome("output-available", plain(cut(text, max_output)), "ok")


def failed(error: BaseException) -> Outcome:
    """An exception as the outcome of the call: its type and its message, no traceback."""
    return Outcome("output-error", _short(_said(error), _LONGEST_ERROR), "error")


def cut(text: str, longest: int) -> str:
    """`text` with `longest` of its characters, from both ends, and in between how many were left out."""
    if len(text) <= longest:
        return text
    tail = longest // 2
    left_out = len(text) - longest
    return f"{text[: longest - tail]}\n[… {left_out:,} characters left out …]\n{text[len(text) - tail :]}"


def _as_json(value: Any) -> str:
    """A value as JSON text; half characters may be left in it."""
    try:
        return _printed(value)
    except TypeError:  # the keys of a dict may still be what msgspec can print: an enum, a UUID
        return _printed(_builtin(value))


def _printed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_builtin)


def _builtin(value: Any) -> Any:
    """What the JSON encoder does not know, made of what it knows. Bytes and sets have no one form in JSON."""
    if isinstance(value, (*_BYTES, set, frozenset)):
        raise _Unholdable(value)
    if _is_model(value):
        return value.model_dump(mode="json")
    return msgspec.to_builtins(value, str_keys=True, builtin_types=_BYTES, enc_hook=_inner)


def _inner(value: Any) -> Any:
    """A pydantic model inside of something else."""
    if _is_model(value):
        return value.model_dump(mode="json")
    raise _Unholdable(value)


def _is_model(value: Any) -> bool:
    return hasattr(type(value), "model_dump") and hasattr(type(value), "model_validate")


def _shallow(text: str) -> bool:
    """Whether a JSON text is nested no deeper than may be stored."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return True
    level = [json.loads(text)]
    for _ in range(_DEEPEST + 1):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))]
        if not inner:
            return True
        level = [value for each in inner for value in cast("list[Any]", each)]
    return False


def _unholdable(value: Any, error: Exception) -> Outcome:
    """The tool ran, and what it gave back cannot be kept: says what it was."""
    name = type(value).__name__
    if isinstance(error, _Unholdable) and str(error) != name:
        name = f"{error} inside of {name}"
    elif not isinstance(error, _Unholdable):
        name = f"{name} ({_short(_said(error), _LONGEST_REPR)})"
    text = f"the tool returned a value that JSON cannot hold: {name}"
    try:
        shown = repr(value[:_LONGEST_REPR] if isinstance(value, (bytes, bytearray)) else value)
    except Exception:  # noqa: BLE001 - the repr of any object at all
        shown = ""
    return Outcome("output-error", f"{plain(text)}: {_short(shown, _LONGEST_REPR)}" if shown else plain(text), "error")


def _said(error: BaseException) -> str:
    """An exception's type and message, and those of the exceptions that it gathers."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - as broken as the tool that made it
        message = ""
    if isinstance(error, BaseExceptionGroup):
        message += f" ({'; '.join(_said(each) for each in error.exceptions)})"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _short(text: str, longest: int) -> str:
    return plain(text if len(text) <= longest else f"{text[: longest - 1]}…")
