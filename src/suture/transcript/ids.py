"""Derived ids: the same input gives the same id, so that a history repaired twice is the same bytes."""

from __future__ import annotations

__all__ = ["derive"]


def derive(*seeds: object, length: int = 24) -> str:
    """A hexadecimal digest of `seeds`, `length` characters (at most 64)."""
    from hashlib import sha256  # noqa: PLC0415 (only a broken history needs it: importing suture stays quick)

    text = "\x1f".join(map(str, seeds))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
