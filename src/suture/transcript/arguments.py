"""The arguments of a call, whatever stood there, as the object that they have to be."""

from __future__ import annotations

from typing import Any, Final

from suture.transcript.codec import loads

__all__ = ["as_object"]

_DEEPEST: Final = 4
"""How often text inside text is unwrapped."""


def as_object(value: Any) -> dict[str, Any]:
    """Whatever stands as a call's arguments, as an object.

    An object stays; null and blank text become `{}`; text that holds an object, even encoded several times, becomes
    that object; everything else is kept under `_raw`.
    """
    inner = value
    for _ in range(_DEEPEST):
        if isinstance(inner, dict):
            return inner
        if inner is None or (isinstance(inner, str) and not inner.strip()):
            return {}
        if not isinstance(inner, str):
            break
        try:
            inner = loads(inner, finite=True)
        except ValueError:
            break
    return {"_raw": value}
