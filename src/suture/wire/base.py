"""The shape that every format has, and what their printing shares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Any, Final, Protocol

import msgspec

from suture.transcript import Contract, Entry, Limits, Message
from suture.transcript.codec import loads

__all__ = [
    "ABSENT",
    "DECISIVE",
    "Adapter",
    "Request",
    "is_cut",
    "not_objects",
    "patch",
    "patch_list",
    "read_arguments",
    "typed_scan",
]

ABSENT: Any = msgspec.UNSET
"""In `patch`: the key is not there."""

Request = Mapping[str, Any]

DECISIVE: Final = 1000
"""What a sign that no other format has adds to `fits`; a sign that others may have adds 1."""

_HALF: Final = re.compile("[\ud800-\udfff]")


class Adapter(Protocol):
    """One provider's format. A module of `suture.wire` fits it, and so does a profile."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What users type."""

    @property
    def ROOT(self) -> str:  # noqa: N802
        """What the provider calls the list: `messages` or `input`."""

    @property
    def RULES(self) -> Mapping[str, Contract]:  # noqa: N802
        """The rules that hold for this format, by their names, each with the provider's own rule."""

    def limits(self, request: Request, /) -> Limits:
        """The demands of this format under these request settings."""

    def scan(self, messages: list[Any], request: Request, /) -> set[int]:
        """A fast look: the indexes of all messages that may break a rule. It may name healthy ones, never miss one."""

    def decode(self, messages: Iterable[tuple[int, Any]], /) -> list[Entry]:
        """Read wire messages, each with its index in the history."""

    def encode(self, messages: Sequence[Message], limits: Limits, /) -> list[Any]:
        """Print messages; what did not change is the very object that was read."""

    def continues(self, message: Any, before: Any, /) -> bool:
        """Whether a wire message belongs to the round of the one before it, as results do."""

    def mentions(self, messages: list[Any], calls: set[str], /) -> set[int]:
        """The indexes of all messages that make one of these calls; none where a call holds its outcome."""

    def makes_call(self, message: dict[str, Any], /) -> bool:
        """Whether a message makes a call the way this format does."""

    def fits(self, messages: list[Any], /) -> int:
        """How much a list looks like this format; 0: not at all."""


def patch(wire: Any, **fields: Any) -> Any:
    """`wire` with these fields; the very object where it has them already.

    Keys that are not named stay as they are: unknown ones survive.
    """
    if not wire:
        return {key: new for key, new in fields.items() if new is not ABSENT}
    held = wire.get
    for key, new in fields.items():
        old = held(key, ABSENT)
        if old is not new and (type(old) is not str or old != new) and not _same(old, new):
            break
    else:
        return wire
    changed = {k: new for k, new in fields.items() if (old := held(k, ABSENT)) is not new and not _same(old, new)}
    merged = {**wire, **changed}
    for key, value in changed.items():
        if value is ABSENT:
            del merged[key]
    return merged


def patch_list(wire: Any, items: list[Any]) -> list[Any]:
    """`items`, or the very list where it holds just them."""
    return wire if wire is items or (type(wire) is list and _same(wire, items)) else items


def _same(old: Any, new: Any) -> bool:
    """Whether writing `new` over `old` would change nothing."""
    kind = type(old)
    if kind is not type(new):
        return False
    if kind is list:
        return len(old) == len(new) and all(map(is_, old, new))
    return kind in _PLAIN and bool(old == new)


_PLAIN: Final = frozenset({str, int, bool})


def typed_scan(messages: list[Any], healthy: Any, size: int = 64) -> tuple[list[Any], set[int]]:
    """Convert messages to their healthy wire types, in blocks; what does not fit is `None` and suspect.

    The types say what a healthy message looks like, and are checked in C: most of a history is done in a few calls.
    """
    try:
        return msgspec.convert(messages, list[healthy]), set()
    except (msgspec.ValidationError, RecursionError):
        pass
    typed: list[Any] = []
    suspects: set[int] = set()
    for start in range(0, len(messages), size):
        block = messages[start : start + size]
        try:
            typed += msgspec.convert(block, list[healthy])
        except (msgspec.ValidationError, RecursionError):
            for offset, message in enumerate(block):
                try:
                    typed.append(msgspec.convert(message, healthy))
                except (msgspec.ValidationError, RecursionError):
                    typed.append(None)
                    suspects.add(start + offset)
    return typed, suspects


def is_cut(text: str) -> bool:
    """Whether a text holds half a character, which UTF-8 cannot; ask `isascii` first, it answers at once."""
    return _HALF.search(text) is not None


def read_arguments(value: Any) -> tuple[Any, str | None]:
    """Arguments that a format keeps as JSON text: what they parse to, and the text.

    Text that is no JSON is its own value; what is not text has no text.
    """
    if not isinstance(value, str):
        return value, None
    try:
        return loads(value), value
    except ValueError:
        return value, value


class _Object(msgspec.Struct, gc=False):
    """Any JSON object; what it holds is skipped."""


_OBJECTS: Final = msgspec.json.Decoder(_Object)
_SEAM: Final = "\n\t\n"


def not_objects(texts: list[str]) -> bool:
    """Whether any of these texts is not exactly one JSON object; decided in one call for all of them.

    Joined at a seam that none of them holds, with a closing brace before it and an opening one behind: no JSON value
    can go on across that, so where there are as many objects as texts, each text is one.
    """
    if not texts:
        return False
    try:
        joined = _SEAM.join(texts)
        found = len(_OBJECTS.decode_lines(joined))
    except (msgspec.DecodeError, UnicodeError, RecursionError, TypeError):
        return True
    seams = len(texts) - 1
    return found != len(texts) or joined.count(_SEAM) != seams or joined.count(f"}}{_SEAM}{{") != seams
