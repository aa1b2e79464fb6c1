"""The name of a session's file, from the name of the session, which may be any text, and back.

A plain name stays as it is: `support-42` is in `support-42.jsonl`. What some file system would not keep apart or not
take at all is percent-encoded: capital letters, white space, slashes, a dot at the beginning, the names of Windows'
devices. A name that would grow too long ends in a digest instead; the first line of the file says the true one.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote_to_bytes

from suture.transcript.ids import derive

__all__ = ["CUT", "SUFFIX", "file_name", "session_name"]

SUFFIX: Final = ".jsonl"

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.")
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
_LONGEST: Final = 120
"""How long a name may be before it is cut: some encrypted file systems take 143 bytes."""
_KEPT: Final = 48
"""How much of a name that is too long is left to be recognised by."""
_EMPTY: Final = "%"
CUT: Final = "~"
"""What stands before a digest. Neither sign occurs like this in a name that was encoded."""


def file_name(session: str) -> str:
    """The name of the file of a session: another one for each session, also where capitals do not count."""
    data = session.encode("utf-8", "surrogatepass")
    name = "".join(chr(sign) if sign in _PLAIN else f"%{sign:02x}" for sign in data)
    if name.startswith(".") or name.partition(".")[0] in _DEVICES:
        name = f"%{ord(name[0]):02x}{name[1:]}"
    if len(name) > _LONGEST:
        name = f"{name[:_KEPT]}{CUT}{derive(session, length=64)}"
    return (name or _EMPTY) + SUFFIX


def session_name(file: str, stated: str | None = None) -> str | None:
    """The session that a file is of; None for a file that is no session's.

    Args:
        file: Its name.
        stated: The name that its first line says; it counts where it leads to this file.
    """
    if stated is not None and file_name(stated) == file:
        return stated
    stem = file.removesuffix(SUFFIX)
    try:
        session = "" if stem == _EMPTY else unquote_to_bytes(stem).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return session if file_name(session) == file else None
